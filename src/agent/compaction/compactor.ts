// Compacts one session's conversation: measures it, lets the planner choose, guards against compactions that free too
// little, commits the boundary, and tells all of it as events. When it runs is decided elsewhere (turn-compaction.ts).
import type { Engine, EngineFailure } from "../../core/engine.ts";
import type { VerbatimCompactionResult } from "../../core/compaction.ts";
import { messageOf } from "../../core/error.ts";
import type { CompactionReason, Emit } from "../../core/event.ts";
import { usageOf, type AgentMessage, type Usage } from "../../core/message.ts";
import type { Runtime } from "../../core/runtime.ts";
import type { ToolSpec } from "../../core/tool.ts";
import type { Conversation } from "../conversation.ts";
import type { SystemText } from "../prompt.ts";
import type { RetrySettings } from "../retry.ts";
import { contextTokens, requestTokens } from "./measure.ts";
import { propose, regionOf, type Proposal } from "./proposal.ts";
import { regionLinesMin } from "./region.ts";
import { sizesOf, type CompactionSettings, type Sizes } from "./sizes.ts";

export interface CompactorOptions {
  engine: Engine;
  conversation: Conversation;
  system: SystemText;
  tools: readonly ToolSpec[];
  settings: CompactionSettings;
  retry: RetrySettings;
  /** The stored entry of a message; undefined when none holds it as it is. */
  entryIdOf: (message: AgentMessage) => string | undefined;
  /** Appends the boundary; throws when it can't. */
  commit: (result: VerbatimCompactionResult) => void;
  emit: Emit;
  runtime: Runtime;
}

export interface CompactionRun {
  reason: CompactionReason;
  signal: AbortSignal;
  /** Inside a run. */
  midTurn?: boolean;
  /** The interrupted work is tried again when it helped. */
  retries?: boolean;
}

export interface CompactionOutcome {
  status: "compacted" | "noop" | "failed" | "cancelled";
  reason: CompactionReason;
  /** Why there is no result, or why it does not help. */
  message?: string;
  result?: VerbatimCompactionResult;
  /** The next request fits. */
  fits: boolean;
  /** What the planner used, and its requests. */
  usage: Usage;
  calls: number;
}

export class Compactor {
  readonly #options: CompactorOptions;
  /** Context and model at the last attempt that freed too little (G2). */
  #stuck: { tokens: number; model: string } | undefined;
  #isWanted = false;
  #isRunning = false;

  constructor(options: CompactorOptions) {
    this.#options = options;
  }

