// Each line against the JSON Schema of the wire: valid (R13), keys in the schema's order with additions last (R8),
// absent and never null (R7). Knows nothing of events: the schema says everything.
import Ajv2020, { type ValidateFunction } from "ajv/dist/2020.js";
import { type Breach, Breaches, isObject, type JsonObject, type Line, show } from "./values.ts";

export type ShapeCheck = (lines: readonly Line[]) => Breach[];

/** @param schema JSON Schema 2020-12 whose root accepts one line, as `atomic schema json` prints it. */
export function shapeCheck(schema: JsonObject): ShapeCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false });
  const validate = ajv.compile(schema);
  return (lines) => {
    const breaches = new Breaches();
    for (const { number, event } of lines) {
      breaches.line = number;
      checkValid(validate, event, breaches);
      walk(schema, schema, event, `${event["type"]}`, breaches);
    }
    return breaches.all;
  };
}

/** Keys whose values are passed on as they came from outside (R7). */
const foreign = new Set(["args", "arguments", "details"]);
const nullable = new Set(["firstKeptEntryId", "parentId"]);

function checkValid(validate: ValidateFunction, event: JsonObject, breaches: Breaches): void {
  if (validate(event)) return;
  const deepest = (validate.errors ?? []).toSorted((a, b) => b.instancePath.length - a.instancePath.length)[0];
  breaches.need(false, "schema", `${event["type"]}${deepest?.instancePath ?? ""} ${deepest?.message ?? "is not valid"}`);
}

function walk(root: JsonObject, schema: unknown, value: unknown, path: string, breaches: Breaches): void {
  const key = path.slice(path.lastIndexOf(".") + 1);
  if (foreign.has(key)) return;
  if (value === null) breaches.need(nullable.has(key), "R7", `${path} is null`);
  const own = variantFor(root, schema, value);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) walk(root, own?.["items"], item, `${path}[${index}]`, breaches);
    return;
  }
  if (!isObject(value)) return;
  const properties = isObject(own?.["properties"]) ? own["properties"] : {};
  if (own) checkOrder(Object.keys(properties), Object.keys(value), path, breaches);
  const rest = own?.["additionalProperties"];
  for (const [name, inner] of Object.entries(value)) walk(root, properties[name] ?? rest, inner, `${path}.${name}`, breaches);
}

function checkOrder(declared: string[], present: string[], path: string, breaches: Breaches): void {
  const known = declared.filter((name) => present.includes(name));
  const added = present.filter((name) => !declared.includes(name));
  if (known.length === 0) return;
  const wanted = [...known, ...added];
  breaches.need(wanted.join() === present.join(), "R8", `${path}: keys ${present.join()}, wanted ${wanted.join()}`);
}

/** The schema that describes this value: references followed, the fitting alternative chosen by its constants. */
function variantFor(root: JsonObject, schema: unknown, value: unknown): JsonObject | undefined {
  if (!isObject(schema)) return undefined;
  const reference = schema["$ref"];
  if (typeof reference === "string") return variantFor(root, resolve(root, reference), value);
  for (const word of ["anyOf", "oneOf"]) {
    const alternatives = schema[word];
    if (!Array.isArray(alternatives)) continue;
    const fitting = alternatives.map((inner) => variantFor(root, inner, value)).filter((inner) => inner !== undefined && fits(inner, value));
    return fitting[0];
  }
  return fits(schema, value) ? schema : undefined;
}

function resolve(root: JsonObject, reference: string): unknown {
  let current: unknown = root;
  for (const part of reference.replace(/^#\/?/, "").split("/")) {
    if (part !== "") current = isObject(current) ? current[part.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  }
  if (current === undefined) throw new Error(`the schema has no ${show(reference)}`);
  return current;
}

function fits(schema: JsonObject, value: unknown): boolean {
  if (Array.isArray(value)) return schema["type"] === "array";
  if (!isObject(value)) return schema["type"] !== "object" && schema["type"] !== "array";
  if (schema["type"] !== undefined && schema["type"] !== "object") return false;
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  return Object.entries(properties).every(([name, inner]) => !(name in value) || allows(inner, value[name]));
}

/** By constants alone, which tell alternatives apart. */
function allows(schema: unknown, value: unknown): boolean {
  if (!isObject(schema)) return true;
  if ("const" in schema) return schema["const"] === value;
  return !Array.isArray(schema["enum"]) || schema["enum"].includes(value);
}
