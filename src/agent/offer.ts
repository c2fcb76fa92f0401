// What a text engine is offered of the tools: their arguments without those that small models only fill in wrongly, names
// that really exist, and none of the calls that can bring nothing new. The prompt is made from the same offer.
import { z } from "zod";
import { isRecord } from "../core/is-record.ts";
import { standingIn } from "../core/said-replacements.ts";
import type { ToolSpec, WorkspaceNames } from "../core/tool.ts";
import type { ForbiddenObject } from "./grammar.ts";

export interface ObjectSchema {
  [key: string]: unknown;
  properties: Record<string, unknown>;
  required: string[];
}

export interface OfferOptions {
  /** Advanced arguments that results spoke of, as `tool argument`. */
  revealed?: ReadonlySet<string>;
  /** What exists; absent = not known, any name may be written. */
  names?: WorkspaceNames;
  /** Paths of the files that a change wants and that are not there: what makes a file makes one of these. Absent = any. */
  wanted?: readonly string[];
  /** False: nothing new is asked for; a file that there is not is made by what makes files alone. */
  mayMake?: boolean;
  /** Files that the model has seen; only these can be quoted. Absent = not known. */
  seen?: readonly string[];
  /** The texts of seen files that are small: of these exactly what they hold can be quoted. */
  quotable?: ReadonlyMap<string, string>;
  /** What the request may want replaced in all files: a tool that takes a folder works on all of them then. */
  shared?: readonly string[];
  /** What the request says is to be replaced: where a file holds it, a tool that replaces a text everywhere takes that. */
  replaced?: readonly string[];
  /** The request speaks of the beginning of something: a quote may be left empty to name that. */
  isAtTop?: boolean;
  /** For a tool whose quote was not found: the file, and the texts that may be quoted from it. */
  quotes?: ReadonlyMap<string, { file: string; texts: readonly string[] }>;
}

/**
 * JSON Schema of a tool's arguments as the model writes them. Arguments marked `advanced` are left out until a result
 * named them; arguments marked `existing` take only names that exist, with `endings` only files that end so, with `seen` only
 * files that the model has looked at, with `seenUnless` those and the ones with such endings; a `column` or `setting` is one of those known; what `makes` a file makes a wanted one.
 * undefined when nothing exists that they could name.
 */
export function offeredArguments(tool: ToolSpec, options: OfferOptions = {}): ObjectSchema | undefined {
  const { revealed, names, seen, quotes } = options;
  const schema = z.toJSONSchema(tool.schema, { io: "input" });
  const required = schema.required ?? [];
  const properties: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema.properties ?? {})) {
    if (!required.includes(name) && !revealed?.has(`${tool.name} ${name}`) && isRecord(value) && value["advanced"] === true) continue;
    const narrowed = isRecord(value) && value["makes"] === "file" ? madeName(value, options) : names ? narrow(value, names, seen) : value;
    if (narrowed !== undefined) properties[name] = narrowed;
    else if (required.includes(name)) return undefined;
  }
  const quote = quotes?.get(tool.name);
  if (tool.quotes && seen) {
    if (seen.length === 0) return undefined;
    properties[tool.quotes.file] = { enum: seen };
  }
  if (quote && tool.quotes) {
    properties[tool.quotes.file] = { enum: [quote.file] };
    properties[tool.quotes.text] = { enum: quote.texts };
  }
  return { type: "object", properties, required, additionalProperties: false };
}

/** The same, apart for each file whose text the arguments may quote; a quote marked `oneLine` ends with its line, one that `mayBeEmpty` may hold nothing. */
export function offeredVariants(tool: ToolSpec, options: OfferOptions = {}): ObjectSchema[] {
  const { isAtTop = false, quotable, quotes, replaced = [], seen, shared = [] } = options;
  if (tool.quotes && tool.takesFolder && shared.length > 0) {
    const any = offeredArguments(tool, { revealed: options.revealed ?? new Set() });
    return any ? [{ ...any, properties: { ...any.properties, [tool.quotes.file]: { enum: ["."] }, [tool.quotes.text]: { enum: shared } } }] : [];
  }
  const offered = offeredArguments(tool, options);
  if (!offered || !tool.quotes || !quotable || !seen || quotes?.has(tool.name)) return offered ? [offered] : [];
  const { file, text } = tool.quotes;
  const marks = isRecord(offered.properties[text]) ? offered.properties[text] : {};
  const exact = seen.flatMap((name) => {
    const held = quotable.get(name);
    const said = held !== undefined && tool.takesFolder ? standingIn(held, replaced) : [];
    if (said.length > 0) return [{ ...offered, properties: { ...offered.properties, [file]: { enum: [name] }, [text]: { enum: said } } }];
    return held === undefined || held.trim() === "" ? [] : [{ ...offered, properties: { ...offered.properties, [file]: { enum: [name] }, [text]: { ...marks, mayBeEmpty: marks["mayBeEmpty"] === true && isAtTop, piecesOf: held } } }];
  });
  const others = seen.filter((name) => !quotable.has(name));
  return others.length === 0 ? exact : [...exact, { ...offered, properties: { ...offered.properties, [file]: { enum: others } } }];
}

