// The one session of a sidecar: its turns, its events with the id of the request that caused them, and what is known of it
// while it runs (sidecar.md 3.4 to 3.6, 5, 8). Stores the marks of its turns before the frames that tell of them.
import type { ApprovalAnswer, Withdrawal } from "../../core/approval.ts";
import type { Engine } from "../../core/engine.ts";
import { messageOf } from "../../core/error.ts";
import type { AgentEvent, Emit } from "../../core/event.ts";
import { limits } from "../../core/limits.ts";
import type { ToolResultMessage } from "../../core/message.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { EntryBody } from "../../session/entry.ts";
import { compactionEntry } from "../../session/compaction-state.ts";
import { progressOf, replyMarkEntry, turnEndedEntry, turnStartedEntry } from "../../session/progress.ts";
import type { AbortReason, Session } from "../../session/session.ts";
import { type LiveState, sessionStateOf } from "../../session/state.ts";
import type { SessionStore } from "../../session/store.ts";
import { approvalEntry } from "../../session/turn-facts.ts";
import { TurnQueue } from "../../session/turn-queue.ts";
import { createSidecarProjection, type SidecarEventBody } from "../../wire/sidecar/project.ts";
import type { CompactionResponse, RequestId, SendMessageResponse, SessionState } from "../../wire/sidecar/schema.ts";
import type { Selection } from "./engine-desk.ts";
import type { SwitchableEngine } from "./switchable-engine.ts";

export interface ActiveSessionOptions {
  /** UUID; the host sees it with `s-` in front. */
  id: string;
  store: SessionStore;
  selection: Selection;
  approvalLevel: 1 | 2 | 3 | 4 | 5;
  runtime: Omit<Runtime, "log">;
  write: (body: SidecarEventBody, correlationId?: RequestId) => Promise<void> | undefined;
}

/** Makes the session that the events of this one come from. */
export type OpenSession = (options: { engine: Engine; emit: Emit; runtime: Runtime; turnCount: number }) => OpenedSession;

export interface OpenedSession {
  session: Session;
  /** Takes what the user wrote: what it names may be read. */
  mention: (text: string) => void;
  close: () => void;
}

type TurnEnded = Extract<AgentEvent, { type: "turn_ended" }>;

const cancelled: AbortReason = { kind: "command", message: "cancelled" };

export class ActiveSession {
  readonly id: string;
  readonly #options: ActiveSessionOptions;
  readonly #opened: OpenedSession;
  readonly #session: Session;
  readonly #queue = new TurnQueue();
  readonly #engine: SwitchableEngine;
  readonly #project: (event: AgentEvent) => SidecarEventBody[];
  #selection: Selection;
  #turnCount: number;
  #stepCount: number;
  /** The request whose turn, or compaction, runs. */
  #cause: RequestId | undefined;
  #turn: { openSteps: number; ended?: TurnEnded; isParked: boolean; isCancelled: boolean } | undefined;
  #steersPending = 0;
  #lateResults: ToolResultMessage[] = [];
  #contextUsage: LiveState["contextUsage"];
  /** Why the last compaction freed nothing. */
  #compactionWarning: string | undefined;

