// One value in a JSON text, with or without comments: the rest of the text stays as it is written.
import { applyEdits, findNodeAtLocation, getNodeValue, type ModificationOptions, modify, type Node, type ParseError, parseTree } from "jsonc-parser";
import { ToolError } from "../../core/error.ts";
import { isRecord } from "../../core/is-record.ts";
import { labelOf, type JsonPath, pathOf } from "./json-path.ts";

/** @throws ToolError when the text can't be read, or the key is not clear */
export function setInJson(text: string, key: string, value: string): string {
  const root = rootOf(text);
  const path = pathOf(getNodeValue(root), key);
  if ("list" in path) {
    const like = findNodeAtLocation(root, [...path.list, 0, path.member]);
    return withElement(text, path.list, { ...path.element, [path.member]: valueOf(value, like) });
  }
  const old = findNodeAtLocation(root, path);
  checkKnown(root, key, path, old);
  const now = valueOf(value, old);
  checkNested(key, old, now);
  return old && getNodeValue(old) === now ? text : applyEdits(text, modify(text, path, now, formatOf(text)));
}

/** The text without a setting, or a part of a list. @throws ToolError when there is none of that key */
export function unsetInJson(text: string, key: string): string {
  const root = rootOf(text);
  const path = pathOf(getNodeValue(root), key);
  const old = "list" in path ? undefined : findNodeAtLocation(root, path);
  if (!("list" in path)) checkKnown(root, key, path, old);
  if ("list" in path || !old) throw absentSetting(key, (root.children ?? []).map(({ children }) => String(children?.[0]?.value)));
  const list = old.parent?.type === "array" ? (old.parent.children ?? []) : [];
  const before = list[list.indexOf(old) - 1];
  // Of a list's last element jsonc-parser takes too little or too much.
  if (before && list.at(-1) === old) return text.slice(0, endOf(before)) + text.slice(endOf(old));
  return applyEdits(text, modify(text, path, undefined, {}));
}

/** The text with one more element at the end of a list: on one line, and with blanks, where the last one is so. */
export function withElement(text: string, path: JsonPath, element: unknown): string {
  const list = findNodeAtLocation(treeOf(text), path)?.children ?? [];
  const last = list.at(-1);
  const like = last ? text.slice(last.offset, endOf(last)) : "\n";
  if (!last || (last.children && like.includes("\n"))) return applyEdits(text, modify(text, [...path, list.length], element, { isArrayInsertion: true, ...formatOf(text) }));
  const before = list.at(-2);
  const gap = before ? text.slice(endOf(before), last.offset) : `,${/\s*$/.exec(text.slice(0, last.offset))?.[0] ?? ""}`;
  return text.slice(0, endOf(last)) + gap + onOneLine(element, { blank: /[:,] /.test(like) ? " " : "", padding: like.startsWith("{ ") ? " " : "" }) + text.slice(endOf(last));
}

function onOneLine(value: unknown, style: { blank: string; padding: string }): string {
  const { blank, padding } = style;
  if (Array.isArray(value)) return `[${value.map((one) => onOneLine(one, style)).join(`,${blank}`)}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  return `{${padding}${Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}:${blank}${onOneLine(one, style)}`).join(`,${blank}`)}${padding}}`;
}

function endOf({ length, offset }: Node): number {
  return offset + length;
}

/** @param keys what there is instead */
export function absentSetting(key: string, keys: readonly string[]): ToolError {
  return new ToolError(`there is no setting ${key}${keys.length === 0 ? "" : `; there is ${keys.slice(0, 20).join(", ")}`}. Nothing was changed`);
}

function rootOf(text: string): Node {
  const root = treeOf(text);
  if (root.type !== "object" && labelOf(getNodeValue(root)) === undefined) throw new ToolError("the file holds no JSON object, so it has no settings; change it with fs.edit");
  return root;
}

function treeOf(text: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text.replace(/^\uFEFF/, (mark) => " ".repeat(mark.length)), errors, { allowTrailingComma: true });
  if (!root || errors.length > 0) throw new ToolError(`the file can't be read as JSON; mend it with fs.edit first`);
  return root;
}

/** A small model that should set one of several settings replaces them all. */
function checkNested(key: string, old: Node | undefined, now: unknown): void {
  if ((old?.type !== "object" && old?.type !== "array") || (typeof now === "object" && now !== null)) return;
  const label = labelOf(getNodeValue(old));
  const nameOf = (child: Node, index: number): string => (label !== undefined ? `${key}.${String(findNodeAtLocation(child, [label])?.value)}` : old.type === "array" ? `${key}[${index}]` : `${key}.${String(child.children?.[0]?.value)}`);
  const names = (old.children ?? []).map(nameOf);
  if (names.length === 0) return;
  throw new ToolError(`${key} holds ${old.type === "array" ? "a list" : "settings of its own"}: ${names.slice(0, 5).join(", ")}. Name one of these or a new one beside them, or give the whole of it as JSON; nothing was changed`, { details: { advice: names[0] } });
}

/** A name that stands only further down is meant there, more likely than as a new one at the top. */
function checkKnown(root: Node, key: string, path: JsonPath, old: Node | undefined): void {
  if (old || path.length > 1) return;
  const places = placesOf(root, key, []);
  if (places.length > 0) throw new ToolError(`there is no ${key} at the top; there is ${places.slice(0, 5).join(", ")}. Give the whole key`, { details: { advice: places[0] } });
}

function placesOf(node: Node, name: string, path: readonly string[]): string[] {
  return (node.children ?? []).flatMap((child) => {
    const [keyNode, valueNode] = child.type === "property" ? (child.children ?? []) : [undefined, child];
    if (!valueNode) return [];
    const here = keyNode ? [...path, String(keyNode.value)] : path;
    return [...(keyNode?.value === name && path.length > 0 ? [here.join(".")] : []), ...placesOf(valueNode, name, here)];
  });
}

/** A text stays a text; everything else is what JSON takes it for, and a text where it takes it for nothing. */
function valueOf(value: string, old: Node | undefined): unknown {
  const read = parsed(value);
  if (old?.type === "string") return typeof read === "string" ? read : value;
  if (old?.type === "boolean" && typeof read !== "boolean") return switched.get(value.trim().toLowerCase()) ?? read ?? value;
  return read === undefined ? value : read;
}

/** What people call the two positions of a switch. */
const switched = new Map([["on", true], ["yes", true], ["true", true], ["enabled", true], ["off", false], ["no", false], ["false", false], ["disabled", false]]);

/** undefined for what is no JSON. */
export function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** As the text is written: one line stays one line. */
export function formatOf(text: string): ModificationOptions {
  if (!text.trim().includes("\n")) return {};
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  return { formattingOptions: { insertSpaces: !indent.startsWith("\t"), tabSize: indent.startsWith("\t") ? 1 : indent.length, eol: text.includes("\r\n") ? "\r\n" : "\n" } };
}
