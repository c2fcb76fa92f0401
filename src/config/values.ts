// Checks one value against the schema of its key and says in words what was expected. Never quotes a secret.
import { z } from "zod";
import type { Key } from "./keys.ts";

export type Checked = { ok: true; value: unknown } | { ok: false; path: (string | number)[]; message: string };

/** @returns the value as the schema gives it back, or where in it the first fault is and what was expected there. */
export function checkValue(name: string, key: Key, value: unknown): Checked {
  if (value === null && key.default === undefined) return { ok: true, value: undefined };
  const result = key.schema.safeParse(value);
  if (result.success) return { ok: true, value: result.data };
  const issue = result.error.issues[0];
  const path = (issue?.path ?? []).map((step) => (typeof step === "symbol" ? String(step) : step));
  const place = name + path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  const wanted = issue?.code === "custom" ? issue.message : `expected ${expectation(schemaAt(key.schema, path))}`;
  return { ok: false, path, message: `${place}: ${wanted}, found ${quote(place, at(value, path))}` };
}

/** What a schema takes, in words: `integer from 1 to 16`, `"auto" or "off"`, `list of strings`. */
export function expectation(schema: z.ZodType): string {
  return inWords(z.toJSONSchema(schema, { io: "input" }) as JsonSchema);
}

/** Kinds of JSON values that a schema takes. */
export function kindsOf(schema: z.ZodType): Set<string> {
  if (schema instanceof z.ZodNullable) return new Set(["null", ...kindsOf(schema.unwrap() as z.ZodType)]);
  if (schema instanceof z.ZodUnion) return new Set(schema.options.flatMap((option) => [...kindsOf(option as z.ZodType)]));
  if (schema instanceof z.ZodLiteral) return new Set([...schema.values].map((value) => typeof value));
  if (schema instanceof z.ZodBoolean) return new Set(["boolean"]);
  if (schema instanceof z.ZodNumber) return new Set(["number"]);
  if (schema instanceof z.ZodArray || schema instanceof z.ZodObject) return new Set(["structure"]);
  return new Set(["string"]);
}

/** Whether a place such as `llm.providers[0].apiKey` holds a secret. */
export function isSecret(place: string): boolean {
  return /(^|\.)(apiKey|headers(\..+)?)$/.test(place);
}

/** A value with its secrets replaced by `***`, also a password inside a URL. */
export function masked(place: string, value: unknown): unknown {
  if (typeof value === "string") return isSecret(place) ? "***" : value.replace(/^(https?:\/\/)[^/@\s]*@/i, "$1***@");
  if (Array.isArray(value)) return value.map((item, index) => masked(`${place}[${index}]`, item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, masked(`${place}.${name}`, member)]));
}

/** The schema of the members of a list of objects or of an object itself; undefined when any member is welcome. */
export function membersOf(schema: z.ZodType): Readonly<Record<string, z.ZodType>> | undefined {
  return schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : undefined;
}

export function schemaAt(schema: z.ZodType, path: readonly (string | number)[]): z.ZodType {
  const [step, ...rest] = path;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return step === undefined ? (schema.unwrap() as z.ZodType) : schemaAt(schema.unwrap() as z.ZodType, path);
  }
  if (step === undefined) return schema;
  if (schema instanceof z.ZodArray) return schemaAt(schema.element as z.ZodType, rest);
  if (schema instanceof z.ZodRecord) return schemaAt(schema.valueType as z.ZodType, rest);
  const member = membersOf(schema)?.[String(step)];
  return member === undefined ? schema : schemaAt(member, rest);
}

function at(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, step) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, step) : undefined), value);
}

function quote(place: string, value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (isSecret(place)) return `a ${typeof value}`;
  const text = typeof value === "string" ? JSON.stringify(masked(place, value)) : String(value);
  return text.length > 80 ? `${text.slice(0, 80)}… (${text.length} characters)` : text;
}

interface JsonSchema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
}

function inWords(schema: JsonSchema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(inWords).join(" or ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => inWords({ ...schema, type })).join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.type === "array") return `list of ${inWords(schema.items ?? {})}s`;
  if (schema.type === "integer" || schema.type === "number") return schema.type + rangeInWords(schema);
  if (schema.format === "uri") return "http or https URL";
  if (schema.pattern !== undefined) return `string like ${schema.pattern}`;
  return schema.type ?? "value";
}

function rangeInWords({ minimum, maximum }: JsonSchema): string {
  const low = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const high = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (low !== undefined && high !== undefined) return ` from ${low} to ${high}`;
  return low === undefined ? (high === undefined ? "" : ` up to ${high}`) : ` from ${low}`;
}
