// Changes single keys in the text of `config.json` and leaves every other byte as it is: comments stay where they belong.
import { closeSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { applyEdits, createScanner, type Edit, type Node, type ParseError, parseTree } from "jsonc-parser";
import { AgentError, messageOf } from "../core/error.ts";

const comma = 5; // SyntaxKind.CommaToken; a const enum can't be imported one file at a time

/** The text with a key set; groups on the way are made, and whatever stands in their place is replaced. */
export function withValue(text: string, name: string, value: unknown): string {
  const path = name.split(".");
  let node = rootOf(text);
  for (const [depth, step] of path.entries()) {
    const rest = nested(path.slice(depth + 1), value);
    if (node.type !== "object") return applyEdits(text, [replacement(node, { [step]: rest })]);
    const found = membersNamed(node, step).at(-1)?.children?.[1];
    if (found === undefined) return applyEdits(text, insertion(text, node, step, rest, depth + 1));
    node = found;
  }
  return applyEdits(text, [replacement(node, value)]);
}

/** Whether a text can be edited: it is one JSON object, comments and trailing commas allowed. */
export function canEdit(text: string): boolean {
  const errors: ParseError[] = [];
  return parseTree(text, errors, { allowTrailingComma: true })?.type === "object" && errors.length === 0;
}

/** The text without a key, wherever it is set; the same text when it is not. */
export function withoutValue(text: string, name: string): string {
  const path = name.split(".");
  const last = path.pop() ?? name;
  let groups = [rootOf(text)];
  for (const step of path) groups = groups.flatMap((group) => membersNamed(group, step).flatMap((property) => property.children?.[1] ?? []));
  const property = groups.flatMap((group) => membersNamed(group, last)).at(-1);
  return property === undefined ? text : withoutValue(applyEdits(text, removal(text, property)), name);
}

/**
 * Replaces a file in one step, mode 0600; a link keeps pointing to it.
 * @throws AgentError `state_unusable`
 */
export function replaceFile(path: string, text: string): void {
  let target = path;
  try {
    target = realpathSync(path);
  } catch {
    // Not there yet: the name itself is the target.
  }
  const draft = `${target}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const file = openSync(draft, "wx", 0o600);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, target);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw new AgentError("state_unusable", `${path} cannot be written: ${messageOf(cause)}`, { cause });
  }
}

function rootOf(text: string): Node {
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (root?.type !== "object") throw new AgentError("internal", "the configuration to edit is no object");
  return root;
}

function membersNamed(group: Node, name: string): Node[] {
  return group.type === "object" ? (group.children ?? []).filter((property) => property.children?.[0]?.value === name) : [];
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, step) => ({ [step]: inner }), value);
}

function replacement(node: Node, value: unknown): Edit {
  return { offset: node.offset, length: node.length, content: oneLine(value) };
}

function oneLine(value: unknown): string {
  // Every line break that JSON.stringify writes stands between values, never inside a string.
  return JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");
}

function insertion(text: string, group: Node, name: string, value: unknown, depth: number): Edit[] {
  const eol = /\r?\n/.exec(text)?.[0] ?? "\n";
  const unit = /^[ \t]+(?=")/m.exec(text)?.[0] ?? "  ";
  const property = `${JSON.stringify(name)}: ${oneLine(value)}`;
  const last = group.children?.at(-1);
  if (last === undefined) {
    const close = group.offset + group.length - 1;
    const start = text.slice(0, close).trimEnd().length;
    return [{ offset: start, length: close - start, content: eol + unit.repeat(depth) + property + eol + unit.repeat(depth - 1) }];
  }
  const end = last.offset + last.length;
  const ownComma = commaAfter(text, end);
  const afterComma = ownComma === undefined ? end : ownComma + 1;
  const restOfLine = /^([ \t]*\/\*[^\r\n]*?\*\/)*[ \t]*(\/\/[^\r\n]*)?(?=\r?\n)/.exec(text.slice(afterComma))?.[0];
  const lineStart = text.lastIndexOf("\n", last.offset) + 1;
  const indent = /^[ \t]*/.exec(text.slice(lineStart))?.[0] ?? "";
  const edits: Edit[] = ownComma === undefined ? [{ offset: end, length: 0, content: "," }] : [];
  if (restOfLine === undefined) return [...edits, { offset: afterComma, length: 0, content: ` ${property}` }];
  return [...edits, { offset: afterComma + restOfLine.length, length: 0, content: eol + indent + property + (ownComma === undefined ? "" : ",") }];
}

function removal(text: string, property: Node): Edit[] {
  const siblings = property.parent?.children ?? [];
  const previous = siblings[siblings.indexOf(property) - 1];
  const ownComma = commaAfter(text, property.offset + property.length);
  const edits: Edit[] = [];
  if (ownComma === undefined && previous !== undefined) {
    const before = commaAfter(text, previous.offset + previous.length);
    if (before !== undefined) edits.push({ offset: before, length: 1, content: "" });
  }
  let start = property.offset;
  let end = property.offset + property.length;
  if (ownComma !== undefined && text.slice(end, ownComma).trim() === "") end = ownComma + 1;
  else if (ownComma !== undefined) edits.push({ offset: ownComma, length: 1, content: "" });
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const rest = /^[ \t]*\r?\n/.exec(text.slice(end))?.[0];
  const startsLine = text.slice(lineStart, start).trim() === "";
  if (startsLine && rest !== undefined) [start, end] = [lineStart, end + rest.length];
  else end += /^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0;
  return [...edits, { offset: start, length: end - start, content: "" }];
}

/** Where the comma stands that comes next, past spaces and comments. */
function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  return scanner.scan() === comma ? scanner.getTokenOffset() : undefined;
}
