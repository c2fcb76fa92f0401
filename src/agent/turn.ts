// One turn: from a user message to its reply, step by step. It decides what follows a generation (tools, a retry, a
// queued text, the end) and keeps every start paired with its end, whatever happens.
import type { EngineFailure } from "../core/engine.ts";
import type { TurnReason } from "../core/event.ts";
import { limits } from "../core/limits.ts";
import { contentText, type AgentMessage, type AssistantMessage, type CustomMessage, type ToolCall, type ToolResultMessage, type UserMessage } from "../core/message.ts";
import { runAttempt, type AttemptResult } from "./attempt.ts";
import { Ceilings } from "./ceilings.ts";
import { TurnCompaction, type RetryReason } from "./compaction/turn-compaction.ts";
import { generate } from "./generate.ts";
import { Guide } from "./guide.ts";
import { LoopDetector, loopNotice, vetoText } from "./loop-detector.ts";
import { OutputCheck } from "./output-check.ts";
import { Recovery } from "./recovery.ts";
import { judgeAttachments } from "./reply-attachments.ts";
import { wait } from "./retry.ts";
import { runToolCalls } from "./tool-calls.ts";
import { cancelledFailure, cutFailure, failing, refusals, type TurnFailure } from "./turn-failures.ts";
import type { TurnOptions, TurnResult } from "./turn-options.ts";
import { TurnProgress } from "./turn-progress.ts";
import { unusableAnswer } from "./unusable-answer.ts";

export type { TurnOptions, TurnResult, TurnSettings } from "./turn-options.ts";

export async function runTurn(prompt: UserMessage, options: TurnOptions): Promise<TurnResult> {
  return new Turn(options).run(prompt);
}

class Turn {
  readonly #options: TurnOptions;
  readonly #guide: Guide;
  readonly #detector: LoopDetector;
  readonly #ceilings: Ceilings;
  readonly #recovery: Recovery;
  readonly #compaction: TurnCompaction;
  readonly #progress: TurnProgress;
  #lastFailure: EngineFailure | undefined;
  #lastAnswer: AssistantMessage | undefined;
  #isEndTold = false;
  /** What keeps messages from being stored: the next generation fails with it instead of running. */
  #storageFailure: EngineFailure | undefined;
  readonly #outputCheck: OutputCheck | undefined;

  constructor(options: TurnOptions) {
    this.#options = options;
    const { hosted, loop, loopLimits, maxSteps, output, parkMaxMs, retry } = options.settings;
    this.#detector = new LoopDetector(loopLimits);
    this.#recovery = new Recovery({ retry, parkMaxMs });
    this.#compaction = this.#compactionOf(options);
    this.#progress = new TurnProgress(options.emit, options.runtime.now);
    this.#ceilings = new Ceilings(maxSteps, hosted?.leg, this.#progress.startedAt + (hosted?.durationMaxMs ?? Infinity));
    this.#guide = new Guide({ ...options, loop, spend: (usage) => this.#progress.spend(usage) });
    this.#outputCheck = output && new OutputCheck(output);
  }