/** For what makes a file: a wanted one, or, where it takes that too, one that exists; any where nothing says which. */
function madeName(schema: { [key: string]: unknown }, { mayMake = true, names, seen, wanted = [] }: OfferOptions): unknown {
  const { existing, ...free } = schema;
  if (wanted.length === 0 && (mayMake || existing === undefined || !names)) return free;
  const known = existing === undefined || !names ? undefined : narrow(schema, names, seen);
  const existingNames = isRecord(known) && Array.isArray(known["enum"]) ? known["enum"] : [];
  const choices = [...existingNames, ...wanted];
  return choices.length === 0 ? undefined : { enum: choices };
}

/** The schema with the names that exist, of `seen` ones those that were seen where that is known; undefined when there are none. */
function narrow(schema: unknown, names: WorkspaceNames, seen: readonly string[] | undefined): unknown {
  if (!isRecord(schema)) return schema;
  if (schema["type"] === "array") {
    const items = narrow(schema["items"], names, seen);
    return items === undefined ? undefined : { ...schema, items };
  }
  const kind = schema["existing"];
  if (kind === "setting") return names.settings === undefined ? schema : names.settings.length === 0 ? undefined : { ...schema, enum: names.settings };
  if (kind === "column") return names.columns && names.columns.length > 0 ? { ...schema, enum: names.columns } : schema;
  if (kind !== "file" && kind !== "folder" && kind !== "any") return schema;
  const { existing: _existing, seen: mustBeSeen, seenUnless, endings, several: _several, ...rest } = schema;
  const isFree = (file: string): boolean => Array.isArray(seenUnless) && endsWith(file, seenUnless);
  const known = (mustBeSeen === true || seenUnless !== undefined) && seen ? names.files.filter((file) => seen.includes(file) || isFree(file)) : names.files;
  const files = Array.isArray(endings) ? known.filter((file) => endsWith(file, endings)) : known;
  // What is moved or deleted is in the workspace, never the whole of it.
  const isInside = schema["several"] === true;
  const choices = kind === "any" ? [...(names.isWhole ? [] : files), ...names.folders.filter((folder) => !isInside || folder !== "."), ...(isInside ? (names.patterns ?? []) : [])] : kind === "file" ? files : names.folders;
  return choices.length === 0 ? undefined : { ...rest, enum: choices };
}

function endsWith(file: string, endings: readonly unknown[]): boolean {
  return endings.some((ending) => file.toLowerCase().endsWith(String(ending)));
}

/** The advanced arguments of a tool that a result of it speaks of, as `tool argument`. */
export function namedArguments(tool: ToolSpec, resultText: string): string[] {
  const { properties = {} } = z.toJSONSchema(tool.schema, { io: "input" });
  const advanced = Object.entries(properties).flatMap(([name, value]) => (isRecord(value) && value["advanced"] === true ? [name] : []));
  return advanced.filter((name) => new RegExp(`\\b${name}\\b`).test(resultText)).map((name) => `${tool.name} ${name}`);
}

/** Arguments that name a file which the call shows or makes; `shows: false` marks those of which it only tells something. */
export function fileArguments(tool: ToolSpec): string[] {
  const { properties = {} } = z.toJSONSchema(tool.schema, { io: "input" });
  return Object.entries(properties).flatMap(([name, value]) => (isRecord(value) && value["shows"] !== false && (value["existing"] === "file" || value["makes"] === "file") ? [name] : []));
}

/** Arguments whose schema has this mark. */
export function markedArguments(tool: ToolSpec, mark: string): string[] {
  const { properties = {} } = z.toJSONSchema(tool.schema, { io: "input" });
  return Object.entries(properties).flatMap(([name, value]) => (isRecord(value) && value[mark] === true ? [name] : []));
}

const variantsMax = 8;

/**
 * Every way to write the same try again: an argument that has its default may be left out. [] where an argument may be
 * any text: a model kept from ending a text as it means to writes another one that means nothing.
 */
export function callPatterns(tool: ToolSpec, args: Record<string, unknown>, options: OfferOptions): ForbiddenObject[] {
  const properties = offeredArguments(tool, options)?.properties ?? {};
  let patterns: Map<string, unknown>[] = [new Map()];
  for (const [name, schema] of Object.entries(properties)) {
    if (tool.identity && !tool.identity.includes(name)) continue;
    if (!isCountable(schema)) return [];
    const fallback = isRecord(schema) ? schema["default"] : undefined;
    const value = args[name] ?? fallback;
    const ways = fallback !== undefined && value === fallback ? [undefined, value] : [value];
    patterns = patterns.flatMap((pattern) => ways.map((way) => new Map([...pattern, [name, way]])));
  }
  return patterns.slice(0, variantsMax);
}

function isCountable(schema: unknown): boolean {
  return isRecord(schema) && (Array.isArray(schema["enum"]) || schema["type"] === "boolean" || schema["type"] === "integer");
}
