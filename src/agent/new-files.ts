// Which file that is not there yet a change makes next by writing it apart from the conversation (agent/rewrite), and what it is
// told for that: the files that were looked at, and what was found out.
import { contentText, type AgentMessage } from "../core/message.ts";
import { mentionedFiles } from "../core/named-files.ts";
import type { Tool, WorkspaceNames } from "../core/tool.ts";
import type { WorkKind } from "../core/work.ts";
import { newPaths } from "./offered-names.ts";
import type { Work } from "./work-plan.ts";

export interface NewFile {
  /** As the request names it. */
  name: string;
  /** Where it may belong, the likeliest first. */
  places: readonly string[];
}

/** What leaves files there that are not written: where the request names such files, a name that is missing may be theirs. */
const otherMakingKinds: readonly WorkKind[] = ["move", "copy", "append"];

/** Of the names that the request names and that are not there those of files to be written. */
export function newFiles(missing: readonly string[], names: WorkspaceNames, request: string, { isChange, kinds }: Work): NewFile[] {
  const isOther = otherMakingKinds.some((kind) => kinds.has(kind)) && mentionedFiles(request, names.files).length > 0;
  if (!isChange || !kinds.has("create") || isOther) return [];
  const folders = missing.filter((name) => !isFile(name));
  return missing.filter(isFile).map((name) => ({ name, places: placesOf(name, folders, names, request) }));
}

function isFile(name: string): boolean {
  return /\.[^./]+$/.test(name);
}

/** A folder that is to be made with it is where it belongs; one that is there may be spoken of for another reason. */
function placesOf(name: string, made: readonly string[], names: WorkspaceNames, request: string): string[] {
  if (name.includes("/")) return [name];
  const [folder] = made;
  if (folder !== undefined && made.length === 1) return [`${folder}/${name}`];
  const said = names.folders.filter((path) => path !== "." && new RegExp(`(?<![\\w.-])${RegExp.escape(path)}(?![\\w-]|\\.\\w)`, "i").test(request));
  return newPaths([name], { ...names, folders: said }, request);
}

const foundCharsMax = 600;
const foundMax = 3;

/** The last results of what shows no file as it is: counts, sums, lists, output. */
export function foundOut(messages: readonly AgentMessage[], tools: readonly Tool[]): string[] {
  const last = messages.findLastIndex(({ role }) => role === "user");
  const finders = new Set(tools.flatMap((tool) => (tool.class === "shell" || (tool.class === "read" && !tool.serves?.includes("read")) ? [tool.name] : [])));
  const results = messages.slice(last + 1).flatMap((message) => (message.role === "toolResult" && !message.isError && finders.has(message.toolName) ? [contentText(message.content)] : []));
  return results.slice(-foundMax).map((text) => text.slice(0, foundCharsMax).toWellFormed());
}
