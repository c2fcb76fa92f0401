// Files that are to be moved or copied without being named: `the paid ones`, `all with a blank in their names`. A small model moves
// the first one, or a whole folder; asked apart, for one line a file, it goes through all of them.
import type { ChatMessage } from "../core/engine.ts";
import { mentionedFiles, mentionedFolders, namedFiles, saidEndings } from "../core/named-files.ts";
import type { ChosenFile, Tool, WorkspaceNames, WorkspaceView } from "../core/tool.ts";
import type { WorkKind } from "../core/work.ts";
import { literal } from "./gbnf.ts";
import { inNamedFolders } from "./unnamed-files.ts";
import type { Work } from "./work-plan.ts";

const kinds = ["move", "copy"] as const satisfies readonly WorkKind[];

export interface Selection {
  /** What does it to the files that are chosen. */
  tool: Tool;
  kind: (typeof kinds)[number];
  request: string;
  files: readonly string[];
  folders: readonly string[];
  /** What the files hold, where that is little. */
  texts: readonly { path: string; text: string }[];
}

export interface SelectionState {
  request: string;
  work: Work | undefined;
  names: WorkspaceNames;
  tools: readonly Tool[];
  view: WorkspaceView;
}

const filesMax = 40;
const textCharsMax = 2400;

/** What may be told by names alone. */
const ofNames = /\b(?:names?|named|called|spaces?|blanks?|dash\w*|hyphens?|underscores?|capitals?|(?:lower|upper) ?case|prefix\w*|suffix\w*|endings?|extensions?|begin\w*|start\w*|end(?:s|ing)?)\b|\*/i;
const renameWord = /\brenam\w*\b/i;
const several = /\b(?:all|every|each|files|ones|these|those|(?:two|three|four|five|six|seven|eight|nine|ten|\d+) \w+s)\b|\*/i;

/** undefined where the request names what it is about, and where the files can't be told by what is shown of them. */
export async function selectionOf({ names, request, tools, view, work }: SelectionState): Promise<Selection | undefined> {
  const { folders } = names;
  // A new name leaves a file in its folder.
  const files = renameWord.test(request) ? inNamedFolders(request, names).files : names.files;
  const kind = work && kindOf(work, request, files);
  const tool = kind && tools.find(({ serves, callsFor }) => callsFor && serves?.includes(kind));
  if (!kind || !tool || files.length < 2 || files.length > filesMax) return undefined;
  const isOfFiles = several.test(request) || saidEndings(request).length > 0;
  if (!isOfFiles && (mentionedFiles(request, files).length > 0 || mentionedFolders(request, folders).length > 0)) return undefined;
  const texts = await Promise.all(files.map(async (path) => ({ path, text: (await view.text(path)) ?? "" })));
  const isShort = texts.reduce((sum, { text }) => sum + text.length, 0) <= textCharsMax;
  const isByName = ofNames.test(request) || saidEndings(request).length > 0;
  return isByName || isShort ? { tool, kind, request, files, folders, texts: isByName ? [] : texts.filter(({ text }) => text !== "") } : undefined;
}

/** Nothing else is asked for, but for a folder that is to be made: of several kinds of work the model mixes the files. */
function kindOf({ isChange, kinds: planned }: Work, request: string, files: readonly string[]): Selection["kind"] | undefined {
  const isMade = namedFiles(request).some((name) => !files.some((file) => file === name || file.endsWith(`/${name}`)));
  const [kind, ...others] = [...planned].filter((one) => one !== "create" || isMade);
  return isChange && others.length === 0 ? kinds.find((one) => one === kind) : undefined;
}

const asked = {
  move: "Write one line for each file that is to be moved or renamed: its path now -> its new path. Leave out the files that stay.",
  copy: "Write one line for each file that is to be copied: its path -> the path of the copy. Leave out the others.",
};
const weighed = {
  move: "Go through all files, one a line: the path, in parentheses what tells whether the request means it, then -> and its path afterwards. A file that is not meant keeps its path.",
  copy: "Go through all files, one a line: the path, in parentheses what tells whether the request means it, then -> and the path of its copy. A file that is not meant keeps its path.",
};

