// Which file a change rewrites next (agent/rewrite), and when that is done: each file that the request is about, once; what is to be
// mended some times, as long as it fails.
import { isRecord } from "../core/is-record.ts";
import { contentText, type AgentMessage } from "../core/message.ts";
import { isTestName, mentionedFiles, saidEndings } from "../core/named-files.ts";
import type { WorkspaceView } from "../core/tool.ts";
import type { WorkKind } from "../core/work.ts";
import { isFix } from "./fix-stage.ts";
import type { Rewrite } from "./rewrite.ts";
import type { Work } from "./work-plan.ts";

export interface RewritingState {
  work: Work;
  request: string;
  /** Paths of all files. */
  files: readonly string[];
  /** Of these the ones that were looked at. */
  seen: readonly string[];
  messages: readonly AgentMessage[];
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
    const targets = targetsOf(state);
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
    this.#last = { ...(isNearer(first, now) ? now : first), tries: tries * first.triesMax };
    return this.#last;
  }

  /** Anew for what the user says while the turn goes on. */
  #begin(request: string): void {
    if (request === this.#request) return;
    this.#request = request;
    this.#tries.clear();
    this.#first.clear();
    this.#hasChanged = this.#isPartial = false;
  }

  triesOf(path: string): number {
    return this.#tries.get(path) ?? 0;
  }

  /** What is to be mended was tried often enough. */
  isGivenUp(state: RewritingState): boolean {
    const targets = targetsOf(state);
    return isFix(state.work) && targets.length > 0 && targets.every((target) => this.triesOf(target) >= triesOfFixMax);
  }

  noteChanged(): void {
    this.#hasChanged = true;
  }

  /** Every file was written anew that the request is about. */
  isDone(state: RewritingState): boolean {
    return this.#hasChanged && !this.#isPartial && state.request === this.#request && !isFix(state.work) && targetsOf(state).every((target) => this.triesOf(target) > 0);
  }
}

/** It fails in the same way with something else: a step on the way. Another error is one more that was made. */
function isNearer(first: Rewrite, now: Rewrite): boolean {
  const [before, after] = [first, now].map(({ failure = "" }) => failure.split("\n").findLast((line) => /^\w*(?:Error|Exception)\b/.test(line)) ?? "") as [string, string];
  return before !== after && before.split(":")[0] === after.split(":")[0];
}

function targetsOf({ files, request, seen, work }: RewritingState): string[] {
  const kinds = [...work.kinds];
  if (!work.isChange || !(isFix(work) ? kinds.every((kind) => kind === "run" || kindsOfText.has(kind)) : kinds.every((kind) => kindsOfText.has(kind)))) return [];
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
  if (work.kinds.has("insert") && /\.(?:md|markdown)$/i.test(path)) return undefined;
  const beside: { path: string; content: string }[] = [];
  const tests = isFix(work) ? messages.flatMap((message) => (message.role === "assistant" ? message.content.flatMap((block) => (block.type === "toolCall" && typeof block.arguments["path"] === "string" && isTestName(block.arguments["path"]) ? [block.arguments["path"]] : [])) : [])) : [];
  let left = shownCharsMax - content.length;
  for (const other of new Set([...tests, ...targets.filter((target) => target !== path)])) {
    const text = await view.exact(other);
    if (text === undefined || text.length > left) continue;
    left -= text.length;
    beside.push({ path: other, content: text });
  }
  const run = isFix(work) ? messages.findLast((message) => message.role === "toolResult" && message.isError && isRecord(message.details) && "exitCode" in message.details) : undefined;
  return { tool, path, content, beside, request, mayShrink: work.kinds.has("cut"), tries: 0, triesMax: isFix(work) ? triesAtOnce : 1, ...(run?.role === "toolResult" ? { failure: contentText(run.content) } : {}) };
}
