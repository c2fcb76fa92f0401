// GBNF, llama.cpp's notation of grammars: rules under names, and texts and numbers written as rules.
import { isRecord } from "../core/is-record.ts";

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

/** One character inside a JSON string; lone surrogates can't be written. */
export function characterRule(rules: GrammarRules): string {
  return rules.add("character", characterBody(""));
}

/**
 * One character of a text with an upper bound. Outside the basic plane JSON Schema counts one where JavaScript counts two, so
 * that no bound would hold for both: such characters are left out.
 */
export function countedCharacterRule(rules: GrammarRules): string {
  return rules.add("counted-character", characterBody("\\U00010000-\\U0010FFFF"));
}

/**
 * The text of a reply inside a JSON string: it does not end behind a colon, since a small model ends there before it writes what
 * it announced.
 */
export function replyRule(rules: GrammarRules): string {
  const other = rules.add("reply-character", characterBody(":"));
  const shown = rules.add("reply-shown", `[^"\\\\\\x00-\\x20\\x7F:] | "\\\\" (["\\\\/] | ${unicodeEscape})`);
  return rules.add("reply-text", `(${other} | ":" ([: ] | "\\\\" [bfnrt])* ${shown})+`);
}

/** Largest repetition that is spelled out; beyond it a length or count is left to the check afterwards. */
const repetitionMax = 200;

/** `*`, `+` or `{least,most}`. */
export function repetition(least: number, most: number): string {
  const from = Math.min(least, repetitionMax);
  if (most > repetitionMax) return from === 0 ? "*" : from === 1 ? "+" : `{${from},}`;
  return `{${from},${Math.max(from, most)}}`;
}

const hex = "[0-9a-fA-F]";
const unicodeEscape = `"u" ([0-9abcefABCEF] ${hex} ${hex} ${hex} | [dD] [0-7] ${hex} ${hex})`;

function characterBody(excluded: string): string {
  return `[^"\\\\\\x00-\\x1F\\x7F${excluded}] | "\\\\" (["\\\\/bfnrt] | ${unicodeEscape})`;
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "boolean" || isRecord(value);
}
