// What a turn offers the model before each step and tells it beside each result: made from the plan of its work, from what
// was done so far, and from what there is in the workspace.
import type { Engine } from "../core/engine.ts";
import { isRecord } from "../core/is-record.ts";
import type { AgentMessage, ToolCall, ToolResultMessage, Usage } from "../core/message.ts";
import { isProgram, mentionedFiles } from "../core/named-files.ts";
import type { Tool, WorkspaceNames, WorkspaceView } from "../core/tool.ts";
import { lookKinds } from "../core/work.ts";
import type { Conversation } from "./conversation.ts";
import { AbsentThings } from "./absent-things.ts";
import { Doing } from "./doing.ts";
import { isFix } from "./fix-stage.ts";
import { settleForm } from "./form-choice.ts";
import { hintOf } from "./hint.ts";
import { blindReplacement } from "./known-files.ts";
import { leftNotes } from "./left-behind.ts";
import { Looking } from "./looking.ts";
import { LoopGuard, type LoopSettings } from "./loop-guard.ts";
import { Objections } from "./objections.ts";
import { offeredArguments } from "./offer.ts";
import { toolLine } from "./prompt.ts";
import { recallRequest } from "./recall.ts";
import { repliesAtOnce } from "./reply-at-once.ts";
import { changedText } from "./rewrite.ts";
import { Rewriting, type RewritingState } from "./rewriting.ts";
import { type Selection, selectionOf } from "./selection.ts";
import { replyOnly, stepOffer, type StepOffer } from "./step-offer.ts";
import { allWhereSmall, spokenFiles } from "./unnamed-files.ts";
import { WantedNames } from "./wanted-names.ts";
import { isOnly, WorkPlan } from "./work-plan.ts";

export interface GuideOptions {
  engine: Engine;
  tools: readonly Tool[];
  conversation: Conversation;
  /** What exists in the workspace; looked at for text engines only, which a grammar binds. */
  view?: WorkspaceView;
  loop: LoopSettings;
  signal: AbortSignal;
  /** Told what the plan used. */
  spend: (usage: Usage) => void;
}

export class Guide {
  readonly #options: GuideOptions;
  readonly #view: WorkspaceView | undefined;
  readonly #guard: LoopGuard;
  readonly #plan: WorkPlan;
  readonly #looking: Looking;
  readonly #doing: Doing;
  readonly #rewriting = new Rewriting();
  readonly #isVerySmall: boolean;
  /** What existed before the last step; undefined where that is not asked for. */
  #names: WorkspaceNames | undefined;
  /** undefined before it is known what exists. */
  #wanted: WantedNames | undefined;
  /** What a question is about that names no file; undefined before that is known. */
  #unnamed: { request: string; files: readonly string[] } | undefined;
  /** A change is about what is not there; undefined before that is known. */
  #inVain: boolean | undefined;
  /** What the last step was asked to choose. */
  #selection: Selection | undefined;
  /** The request whose files were all chosen and are where they belong. */
  #selectedFor: string | undefined;
  readonly #objections: Objections | undefined;
  /** Changes of files that were made in this turn. */
  readonly #changes = new Set<string>();
  /** What their results showed: the model knows these files. */
  readonly #changedPaths = new Set<unknown>();
  /** The tool with which the last step made one of them once more, or changed nothing after another change: a small model that has nothing left to do does so. */
  #repeated: string | undefined;
  /** The tool that would have lost most of a file: tried again only when nothing else leads on. */
  #withheld: string | undefined;
  /** What a question names; undefined before the kind of the request is known, and where it is no question. */
  #absent: AbsentThings | undefined;
  /** Looks of the last step that failed after a question had what it needs: a small model then replies that it can't help. */
  #vain: readonly string[] = [];
  /** Special tools by name. */
  readonly #told = new Set<string>();

