// Which file a change writes next (agent/rewrite), and when that is done: each file that it makes or that the request is about, once;
// what is to be mended some times, as long as it fails.
import { isRecord } from "../core/is-record.ts";
import { contentText, type AgentMessage, type ToolCall } from "../core/message.ts";
import { isMarkdown, isTestName, mentionedFiles, saidEndings } from "../core/named-files.ts";
import type { Tool, WorkspaceNames, WorkspaceView } from "../core/tool.ts";
import { lookKinds, type WorkKind } from "../core/work.ts";
import { isFix } from "./fix-stage.ts";
import { foundOut, newFiles } from "./new-files.ts";
import type { Rewrite } from "./rewrite.ts";
import type { Work } from "./work-plan.ts";

export interface RewritingState {
  work: Work;
  request: string;
  /** What there is. */
  names: WorkspaceNames;
  /** Of the files the ones that were looked at. */
  seen: readonly string[];
  /** What the request names and is not there. */
  missing: readonly string[];
  /** Something is to be done before a file that is there may change. */
  isUnfinished: boolean;
  messages: readonly AgentMessage[];
  tools: readonly Tool[];
  view: WorkspaceView;
  /** The name of the tool that writes a whole file. */
  tool: string;
}

/** Other kinds have tools that do them exactly. */
const kindsOfText: ReadonlySet<WorkKind> = new Set(["edit", "replace", "set", "append", "insert", "cut"]);
const contentCharsMax = 2500;
/** With the files beside it: file and answer have to fit into the context that a question apart has. */
const shownCharsMax = 3600;
const filesMax = 6;
const triesOfFixMax = 4;
/** Of one try, as long as the answer is what the file holds already. */
const triesAtOnce = 4;

export class Rewriting {
  readonly #tries = new Map<string, number>();
  /** Files as they were at first: what is to be mended is mended from there. */
  readonly #first = new Map<string, Rewrite>();
  /** The file that the last step was asked for. */
  #last: Rewrite | undefined;
  #hasChanged = false;
  /** Files that were made so, with what was written. */
  readonly #made = new Map<string, string>();
  /** Files that were copied: what is asked for is done to their copies. */
  readonly #copied = new Set<string>();
  /** A file is not fit for it. */
  #isPartial = false;
  #request = "";

  /** The rewrite that is under way. */
  get last(): Rewrite | undefined {
    return this.#last;
  }

  /** undefined where something else is better, or nothing is left. */
  async next(state: RewritingState): Promise<Rewrite | undefined> {
    this.#last = undefined;
    this.#begin(state.request);
    const made = await this.#nextNew(state);
    if (made || state.isUnfinished || state.missing.length > 0) return (this.#last = made);
    const targets = this.#targets(state);
    const triesMax = isFix(state.work) ? triesOfFixMax : 1;
    const path = targets.filter((target) => this.triesOf(target) < triesMax).toSorted((a, b) => this.triesOf(a) - this.triesOf(b))[0];
    if (path === undefined || !targets.every((target) => state.seen.includes(target))) return undefined;
    const tries = this.triesOf(path);
    this.#tries.set(path, tries + 1);
    const now = await rewriteOf(path, targets, state);
    const first = this.#first.get(path) ?? now;
    this.#isPartial ||= now === undefined;
    if (!now || !first) return undefined;
    this.#first.set(path, first);
    this.#last = { ...(isNearer(first, now) ? now : first), made: [...this.#made.values()], tries: tries * first.triesMax };
    return this.#last;
  }

  /** What a file is made of is looked at first. */
  async #nextNew(state: RewritingState): Promise<Rewrite | undefined> {
    const { messages, missing, names, request, seen, tool, tools, view, work } = state;
    const next = newFiles(missing, names, request, work).find(({ name }) => this.triesOf(name) === 0);
    if (!next || isFix(work)) return undefined;
    const beside = await shownBeside(seen, 0, view);
    const found = foundOut(messages, tools);
    const told = (await Promise.all(beside.map(({ path }) => view.told(path, request)))).filter((text) => text !== undefined);
    const isShown = mentionedFiles(request, names.files).every((file) => beside.some(({ path }) => path === file));
    const isTold = isShown && (lookKinds.some((kind) => work.kinds.has(kind)) ? found.length > 0 : beside.length > 0 || found.length > 0 || names.files.length === 0 || (await view.isForeign(names.files, request)));
    if (!isTold) return undefined;
    this.#tries.set(next.name, 1);
    const [path = next.name] = next.places;
    return { tool, path, places: next.places, beside, found: [...found, ...told], request, mayShrink: false, tries: 0, triesMax: 1 };
  }

  /** Anew for what the user says while the turn goes on. */
  #begin(request: string): void {
    if (request === this.#request) return;
    this.#request = request;
    this.#tries.clear();
    this.#first.clear();
    this.#made.clear();
    this.#copied.clear();
    this.#hasChanged = this.#isPartial = false;
  }

