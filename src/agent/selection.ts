// Files that a change is about without naming them: `the drafts`, `all with a blank in their names`. A small model moves the first
// one, or a whole folder; asked apart, for one line a file, it goes through all of them.
import type { ChatMessage } from "../core/engine.ts";
import { mentionedFiles, mentionedFolders, saidEndings } from "../core/named-files.ts";
import type { ChosenFile, Tool, WorkspaceNames, WorkspaceView } from "../core/tool.ts";
import { lookKinds, type WorkKind } from "../core/work.ts";
import { literal } from "./gbnf.ts";
import type { Work } from "./work-plan.ts";

const kinds = ["move", "copy", "delete"] as const satisfies readonly WorkKind[];

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
const several = /\b(?:all|every|each|everything|files|ones|these|those)\b|\*/i;

/** undefined where the request names what it is about, and where the files can't be told by what is shown of them. */
export async function selectionOf({ names, request, tools, view, work }: SelectionState): Promise<Selection | undefined> {
  const kind = work?.isChange === true ? kindOf(work) : undefined;
  const tool = kind && tools.find(({ serves, callsFor }) => callsFor && serves?.includes(kind));
  const { files, folders } = names;
  if (!kind || !tool || files.length < 2 || files.length > filesMax) return undefined;
  const isOfFiles = several.test(request) || saidEndings(request).length > 0;
  if (!isOfFiles && (mentionedFiles(request, files).length > 0 || mentionedFolders(request, folders).length > 0)) return undefined;
  const texts = await Promise.all(files.map(async (path) => ({ path, text: (await view.text(path)) ?? "" })));
  const isShort = texts.reduce((sum, { text }) => sum + text.length, 0) <= textCharsMax;
  if (!isShort && !ofNames.test(request) && saidEndings(request).length === 0) return undefined;
  const isShown = isShort && !ofNames.test(request);
  return { tool, kind, request, files, folders, texts: isShown ? texts.filter(({ text }) => text !== "") : [] };
}

/** What comes before it may change what it is about. */
const before: readonly WorkKind[] = [...lookKinds, "create", "run"];

function kindOf(work: Work): Selection["kind"] | undefined {
  const [kind, ...others] = kinds.filter((one) => work.kinds.has(one));
  return others.length > 0 || before.some((one) => work.kinds.has(one)) ? undefined : kind;
}

const asked = {
  move: "Write one line for each file that is to be moved or renamed: its path now -> its new path. Leave out the files that stay.",
  copy: "Write one line for each file that is to be copied: its path -> the path of the copy. Leave out the others.",
  delete: "Write the paths of the files that are to be deleted, one a line. Leave out the files that stay.",
};

export function selectionChat({ files, kind, request, texts }: Selection): ChatMessage[] {
  const shown = texts.map(({ path, text }) => `${path}:\n${text.replace(/(?<!\n)$/, "\n")}\n`).join("");
  return [
    { role: "system", text: "You tidy up files. Do only what is asked for." },
    { role: "user", text: `${shown}Files:\n${files.join("\n")}\n\n${request}\n\n${asked[kind]}` },
  ];
}

/** Each file at most once, in their order. */
export function selectionGrammar({ files, kind }: Selection): string {
  const lines = files.map((file) => (kind === "delete" ? `${literal(`${file}\n`)}` : `${literal(`${file} -> `)} path "\\n"`));
  const rules = lines.map((line, index) => `from-${index} ::= line-${index} rest-${index + 1}${index + 1 < lines.length ? ` | from-${index + 1}` : ""}\nline-${index} ::= ${line}`);
  const rests = lines.slice(1).map((_, index) => `rest-${index + 1} ::= line-${index + 1} rest-${index + 2} | rest-${index + 2}`);
  return [`root ::= from-0`, ...rules, ...rests, `rest-${lines.length} ::= ""`, 'path ::= [^\\x00-\\x20<>|"*?:\\\\] [^\\x00-\\x1F<>|"*?:\\\\]*', ""].join("\n");
}

/** Arguments of the calls; undefined for an answer that was cut, that leaves everything where it is, or that makes one of several. */
export function selectedCalls({ files, folders, kind, tool }: Selection, answer: string): Record<string, unknown>[] | undefined {
  if (!answer.endsWith("\n")) return undefined;
  const chosen = answer.trimEnd().split("\n").map((line): ChosenFile => {
    const [path = "", to = ""] = line.split(" -> ");
    return { path, to: kind === "delete" ? "" : placeOf(path, to.trim(), folders) };
  }).filter(({ path, to }) => path !== to);
  const places = chosen.map(({ to }) => to);
  const left = new Set(kind === "move" ? files.filter((file) => !chosen.some(({ path }) => path === file)) : files);
  const isTaken = kind !== "delete" && (new Set(places).size < places.length || places.some((place) => left.has(place)));
  return chosen.length === 0 || isTaken ? undefined : tool.callsFor?.(chosen);
}

/** A folder, also one that is to be made, takes the file under its name. */
function placeOf(path: string, given: string, folders: readonly string[]): string {
  const to = given.replace(/^\.\//, "").replace(/\/+$/, "");
  const name = path.slice(path.lastIndexOf("/") + 1);
  const isFolder = given.endsWith("/") || folders.includes(to) || (name.includes(".", 1) && !to.slice(to.lastIndexOf("/") + 1).includes("."));
  return isFolder ? (to === "." || to === "" ? name : `${to}/${name}`) : to;
}
