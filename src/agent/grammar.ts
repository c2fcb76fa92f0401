// JSON Schema to GBNF (llama.cpp's grammar notation): what a model may write as the value of a schema.
// Where a schema can't be followed exactly the rule gets looser, never wrong: every valid value that the rule leaves out
// is only a different spelling of one that it accepts. Values are checked against the schema afterwards in any case.

import { objectBody } from "./object-grammar.ts";

export type JsonSchema = { [key: string]: unknown } | boolean;

/** Rules by name; the first writer of a name wins. */
export class GrammarRules {
  readonly #rules = new Map<string, string>();

  /** Adds a rule under a name made of `hint` and returns the name to refer to it. */
  add(hint: string, body: string): string {
    const base = hint.replace(/[^a-zA-Z0-9]+/g, "-").replace(/^-+|-+$/g, "") || "rule";
    let name = base;
    for (let number = 2; this.#rules.has(name) && this.#rules.get(name) !== body; number += 1) name = `${base}-${number}`;
    this.#rules.set(name, body);
    return name;
  }

  toString(): string {
    return [...this.#rules].map(([name, body]) => `${name} ::= ${body}\n`).join("");
  }
}

/** A GBNF literal of exactly this text. */
export function literal(text: string): string {
  let out = "";
  for (const character of text.toWellFormed()) {
    const code = character.codePointAt(0) ?? 0;
    if (character === '"' || character === "\\") out += `\\${character}`;
    else if (character === "\n") out += "\\n";
    else if (character === "\r") out += "\\r";
    else if (character === "\t") out += "\\t";
    else if (code < 0x20 || code === 0x7f) out += `\\x${code.toString(16).padStart(2, "0")}`;
    else out += character;
  }
  return `"${out}"`;
}

/** Largest repetition that is spelled out; beyond it a length or count is left to the check afterwards. */
const repetitionMax = 200;
const depthMax = 10;
const integerDigitsMax = 15;

/** The name of a rule for the JSON values of `schema`, written without white space. */
export function schemaRule(rules: GrammarRules, schema: JsonSchema, hint: string, depth = 0): string {
  if (typeof schema === "boolean" || depth > depthMax) return anyRule(rules);
  if ("const" in schema) return rules.add(hint, literal(JSON.stringify(schema["const"])));
  const choices = schema["enum"];
  if (Array.isArray(choices) && choices.length > 0) {
    return rules.add(hint, choices.map((choice) => literal(JSON.stringify(choice))).join(" | "));
  }
  const union = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(union) && union.length > 0) {
    const names = union.map((part: JsonSchema, index) => schemaRule(rules, part, `${hint}-${index}`, depth + 1));
    return rules.add(hint, names.join(" | "));
  }
  const type = schema["type"];
  if (Array.isArray(type)) {
    return rules.add(hint, type.map((one) => schemaRule(rules, { ...schema, type: one }, `${hint}-${one}`, depth + 1)).join(" | "));
  }
  switch (type) {
    case "string":
      return stringRule(rules, schema, hint);
    case "integer":
      return integerRule(rules, schema, hint);
    case "number":
      return numberRule(rules);
    case "boolean":
      return rules.add("boolean", '"true" | "false"');
    case "null":
      return rules.add("null", '"null"');
    case "array":
      return arrayRule(rules, schema, hint, depth);
    case "object":
      return rules.add(`${hint}-object`, objectBody(rules, schema, hint, [], depth) ?? '"{}"');
    default:
      return anyRule(rules);
  }
}

/** One character inside a JSON string; lone surrogates can't be written. */
export function characterRule(rules: GrammarRules): string {
  const hex = "[0-9a-fA-F]";
  const escaped = `["\\\\/bfnrt] | "u" ([0-9abcefABCEF] ${hex} ${hex} ${hex} | [dD] [0-7] ${hex} ${hex})`;
  return rules.add("character", `[^"\\\\\\x00-\\x1F\\x7F] | "\\\\" (${escaped})`);
}

function stringRule(rules: GrammarRules, schema: { [key: string]: unknown }, hint: string): string {
  const character = characterRule(rules);
  const least = bound(schema["minLength"], 0);
  const most = bound(schema["maxLength"], Infinity);
  const repeat = repetition(least, most);
  if (repeat === "*") return rules.add("string", `"\\"" ${character}* "\\""`);
  return rules.add(`${hint}-text`, `"\\"" ${character}${repeat} "\\""`);
}

function numberRule(rules: GrammarRules): string {
  return rules.add("number", '"-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,14})? ([eE] [+-]? [0-9]{1,2})?');
}

function integerRule(rules: GrammarRules, schema: { [key: string]: unknown }, hint: string): string {
  const least = Math.ceil(limit(schema["minimum"], schema["exclusiveMinimum"], 1, -Infinity));
  const most = Math.floor(limit(schema["maximum"], schema["exclusiveMaximum"], -1, Infinity));
  const ceiling = 10 ** integerDigitsMax - 1;
  const low = Math.max(least, -ceiling);
  const high = Math.min(most, ceiling);
  if (low > high) return rules.add(`${hint}-integer`, literal(String(Number.isFinite(least) ? least : 0)));
  const parts: string[] = [];
  if (low < 0) parts.push(...rangePatterns(Math.max(1, -Math.min(high, -1)), -low).map((pattern) => `"-" ${pattern}`));
  if (high >= 0) parts.push(...rangePatterns(Math.max(0, low), high));
  return rules.add(`${hint}-integer`, parts.join(" | "));
}

/** Alternatives that together match exactly the decimal numbers from `low` to `high`, both ≥ 0. */
export function rangePatterns(low: number, high: number): string[] {
  const patterns: string[] = [];
  for (let digits = String(low).length; digits <= String(high).length; digits += 1) {
    const from = Math.max(low, digits === 1 ? 0 : 10 ** (digits - 1));
    const to = Math.min(high, 10 ** digits - 1);
    if (from <= to) patterns.push(...sameLength(String(from), String(to)));
  }
  return patterns;
}

function sameLength(from: string, to: string): string[] {
  if (from === to) return [literal(from)];
  if (from.length === 1) return [`[${from}-${to}]`];
  const rest = from.length - 1;
  if (/^0+$/.test(from.slice(1)) && /^9+$/.test(to.slice(1))) return [`${digit(from[0], to[0])} [0-9]{${rest}}`];
  if (from[0] === to[0]) return sameLength(from.slice(1), to.slice(1)).map((tail) => `${literal(from[0] ?? "")} ${tail}`);
  const first = Number(from[0]);
  const last = Number(to[0]);
  const patterns = sameLength(from.slice(1), "9".repeat(rest)).map((tail) => `"${first}" ${tail}`);
  if (last - first > 1) patterns.push(`${digit(String(first + 1), String(last - 1))} [0-9]{${rest}}`);
  return [...patterns, ...sameLength("0".repeat(rest), to.slice(1)).map((tail) => `"${last}" ${tail}`)];
}

function digit(from = "0", to = "9"): string {
  return from === to ? `"${from}"` : `[${from}-${to}]`;
}

function arrayRule(rules: GrammarRules, schema: { [key: string]: unknown }, hint: string, depth: number): string {
  const items = schema["items"];
  const item = schemaRule(rules, isSchema(items) ? items : true, `${hint}-item`, depth + 1);
  const least = bound(schema["minItems"], 0);
  const most = bound(schema["maxItems"], Infinity);
  if (most === 0) return rules.add(`${hint}-list`, '"[]"');
  const more = repetition(Math.max(0, least - 1), most - 1);
  const filled = `"[" ${item} ("," ${item})${more} "]"`;
  return rules.add(`${hint}-list`, least > 0 ? filled : `"[]" | ${filled}`);
}

/** Any JSON value, nested at most three deep. */
export function anyRule(rules: GrammarRules): string {
  const text = rules.add("string", `"\\"" ${characterRule(rules)}* "\\""`);
  const scalar = rules.add("any-scalar", `${text} | ${numberRule(rules)} | "true" | "false" | "null"`);
  let inner = scalar;
  for (let level = 1; level <= 3; level += 1) {
    const pair = `${text} ":" ${inner}`;
    const list = `"[" (${inner} ("," ${inner})*)? "]"`;
    inner = rules.add(`any-${level}`, `${scalar} | "{" (${pair} ("," ${pair})*)? "}" | ${list}`);
  }
  return inner;
}

function repetition(least: number, most: number): string {
  const from = Math.min(least, repetitionMax);
  if (most > repetitionMax) return from === 0 ? "*" : from === 1 ? "+" : `{${from},}`;
  return `{${from},${Math.max(from, most)}}`;
}

function bound(value: unknown, otherwise: number): number {
  return typeof value === "number" && value >= 0 ? Math.floor(value) : otherwise;
}

function limit(inclusive: unknown, exclusive: unknown, step: number, otherwise: number): number {
  const candidates = [otherwise];
  if (typeof inclusive === "number") candidates.push(inclusive);
  if (typeof exclusive === "number") candidates.push(step > 0 ? Math.floor(exclusive) + 1 : Math.ceil(exclusive) - 1);
  return step > 0 ? Math.max(...candidates) : Math.min(...candidates);
}

export function isRecord(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "boolean" || isRecord(value);
}
