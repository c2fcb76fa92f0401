// The wires as JSON Schema 2020-12, made from their zod schemas. Additive fields and new types stay valid:
// whoever validates with these schemas must not refuse what a later version adds (json-mode.md R6, R13).
import { z } from "zod";
import * as json from "./json/schema.ts";
import * as sidecar from "./sidecar/schema.ts";

export type JsonSchema = Record<string, unknown>;

/** Every line of `atomic json`, one alternative a type; the lines of `--stdin-commands` are `$defs/StdinCommand`. */
export function jsonWireSchema(): JsonSchema {
  const types = json.JsonEvent.options.flatMap((option) => [...option.shape.type.values]);
  return part("Lines of the JSON event stream", json, ["JsonEvent"], unknownOf("type", types));
}

/** Every frame of `atomic sidecar`, both directions. */
export function sidecarWireSchema(): JsonSchema {
  const unknownEvent = { allOf: [reference("EventEnvelope"), unknownOf("type", sidecar.SidecarEventType.options)] };
  return part("Frames of the sidecar protocol", sidecar, ["HostRequest", "SidecarEvent", "SidecarResponse"], unknownEvent);
}

/** One schema with every part in its `$defs`; a line of either wire is valid under it. */
export function wholeSchema(parts: { json: JsonSchema; sidecar: JsonSchema; config: JsonSchema }): JsonSchema {
  return {
    $schema: dialect,
    title: "Wires and configuration",
    anyOf: [reference("json"), reference("sidecar")],
    $defs: Object.fromEntries(Object.entries(parts).map(([name, schema]) => [name, embedded(schema, name)])),
  };
}

const dialect = "https://json-schema.org/draft/2020-12/schema";

function reference(name: string): JsonSchema {
  return { $ref: `#/$defs/${name}` };
}

/** An object whose tag is none of those known now. */
function unknownOf(tag: string, known: readonly string[]): JsonSchema {
  return { type: "object", properties: { [tag]: { type: "string", not: { enum: known } } }, required: [tag] };
}

/** A schema whose root is the alternatives of the named unions, plus one; a union is not kept as a definition of its own. */
function part(title: string, schemas: Record<string, unknown>, unions: readonly string[], further: JsonSchema): JsonSchema {
  const made = definitions(schemas);
  const alternatives = unions.flatMap((name) => alternativesOf(name, made[name]));
  const rest = Object.entries(made).filter(([name]) => !unions.includes(name) || alternatives.some(({ $ref }) => $ref === reference(name).$ref));
  return { $schema: dialect, title, anyOf: [...alternatives, further], $defs: Object.fromEntries(rest) };
}

function alternativesOf(name: string, schema: JsonSchema | undefined): JsonSchema[] {
  const alternatives = schema?.oneOf ?? schema?.anyOf;
  return Array.isArray(alternatives) ? (alternatives as JsonSchema[]) : [reference(name)];
}

/** Each exported schema under its name, pointing at the others by `$ref`. */
function definitions(schemas: Record<string, unknown>): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [name, schema] of Object.entries({ ...schemas })) {
    if (schema instanceof z.ZodType) registry.add(schema, { id: name });
  }
  // `input` leaves objects open; a schema of output would refuse additive fields.
  const { schemas: made } = z.toJSONSchema(registry, { target: "draft-2020-12", io: "input", uri: (id) => `#/$defs/${id}` });
  return Object.fromEntries(Object.entries(made).map(([name, schema]) => [name, withoutIdentity(schema)]));
}

function withoutIdentity(schema: object): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "$id" && key !== "$schema" && key !== "id"));
}

/** A part as a definition of the whole: its references are to its own definitions, one level down. */
function embedded(schema: JsonSchema, name: string): JsonSchema {
  const { $schema: _dialect, ...rest } = schema;
  return moved(rest, `#/$defs/${name}/`) as JsonSchema;
}

function moved(value: unknown, prefix: string): unknown {
  if (Array.isArray(value)) return value.map((item) => moved(item, prefix));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === "$ref" && typeof item === "string" ? item.replace(/^#\//, prefix) : moved(item, prefix)]),
  );
}
