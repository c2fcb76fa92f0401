// One conversation and its working folder: runs turns one after another, holds what was said, and stores every message
// before the event that tells of it goes out.
import { Approvals } from "../agent/approvals/approvals.ts";
import { Compactor, type CompactionOutcome } from "../agent/compaction/compactor.ts";
import { Conversation } from "../agent/conversation.ts";
import { Inbox } from "../agent/inbox.ts";
import type { OutputContract } from "../agent/output-check.ts";
import type { ResolveAttachments } from "../agent/reply-attachments.ts";
import { systemFor, systemText, type SystemText } from "../agent/prompt.ts";
import { runTurn, type TurnResult, type TurnSettings } from "../agent/turn.ts";
import type { ApprovalAnswer, ApprovalLevel, ApprovalRequest, Asker, Withdrawal } from "../core/approval.ts";
import type { VerbatimCompactionResult } from "../core/compaction.ts";
import type { Engine, EngineFailure } from "../core/engine.ts";
import { messageOf } from "../core/error.ts";
import type { AgentEvent, Emit } from "../core/event.ts";
import { addUsage, contentText, usageOf, type AgentMessage, type ImageContent, type TextContent, type Usage, type UserMessage } from "../core/message.ts";
import type { Runtime } from "../core/runtime.ts";
import type { Tool, WorkspaceView } from "../core/tool.ts";

export type { OutputContract, TurnSettings };

export interface SessionOptions {
  /** UUID, version 7. */
  id: string;
  /** Absolute, real path. */
  workspace: string;
  engine: Engine;
  tools: readonly Tool[];
  settings: TurnSettings;
  approvalLevel: ApprovalLevel;
  /** Absent = nobody can be asked. `reader` = whoever reads the events answers by `answerApproval`. */
  asker?: Asker;
  /** Milliseconds after which a question expires; 0 = never. */
  approvalTimeoutMs?: number;
  /** Takes what the user wrote, and the folders that were granted: what they name may be read. */
  readable?: { mention(text: string): void; allow(path: string): void };
  systemPrompt?: string;
  systemAdditions?: readonly string[];
  /** What a model with tools is told about the workspace with a user message; taken once a message. */
  describeWorkspace?: (request: string) => Promise<string>;
  /** What exists in the workspace; absent = a model may name anything. */
  view?: WorkspaceView;
  /** Takes what a reply attaches; throws a ToolError for what can't be. Absent = replies attach nothing. */
  resolveAttachments?: ResolveAttachments;
  /** Messages of a resumed session, and the turns that it had. */
  messages?: readonly AgentMessage[];
  turnCount?: number;
  /** Commits a message before `message_ended` goes out; throws when it can't. */
  store?: (message: AgentMessage) => void;
  /** The stored entry of a message; undefined when none holds it as it is. Absent = every message counts as stored. */
  entryIdOf?: (message: AgentMessage) => string | undefined;
  /** Appends the boundary of a compaction before `compaction_ended` goes out; throws when it can't. */
  storeCompaction?: (result: VerbatimCompactionResult) => void;
  emit: Emit;
  runtime: Runtime;
}

export interface PromptOptions {
  /** Ends this turn alone; its reason, an AbortReason, says why. */
  signal?: AbortSignal;
  /** Instead of what the settings say. */
  maxSteps?: number;
}

export interface AbortReason {
  kind: "signal" | "command" | "timeout" | "host_gone" | "reader_gone";
  /** One line for people. */
  message: string;
}

export type TurnOutcome = "ok" | "length" | "error" | "unresolved_overflow" | "aborted" | "timeout" | "max_steps" | "schema";

export class Session {
  readonly id: string;
  readonly #options: SessionOptions;
  readonly #conversation: Conversation;
  readonly #inbox: Inbox;
  readonly #approvals: Approvals;
  readonly #compactor: Compactor;
  readonly #system: SystemText;
  #turnCount: number;
  #usage = usageOf({});
  #abort = new AbortController();
  #abortReason: AbortReason | undefined;
  /** What was last said of the store; it is said once. */
  #storageFault: string | undefined;
  #dropped: { steering: string[]; followUp: string[] } = { steering: [], followUp: [] };

