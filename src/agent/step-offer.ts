// What one step offers a model: the tools, without those it is going in circles with; for a text engine also the names that
// exist, the lines that it may quote, the arguments it may use and the calls it must not make again.
import { isSpokenOf, isTestName, mentionedFiles, saidEndings } from "../core/named-files.ts";
import { contentText, type AgentMessage } from "../core/message.ts";
import type { Tool, ToolSpec, WorkspaceNames, WorkspaceView } from "../core/tool.ts";
import { lookKinds, makingKinds } from "../core/work.ts";
import { type FixStage, fixStage, fixTools, isFix } from "./fix-stage.ts";
import type { ForbiddenObject } from "./grammar.ts";
import { isKnown, isShown } from "./known-files.ts";
import type { LoopGuard } from "./loop-guard.ts";
import type { OfferOptions } from "./offer.ts";
import { offeredNames, requestIn } from "./offered-names.ts";
import type { Rewrite } from "./rewrite.ts";
import type { Selection } from "./selection.ts";
import { inNamedFolders } from "./unnamed-files.ts";
import { isFor, isOnly, isTalk, type Work } from "./work-plan.ts";

export interface StepOffer {
  tools: readonly ToolSpec[];
  /** Arguments, by tool, that a text engine must not write. */
  forbidden: ReadonlyMap<string, readonly ForbiddenObject[]>;
  options: OfferOptions;
  mayReply: boolean;
  /** False: a reply that ends a change would claim what was not done. */
  mayClaim?: boolean;
  /** Something that the request names is not looked at, or not run. */
  isUnfinished?: boolean;
  /** The user wants something changed, and nothing is yet. */
  isChange?: boolean;
  /** Of what is to be mended; undefined where nothing is. */
  stage?: FixStage | undefined;
  /** Files that were looked at. */
  seen?: readonly string[];
  /** A file whose whole new text is asked for first; the rest is offered where that brings none. */
  rewrite?: Rewrite;
  /** Files to be chosen first, for what is done to them; the rest is offered where that brings none. */
  selection?: Selection;
  /** What the model is surest of did not help: it should try something else. */
  isVaried?: boolean;
}

export const replyOnly: StepOffer = { tools: [], forbidden: new Map(), options: {}, mayReply: true };

export interface StepState {
  tools: readonly Tool[];
  guard: LoopGuard;
  messages: readonly AgentMessage[];
  /** What exists; undefined for engines that no grammar binds. */
  view: WorkspaceView | undefined;
  /** The names that it has; undefined where that is not asked for, or too much. */
  existing: WorkspaceNames | undefined;
  /** What the request asks for; undefined where that is not known. */
  work: Work | undefined;
  /** What the request names and is not there: of a change what it wants made. */
  missing?: readonly string[];
  /** The files that a question is about which names none. */
  unnamed?: readonly string[];
  /** A change is about a file that is not there: it can only be looked around and told. */
  isInVain?: boolean;
  /** A question has what it needs, or a change is made, as far as can be told. */
  isEnough?: boolean;
  /** A change is made in part: files that the request names are still to be moved, copied or deleted. */
  isLeft?: boolean;
  /** It loses its way among what it could look at. */
  isVerySmall?: boolean;
}

