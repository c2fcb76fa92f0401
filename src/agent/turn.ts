// One turn: from a user message to its reply, step by step. It decides what follows a generation (tools, a retry, a
// queued text, the end) and keeps every start paired with its end, whatever happens.
import type { ActionEvent, EngineFailure } from "../core/engine.ts";
import type { TurnReason } from "../core/event.ts";
import { limits } from "../core/limits.ts";
import { addUsage, contentText, usageOf, type AgentMessage, type AssistantMessage, type CustomMessage, type ToolCall, type ToolResultMessage, type UserMessage } from "../core/message.ts";
import { runAttempt, type AttemptResult } from "./attempt.ts";
import { Ceilings } from "./ceilings.ts";
import { generate } from "./generate.ts";
import { LoopDetector, loopNotice, vetoText } from "./loop-detector.ts";
import { LoopGuard } from "./loop-guard.ts";
import { OutputCheck } from "./output-check.ts";
import { Recovery } from "./recovery.ts";
import { wait } from "./retry.ts";
import { runToolCalls } from "./tool-calls.ts";
import type { TurnOptions, TurnResult } from "./turn-options.ts";

export type { TurnOptions, TurnResult, TurnSettings } from "./turn-options.ts";

export async function runTurn(prompt: UserMessage, options: TurnOptions): Promise<TurnResult> {
  return new Turn(options).run(prompt);
}

type TurnFailure = Pick<EngineFailure, "message" | "category"> & { schema?: true };

async function* failing(failure: EngineFailure): AsyncGenerator<ActionEvent, void, void> {
  yield { type: "failed", failure, usage: usageOf({}) };
}

const cutFailure: EngineFailure = { kind: "engine", category: "model", message: "the answer was cut at the output limit before it was complete" };

const refusals = {
  cut: "not run: the message was cut at the output limit before it was complete",
  lastStep: "not run: this was the last permitted step, only a reply was possible",
};

class Turn {
  readonly #options: TurnOptions;
  readonly #guard: LoopGuard;
  readonly #detector: LoopDetector;
  readonly #ceilings: Ceilings;
  readonly #recovery: Recovery;
  readonly #startedAt: number;
  /** Messages of the open run; undefined between two runs. */
  #runMessages: AgentMessage[] | undefined;
  #usage = usageOf({});
  #stepIndex = 0;
  #step: { startedAt: number; tokens: number; attempts: number } | undefined;
  #lastFailure: EngineFailure | undefined;
  /** What keeps messages from being stored: the next generation fails with it instead of running. */
  #storageFailure: EngineFailure | undefined;
  readonly #outputCheck: OutputCheck | undefined;

  constructor(options: TurnOptions) {
    this.#options = options;
    const { hosted, loop, loopLimits, maxSteps, output, retry } = options.settings;
    this.#guard = new LoopGuard(options.tools, loop);
    this.#detector = new LoopDetector(loopLimits);
    this.#recovery = new Recovery({ retry, parkMaxMs: hosted?.parkMaxMs });
    this.#startedAt = options.runtime.now();
    this.#ceilings = new Ceilings(maxSteps, hosted?.leg, this.#startedAt + (hosted?.durationMaxMs ?? Infinity));
    this.#outputCheck = output && new OutputCheck(output);
  }

  async run(prompt: UserMessage): Promise<TurnResult> {
    const { emit, runtime, turnIndex, signal } = this.#options;
    const { hosted } = this.#options.settings;
    await emit({ type: "turn_started", turnIndex, text: contentText(prompt.content) });
    await this.#openRun();
    let inject: () => Promise<void> = async () => {
      await this.#tell(prompt);
      await this.#takeSteering();
    };
    for (;;) {
      await this.#openAttempt(inject);
      inject = async () => {};
      const { message, failure, finishes } = await this.#generate();
      if (failure || message.stopReason === "aborted") {
        await emit({ type: "attempt_ended", message, toolResults: [] });
        if (failure && (await this.#retry(failure))) continue;
        return this.#close(failure ? "failed" : "cancelled", false, failure);
      }
      await this.#endRetries(true);
      const calls = message.content.filter((block): block is ToolCall => block.type === "toolCall");
      const results = await this.#runTools(calls, message);
      await emit({ type: "attempt_ended", message, toolResults: results });
      // The run then ends with an aborted message of its own (json-mode.md 6.11).
      if (signal.aborted && calls.length > 0) continue;
      const lastStep = this.#isLastStep();
      const ceiling = calls.length > 0 ? this.#ceilings.after(this.#stepIndex, results, runtime.now()) : undefined;
      await this.#closeStep();
      if (finishes && calls.length > 0 && hosted) return this.#close("finish", false);
      if (calls.length > 0 && this.#detector.stopped && hosted) return this.#close("reply", false, undefined, "loop_breaker");
      if (ceiling || (calls.length > 0 && lastStep)) return this.#close("max_steps", false, undefined, ceiling ?? "no_progress");
      const verdict = calls.length > 0 || this.#steers() ? undefined : this.#outputCheck?.judge(message);
      if (verdict && (lastStep || verdict.exhausted)) return this.#close("failed", false, { ...verdict.failure, schema: true });
      const next = verdict ? () => this.#tell(verdict.correction(runtime.now())) : this.#next(calls.length > 0);
      if (!next || lastStep) return this.#close(message.terminal === "finish" ? "finish" : "reply", message.stopReason === "length");
      inject = next;
    }
  }

  /** What the next step begins with; undefined when the turn is over. */
  #next(hasResults: boolean): (() => Promise<void>) | undefined {
    const { inbox } = this.#options;
    if (hasResults || this.#steers()) return () => this.#takeSteering();
    if (inbox.hasFollowUp) return async () => this.#tellQueued(await inbox.takeFollowUp());
    return undefined;
  }

  /** Steering waits, and keeps the turn going. */
  #steers(): boolean {
    return this.#options.inbox.hasSteering && this.#options.settings.steeringContinues;
  }

  #isLastStep(): boolean {
    return this.#ceilings.isLast(this.#stepIndex) || this.#detector.stopped;
  }

  async #openRun(): Promise<void> {
    this.#runMessages = [];
    await this.#options.emit({ type: "run_started" });
  }