  constructor(options: SessionOptions) {
    this.id = options.id;
    this.#options = options;
    this.#turnCount = options.turnCount ?? 0;
    this.#conversation = new Conversation(options.messages);
    this.#inbox = new Inbox((event) => this.#emit(event));
    this.#approvals = new Approvals({
      level: options.approvalLevel,
      asker: options.asker,
      timeoutMs: options.approvalTimeoutMs ?? 0,
      allowRead: (folder) => options.readable?.allow(folder),
      emit: (event) => this.#emit(event),
      runtime: options.runtime,
    });
    const { systemPrompt, systemAdditions } = options;
    this.#system = systemText({ tools: ordinary(options.tools), additions: systemAdditions ?? [], ...(systemPrompt === undefined ? {} : { replacement: systemPrompt }) });
    this.#compactor = new Compactor({
      engine: options.engine,
      conversation: this.#conversation,
      system: this.#system,
      tools: ordinary(options.tools),
      settings: options.settings.compaction,
      retry: options.settings.retry,
      entryIdOf: options.entryIdOf ?? unstoredIds(options.runtime),
      commit: (result) => options.storeCompaction?.(result),
      emit: (event) => this.#emit(event),
      runtime: options.runtime,
    });
  }

  /** The head of every request; as long as the engine is the same, it is too. */
  get system(): string {
    return systemFor(this.#options.engine, this.#system);
  }

  get usage(): Usage {
    return this.#usage;
  }

  /** Runs one turn to its end; one that was ended before it began tells nothing. Never rejects for a failure of the model or a tool. */
  async prompt(content: (TextContent | ImageContent)[], { maxSteps, signal: ownSignal }: PromptOptions = {}): Promise<TurnOutcome> {
    const { runtime, settings, describeWorkspace, engine } = this.#options;
    const tools = engine.kind === "text" ? offered(this.#options.tools) : ordinary(this.#options.tools);
    const signal = ownSignal ? AbortSignal.any([this.#abort.signal, ownSignal]) : this.#abort.signal;
    if (signal.aborted) return this.#abortedOutcome();
    this.#approvals.forgetDenials();
    const message: UserMessage = { role: "user", content, timestamp: runtime.now() };
    this.#conversation.annotate(message, tools.length === 0 || engine.kind !== "text" ? "" : ((await describeWorkspace?.(contentText(content))) ?? ""));
    if (signal.aborted) return this.#abortedOutcome();
    const result = await runTurn(message, {
      turnIndex: this.#turnCount++,
      engine: this.#options.engine,
      conversation: this.#conversation,
      compactor: this.#compactor,
      system: this.#system,
      tools,
      approvals: this.#approvals,
      inbox: this.#inbox,
      workspace: this.#options.workspace,
      ...(this.#options.resolveAttachments ? { resolveAttachments: this.#options.resolveAttachments } : {}),
      ...(this.#options.view ? { view: this.#options.view } : {}),
      settings: maxSteps === undefined ? settings : { ...settings, maxSteps },
      commit: (told) => this.#commit(told),
      emit: (event) => this.#emit(event),
      runtime,
      signal,
      abortMessage: () => (this.#abortReason ?? (ownSignal?.reason as AbortReason | undefined))?.message ?? "aborted",
    });
    this.#usage = addUsage(this.#usage, result.usage);
    return this.#outcome(result);
  }

  /** A text for the running turn, read at its next step. */
  async steer(text: string): Promise<void> {
    this.#options.readable?.mention(text);
    await this.#inbox.steer(text);
  }

  /** A text for when the running turn would end well. */
  async followUp(text: string): Promise<void> {
    this.#options.readable?.mention(text);
    await this.#inbox.followUp(text);
  }

  /** Answers an open question; the first answer wins. @returns what was granted; undefined when nothing of that id is open. */
  answerApproval(id: string, answer: ApprovalAnswer): { grant?: "once" | "session" } | undefined {
    return this.#approvals.answer(id, answer);
  }

  /** The open questions, in the order of asking. */
  get pendingApprovals(): ApprovalRequest[] {
    return this.#approvals.pending();
  }

  /** Makes every open question void; an abort does it by itself, as `cancelled` or `shutdown`. */
  withdrawApprovals(reason: Withdrawal): void {
    this.#approvals.withdraw(reason);
  }

  /** Asks for a compaction at the next boundary of a step, or after the last run of the prompt. */
  compact(): void {
    this.#compactor.want();
  }

  /** Compacts at once; only while no turn runs. Never rejects: a failure is an outcome. */
  async compactNow(signal: AbortSignal): Promise<CompactionOutcome> {
    const ends = AbortSignal.any([this.#abort.signal, signal]);
    await this.#compactor.open(ends);
    const outcome = await this.#compactor.run({ reason: "manual", signal: ends });
    this.#usage = addUsage(this.#usage, outcome.usage);
    return outcome;
  }

  /** Tokens of the next request, and above how many the conversation is compacted by itself; of a text engine exact once it is open. */
  get contextSize(): { tokens: number; threshold: number; window: number } {
    const { threshold, window } = this.#compactor.sizes;
    return { tokens: this.#compactor.measure(), threshold, window };
  }

  /** Tokens above which the conversation is compacted by itself. */
  get contextThreshold(): number {
    return this.#compactor.sizes.threshold;
  }

  /** Ends the running turn and everything after it; what waited in the queues is dropped. */
  async abort(reason: AbortReason): Promise<void> {
    if (this.#abort.signal.aborted) return;
    this.#abortReason = reason;
    this.#approvals.withdraw(reason.kind === "command" || reason.kind === "timeout" ? "cancelled" : "shutdown");
    this.#abort.abort();
    this.#dropped = await this.#inbox.drop();
  }

  /** Takes out what waits in the queues. */
  async takeUndelivered(): Promise<{ steering: string[]; followUp: string[] }> {
    return await this.#inbox.drop();
  }

  /** Texts that no message carried. */
  undelivered(): { steering: string[]; followUp: string[] } {
    const waiting = this.#inbox.pending();
    return { steering: [...this.#dropped.steering, ...waiting.steering], followUp: [...this.#dropped.followUp, ...waiting.followUp] };
  }

  async close(): Promise<void> {
    await this.#options.engine.close();
  }

  async #emit(event: AgentEvent): Promise<void> {
    await this.#options.emit(event);
  }

  /** A store that can't be written ends the turn, not the process: what is said from then on is told but not kept. */
  #commit(message: AgentMessage): EngineFailure | undefined {
    try {
      this.#options.store?.(message);
      return undefined;
    } catch (error) {
      const failure: EngineFailure = { kind: "storage", category: "tool", message: messageOf(error), retryable: false };
      if (this.#storageFault !== failure.message) this.#options.runtime.log("error", failure.message);
      this.#storageFault = failure.message;
      return failure;
    }
  }

  #outcome({ reason, cut, schemaFailed, unresolvedOverflow }: TurnResult): TurnOutcome {
    if (unresolvedOverflow) return "unresolved_overflow";
    if (schemaFailed) return "schema";
    if (reason === "cancelled") return this.#abortedOutcome();
    if (reason === "failed") return "error";
    if (reason === "max_steps") return "max_steps";
    return cut ? "length" : "ok";
  }

  #abortedOutcome(): TurnOutcome {
    return this.#abortReason?.kind === "timeout" ? "timeout" : "aborted";
  }
}

function offered(tools: readonly Tool[]): Tool[] {
  return tools.filter((tool) => tool.isOffered?.() ?? true);
}

/** What every request tells of. */
function ordinary(tools: readonly Tool[]): Tool[] {
  return offered(tools).filter(({ isSpecial }) => isSpecial !== true);
}

/** Ids as the store would give them, for messages that are not stored. */
function unstoredIds({ id }: Runtime): (message: AgentMessage) => string {
  const ids = new WeakMap<AgentMessage, string>();
  return (message) => {
    const known = ids.get(message) ?? id().slice(-8);
    ids.set(message, known);
    return known;
  };
}
