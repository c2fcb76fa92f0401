// Files that a request may mean too when one of them was moved, copied or deleted: it spoke of several, and named none.
import type { ToolCall } from "../core/message.ts";
import { mentionedFiles } from "../core/named-files.ts";
import type { ToolSpec } from "../core/tool.ts";
import { isCommonWord, stemOf, wordsOf } from "../core/words.ts";

const toldMax = 5;

/**
 * @param before the files that there were when the call was made
 * @param after those that there are now
 * @returns what is told beside the result; "" where nothing like it is left
 */
export function leftBehind(call: ToolCall, tool: ToolSpec, request: string, before: readonly string[], after: readonly string[]): string {
  if (!tool.serves?.some((kind) => kind === "move" || kind === "copy" || kind === "delete") || mentionedFiles(request, before).length > 0) return "";
  const given = Object.values(call.arguments).flat().filter((value) => typeof value === "string");
  const taken = before.filter((file) => given.includes(file));
  const [first] = taken;
  const said = new Set(wordsOf(request).filter((word) => !isCommonWord(word)).map(stemOf));
  const stems = (path: string): string[] => wordsOf(path.slice(path.lastIndexOf("/") + 1)).map(stemOf).filter((stem) => said.has(stem));
  const shared = first === undefined ? [] : stems(first);
  const isLike = (file: string): boolean => folderOf(file) === folderOf(first ?? "") && shared.every((stem) => stems(file).includes(stem));
  const left = shared.length === 0 ? [] : after.filter((file) => before.includes(file) && !taken.includes(file) && isLike(file));
  return left.length === 0 || left.length > toldMax ? "" : `(still there: ${left.join(", ")})`;
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
