// What a change left that the request may mean too: a small model calls done what it did in part.
import type { ToolCall, ToolResultMessage } from "../core/message.ts";
import { mentionedFiles } from "../core/named-files.ts";
import { saidRemovals, saidReplacements, standingIn } from "../core/said-replacements.ts";
import type { ToolSpec, WorkspaceView } from "../core/tool.ts";
import { isCommonWord, stemOf, wordsOf } from "../core/words.ts";
import type { Work } from "./work-plan.ts";

export interface LeftState {
  tools: readonly ToolSpec[];
  request: string;
  work: Work;
  view: WorkspaceView;
  /** The files that there were before the step. */
  before: readonly string[];
}

/** What is told beside results of changes; nothing for those that left nothing. */
export async function leftNotes(calls: readonly ToolCall[], results: readonly ToolResultMessage[], state: LeftState): Promise<Map<ToolResultMessage, string>> {
  const notes = new Map<ToolResultMessage, string>();
  for (const result of results.filter(({ isError }) => !isError)) {
    const call = calls.find(({ id }) => id === result.toolCallId);
    const tool = state.tools.find(({ name }) => name === result.toolName);
    if (!call || tool?.class !== "write") continue;
    const note = tool.quotes ? await remaining(call.arguments[tool.quotes.file], state) : leftBehind(call, tool, state, (await state.view.names())?.files ?? []);
    if (note !== "") notes.set(result, note);
  }
  return notes;
}

/** Texts that are to be replaced or taken out and still stand in the file. */
async function remaining(path: unknown, { request, view, work }: LeftState): Promise<string> {
  const gone = [...(work.kinds.has("replace") ? saidReplacements(request) : []), ...saidRemovals(request)];
  const left = gone.length > 0 && typeof path === "string" ? standingIn((await view.text(path)) ?? "", gone) : [];
  return left.length === 0 ? "" : `(still in ${String(path)}: ${left.join(", ")})`;
}

const toldMax = 5;

/** Files like one that was moved, copied or deleted, where the request names none. */
function leftBehind(call: ToolCall, tool: ToolSpec, { before, request }: LeftState, after: readonly string[]): string {
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
