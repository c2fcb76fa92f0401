// The wires as JSON Schema 2020-12, made from their zod schemas. Additive fields and new types stay valid:
// whoever validates with these schemas must not refuse what a later version adds (json-mode.md R6, R13).
import { z } from "zod";
import * as json from "./json/schema.ts";
import * as sidecar from "./sidecar/schema.ts";

export type JsonSchema = Record<string, unknown>;

/** Every line of `atomic json`; also the line of stdin commands in its `$defs`. */
export function jsonWireSchema(): JsonSchema {
  const types = json.JsonEvent.options.flatMap((option) => [...option.shape.type.values]);
  return part("Lines of the JSON event stream", json, [reference("JsonEvent"), unknownOf("type", types)]);
}

/** Every frame of `atomic sidecar`, both directions. */
export function sidecarWireSchema(): JsonSchema {
  const unknownEvent = { allOf: [reference("EventEnvelope"), unknownOf("type", sidecar.SidecarEventType.options)] };
  return part("Frames of the sidecar protocol", sidecar, ["HostRequest", "SidecarEvent", "SidecarResponse"].map(reference).concat(unknownEvent));
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

function part(title: string, schemas: Record<string, unknown>, anyOf: JsonSchema[]): JsonSchema {
  return { $schema: dialect, title, anyOf, $defs: definitions(schemas) };
}

/** Each exported schema under its name, pointing at the others by `$ref`. */
function definitions(schemas: Record<string, unknown>): JsonSchema {
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