export async function stepOffer(state: StepState): Promise<StepOffer> {
  const { guard, missing = [], tools, view, work, isEnough = false } = state;
  const left = tools.filter(({ name }) => !guard.excluded.has(name));
  if (!view) return { tools: left, forbidden: new Map(), options: {}, mayReply: true };
  if (state.isInVain) return { tools: left.filter((tool) => tool.class === "read" && !tool.isSpecial), forbidden: guard.forbidden({}), options: state.existing ? { names: state.existing } : {}, mayReply: true };
  const known = knownFiles(state);
  const offered = offeredTools(left, state, known);
  const isUnfinished = known.missed.length > 0 || isUnrun(offered, state) || known.stage !== undefined || isFilesLeft(state);
  if (isEnough && !isUnfinished) return replyOnly;
  const options = await offeredNames(state, known, view, offered.some((tool) => tool.quotes));
  const isQuestion = work?.isChange === false;
  const isAbsent = missing.length > 0 && isQuestion;
  // What is not there, or failed when it was run, is an answer.
  const mayGiveUp = !guard.gaveUpEarly || isAbsent || (isQuestion && guard.hasRun);
  return {
    tools: offered,
    forbidden: guard.forbidden(options),
    options,
    mayReply: mayGiveUp && !isUnfinished && (isQuestion || missing.length === 0 || guard.isStuck),
    isUnfinished,
    mayClaim: !guard.hasNothingToReport && (isAbsent || missing.length === 0),
    isChange: work?.isChange === true && !guard.hasChanged,
    stage: known.stage,
    seen: known.seen,
    isVaried: known.stage === "edit" && (guard.hasChanged || guard.isStuck),
  };
}

export interface KnownFiles {
  /** What may be named: of a question first the files that it names. */
  names: WorkspaceNames | undefined;
  seen: readonly string[];
  /** Of these the ones that may be changed: of the kind that the request speaks of, where it names none. */
  changeable: readonly string[];
  /** The request names them, and nothing looked at them yet. */
  missed: readonly string[];
  /** Of what is to be mended. */
  stage: FixStage | undefined;
  /** A very small model changes the files that the request names, and once it has seen them it looks at nothing else. */
  mayLook: boolean;
}

function knownFiles(state: StepState): KnownFiles {
  const { existing, guard, isVerySmall = false, messages, tools, work } = state;
  const all = withNamed(existing, messages);
  const seen = all?.files.filter((file) => isKnown(file, messages, tools) || (all.long?.includes(file) === true && isShown(file, messages, tools))) ?? [];
  const named = mentionedFiles(requestIn(messages), all?.files ?? []);
  const missed = work === undefined || isTalk(work) ? [] : missedFiles(askedFiles(state, work), seen, { existing, guard, messages, work });
  const endings = saidEndings(requestIn(messages));
  const next = fixStage({ guard, work, missed, seen });
  const stage = next && fixTools(next, tools.filter(({ name }) => !guard.excluded.has(name))).length > 0 ? next : undefined;
  const isBound = isVerySmall && work?.isChange === true && !work.kinds.has("run") && named.length > 0 && !guard.isStuck;
  return {
    stage,
    names: all && namesToLookAt(all, state, { named, missed, stage }),
    seen,
    changeable: stage === "edit" ? seen.filter((file) => !isTestName(file)) : isBound ? seen.filter((file) => named.includes(file)) : seen.filter((file) => named.length > 0 || endings.length === 0 || endings.some((end) => file.toLowerCase().endsWith(end))),
    missed,
    mayLook: !isBound || named.some((file) => !seen.includes(file)),
  };
}

/** A question, and a mending, looks first at what it is about. */
function namesToLookAt(all: WorkspaceNames, { guard, messages, work }: StepState, { missed, named, stage }: { missed: readonly string[]; named: readonly string[]; stage: FixStage | undefined }): WorkspaceNames {
  const isQuestion = work?.isChange === false;
  if (missed.length > 0 && (isQuestion || (work !== undefined && isFix(work) && !guard.hasChanged))) return { ...all, files: missed };
  if (stage === "look") return { ...all, files: all.files.filter((file) => !isTestName(file)) };
  return isQuestion && guard.steps === 0 && named.length === 0 ? firstPlace(requestIn(messages), all, isOnly(work, "list")) : all;
}

/** The folders that a question names; where it asks what there is, and names none, all that there is. */
function firstPlace(request: string, all: WorkspaceNames, isList: boolean): WorkspaceNames {
  const named = inNamedFolders(request, all);
  const isSpoken = all.folders.some((folder) => isSpokenOf(folder, request));
  return named !== all || !isList || isSpoken ? named : { ...all, folders: ["."] };
}

