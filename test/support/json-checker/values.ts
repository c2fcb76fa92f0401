// Reading JSON values of unknown shape, and what a breach of the contract looks like. Used by the checkers of both wires.
import { isDeepStrictEqual } from "node:util";

export type JsonObject = { [key: string]: unknown };

/** One line of a stream: its number (from 1) and what it holds. */
export interface Line {
  number: number;
  event: JsonObject;
}

/** `line` 0 = the stream as a whole. */
export interface Breach {
  line: number;
  /** Name in json-mode.md: R1 … R14, U1 … U8, I1 … I16, C1 … C14, a section number, `grammar` or `schema`. */
  rule: string;
  message: string;
}

/** Collects the breaches of one rule book while a stream is walked. */
export class Breaches {
  readonly all: Breach[] = [];
  line = 0;

  /** Notes a breach at the current line unless `holds`. */
  need(holds: boolean, rule: string, message: string): void {
    if (!holds) this.all.push({ line: this.line, rule, message });
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `value[k1][k2]…` where all of that is there, else undefined. */
export function at(value: unknown, ...keys: string[]): unknown {
  let current = value;
  for (const key of keys) current = isObject(current) ? current[key] : undefined;
  return current;
}

export function listAt(value: unknown, ...keys: string[]): unknown[] {
  const found = at(value, ...keys);
  return Array.isArray(found) ? found : [];
}

export function textAt(value: unknown, ...keys: string[]): string {
  const found = at(value, ...keys);
  return typeof found === "string" ? found : "";
}

export function numberAt(value: unknown, ...keys: string[]): number {
  const found = at(value, ...keys);
  return typeof found === "number" ? found : 0;
}

/** Equal as JSON; the order of keys doesn't count. */
export function same(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(a, b);
}

export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}
