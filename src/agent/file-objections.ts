// Why a move or a deletion of a small model must not run as it is: it takes other files than the request speaks of.
import type { ToolCall } from "../core/message.ts";
import { mentionedFolders } from "../core/named-files.ts";
import type { Tool, WorkspaceNames } from "../core/tool.ts";
import { isCommonWord, stemOf, wordsOf } from "../core/words.ts";
import { folderWord } from "./offered-names.ts";

/** undefined when it may run. */
export function fileObjection(call: ToolCall, tool: Tool, request: string, names: WorkspaceNames | undefined): string | undefined {
  if (!names) return undefined;
  if (tool.serves?.includes("move")) return renamedAway(call, request, names);
  return tool.serves?.includes("delete") && !tool.quotes ? (otherThanFolders(call, request, names) ?? oddOnes(call, request, names)) : undefined;
}

/** The new name is written without the folder that the file is in. */
function renamedAway({ arguments: { from, to } }: ToolCall, request: string, { folders }: WorkspaceNames): string | undefined {
  if (typeof from !== "string" || typeof to !== "string" || !/\brenam\w*\b|\bcall(?:ed)?\b/i.test(request)) return undefined;
  const folder = from.slice(0, Math.max(0, from.lastIndexOf("/")));
  if (folder === "" || to.includes("/") || from.includes("*") || folders.includes(to) || topWord.test(request)) return undefined;
  return `nothing was moved: ${to} would be at the top. To leave it in its folder write "to":"${folder}/${to}"; for the top write the same again`;
}

const topWord = /\b(?:top|root|main folder|out of)\b/i;

/** Asked for folders of a name it takes files that are called so too. */
function otherThanFolders({ arguments: { paths } }: ToolCall, request: string, { folders }: WorkspaceNames): string | undefined {
  const meant = mentionedFolders(request, folders);
  const last = folders.filter((folder) => folder !== "." && new RegExp(`(?<![\\w./-])${RegExp.escape(folder.slice(folder.lastIndexOf("/") + 1))}(?![\\w/-]|\\.\\w)`).test(request));
  const called = [...new Set([...meant, ...last])];
  if (!Array.isArray(paths) || called.length === 0 || !new RegExp(`\\b(?:${folderWord.source})`, "i").test(request) || fileWord.test(request)) return undefined;
  const others = paths.filter((path) => !called.some((folder) => path === folder || String(path).startsWith(`${folder}/`)));
  return others.length === 0 ? undefined : `nothing was deleted: the request speaks of ${called.length === 1 ? "the folder" : "the folders"} ${called.join(", ")}, not of ${others.join(", ")}`;
}

const fileWord = /\bfiles?\b/i;

/** Some of the files have a word of the request in their names, the others have not. */
function oddOnes({ arguments: { paths } }: ToolCall, request: string, { files }: WorkspaceNames): string | undefined {
  const given = Array.isArray(paths) ? paths.filter((path): path is string => files.includes(String(path))) : [];
  const stems = (path: string): string[] => wordsOf(path.slice(path.lastIndexOf("/") + 1).replace(/\.[^.]*$/, "")).map(stemOf);
  const said = wordsOf(request).filter((word) => !isCommonWord(word)).map(stemOf);
  for (const word of said) {
    const odd = given.filter((path) => !stems(path).includes(word));
    if (given.length > 2 && odd.length > 0 && odd.length < given.length - 1 && !odd.some((path) => request.includes(path))) return `nothing was deleted: the names of ${odd.join(", ")} do not say ${word}, as those of the others do. Leave them out, or write the same again`;
  }
  return undefined;
}