  constructor(options: ActiveSessionOptions, engine: SwitchableEngine, open: OpenSession) {
    const { id, runtime, selection, store } = options;
    this.id = id;
    this.#options = options;
    this.#engine = engine;
    this.#selection = selection;
    const { stepCount, turnCount } = progressOf(store.entries(id, "custom"), { isBusy: false });
    [this.#turnCount, this.#stepCount] = [turnCount, stepCount];
    this.#project = createSidecarProjection({ sessionId: `s-${id}`, now: runtime.now, isCancelled: () => this.#turn?.isCancelled === true });
    const log: Runtime["log"] = (level, message, context) => void this.#write({ type: "log", payload: { level, message, ...(context ? { context } : {}) } });
    this.#opened = open({ engine: engine.engine, emit: (event) => this.#take(event), runtime: { ...runtime, log }, turnCount });
    this.#session = this.#opened.session;
  }

  get selection(): Selection {
    return this.#selection;
  }

  /** A turn or a compaction runs, or waits. */
  get isBusy(): boolean {
    return this.#queue.isBusy;
  }

  /** @param begin called right before the turn, outside of it */
  send(text: string, maxSteps: number | undefined, cause: RequestId, begin: () => Promise<void>): Promise<SendMessageResponse> {
    const unstarted = (): SendMessageResponse => ({ reason: "cancelled", turnCount: this.#turnCount, stepCount: this.#stepCount, started: false });
    return this.#queue.add(async (signal) => {
      this.#cause = cause;
      signal.addEventListener("abort", () => this.#turn && (this.#turn.isCancelled = true), { once: true });
      await begin();
      this.#opened.mention(text);
      await this.#runTurn(text, maxSteps, signal);
      const ended = this.#turn?.ended;
      this.#turn = undefined;
      const { steering } = await this.#session.takeUndelivered();
      for (const steer of steering) await this.#write({ type: "steer_undelivered", payload: { sessionId: `s-${this.id}`, text: steer } });
      this.#cause = undefined;
      return ended === undefined ? unstarted() : responseOf(ended, this.#turnCount, this.#stepCount);
    }, unstarted);
  }

  /** Whether the running turn took the text. */
  steer(text: string): boolean {
    const trimmed = text.trim();
    if (this.#turn === undefined || this.#turn.ended !== undefined || trimmed === "" || this.#steersPending >= limits.steeringMax) return false;
    this.#steersPending += 1;
    void this.#session.steer(trimmed);
    return true;
  }

  cancel(): { wasRunning: boolean; queued: number } {
    return this.#queue.cancel(cancelled);
  }

  answer(approvalId: string, answer: ApprovalAnswer): { resolved: boolean; grant?: "once" | "session" } {
    const asked = this.#session.pendingApprovals.find(({ id }) => id === approvalId);
    const answered = this.#session.answerApproval(approvalId, answer);
    if (answered === undefined || asked === undefined) return { resolved: false };
    this.#store(approvalEntry({ toolCallId: asked.call.id, verdict: answer.approved ? "approved" : "denied", category: asked.need.category }));
    void this.#write({ type: "metric", payload: { name: answer.approved ? "agent.approval.granted" : "agent.approval.denied", value: 1 } });
    return { resolved: true, ...answered };
  }

  /** Compacts at once, unless something else runs. */
  async compact(cause: RequestId): Promise<CompactionResponse> {
    if (this.#queue.isBusy) return { status: "busy", reason: "manual" };
    const stopped: CompactionResponse = { status: "cancelled", reason: "manual" };
    return await this.#queue.add(async (signal): Promise<CompactionResponse> => {
      this.#cause = cause;
      const { message, result, status } = await this.#session.compactNow(signal);
      this.#cause = undefined;
      const numbers = result === undefined ? {} : { tokensBefore: result.stats.tokensBefore, tokensAfter: result.stats.tokensAfter };
      return { status, reason: "manual", ...(message === undefined ? {} : { message }), ...numbers };
    }, () => stopped);
  }

  /** The next generation uses another engine. */
  use(selection: Selection, engine: Engine): void {
    this.#selection = selection;
    this.#engine.replace(engine);
  }

  state(): SessionState {
    const { store } = this.#options;
    const session = store.sessionById(this.id);
    if (session === undefined) throw new Error(`session ${this.id} is no longer stored`);
    return sessionStateOf({ session, entries: store.entries(this.id), isBusy: true }, this.live());
  }

  live(): LiveState {
    const { approvalLevel } = this.#options;
    const pending = this.#session.pendingApprovals.map(({ call, id, need }) => ({ approvalId: id, tool: call.name, category: need.category }));
    const turn = this.#turn?.ended ? undefined : this.#turn;
    const status = turn === undefined ? undefined : pending.length > 0 ? "awaiting_approval" : turn.isParked ? "awaiting_llm" : "running";
    return {
      ...(status === undefined ? {} : { status }),
      openSteps: turn?.openSteps ?? 0,
      results: this.#lateResults,
      extra: {
        approvalLevel,
        model: this.#selection.model,
        ...(pending.length > 0 ? { pendingApprovals: pending } : {}),
        ...(this.#compactionWarning === undefined ? {} : { compactionWarning: this.#compactionWarning }),
      },
      contextUsage: this.#contextUsage,
    };
  }

  /** Ends turn and queue, then gives the session up. Everything that was asked of it is answered by then. */
  async close(reason: Exclude<Withdrawal, "expired" | "cancelled">): Promise<void> {
    this.#session.withdrawApprovals(reason);
    this.#queue.cancel(cancelled);
    await this.#queue.idle();
    this.#opened.close();
    this.#options.store.release(this.id);
  }

  async #runTurn(text: string, maxSteps: number | undefined, signal: AbortSignal): Promise<void> {
    try {
      await this.#session.prompt([{ type: "text", text }], { signal, ...(maxSteps === undefined ? {} : { maxSteps }) });
    } catch (error) {
      // A fault of ours: the turn that it met still ends as the contract says.
      if (this.#turn === undefined || this.#turn.ended) throw error;
      await this.#closeBroken(messageOf(error));
    }
  }

  async #closeBroken(message: string): Promise<void> {
    const openSteps = this.#turn?.openSteps ?? 0;
    const stepIndex = Math.max(0, openSteps - 1);
    const failure = { kind: "engine", category: "tool", message } as const;
    await this.#take({ type: "generation_failed", stepIndex, attempt: 1, failure, willRetry: false });
    if (openSteps > 0) await this.#take({ type: "step_ended", stepIndex, tokensUsed: 0, durationMs: 0 });
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
    await this.#take({ type: "turn_ended", turnIndex: this.#turnCount - 1, reason: "failed", failure: { message, category: "tool" }, stepCount: openSteps, usage, durationMs: 0 });
  }

  /** Everything that the session tells comes through here; the loop waits for a slow host. */
  async #take(event: AgentEvent): Promise<void> {
    this.#note(event);
    let room: Promise<void> | undefined;
    for (const body of this.#project(event)) room = this.#write(body);
    await room;
  }

  #note(event: AgentEvent): void {
    const turn = this.#turn;
    switch (event.type) {
      case "turn_started":
        this.#store(turnStartedEntry(event.turnIndex));
        this.#turnCount = event.turnIndex + 1;
        this.#turn = { openSteps: 0, isParked: false, isCancelled: false };
        return;
      case "turn_ended":
        this.#noteEnd(event);
        return;
      case "step_started":
        if (turn) turn.openSteps += 1;
        return;
      case "attempt_started":
      case "engine_waiting":
        if (turn) turn.isParked = event.type === "engine_waiting";
        return;
      case "compaction_ended":
        this.#compactionWarning = event.result ? undefined : event.errorMessage;
        if (event.result) this.#store(compactionEntry({ reason: event.reason, model: this.#selection.model, usage: event.usage, calls: event.calls }));
        return;
      case "queue_changed":
        this.#steersPending = event.steering.length;
        return;
      case "generation_started":
        this.#contextUsage = this.#usageOf(event.promptTokens);
        return;
      case "tool_ended":
        this.#lateResults.push({ role: "toolResult", toolCallId: event.call.id, toolName: event.call.name, ...event.result, isError: event.isError, timestamp: this.#options.runtime.now() });
        return;
      case "reply_judged":
        this.#store(replyMarkEntry(event));
        return;
      case "step_ended":
        this.#lateResults = [];
        return;
      default:
    }
  }

  #noteEnd(event: TurnEnded): void {
    const { cause, failure, reason, stepCount, turnIndex } = event;
    this.#stepCount += stepCount;
    if (this.#turn) this.#turn.ended = event;
    this.#store(turnEndedEntry({ turnIndex, reason, stepCount, ...(cause === undefined ? {} : { cause }), ...(failure === undefined ? {} : { message: failure.message }) }));
  }

  #usageOf(tokens: number): NonNullable<LiveState["contextUsage"]> {
    const { engine } = this.#engine;
    const head = this.#session.system;
    const system = Math.min(tokens, engine.countTokens?.(head) ?? Math.ceil(head.length / charactersPerToken));
    return {
      tokens,
      contextWindow: engine.info().contextWindow,
      conversationTokens: tokens - system,
      conversationCap: this.#session.contextThreshold,
      sections: [
        { label: "system", tokens: system },
        { label: "conversation", tokens: tokens - system },
      ],
    };
  }

  #store(entry: EntryBody): void {
    try {
      this.#options.store.appendEntry(this.id, entry);
    } catch (error) {
      void this.#write({ type: "log", payload: { level: "error", message: messageOf(error) } });
    }
  }

  #write(body: SidecarEventBody): Promise<void> | undefined {
    return this.#options.write(body, this.#cause);
  }
}

const charactersPerToken = 4;

function responseOf({ failure, reason, turnIndex, usage }: TurnEnded, turnCount: number, stepCount: number): SendMessageResponse {
  return {
    reason,
    turnCount,
    stepCount,
    turnIndex,
    usage: { promptTokens: usage.input + usage.cacheRead, completionTokens: usage.output, cachedTokens: usage.cacheRead },
    ...(reason === "failed" ? { error: { message: failure?.message ?? "the turn failed", category: failure?.category ?? "tool" } } : {}),
  };
}
