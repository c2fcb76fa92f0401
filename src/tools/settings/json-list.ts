// What lines at the end mean for a JSON text: one more element of its list, or more members of its object. Behind the last
// brace they would make it unreadable.
import { applyEdits, modify, parse, type ParseError } from "jsonc-parser";
import { ToolError } from "../../core/error.ts";
import { isRecord } from "../../core/is-record.ts";
import { formatOf, parsed, withElement } from "./json.ts";
import type { JsonPath } from "./json-path.ts";

/** @returns undefined for a text that is no JSON. @throws ToolError when it is not clear what is to be added, and where */
export function addToJson(text: string, addition: string, shown: string): string | undefined {
  const errors: ParseError[] = [];
  const root: unknown = parse(text.replace(/^\uFEFF/, ""), errors, { allowTrailingComma: true });
  if (errors.length > 0 || typeof root !== "object" || root === null) return undefined;
  const added = addition.trim().replace(/,$/, "");
  const lists = listsIn(root, []);
  const [list] = lists;
  if (list === undefined) return withMembers(text, root, parsed(added) ?? parsed(`{${added}}`), shown);
  if (lists.length > 1) throw new ToolError(`nothing was added: ${shown} holds several lists: ${lists.slice(0, 5).map(({ path }) => path.join(".")).join(", ")}. To add to one use fs.set with the key ${JSON.stringify(`${list.path.join(".")}[${list.elements.length}]`)} and the new element as its value`);
  return elementsOf(added, list, shown).reduce<string>((now, element) => withElement(now, list.path, element), text);
}

interface List {
  path: JsonPath;
  elements: readonly unknown[];
}

/** Lists that are in no other list. */
function listsIn(value: unknown, path: JsonPath): List[] {
  if (Array.isArray(value)) return [{ path, elements: value }];
  return isRecord(value) ? Object.entries(value).flatMap(([name, inner]) => listsIn(inner, [...path, name])) : [];
}

/** In a list of texts plain lines are texts. */
function elementsOf(added: string, { elements, path }: List, shown: string): unknown[] {
  const value = parsed(added);
  const like = elements.at(-1);
  const isLike = (one: unknown): boolean => like === undefined || (typeof one === typeof like && isRecord(one) === isRecord(like));
  if (value !== undefined && isLike(value)) return [value];
  const several = Array.isArray(value) ? value : (parsed(`[${added}]`) as unknown);
  if (Array.isArray(several) && several.length > 0 && several.every(isLike)) return several;
  if (typeof like === "string" && value === undefined) return added.split(/\r?\n/);
  throw new ToolError(`nothing was added: text is to be one more element of ${path.length === 0 ? "the list" : path.join(".")} in ${shown}, written like ${JSON.stringify(like)}`, { details: { advice: JSON.stringify(like) } });
}

function withMembers(text: string, root: object, members: unknown, shown: string): string {
  if (!isRecord(members) || Object.keys(members).length === 0) throw new ToolError(`nothing was added: ${shown} is JSON. To give it a setting use fs.set`);
  const known = Object.keys(members).find((name) => Object.hasOwn(root, name));
  if (known !== undefined) throw new ToolError(`nothing was added: ${shown} has ${known} already. To give it another value use fs.set`, { details: { advice: known } });
  return Object.entries(members).reduce((now, [name, value]) => applyEdits(now, modify(now, [name], value, formatOf(now))), text);
}