export function selectionChat({ files, kind, request, texts }: Selection): ChatMessage[] {
  const shown = texts.map(({ path, text }) => `${path}:\n${text.replace(/(?<!\n)$/, "\n")}\n`).join("");
  return [
    { role: "system", text: "You tidy up files. Do only what is asked for." },
    { role: "user", text: `${shown}Files:\n${files.join("\n")}\n\n${request}\n\n${(texts.length > 0 ? weighed : asked)[kind]}` },
  ];
}

/**
 * By their names each file at most once, in their order. What the files hold a small model only weighs where it says something of
 * each of them first: else it writes down all that there are.
 */
export function selectionGrammar({ files, texts }: Selection): string {
  const path = 'path ::= [^\\x00-\\x20<>|"*?:\\\\] [^\\x00-\\x1F<>|"*?:\\\\]{0,100}';
  if (texts.length > 0) return [`root ::= ${files.map((file) => `${literal(`${file} (`)} reason ") -> " path "\\n"`).join(" ")}`, `reason ::= [^()>\\x00-\\x1F]{2,${reasonCharsMax}}`, path, ""].join("\n");
  const line = (index: number): string => `${literal(`${files[index]} -> `)} path "\\n" rest-${index + 1}`;
  const firsts = files.map((_, index) => `first-${index} ::= ${line(index)}${index + 1 < files.length ? ` | first-${index + 1}` : ""}`);
  const rests = files.slice(1).map((_, index) => `rest-${index + 1} ::= ${line(index + 1)} | rest-${index + 2}`);
  return ["root ::= first-0", ...firsts, ...rests, `rest-${files.length} ::= ""`, path, ""].join("\n");
}

const reasonCharsMax = 48;

/**
 * Arguments of the calls; undefined for an answer that was cut, that leaves everything where it is or nothing, that makes one file of
 * several, or another kind of file.
 */
export function selectedCalls({ files, folders, kind, request, tool }: Selection, answer: string): Record<string, unknown>[] | undefined {
  if (!answer.endsWith("\n")) return undefined;
  const chosen = answer.trimEnd().split("\n").flatMap((line): ChosenFile[] => {
    const path = files.find((file) => line.startsWith(`${file} (`) || line.startsWith(`${file} -> `)) ?? "";
    const to = placeOf(path, line.slice(path.length).replace(/^(?: \([^)]*\))? -> /, "").trim(), folders);
    return to === path ? [] : [{ path, to }];
  });
  const places = chosen.map(({ to }) => to);
  const left = new Set(kind === "move" ? files.filter((file) => !chosen.some(({ path }) => path === file)) : files);
  const isTaken = new Set(places).size < places.length || places.some((to) => left.has(to));
  const isTooMany = chosen.length === files.length && !wholeWord.test(request);
  const isOtherKind = chosen.some(({ path, to }) => endOf(path) !== endOf(to) && !request.includes(endOf(to)));
  return chosen.length === 0 || isTaken || isTooMany || isOtherKind ? undefined : tool.callsFor?.(chosen);
}

const wholeWord = /\b(?:all|every\w*|each|both)\b|\*/i;

function endOf(path: string): string {
  return /[^/](\.[^./]+)$/.exec(path)?.[1] ?? "";
}

/** A folder, also one that is to be made, takes the file under its name. */
function placeOf(path: string, given: string, folders: readonly string[]): string {
  const to = given.replace(/^\.\//, "").replace(/\/+$/, "");
  const name = path.slice(path.lastIndexOf("/") + 1);
  const isFolder = given.endsWith("/") || folders.includes(to) || (name.includes(".", 1) && !to.slice(to.lastIndexOf("/") + 1).includes("."));
  return isFolder ? (to === "." || to === "" ? name : `${to}/${name}`) : to;
}