  get enabled(): boolean {
    return this.#options.settings.enabled;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  get sizes(): Sizes {
    return sizesOf(this.#options.engine.info().contextWindow, this.#options.settings);
  }

  /** Asks for a manual compaction at the next boundary. */
  want(): void {
    this.#isWanted = true;
  }

  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** Whether one was asked for; asking is over then. */
  takeWanted(): boolean {
    const wanted = this.#isWanted;
    this.#isWanted = false;
    return wanted;
  }

  /** Opens a text engine, so that the window is exact and it can count; a failure shows in the generation. */
  async open(signal: AbortSignal): Promise<void> {
    const { emit, engine, runtime } = this.#options;
    if (engine.kind !== "text" || signal.aborted) return;
    try {
      await engine.open(signal, (progress) => void emit({ type: "engine_progressed", stage: "weights", progress }));
    } catch (error) {
      runtime.log("debug", `the model can't be opened to measure the context: ${messageOf(error)}`);
    }
  }

  /** Tokens of the next request. */
  measure(): number {
    return contextTokens(this.#options);
  }

  /** Over the threshold, and not as stuck as at the last attempt. */
  isDue(tokens = this.measure()): boolean {
    if (!this.enabled || tokens <= this.sizes.threshold) return false;
    const stuck = this.#stuck;
    return stuck === undefined || stuck.model !== this.#options.engine.info().id || tokens >= stuck.tokens + this.sizes.growthMin;
  }

  /** Runs one; without events when there is nothing to compact and nobody has to be told. */
  async run(run: CompactionRun): Promise<CompactionOutcome> {
    const { emit } = this.#options;
    const { reason, midTurn } = run;
    const tokens = this.measure();
    const isUrgent = reason === "overflow" || (midTurn === true && tokens > this.sizes.hardLimit);
    if (reason !== "manual" && !isUrgent && regionOf(run, this.#options, this.sizes).lines.length < regionLinesMin) {
      return { status: "noop", reason, fits: tokens <= this.sizes.hardLimit, usage: usageOf({}), calls: 0 };
    }
    this.#isRunning = true;
    try {
      await emit({ type: "compaction_started", reason, tokensBefore: tokens, ...(midTurn ? { midTurn } : {}) });
      const proposal = await propose(run, tokens, this.sizes, this.#options);
      const outcome = run.signal.aborted ? cancelled(reason, proposal) : this.#commit(run, proposal, tokens);
      await this.#tellEnd(run, outcome);
      return outcome;
    } finally {
      this.#isRunning = false;
    }
  }

  /** Tells that an overflow stays (6.31), without another attempt. */
  async giveUp(message: string): Promise<void> {
    const { emit } = this.#options;
    const reason = "overflow";
    await emit({ type: "compaction_started", reason, tokensBefore: this.measure() });
    await emit({ type: "compaction_ended", reason, aborted: false, willRetry: false, unresolvedOverflow: true, errorMessage: message });
  }

  /** What keeps the next request from being sent: it is over the hard limit. */
  overflow(): EngineFailure | undefined {
    const tokens = this.measure();
    const { hardLimit, window } = this.sizes;
    if (tokens <= hardLimit) return undefined;
    const message = `the request has ${tokens} tokens, the model's window ${window}, of which ${hardLimit} may be used: shorten the prompt, offer fewer tools, or take a larger window`;
    return { kind: "overflow", category: "model", message, retryable: false };
  }

  #commit({ reason }: CompactionRun, { candidate, message, usage, calls }: Proposal, tokens: number): CompactionOutcome {
    const { commit, conversation, engine } = this.#options;
    const { hardLimit, window } = this.sizes;
    const spent = { reason, usage, calls };
    if (candidate === undefined) {
      if (reason !== "manual") this.#stuck = { tokens, model: engine.info().id };
      return { status: "noop", message: message ?? "nothing to compact", fits: tokens <= hardLimit, ...spent };
    }
    const { boundary, result, tailLength } = candidate;
    try {
      commit(result);
    } catch (error) {
      return { status: "failed", message: messageOf(error), fits: tokens <= hardLimit, ...spent };
    }
    conversation.compact(boundary, tailLength);
    this.#stuck = undefined;
    const left = requestTokens(this.#options);
    const fits = left <= hardLimit;
    const told = `the request still has ${left} tokens after the compaction, the model's window ${window}, of which ${hardLimit} may be used`;
    return { status: "compacted", result, fits, ...(fits ? {} : { message: told }), ...spent };
  }

  async #tellEnd({ reason, midTurn, retries }: CompactionRun, { status, fits, message, result, usage, calls }: CompactionOutcome): Promise<void> {
    const isAborted = status === "cancelled";
    const willRetry = retries === true && result !== undefined && fits;
    const isUnresolved = reason === "overflow" && retries === true && !willRetry && !isAborted;
    // Whether the next request fits matters only where one follows.
    const isTold = message !== undefined && !isAborted && (result === undefined || midTurn === true || retries === true);
    await this.#options.emit({
      type: "compaction_ended",
      reason,
      ...(result ? { result } : {}),
      aborted: isAborted,
      ...(status === "noop" ? { noop: true as const } : {}),
      willRetry,
      ...(isUnresolved ? { unresolvedOverflow: true as const } : {}),
      ...(isTold ? { errorMessage: message } : {}),
      ...(midTurn ? { midTurn } : {}),
      usage,
      calls,
    });
  }
}

function cancelled(reason: CompactionReason, { usage, calls }: Proposal): CompactionOutcome {
  return { status: "cancelled", reason, fits: true, usage, calls };
}