  constructor(options: GuideOptions) {
    const { engine, loop, signal, spend, tools, view } = options;
    this.#options = options;
    this.#view = engine.kind === "text" ? view : undefined;
    this.#guard = new LoopGuard(tools, loop);
    if (this.#view) this.#objections = new Objections(tools, this.#view);
    const { parameters = Infinity } = (engine.kind === "text" && engine.traits?.()) || {};
    this.#isVerySmall = parameters < verySmallMax;
    this.#looking = new Looking(tools, this.#isVerySmall);
    this.#doing = new Doing(tools);
    this.#plan = new WorkPlan({ engine, tools, signal, spend });
  }

  /** What the next step may do; where that is a tool that the model does not know yet, it is told. */
  async offer(isLastStep: boolean): Promise<StepOffer> {
    const offer = await this.#nextOffer(isLastStep);
    if (offer.tools.length === 0 && this.#plan.work?.isChange === false) recallRequest(this.#options.conversation);
    return offer;
  }

  async #nextOffer(isLastStep: boolean): Promise<StepOffer> {
    const { conversation, signal, tools } = this.#options;
    if (isLastStep || this.#guard.onlyReply || this.#selectedFor === conversation.request) return replyOnly;
    if (this.#view && !signal.aborted) await this.#know();
    this.#leaveOutVain();
    if (await repliesAtOnce(conversation, this.#plan.work, this.#view)) return replyOnly;
    this.#names = await this.#view?.names();
    if (this.#names) this.#want(conversation.request, this.#names);
    if (this.#view && this.#plan.work?.isChange === false) this.#absent ??= new AbsentThings(conversation.request, tools, this.#view);
    const offer = await stepOffer({ tools, guard: this.#guard, messages: conversation.messages, view: this.#view, existing: this.#names, work: this.#plan.work, isEnough: this.#looking.isOver || this.#isDone(), isVerySmall: this.#isVerySmall, missing: this.#missing(), unnamed: this.#unnamed?.files ?? [], isLeft: this.#isLeft(), isInVain: await this.#isInVain() });
    const isOver = this.#repeated !== undefined || this.#objections?.isStray === true;
    if (isOver && offer.isUnfinished !== true && offer.mayClaim !== false) return replyOnly;
    const rewriting = this.#rewritingState(offer);
    if (rewriting && this.#rewriting.isDone(rewriting)) return replyOnly;
    if (rewriting && this.#rewriting.isGivenUp(rewriting)) return this.#replyFailed();
    const rewrite = rewriting && (await this.#rewriting.next(rewriting));
    this.#selection = await this.#nextSelection();
    const next = this.#without(offer);
    this.#repeated = undefined;
    this.#tellSpecial(next);
    if (rewrite) this.#objections?.allowRewrite(rewrite.path);
    return { ...next, ...(rewrite ? { rewrite } : this.#selection ? { selection: this.#selection } : {}) };
  }

  /** Once, before anything else. */
  async #nextSelection(): Promise<Selection | undefined> {
    const { conversation, engine, tools } = this.#options;
    const isFirst = this.#guard.steps === 0 && engine.kind === "text" && engine.answersApart?.() === true;
    return isFirst && this.#view && this.#names && !this.#inVain ? selectionOf({ request: conversation.request, work: this.#plan.work, names: this.#names, tools, view: this.#view }) : undefined;
  }

  #leaveOutVain(): void {
    const { conversation } = this.#options;
    const isOf = (message: AgentMessage): boolean => (message.role === "toolResult" ? this.#vain.includes(message.toolCallId) : message.role === "assistant" && message.content.some((block) => block.type === "toolCall" && this.#vain.includes(block.id)));
    if (this.#vain.length > 0) conversation.drop(conversation.messages.filter(isOf));
    this.#vain = [];
  }

  /** undefined where the model can't be asked for a file apart from the conversation, and while something else comes first. */
  #rewritingState({ isUnfinished = false, seen, stage }: StepOffer): RewritingState | undefined {
    const { conversation, engine, tools } = this.#options;
    const { work } = this.#plan;
    const tool = tools.find(({ rewrites }) => rewrites)?.name;
    if (tool === undefined || engine.kind !== "text" || engine.answersApart?.() !== true || !this.#view || !work || !this.#names || !seen || this.#inVain) return undefined;
    if (isFix(work) && stage !== "edit") return undefined;
    return { work, request: conversation.request, names: this.#names, seen, missing: this.#missing(), isUnfinished: isUnfinished && stage !== "edit", messages: conversation.messages, tools, view: this.#view, tool };
  }

  /** Anew for what the user says while the turn goes on. */
  #want(request: string, names: WorkspaceNames): void {
    if (this.#wanted?.request === request) return;
    this.#wanted = new WantedNames(request, names);
    this.#inVain = undefined;
    if (this.#plan.work?.kinds.has("create") && this.#missing().some(isProgram)) this.#plan.leaveOut(...lookKinds);
  }

  /** In the place of a file that is not there a small model changes another one. A name that some file speaks of is none of a file. */
  async #isInVain(): Promise<boolean> {
    if (this.#inVain !== undefined || !this.#view || !this.#names || !this.#plan.work || !this.#wanted) return this.#inVain ?? false;
    const view = this.#view;
    const names = this.#wanted.inVain(this.#names, this.#plan.work);
    const texts = names.length === 0 ? [] : await Promise.all(this.#names.files.map((file) => view.lines(file)));
    this.#inVain = names.length > 0 && !texts.some((lines) => lines?.some((line) => names.some((name) => line.includes(name))));
    return this.#inVain;
  }

  /** Without what would only be tried again, where something else could make the change. */
  #without(offer: StepOffer): StepOffer {
    const withheld = this.#guard.hasChanged || this.#guard.isStuck ? undefined : this.#withheld;
    const left = offer.tools.filter(({ name }) => name !== this.#repeated && name !== withheld);
    return left.some((tool) => tool.class === "write") ? { ...offer, tools: left } : offer;
  }

  /** How the model is to write, and what the request asks of it. */
  async #know(): Promise<void> {
    const { conversation, engine, signal, spend } = this.#options;
    if (engine.kind === "text") await settleForm(engine, signal, spend);
    await this.#plan.take(conversation);
    await this.#findUnnamed(conversation.request);
  }

  /** Anew for what the user says while the turn goes on. What was taken for talk, or to be searched for, is read up where a file is called so. */
  async #findUnnamed(request: string): Promise<void> {
    const { work } = this.#plan;
    if (!this.#view || work?.isChange !== false || this.#unnamed?.request === request) return;
    const names = (await this.#view.names()) ?? { files: [], folders: [] };
    this.#unnamed = { request, files: [] };
    if (mentionedFiles(request, names.files).length > 0) return;
    const spoken = spokenFiles(request, names);
    if (spoken.length > 0 && (isOnly(work, "talk") || isOnly(work, "search"))) this.#plan.lookIntoFiles();
    this.#unnamed = { request, files: spoken.length > 0 ? spoken : await allWhereSmall(request, names, this.#view) };
  }

  /** Why a call must not run; undefined when it may. */
  async veto(call: ToolCall): Promise<string | undefined> {
    const { conversation, tools } = this.#options;
    this.#repeated = undefined;
    if (this.#view && this.#changes.has(callKey(call))) {
      this.#repeated = call.name;
      return "you made this change already. When all is done, tell the user what you did";
    }
    const objection = await this.#objections?.to(call, { request: conversation.request, names: this.#names, work: this.#plan.work, hasChanged: this.#guard.hasChanged });
    if (objection !== undefined) return objection;
    const isOwn = call.arguments["path"] !== undefined && this.#changedPaths.has(call.arguments["path"]);
    const blind = isOwn ? undefined : blindReplacement(call, tools, this.#names, conversation.messages);
    const loss = blind === undefined ? await this.#objections?.toLoss(call) : undefined;
    if (loss !== undefined) this.#withheld = call.name;
    return blind ?? loss;
  }

  /** Takes the calls of a step with their results. @returns what the model is told beside each result */
  async record(calls: readonly ToolCall[], results: readonly ToolResultMessage[]): Promise<Map<ToolResultMessage, string>> {
    const notes = this.#guard.record(calls, results, this.#objections?.advised);
    this.#doing.record(calls, results);
    this.#noteSelected(results);
    if (this.#view && this.#plan.work) this.#looking.take(this.#plan.work, calls, results, { conversation: this.#options.conversation, names: this.#names, unnamed: this.#unnamed?.files ?? [] });
    // Nothing is left but to reply: what not to do would only be repeated there.
    if (this.#looking.isOver) notes.clear();
    // What a command said, and that a search found nothing, may be the answer.
    const isFailedLook = ({ isError, toolName }: ToolResultMessage): boolean => isError && this.#options.tools.some(({ class: kind, name }) => name === toolName && kind === "read");
    if (this.#looking.isOver && results.every(isFailedLook)) this.#vain = results.map(({ toolCallId }) => toolCallId);
    const absent = await this.#absent?.notes(calls, results);
    for (const result of results) if (!notes.has(result)) notes.set(result, [hintOf(result, this.#options.tools, this.#options.conversation.request), absent?.get(result)].filter(Boolean).join("\n"));
    const classes = new Map(this.#options.tools.map((tool) => [tool.name, tool.class]));
    const done = new Set(results.flatMap(({ isError, toolCallId }) => (isError ? [] : [toolCallId])));
    for (const call of calls.filter(({ id, name }) => classes.get(name) === "write" && done.has(id))) {
      const { content, path } = call.arguments;
      const asked = typeof content === "string" ? this.#rewriting.noteWritten(path, content) : undefined;
      const result = results.find(({ toolCallId }) => toolCallId === call.id);
      if (asked?.content !== undefined && result) notes.set(result, changedText(asked, String(content)));
      if (this.#rewriting.noteCopied(call, this.#options.tools)) this.#plan.leaveOut("copy");
      this.#changes.add(callKey(call));
      this.#objections?.noteMade(call);
      this.#changedPaths.add(call.arguments["path"]);
    }
    const vain = results.find(({ details }) => isRecord(details) && details["unchanged"] === true);
    if (this.#guard.hasChanged && vain) this.#repeated = vain.toolName;
    if (this.#view && this.#plan.work?.isChange) {
      const left = await leftNotes(calls, results, { tools: this.#options.tools, request: this.#options.conversation.request, work: this.#plan.work, view: this.#view, before: this.#names?.files ?? [] });
      for (const [result, note] of left) notes.set(result, [notes.get(result), note].filter(Boolean).join("\n"));
    }
    const changed = results.findLast(({ isError, toolName }) => !isError && classes.get(toolName) !== "read");
    if (!changed || !this.#view || this.#missing().length === 0) return notes;
    this.#names = await this.#view.names();
    const reminder = this.#names && this.#plan.work ? this.#wanted?.reminder(this.#names, this.#plan.work) : undefined;
    notes.set(changed, [notes.get(changed), reminder].filter(Boolean).join("\n"));
    return notes;
  }

  #noteSelected(results: readonly ToolResultMessage[]): void {
    const { request, tool } = this.#selection ?? {};
    if (tool && results.length > 0 && results.every(({ isError, toolName }) => !isError && toolName === tool.name)) this.#selectedFor = request;
  }

  /** What the model saw is partly gone. */
  forget(): void {
    this.#guard.forget();
  }

  #isLeft(): boolean {
    const { work } = this.#plan;
    return work !== undefined && this.#doing.isLeft(work, mentionedFiles(this.#options.conversation.request, this.#names?.files ?? []));
  }

  #isDone(): boolean {
    const { work } = this.#plan;
    return this.#isVerySmall && work !== undefined && this.#missing().length === 0 && this.#doing.isDone(work, mentionedFiles(this.#options.conversation.request, this.#names?.files ?? []));
  }

  /** A small model says of what it tried that it works. */
  #replyFailed(): StepOffer {
    const { conversation } = this.#options;
    const last = conversation.messages.at(-1);
    if (last?.role === "toolResult" && !conversation.note(last).includes(failedNote)) conversation.annotate(last, failedNote);
    return replyOnly;
  }

  #missing(): string[] {
    const { work } = this.#plan;
    return this.#names && work ? (this.#wanted?.missing(this.#names, work) ?? []) : [];
  }

  #tellSpecial({ options, tools }: StepOffer): void {
    const { conversation } = this.#options;
    const special = tools.filter((tool) => tool.isSpecial === true && !this.#told.has(tool.name) && offeredArguments(tool, options));
    const beside = conversation.messages.findLast(({ role }) => role !== "assistant");
    if (special.length === 0 || !beside) return;
    for (const { name } of special) this.#told.add(name);
    conversation.annotate(beside, `Tools for this:\n${special.map(toolLine).join("\n")}`);
  }
}

/** Below so many parameters; measured with models of 0.5 and 1.5 billion. */
const verySmallMax = 1e9;
const failedNote = "(It still fails: tell the user so.)";

function callKey({ arguments: args, name }: ToolCall): string {
  return JSON.stringify([name, args]);
}