  async run(prompt: UserMessage): Promise<TurnResult> {
    const { emit, runtime, turnIndex, settings: { hosted }, signal } = this.#options;
    await emit({ type: "turn_started", turnIndex, text: contentText(prompt.content) });
    await this.#compaction.beforePrompt();
    if (signal.aborted) return this.#close("cancelled", false);
    await this.#progress.openRun();
    let inject = (): Promise<void> => this.#takeSteering(prompt);
    for (;;) {
      await this.#progress.openAttempt();
      await inject();
      inject = async () => {};
      const { attachments, message, failure, finishes } = await this.#generate();
      if (failure || message.stopReason === "aborted") {
        await emit({ type: "attempt_ended", message, toolResults: [] });
        if (failure && (await this.#recover(message, failure))) continue;
        return this.#close(failure ? "failed" : "cancelled", false, failure);
      }
      await this.#endRetries(true);
      // The calls may bring the stop of the loop detection: then a last step follows.
      const lastStep = this.#isLastStep();
      const calls = message.content.filter((block): block is ToolCall => block.type === "toolCall");
      const refusal = await judgeAttachments(attachments, this.#progress.stepIndex, this.#options);
      const results = await this.#runTools(calls, message);
      await emit({ type: "attempt_ended", message, toolResults: results });
      // The run then ends with an aborted message of its own (json-mode.md 6.11).
      if (signal.aborted && calls.length > 0) continue;
      const reason = message.stopReason === "length" ? this.#compaction.retryReason(message) : undefined;
      if (reason) {
        if (await this.#compactAndRetry(reason, [message, ...results])) continue;
        return this.#close(this.#compaction.isUnresolved || signal.aborted ? "failed" : "reply", true, cutFailure);
      }
      const ceiling = calls.length > 0 || refusal ? this.#ceilings.after(this.#progress.stepIndex, results, runtime.now()) : undefined;
      await this.#progress.closeStep();
      if (finishes && calls.length > 0 && hosted) return this.#close("finish", false);
      if (calls.length > 0 && this.#detector.stopped && hosted) return this.#close("reply", false, undefined, "loop_breaker");
      if (ceiling || ((calls.length > 0 || refusal) && lastStep)) return this.#close("max_steps", false, undefined, ceiling ?? "no_progress");
      const verdict = calls.length > 0 || refusal || this.#steers() ? undefined : this.#outputCheck?.judge(message);
      if (verdict && (lastStep || verdict.exhausted)) return this.#close("failed", false, { ...verdict.failure, schema: true });
      const next = refusal ? () => this.#takeSteering(refusal.correction(runtime.now())) : verdict ? () => this.#tell(verdict.correction(runtime.now())) : this.#next(calls.length > 0);
      if (!next || lastStep) return this.#close(message.terminal === "finish" ? "finish" : "reply", message.stopReason === "length");
      await this.#compaction.betweenSteps();
      inject = next;
    }
  }

  #compactionOf({ compactor, engine, settings, signal }: TurnOptions): TurnCompaction {
    return new TurnCompaction({
      compactor,
      engine,
      maxTokens: settings.sampling.maxTokens,
      signal,
      onCompacted: ({ status, usage }) => {
        this.#progress.spend(usage);
        if (status === "compacted") this.#guide.forget();
      },
    });
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
    return this.#ceilings.isLast(this.#progress.stepIndex) || this.#detector.stopped;
  }

  async #tell(message: UserMessage | CustomMessage): Promise<void> {
    const { emit, conversation } = this.#options;
    await emit({ type: "message_started", message });
    this.#commit(message);
    await emit({ type: "message_ended", message });
    conversation.add(message);
    this.#progress.add(message);
  }

  async #takeSteering(first?: UserMessage | CustomMessage): Promise<void> {
    if (first) await this.#tell(first);
    const { inbox, settings } = this.#options;
    do await this.#tellQueued(await inbox.takeSteering()); while (settings.hosted && inbox.hasSteering);
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
    const offer = await this.#guide.offer(this.#isLastStep() || this.#storageFailure !== undefined);
    const { output, parallelMax, sampling, thinking, thinkingTokensMax = 0 } = settings;
    const outputSchema = output ? { outputSchema: output.schema } : {};
    const generation = generate({ engine, conversation, system, offer, sampling, thinking, thinkingTokensMax, parallelMax, forbidEmpty: this.#recovery.afterEmpty, ...outputSchema, signal });
    const obstacle = signal.aborted ? undefined : (this.#storageFailure ?? (await this.#compaction.beforeRequest()));
    const told = await runAttempt({ events: obstacle ? failing(obstacle) : generation.events, model: engine.info(), callIds: conversation.callIds, commit, emit, runtime, stepIndex: this.#progress.stepIndex, attempt: this.#progress.attempt, abortMessage });
    const unusable = settings.hosted && !told.failure ? unusableAnswer(told.message, tools, runtime.now()) : undefined;
    const result = unusable ? { ...told, failure: unusable.failure } : told;
    const { message, failure } = result;
    this.#lastAnswer = message;
    this.#compaction.noteAnswer(message);
    this.#progress.addAnswer(message);
    const raw = generation.rawText();
    if (raw !== undefined && !failure && message.stopReason !== "aborted" && message.stopReason !== "length") conversation.addGenerated(message, raw);
    else if (!unusable || unusable.corrections.length > 0) conversation.add(message);
    for (const correction of unusable?.corrections ?? []) {
      this.#commit(correction);
      conversation.add(correction);
    }
    return result;
  }

  async #runTools(calls: readonly ToolCall[], message: AssistantMessage): Promise<ToolResultMessage[]> {
    if (calls.length === 0) return [];
    const { approvals, conversation, emit, engine, runtime, settings, signal, tools, workspace } = this.#options;
    const { parallelMax, toolTimeoutMs, batchResultBytesMax } = settings;
    const refusal = message.stopReason === "length" ? refusals.cut : this.#isLastStep() ? refusals.lastStep : undefined;
    const veto = refusal === undefined ? this.#detector.judge(calls) : undefined;
    if (veto) await emit({ type: "loop_detected", stepIndex: this.#progress.stepIndex, ...veto });
    const results = await runToolCalls(calls, {
      tools,
      approvals,
      workspace,
      commit: (message) => this.#commit(message),
      emit,
      runtime,
      signal,
      stepIndex: this.#progress.stepIndex,
      parallelMax,
      toolTimeoutMs,
      resultBytesMax: Math.min(limits.resultBytesMax, engine.info().contextWindow),
      batchResultBytesMax,
      ...(refusal === undefined ? {} : { refusal }),
      veto: (call) => (veto ? vetoText : this.#guide.veto(call)),
    });
    const notes = await this.#guide.record(calls, results);
    const signals = refusal === undefined ? this.#detector.record(calls, results) : [];
    for (const signal of signals) await emit({ type: "loop_detected", stepIndex: this.#progress.stepIndex, ...signal });
    for (const result of results) conversation.add(result, signals.length > 0 ? loopNotice : notes.get(result));
    this.#progress.add(...results);
    return results;
  }

  /** Whether the failed step is tried again. */
  async #recover(message: AssistantMessage, failure: EngineFailure): Promise<boolean> {
    const { signal } = this.#options;
    const reason = signal.aborted ? undefined : this.#compaction.retryReason(message, failure);
    if (!reason) return this.#retry(failure);
    this.#lastFailure = failure;
    await this.#tellFailure(failure, true);
    return this.#compactAndRetry(reason, [message], failure);
  }

  /** Ends the run, compacts and begins another one without the answer that is tried again; false when that did not help. */
  async #compactAndRetry(reason: RetryReason, replaced: readonly AgentMessage[], failure?: EngineFailure): Promise<boolean> {
    const { conversation } = this.#options;
    await this.#progress.closeRun();
    await this.#endRetries(false);
    const dropped = conversation.drop(replaced);
    if (await this.#compaction.retry(reason, failure)) {
      await this.#progress.openRun();
      return true;
    }
    for (const message of dropped) conversation.add(message);
    return false;
  }

  /** Ends the run, waits and begins another one; false when there is nothing left to try. */
  async #retry(failure: EngineFailure): Promise<boolean> {
    const { emit, settings, signal } = this.#options;
    this.#lastFailure = failure;
    if (signal.aborted) return false;
    const { stepIndex } = this.#progress;
    const remedy = this.#recovery.after(failure, stepIndex);
    await this.#tellFailure(failure, remedy.kind !== "none");
    if (remedy.kind === "none") return false;
    await this.#progress.closeRun();
    if (remedy.kind === "retry") {
      await emit({ type: "retry_started", attempt: this.#recovery.retries, maxAttempts: settings.retry.maxRetries, delayMs: remedy.delayMs, errorMessage: failure.message });
    } else if (remedy.kind === "park") {
      await emit({ type: "engine_waiting", stepIndex, retryInMs: remedy.delayMs, waitedMs: remedy.waitedMs, maxWaitMs: settings.parkMaxMs ?? 0 });
    }
    if (remedy.kind !== "repair") await wait(remedy.delayMs, signal);
    if (signal.aborted) {
      await this.#endRetries(false);
      return false;
    }
    await this.#progress.openRun();
    return true;
  }

  async #tellFailure(failure: EngineFailure, willRetry: boolean): Promise<void> {
    this.#isEndTold = !willRetry;
    await this.#options.emit({ type: "generation_failed", stepIndex: this.#progress.stepIndex, attempt: this.#progress.attempt, failure, willRetry });
  }

  async #endRetries(success: boolean): Promise<void> {
    const attempt = this.#recovery.retries;
    this.#recovery.reset();
    if (attempt === 0) return;
    const finalError = this.#options.signal.aborted ? this.#options.abortMessage() : (this.#lastFailure?.message ?? "the generation failed");
    this.#lastFailure = undefined;
    await this.#options.emit({ type: "retry_ended", success, attempt, ...(success ? {} : { finalError }) });
  }

  async #close(reason: TurnReason, cut: boolean, failure?: TurnFailure, cause?: string): Promise<TurnResult> {
    const { abortMessage, emit, turnIndex, signal } = this.#options;
    const wasAborted = signal.aborted;
    await this.#progress.closeRun();
    await this.#endRetries(false);
    if (!(reason === "failed" && this.#options.settings.hosted)) await this.#compaction.afterRun(this.#lastAnswer);
    // A host has the reply by now, so that a cancel which comes after it changes nothing (sidecar.md I-12).
    const isSaid = reason === "reply" && this.#options.settings.hosted !== undefined;
    const told = signal.aborted && !isSaid && (reason === "failed" || !wasAborted) ? "cancelled" : reason;
    const untold = told === "cancelled" ? cancelledFailure(abortMessage()) : told === "failed" && !this.#isEndTold ? failure : undefined;
    if (untold) await this.#tellFailure({ kind: "engine", ...untold }, false);
    await this.#progress.closeStep();
    const outcome = { reason: told, stepCount: this.#progress.stepIndex, usage: this.#progress.usage, ...(told === "failed" && failure ? { failure: { message: failure.message, category: failure.category } } : {}) };
    await emit({ type: "turn_ended", turnIndex, ...outcome, ...(cause === undefined || told !== reason ? {} : { cause }), durationMs: this.#progress.durationMs });
    const marks = { ...(this.#compaction.isUnresolved ? { unresolvedOverflow: true as const } : {}), ...(failure?.schema ? { schemaFailed: true as const } : {}) };
    return { ...outcome, cut, ...(told === "failed" ? marks : {}) };
  }
}