  triesOf(path: string): number {
    return this.#tries.get(path) ?? 0;
  }

  /** What is to be mended was tried often enough. */
  isGivenUp(state: RewritingState): boolean {
    const targets = this.#targets(state);
    return isFix(state.work) && targets.length > 0 && targets.every((target) => this.triesOf(target) >= triesOfFixMax);
  }

  /** Takes a file that was written. @returns what it was asked for; undefined where it was not */
  noteWritten(path: unknown, content: string): Rewrite | undefined {
    const last = this.#last;
    if (!last || typeof path !== "string" || (path !== last.path && last.places?.includes(path) !== true)) return undefined;
    this.#hasChanged = true;
    if (last.content === undefined) this.#made.set(path, content);
    return last;
  }

  /** Takes a change that was made. @returns whether it is a copy of a file */
  noteCopied({ arguments: { from }, name }: ToolCall, tools: readonly Tool[]): boolean {
    const isCopy = typeof from === "string" && tools.some((tool) => tool.name === name && tool.serves?.includes("copy"));
    if (isCopy) this.#copied.add(from);
    return isCopy;
  }

  /** Every file was written that the request is about, and nothing else is asked for. */
  isDone(state: RewritingState): boolean {
    const { isUnfinished, missing, request, work } = state;
    const isAll = [...work.kinds].every((kind) => kind === "create" || kind === "run" || kindsOfText.has(kind) || lookKinds.some((look) => look === kind));
    return isAll && this.#hasChanged && !this.#isPartial && !isUnfinished && missing.length === 0 && request === this.#request && !isFix(work) && this.#targets(state).every((target) => this.triesOf(target) > 0);
  }

  #targets(state: RewritingState): string[] {
    return targetsOf(state).filter((target) => !this.#made.has(target) && !this.#copied.has(target));
  }
}

/** It fails in the same way with something else: a step on the way. Another error is one more that was made. */
function isNearer(first: Rewrite, now: Rewrite): boolean {
  const [before, after] = [first, now].map(({ failure = "" }) => failure.split("\n").findLast((line) => /^\w*(?:Error|Exception)\b/.test(line)) ?? "") as [string, string];
  return before !== after && before.split(":")[0] === after.split(":")[0];
}

/** Files that are there: of what is only to be made none. */
function targetsOf({ names: { files }, request, seen, work }: RewritingState): string[] {
  const kinds = [...work.kinds].filter((kind) => kind !== "create");
  if (!work.isChange || kinds.length === 0 || !(isFix(work) ? kinds.every((kind) => kind === "run" || kindsOfText.has(kind)) : kinds.every((kind) => kindsOfText.has(kind)))) return [];
  const isMeant = (file: string): boolean => !isFix(work) || !isTestName(file);
  const named = mentionedFiles(request, files).filter(isMeant);
  if (named.length > 0) return named.length > filesMax ? [] : named;
  const endings = saidEndings(request);
  if (endings.length > 0) {
    const ofKind = files.filter((file) => endings.some((end) => file.toLowerCase().endsWith(end)));
    return ofKind.length > filesMax ? [] : ofKind;
  }
  const known = seen.filter(isMeant);
  return known.length === 1 ? known : [];
}

async function rewriteOf(path: string, targets: readonly string[], { messages, request, tool, view, work }: RewritingState): Promise<Rewrite | undefined> {
  const content = await view.exact(path);
  if (content === undefined || content.trim() === "" || content.length > contentCharsMax) return undefined;
  // fs.insert knows where a section of Markdown ends.
  if (work.kinds.has("insert") && isMarkdown(path)) return undefined;
  const tests = isFix(work) ? messages.flatMap((message) => (message.role === "assistant" ? message.content.flatMap((block) => (block.type === "toolCall" && typeof block.arguments["path"] === "string" && isTestName(block.arguments["path"]) ? [block.arguments["path"]] : [])) : [])) : [];
  const beside = await shownBeside([...tests, ...targets.filter((target) => target !== path)], content.length, view);
  const run = isFix(work) ? messages.findLast((message) => message.role === "toolResult" && message.isError && isRecord(message.details) && "exitCode" in message.details) : undefined;
  return { tool, path, content, beside, request, mayShrink: work.kinds.has("cut"), tries: 0, triesMax: isFix(work) ? triesAtOnce : 1, ...(run?.role === "toolResult" ? { failure: contentText(run.content) } : {}) };
}

async function shownBeside(paths: readonly string[], takenChars: number, view: WorkspaceView): Promise<{ path: string; content: string }[]> {
  const shown: { path: string; content: string }[] = [];
  let left = shownCharsMax - takenChars;
  for (const path of new Set(paths)) {
    const content = await view.exact(path);
    if (content === undefined || content.length > left) continue;
    left -= content.length;
    shown.push({ path, content });
  }
  return shown;
}