/** Files that a request names; of a question that names none those that it is about, once a search for it found nothing. */
function askedFiles({ existing, guard, messages, unnamed = [] }: StepState, work: Work): readonly string[] {
  const files = existing?.files ?? [];
  const named = mentionedFiles(requestIn(messages), files);
  if (named.length > 0 || work.isChange) return named;
  const isVain = isOnly(work, "search") && guard.steps > 0 && !files.some((file) => guard.hasFound(file));
  return isOnly(work, "read") || isVain ? unnamed : [];
}

function offeredTools(left: readonly Tool[], state: StepState, { mayLook, missed, stage }: KnownFiles): Tool[] {
  const mending = stage ? fixTools(stage, left) : [];
  if (mending.length > 0) return mending;
  const { guard, missing = [], work } = state;
  const isQuestion = work?.isChange === false;
  const isFound = missed.some((file) => guard.hasFound(file));
  const reading = isQuestion && guard.steps > 0 && missed.length > 0 ? left.filter((tool) => tool.class === "read" && (tool.serves?.includes("read") || (isFor(tool, work) && !isFound))) : [];
  const fits = fitting(left, state).filter((tool) => tool.class !== "write" || work === undefined || !isFix(work) || missed.length === 0);
  const chosen = reading.length > 0 ? reading : work && !mayLook ? withoutLooks(fits, work) : fits;
  // In the place of a file that is not there a small model reads another one and takes that for the answer.
  const isReading = (tool: Tool): boolean => tool.serves?.includes("read") === true;
  const isOutOfPlace = (tool: Tool): boolean => (isQuestion ? isReading(tool) && missing.length > 0 : missing.length > 0 && work !== undefined && changesOnly(tool));
  const offered = chosen.filter((tool) => !guard.fruitless.has(tool.name) && !isOutOfPlace(tool));
  const changes = offered.filter((tool) => tool.class === "write");
  if (isFilesLeft(state) && changes.length > 0) return changes;
  const runs = offered.filter((tool) => tool.class === "shell");
  if (isQuestion && guard.steps >= looksBeforeRun && missed.length === 0 && isUnrun(runs, state)) return runs;
  const isSearch = work !== undefined && offered.some(isReading) && (work.isChange || !offered.some(({ isSpecial }) => isSpecial)) && isSearched(state, missed);
  return isSearch ? left.filter((tool) => tool.serves?.includes("search")) : offered;
}

function isFilesLeft({ guard, isLeft = false }: StepState): boolean {
  return isLeft && !guard.isStuck;
}

/** Steps of a question that wants something run; a small model looks on and on. */
const looksBeforeRun = 2;

/** It is about something in long files, of a change something with a name: they are searched before they are read. */
function isSearched({ existing, guard, messages, work }: StepState, missed: readonly string[]): boolean {
  return guard.steps === 0 && missed.length > 0 && missed.every((file) => existing?.long?.includes(file)) && (work?.isChange === false ? !wholeWord.test(requestIn(messages)) : codeName.test(requestIn(messages)));
}

/** What is asked for is in no place of its own. */
const wholeWord = /\b(?:summar\w*|sum up|overview|whole|about|zusammenfass\w*|résum\w*|resum\w*|riassum\w*)\b/i;

/** What can be searched for as it is written: `RETRY_LIMIT`, `maxSize`, a text in quotes. */
const codeName = /[A-Za-z\d]_[A-Za-z\d]|\b[a-z]+[A-Z]\w*|["`][^"`\n]+["`]/;

/** For a file that exists. What is to be made is made first: a part that is taken out before it was put there is lost. */
function changesOnly({ class: kind, serves }: Tool): boolean {
  return kind === "write" && serves !== undefined && !serves.some((one) => makingKinds.includes(one));
}

/**
 * Named files that nothing looked at: an answer now would leave them out. They may be missed by a change that is stuck, and by a
 * question when they still are after one step more than there are. A question looks at nothing else before, and reads them when its first look was none,
 * or found only some lines of a file that is not long, unless where they are is the answer.
 */
