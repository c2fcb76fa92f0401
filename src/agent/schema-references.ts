// Puts what a `$ref` points at in its place, so that a grammar can be made of it. Only references inside the same schema;
// where one leads back to itself, any value is allowed.
import { isRecord } from "../core/is-record.ts";
import { isSchema, type JsonSchema } from "./gbnf.ts";

/** Deeper nesting is left open: a grammar doubles in size with each level that branches. */
const depthMax = 12;

export function inlineReferences(root: Record<string, unknown>): JsonSchema {
  return inlined(root, root, []);
}

function inlined(schema: JsonSchema, root: Record<string, unknown>, path: readonly string[]): JsonSchema {
  if (typeof schema === "boolean") return schema;
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    if (path.includes(reference) || path.length >= depthMax) return true;
    const target = resolved(reference, root);
    const { $ref: _, ...beside } = schema;
    const found = target === undefined ? true : inlined(target, root, [...path, reference]);
    return typeof found === "boolean" ? found : { ...found, ...beside };
  }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, keepsData.has(key) ? value : inside(value, root, path)]));
}

/** Their values are data, whatever they look like. */
const keepsData: ReadonlySet<string> = new Set(["const", "enum", "default", "examples", "$defs", "definitions"]);

function inside(value: unknown, root: Record<string, unknown>, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => inside(item, root, path));
  return isRecord(value) ? inlined(value, root, path) : value;
}

/** Follows a JSON pointer such as `#/$defs/item`. */
function resolved(reference: string, root: Record<string, unknown>): JsonSchema | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let found: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    found = isRecord(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return isSchema(found) ? found : undefined;
}
