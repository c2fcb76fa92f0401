// Random JSON Schemas, as tools and users could write them, and whether the grammar of one is exact: then all that it
// leaves is valid. Says nothing of how grammars are made.
import type { Random } from "../support/gbnf.ts";

export type Schema = { [key: string]: unknown } | boolean;

const pieces = ['"', "\\", "\n", "\r", "\t", "]", "[", "^", "-", "}", "{", "|", "::=", "(", ")", "*", "+", "?", "#", "/", "'", "<|im_end|>", "😀", "👩‍👩‍👧", "é", "ß", "中", "\u0000", "\u001f", "\u007f", "\u0085", "\u200f", "\u2028", "\ufeff", "\ufffd", "\ud800", "\udc00", "a", "B", "7", " ", "_", "root", "__proto__", "constructor"];

export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

export function oneOf<Item>(random: Random, items: readonly Item[]): Item {
  return items[below(random, items.length)] as Item;
}

/** Any text, also one that no JSON string holds as it is. */
export function word(random: Random, least = 1): string {
  return Array.from({ length: least + below(random, 5) }, () => oneOf(random, pieces)).join("");
}

export function randomSchema(random: Random, depth = 0): Schema {
  const kinds = [text, integer, number, choice, constant, simple, ...(depth > 2 ? [] : [list, tuple, object, object, map, union, typeList])];
  const schema = oneOf(random, kinds)(random, depth);
  return typeof schema === "boolean" || random() < 0.5 ? schema : { ...schema, title: word(random), description: word(random) };
}

export function randomObject(random: Random, depth = 0): { [key: string]: unknown } {
  return object(random, depth);
}

/** Whether every value that the grammar leaves has to be valid; else it only has to be JSON. */
export function isExact(schema: unknown, depth = 0): boolean {
  if (typeof schema === "boolean") return schema;
  if (typeof schema !== "object" || schema === null || depth > 9) return false;
  const inner = (value: unknown): boolean => isExact(value, depth + 1);
  const keys = schema as { [key: string]: unknown };
  if (["pattern", "format", "multipleOf", "uniqueItems", "allOf", "not", "$ref", "oneOf", "minProperties", "maxProperties"].some((key) => key in keys)) return false;
  const lengths = [keys["minLength"], keys["maxLength"], keys["minItems"], keys["maxItems"]];
  if (lengths.some((length) => typeof length === "number" && length > 200)) return false;
  if (keys["type"] === "number" && ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].some((key) => key in keys && !Number.isInteger(keys[key]))) return false;
  const { additionalProperties = true, anyOf = [], items = true, prefixItems = [], properties = {}, propertyNames } = keys;
  if (typeof propertyNames === "object" && propertyNames !== null && !("enum" in propertyNames)) return false;
  const parts = [...(anyOf as unknown[]), ...(prefixItems as unknown[]), ...Object.values(properties as object)];
  return parts.every(inner) && (items === false || inner(items)) && (additionalProperties === false || inner(additionalProperties));
}

type Make = (random: Random, depth: number) => { [key: string]: unknown };

const text: Make = (random) => {
  const least = below(random, 4);
  return { type: "string", ...(random() < 0.4 ? { minLength: least } : {}), ...(random() < 0.3 ? { maxLength: oneOf(random, [least, least + 3, 190, 5000]) } : {}), ...(random() < 0.1 ? { pattern: "^[a-z]+$" } : {}) };
};

function limits(random: Random, edges: readonly number[]): { [key: string]: unknown } {
  const low = oneOf(random, edges);
  const high = low + Math.abs(oneOf(random, edges)) + 1;
  return { ...(random() < 0.6 ? { [oneOf(random, ["minimum", "exclusiveMinimum"])]: low - 1 } : {}), ...(random() < 0.6 ? { [oneOf(random, ["maximum", "exclusiveMaximum"])]: high + 1 } : {}) };
}

const integer: Make = (random) => ({ type: "integer", ...limits(random, [0, 1, -1, 7, 99, 100, -250, 4096, 1e6 + 3, -1e9, 123_456_789_012, 2.5, -0.5, 1e14, 9007199254740991]), ...(random() < 0.05 ? { multipleOf: 5 } : {}) });

const number: Make = (random) => ({ type: "number", ...limits(random, [0, 1, -1, 10, 99, -250, 1e6 + 3, -1e9, 1e12, 0.25, -3.75]) });

function json(random: Random, depth = 0): unknown {
  const makers = [() => word(random, 0), () => below(random, 2000) - 1000, () => random() * 10, () => true, () => null, ...(depth > 1 ? [] : [() => Array.from({ length: below(random, 3) }, () => json(random, depth + 1)), () => ({ [word(random)]: json(random, depth + 1) })])];
  return oneOf<() => unknown>(random, makers)();
}

const choice: Make = (random) => ({ enum: Array.from({ length: 1 + below(random, oneOf(random, [3, 3, 40])) }, () => (random() < 0.7 ? word(random, 0) : json(random))) });

const constant: Make = (random) => ({ const: json(random) });

const simple: Make = (random) => oneOf(random, [{ type: "boolean" }, { type: "null" }, {}, { description: "any" }]);

function counts(random: Random): { [key: string]: unknown } {
  const least = below(random, 4);
  return { ...(random() < 0.5 ? { minItems: least } : {}), ...(random() < 0.5 ? { maxItems: oneOf(random, [least, least + 1, least + 5, 300]) } : {}) };
}

const list: Make = (random, depth) => ({ type: "array", ...(random() < 0.9 ? { items: randomSchema(random, depth + 1) } : {}), ...counts(random), ...(random() < 0.05 ? { uniqueItems: true } : {}) });

const tuple: Make = (random, depth) => {
  const prefixItems = Array.from({ length: 1 + below(random, 3) }, () => randomSchema(random, depth + 1));
  const isClosed = random() < 0.6;
  return { type: "array", prefixItems, items: isClosed ? false : randomSchema(random, depth + 1), minItems: prefixItems.length + (isClosed ? 0 : below(random, 3)) };
};

const object: Make = (random, depth) => {
  // The validator takes no lone surrogate in a name.
  const names = [...new Set(Array.from({ length: below(random, 6) }, () => word(random, 0).toWellFormed()))].filter((name) => name !== "__proto__");
  const properties = Object.fromEntries(names.map((name) => [name, randomSchema(random, depth + 1)]));
  return { type: "object", properties, required: names.filter(() => random() < 0.5), additionalProperties: names.length === 0 || random() < 0.8 ? false : randomSchema(random, depth + 1) };
};

const map: Make = (random, depth) => {
  const names = [...new Set(["a", word(random).toWellFormed(), word(random).toWellFormed()])].filter((name) => name !== "__proto__");
  const listed = random() < 0.4 ? { propertyNames: { enum: names }, required: names.filter(() => random() < 0.5) } : random() < 0.2 ? { propertyNames: { type: "string", maxLength: 3 } } : {};
  return { type: "object", additionalProperties: randomSchema(random, depth + 1), ...listed };
};

const union: Make = (random, depth) => ({ [oneOf(random, ["anyOf", "anyOf", "anyOf", "oneOf"])]: Array.from({ length: 1 + below(random, 3) }, () => randomSchema(random, depth + 1)) });

const typeList: Make = (random, depth) => {
  const { type, ...rest } = oneOf<Make>(random, [text, integer, list])(random, depth);
  return { ...rest, type: [type, "null"] };
};