function missedFiles(named: readonly string[], seen: readonly string[], { existing, guard, messages, work }: Pick<StepState, "existing" | "guard" | "messages"> & { work: Work }): string[] {
  const isAnswer = !work.isChange && (work.kinds.has("find") || lineWord.test(requestIn(messages)));
  const isFound = (file: string): boolean => guard.hasFound(file) && (isAnswer || (named.length === 1 && existing?.long?.includes(file) === true));
  return (work.isChange ? guard.isStuck : guard.steps > named.length + 1) ? [] : named.filter((file) => !seen.includes(file) && !isFound(file) && !guard.hasNamed(file));
}

/** What a search tells, and the file itself does not. */
const lineWord = /\b(?:which|what|in|on) lines?\b|\bline numbers?\b/i;

/**
 * Something is to be run and was not since the last change. A small model also plans a run where none is asked for: behind
 * another change it counts where the request says so, of a question also where that names a file.
 */
function isUnrun(offered: readonly Tool[], { existing, guard, messages, work }: StepState): boolean {
  if (!work?.kinds.has("run") || guard.isStuck || guard.hasRun || !offered.some((tool) => tool.class === "shell")) return false;
  const request = requestIn(messages);
  return runWord.test(request) || (work.isChange ? [...work.kinds][0] === "run" : mentionedFiles(request, existing?.files ?? []).length > 0);
}

/** As what is to be done: "which version do we run" wants nothing run. */
const runWord = /(?:^|[.!?,;:]\s*|\b(?:please|and|then|to|by|you)\s+)run\b|\b(?:runs|running|execute|command|script|tests?)\b/i;

/** Where a request begins with it, or a sentence of it: what is taken for a question is one for sure. */
const questionWord = /(?:^|[.!?,:;]\s+)(?:what|which|who|whom|whose|when|where|why|how|is|are|does|do|did|was|were|has|have)\b/i;

/**
 * The tools for the work. While a change goes well these are the tools that serve it and those that read; the first look of
 * a question is made with a tool for it.
 */
function fitting(tools: readonly Tool[], { guard, messages, work }: StepState): Tool[] {
  // What a file says is to be done, nobody asked for.
  const isAsking = work?.isChange === false && questionWord.test(requestIn(messages));
  const known = tools.filter((tool) => (tool.isSpecial !== true || (work !== undefined && isFor(tool, work))) && !(isAsking && tool.class === "write"));
  if (work === undefined || guard.isStuck || (!work.isChange && (guard.steps > 0 || isTalk(work)))) return known;
  // What is to be found out first is computed, not looked around for.
  const isComputed = work.isChange && guard.steps === 0 && lookKinds.some((kind) => work.kinds.has(kind));
  const looks = (tool: Tool): boolean => tool.class === "read" && (!isComputed || tool.serves?.includes("read") === true);
  const serving = known.filter((tool) => ((work.isChange || work.kinds.has("run")) && looks(tool)) || isFor(tool, work));
  return serving.some((tool) => tool.class !== "read" || !work.isChange) ? serving : known;
}

/** The tools for the work alone, where there are some that change something. */
function withoutLooks(tools: readonly Tool[], work: Work): readonly Tool[] {
  const serving = tools.filter((tool) => isFor(tool, work));
  return serving.some(({ class: kind }) => kind !== "read") ? serving : tools;
}

/** After a quote that was not found, only what the file really holds can be quoted. */
function withNamed(listed: WorkspaceNames | undefined, messages: readonly AgentMessage[]): WorkspaceNames | undefined {
  if (!listed) return undefined;
  const texts = messages.flatMap((message) => (message.role === "user" ? [contentText(message.content)] : []));
  const outside = texts.flatMap(pathsIn);
  return { ...listed, files: [...listed.files, ...outside], folders: [...listed.folders, ...outside] };
}

/** Paths outside the workspace that a user wrote: the only ones that a listing can't know. */
function pathsIn(text: string): string[] {
  const found = text.match(/(?<![\w/.~])(?:~|\.\.)?\/[^\s'"`<>|:*?]*[^\s'"`<>|:*?.,;)]/g) ?? [];
  return [...new Set(found)];
}