  async #closeRun(): Promise<void> {
    const messages = this.#runMessages;
    this.#runMessages = undefined;
    if (messages) await this.#options.emit({ type: "run_ended", messages });
  }

  async #openAttempt(inject: () => Promise<void>): Promise<void> {
    const { emit, runtime } = this.#options;
    if (!this.#step) {
      this.#step = { startedAt: runtime.now(), tokens: 0, attempts: 0 };
      await emit({ type: "step_started", stepIndex: this.#stepIndex });
    }
    this.#step.attempts += 1;
    await emit({ type: "attempt_started", stepIndex: this.#stepIndex, attempt: this.#step.attempts });
    await inject();
  }

  async #tell(message: UserMessage | CustomMessage): Promise<void> {
    const { emit, conversation } = this.#options;
    await emit({ type: "message_started", message });
    this.#commit(message);
    await emit({ type: "message_ended", message });
    conversation.add(message);
    this.#runMessages?.push(message);
  }

  async #takeSteering(): Promise<void> {
    const { inbox, settings } = this.#options;
    do await this.#tellQueued(await inbox.takeSteering());
    while (settings.hosted && inbox.hasSteering);
  }

  async #tellQueued(text: string | undefined): Promise<void> {
    if (text === undefined) return;
    this.#options.approvals.forgetDenials();
    await this.#tell({ role: "user", content: [{ type: "text", text }], timestamp: this.#options.runtime.now() });
  }

  #commit(message: AgentMessage): void {
    this.#storageFailure ??= this.#options.commit(message);
  }

  async #generate(): Promise<AttemptResult> {
    const { abortMessage, commit, conversation, emit, engine, runtime, settings, signal, system, tools } = this.#options;
    const offered = this.#isLastStep() || this.#guard.onlyReply ? [] : tools.filter((tool) => !this.#guard.excluded.has(tool.name));
    const { output, parallelMax, sampling, thinking } = settings;
    const generation = generate({
      engine,
      conversation,
      system,
      tools: offered,
      sampling,
      thinking,
      parallelMax,
      forbidden: this.#guard.forbidden(),
      revealed: this.#guard.revealed,
      forbidEmpty: this.#recovery.afterEmpty,
      ...(output ? { outputSchema: output.schema } : {}),
      signal,
    });
    const attempt = this.#step?.attempts ?? 1;
    const events = this.#storageFailure && !signal.aborted ? failing(this.#storageFailure) : generation.events;
    const told = await runAttempt({ events, model: engine.info(), commit, emit, runtime, stepIndex: this.#stepIndex, attempt, abortMessage });
    const cut = settings.hosted !== undefined && told.message.stopReason === "length";
    const result = cut ? { ...told, failure: cutFailure } : told;
    const { message, failure } = result;
    this.#runMessages?.push(message);
    this.#usage = addUsage(this.#usage, message.usage);
    if (this.#step) this.#step.tokens += message.usage.totalTokens;
    const raw = generation.rawText();
    if (cut) return result;
    if (failure || message.stopReason === "aborted") conversation.add(message);
    else if (raw !== undefined && message.stopReason !== "length") conversation.addGenerated(message, raw);
    else conversation.add(message);
    return result;
  }

  async #runTools(calls: readonly ToolCall[], message: AssistantMessage): Promise<ToolResultMessage[]> {
    if (calls.length === 0) return [];
    const { approvals, conversation, emit, engine, runtime, settings, signal, tools, workspace } = this.#options;
    const { parallelMax, toolTimeoutMs, batchResultBytesMax } = settings;
    const refusal = message.stopReason === "length" ? refusals.cut : this.#isLastStep() ? refusals.lastStep : undefined;
    const veto = refusal === undefined ? this.#detector.judge(calls) : undefined;
    if (veto) await emit({ type: "loop_detected", stepIndex: this.#stepIndex, ...veto });
    const results = await runToolCalls(calls, {
      tools,
      approvals,
      workspace,
      commit: (message) => this.#commit(message),
      emit,
      runtime,
      signal,
      stepIndex: this.#stepIndex,
      parallelMax,
      toolTimeoutMs,
      resultBytesMax: Math.min(limits.resultBytesMax, engine.info().contextWindow),
      batchResultBytesMax,
      ...(refusal === undefined ? {} : { refusal }),
      ...(veto ? { veto: () => vetoText } : {}),
    });
    const notes = this.#guard.record(calls, results);
    const signals = refusal === undefined ? this.#detector.record(calls, results) : [];
    for (const signal of signals) await emit({ type: "loop_detected", stepIndex: this.#stepIndex, ...signal });
    for (const result of results) {
      conversation.add(result);
      conversation.annotate(result, notes.get(result) ?? (signals.length > 0 ? loopNotice : ""));
    }
    this.#runMessages?.push(...results);
    return results;
  }

  /** Ends the run, waits and begins another one; false when there is nothing left to try. */
  async #retry(failure: EngineFailure): Promise<boolean> {
    const { emit, settings, signal } = this.#options;
    this.#lastFailure = failure;
    if (signal.aborted) return false;
    const remedy = this.#recovery.after(failure, this.#stepIndex);
    await emit({ type: "generation_failed", stepIndex: this.#stepIndex, attempt: this.#step?.attempts ?? 1, failure, willRetry: remedy.kind !== "none" });
    if (remedy.kind === "none") return false;
    await this.#closeRun();
    if (remedy.kind === "retry") {
      await emit({ type: "retry_started", attempt: this.#recovery.retries, maxAttempts: settings.retry.maxRetries, delayMs: remedy.delayMs, errorMessage: failure.message });
      await wait(remedy.delayMs, signal);
    } else if (remedy.kind === "park") {
      await emit({ type: "engine_waiting", stepIndex: this.#stepIndex, retryInMs: remedy.delayMs, waitedMs: remedy.waitedMs, maxWaitMs: settings.hosted?.parkMaxMs ?? 0 });
      await wait(remedy.delayMs, signal);
    }
    if (signal.aborted) {
      await this.#endRetries(false);
      return false;
    }
    await this.#openRun();
    return true;
  }

  async #endRetries(success: boolean): Promise<void> {
    const attempt = this.#recovery.retries;
    this.#recovery.reset();
    if (attempt === 0) return;
    const finalError = this.#options.signal.aborted ? this.#options.abortMessage() : (this.#lastFailure?.message ?? "the generation failed");
    this.#lastFailure = undefined;
    await this.#options.emit({ type: "retry_ended", success, attempt, ...(success ? {} : { finalError }) });
  }

  async #closeStep(): Promise<void> {
    const step = this.#step;
    if (!step) return;
    const { emit, runtime } = this.#options;
    await emit({ type: "step_ended", stepIndex: this.#stepIndex, tokensUsed: step.tokens, durationMs: runtime.now() - step.startedAt });
    this.#step = undefined;
    this.#stepIndex += 1;
  }

  async #close(reason: TurnReason, cut: boolean, failure?: TurnFailure, cause?: string): Promise<TurnResult> {
    const { abortMessage, emit, runtime, turnIndex, signal } = this.#options;
    const told = signal.aborted && reason === "failed" ? "cancelled" : reason;
    await this.#closeRun();
    await this.#endRetries(false);
    if (told === "cancelled") {
      const cancelled: EngineFailure = { kind: "engine", category: "cancelled", message: abortMessage() };
      await emit({ type: "generation_failed", stepIndex: this.#stepIndex, attempt: this.#step?.attempts ?? 1, failure: cancelled, willRetry: false });
    }
    await this.#closeStep();
    const failed = told === "failed" && failure ? { failure: { message: failure.message, category: failure.category } } : {};
    const schemaFailed = told === "failed" && failure?.schema ? { schemaFailed: true as const } : {};
    const result: TurnResult = { reason: told, cut, stepCount: this.#stepIndex, usage: this.#usage, ...failed, ...schemaFailed };
    await emit({ type: "turn_ended", turnIndex, reason: told, ...(cause === undefined ? {} : { cause }), stepCount: this.#stepIndex, usage: this.#usage, durationMs: runtime.now() - this.#startedAt, ...failed });
    return result;
  }
}
