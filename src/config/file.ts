// Reads `config.json`: JSON with comments and trailing commas. Every fault has its place; nothing is guessed.
import { readFileSync, statSync } from "node:fs";
import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import type { z } from "zod";
import { AgentError, messageOf } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import { nearest } from "../core/nearest.ts";
import { Key, type KeyGroup } from "./keys.ts";
import { didYouMean, nearestKey } from "./names.ts";
import { configKeys } from "./schema.ts";
import { checkValue, membersOf, schemaAt } from "./values.ts";

export interface FileLayer {
  /** Checked values by dotted name; only keys that the file sets. */
  values: Map<string, unknown>;
  warnings: string[];
}

/**
 * The text of the file without its byte order mark; undefined when there is no file.
 * @throws AgentError `config_invalid` for what is no readable UTF-8 file.
 */
export function readConfigText(path: string): string | undefined {
  let bytes: Buffer;
  try {
    const status = statSync(path);
    if (!status.isFile()) throw new Error(status.isDirectory() ? "it is a directory" : "it is no regular file");
    if (status.size > limits.configBytesMax) throw new Error(`it has ${status.size} bytes, more than ${limits.configBytesMax}`);
    bytes = readFileSync(path);
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw new AgentError("config_invalid", `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  if (isUtf16(bytes)) throw new AgentError("config_invalid", `${path}:1:1: the file is UTF-16; save it as UTF-8`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const text = bytes.toString("utf8");
    throw new AgentError("config_invalid", `${path}:${placeOf(text, text.indexOf("\uFFFD"))}: expected UTF-8 text`);
  }
}

/**
 * Reads what a configuration text sets.
 * @param path for messages only
 * @throws AgentError `config_invalid`, `path:line:column: what was expected`
 */
export function parseConfig(text: string, path: string): FileLayer {
  const layer: FileLayer = { values: new Map(), warnings: [] };
  const context: Context = { path, text, layer };
  readGroup(context, parse(context), configKeys, "");
  return layer;
}

interface Context {
  path: string;
  text: string;
  layer: FileLayer;
}

function parse(context: Context): Node {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(context.text, errors, { allowTrailingComma: true });
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw fault(context, 0, "expected less nesting");
  }
  const error = errors[0];
  if (error !== undefined) throw fault(context, error.offset, inWords(context.text, error));
  if (root === undefined) throw fault(context, 0, "expected an object");
  return root;
}

function readGroup(context: Context, node: Node, group: KeyGroup, prefix: string): void {
  if (node.type !== "object") throw fault(context, node.offset, `${prefix === "" ? "" : `${prefix.slice(0, -1)}: `}expected an object, found ${node.type}`);
  for (const [name, { nameNode, valueNode }] of properties(context, node, prefix)) {
    const member = Object.hasOwn(group, name) ? group[name] : undefined;
    if (member instanceof Key) readKey(context, valueNode, member, prefix + name);
    else if (member !== undefined) readGroup(context, valueNode, member, `${prefix}${name}.`);
    else if (prefix + name !== "version") warnUnknown(context, nameNode, prefix + name, nearestKey(prefix + name));
  }
}

function readKey(context: Context, node: Node, key: Key, name: string): void {
  warnInside(context, node, key.schema, name);
  const checked = checkValue(name, key, valueOf(node));
  if (!checked.ok) throw fault(context, offsetOf(node, checked.path), checked.message);
  context.layer.values.set(name, checked.value);
}

/** Unknown and repeated members inside a value, such as those of a provider. */
function warnInside(context: Context, node: Node, schema: z.ZodType, name: string): void {
  const members = membersOf(schema);
  if (node.type === "array") {
    for (const [index, item] of (node.children ?? []).entries()) warnInside(context, item, schemaAt(schema, [index]), `${name}[${index}]`);
  } else if (node.type === "object") {
    for (const [inner, { nameNode, valueNode }] of properties(context, node, `${name}.`)) {
      if (members === undefined) continue;
      if (Object.hasOwn(members, inner)) warnInside(context, valueNode, schemaAt(schema, [inner]), `${name}.${inner}`);
      else warnUnknown(context, nameNode, `${name}.${inner}`, nearest(inner, Object.keys(members)));
    }
  }
}

/** Members by name; of a repeated one the last counts, which is what JSON readers do. */
function properties(context: Context, node: Node, prefix: string): Map<string, { nameNode: Node; valueNode: Node }> {
  const found = new Map<string, { nameNode: Node; valueNode: Node }>();
  for (const property of node.children ?? []) {
    const [nameNode, valueNode] = property.children ?? [];
    if (nameNode === undefined || valueNode === undefined) continue;
    const name = String(nameNode.value);
    if (found.has(name)) warn(context, nameNode, `${prefix}${name} is set twice; the last one counts`);
    found.set(name, { nameNode, valueNode });
  }
  return found;
}

function valueOf(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(valueOf);
  if (node.type !== "object") return node.value;
  return Object.fromEntries((node.children ?? []).map((property) => [String(property.children?.[0]?.value), property.children?.[1] && valueOf(property.children[1])]));
}

/** Where the value at a path stands, or the innermost one around it that exists. */
function offsetOf(node: Node, path: readonly (string | number)[]): number {
  let inner = node;
  for (const step of path) {
    const next = inner.type === "array" ? inner.children?.[Number(step)] : inner.children?.findLast((property) => property.children?.[0]?.value === step)?.children?.[1];
    if (next === undefined) break;
    inner = next;
  }
  return inner.offset;
}

function warnUnknown(context: Context, node: Node, name: string, candidate: string | undefined): void {
  warn(context, node, `unknown key ${name} is ignored${didYouMean(candidate)}`);
}

function warn(context: Context, node: Node, message: string): void {
  context.layer.warnings.push(`${context.path}:${placeOf(context.text, node.offset)}: ${message}`);
}

function fault(context: Context, offset: number, message: string): AgentError {
  return new AgentError("config_invalid", `${context.path}:${placeOf(context.text, offset)}: ${message}`);
}

/** `line:column`, both from 1. */
function placeOf(text: string, offset: number): string {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return `${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`;
}

const expectations: Readonly<Record<string, string>> = {
  InvalidSymbol: "expected JSON",
  ValueExpected: "expected a value",
  PropertyNameExpected: "expected a key in double quotes",
  ColonExpected: "expected a colon",
  CommaExpected: "expected a comma",
  CloseBraceExpected: 'expected a comma or "}"',
  CloseBracketExpected: 'expected a comma or "]"',
  EndOfFileExpected: "expected the end of the file",
};

function inWords(text: string, { error, offset, length }: ParseError): string {
  const found = text.slice(offset, offset + Math.min(length, 40));
  const code = printParseErrorCode(error);
  const wanted = expectations[code] ?? code.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return `${wanted}${found === "" ? " before the end of the file" : `, found ${JSON.stringify(found)}`}`;
}

function isUtf16(bytes: Buffer): boolean {
  const [first, second] = bytes;
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || (bytes.length > 1 && (first === 0) !== (second === 0));
}
