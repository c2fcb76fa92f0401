// One value in a JSON text, with or without comments: the rest of the text stays as it is written.
import { applyEdits, type FormattingOptions, findNodeAtLocation, getNodeValue, modify, type Node, type ParseError, parseTree } from "jsonc-parser";
import { ToolError } from "../../core/error.ts";

/** @throws ToolError when the text can't be read, or the key is not clear */
export function setInJson(text: string, key: string, value: string, lineEnd: string): string {
  const root = rootOf(text);
  const path = pathOf(root, key);
  const old = findNodeAtLocation(root, path);
  checkKnown(root, key, path, old);
  const now = valueOf(value, old);
  checkNested(key, old, now);
  return old && getNodeValue(old) === now ? text : applyEdits(text, modify(text, path, now, { formattingOptions: formatOf(text, lineEnd) }));
}

/** The text without a setting, or a part of a list. @throws ToolError when there is none of that key */
export function unsetInJson(text: string, key: string): string {
  const root = rootOf(text);
  const path = pathOf(root, key);
  const old = findNodeAtLocation(root, path);
  checkKnown(root, key, path, old);
  if (!old) throw absentSetting(key, (root.children ?? []).map(({ children }) => String(children?.[0]?.value)));
  return applyEdits(text, modify(text, path, undefined, {}));
}

/** @param keys what there is instead */
export function absentSetting(key: string, keys: readonly string[]): ToolError {
  return new ToolError(`there is no setting ${key}${keys.length === 0 ? "" : `; there is ${keys.slice(0, 20).join(", ")}`}. Nothing was changed`);
}

function rootOf(text: string): Node {
  const errors: ParseError[] = [];
  const root = parseTree(text.replace(/^\uFEFF/, (mark) => " ".repeat(mark.length)), errors, { allowTrailingComma: true });
  if (!root || errors.length > 0) throw new ToolError(`the file can't be read as JSON; mend it with fs.edit first`);
  if (root.type !== "object") throw new ToolError("the file holds no JSON object, so it has no settings; change it with fs.edit");
  return root;
}

/** A key that the object has as it is written goes before its parts. */
function pathOf(root: Node, key: string): (string | number)[] {
  if (findNodeAtLocation(root, [key])) return [key];
  const path: (string | number)[] = [];
  let node: Node | undefined = root;
  for (const part of key.replace(/^\$?\./, "").replace(/\[(\d+)\]/g, ".$1").split(".")) {
    const step: string | number = node?.type === "array" && /^\d+$/.test(part) ? Number(part) : part;
    if (node && node.type !== "object" && typeof step === "string") throw new ToolError(`${path.join(".")} is no object, so ${key} can't be set; nothing was changed`);
    path.push(step);
    node = node && findNodeAtLocation(node, [step]);
  }
  return path;
}

/** A small model that should set one of several settings replaces them all. */
function checkNested(key: string, old: Node | undefined, now: unknown): void {
  if ((old?.type !== "object" && old?.type !== "array") || (typeof now === "object" && now !== null)) return;
  const names = (old.children ?? []).map((child, index) => (old.type === "array" ? `${key}[${index}]` : `${key}.${String(child.children?.[0]?.value)}`));
  if (names.length === 0) return;
  throw new ToolError(`${key} holds ${old.type === "array" ? "a list" : "settings of its own"}: ${names.slice(0, 5).join(", ")}. Name one of these or a new one beside them, or give the whole of it as JSON; nothing was changed`, { details: { advice: names[0] } });
}

/** A name that stands only further down is meant there, more likely than as a new one at the top. */
function checkKnown(root: Node, key: string, path: readonly (string | number)[], old: Node | undefined): void {
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

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

function formatOf(text: string, lineEnd: string): FormattingOptions {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  return { insertSpaces: !indent.startsWith("\t"), tabSize: indent.startsWith("\t") ? 1 : indent.length, eol: lineEnd };
}
