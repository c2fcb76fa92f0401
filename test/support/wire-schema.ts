// The JSON Schema of the JSON wire as the executable prints it, ready to check lines with.
import { runAtomic } from "./atomic.ts";
import { type ShapeCheck, shapeCheck } from "./json-checker/shape.ts";
import { at, isObject, type JsonObject, listAt } from "./json-checker/values.ts";

/** A check of lines, with the event types that the schema names. */
export type WireShape = ShapeCheck & { types: string[] };

let shape: Promise<WireShape> | undefined;

/** `atomic schema json`, asked once a process. @throws when the executable doesn't print a schema. */
export function jsonWireShape(): Promise<WireShape> {
  shape ??= read();
  return shape;
}

async function read(): Promise<WireShape> {
  const { text, exitCode, stderr } = await runAtomic(["schema", "json"]);
  if (exitCode !== 0) throw new Error(`atomic schema json ended with ${exitCode}: ${stderr}`);
  const schema: unknown = JSON.parse(text);
  if (!isObject(schema)) throw new Error("atomic schema json printed no schema");
  return Object.assign(shapeCheck(schema), { types: typesOf(schema) });
}

/** The constant `type` of each alternative of the root. */
function typesOf(schema: JsonObject): string[] {
  const alternatives = [...listAt(schema, "anyOf"), ...listAt(schema, "oneOf")].map((entry) => dereference(schema, entry));
  const types = alternatives.map((entry) => at(entry, "properties", "type", "const"));
  return types.filter((type): type is string => typeof type === "string");
}

function dereference(schema: JsonObject, entry: unknown): unknown {
  const reference = at(entry, "$ref");
  return typeof reference === "string" ? at(schema, ...reference.replace(/^#\//, "").split("/")) : entry;
}
