// When the compactions of one turn run (json-mode.md 7.3), and what its turn may do after them. One compact-and-retry an
// overflow (G3); an answer that ends well makes the next one possible.
import type { Engine, EngineFailure } from "../../core/engine.ts";
import type { AssistantMessage } from "../../core/message.ts";
import type { CompactionOutcome, CompactionRun, Compactor } from "./compactor.ts";

export type RetryReason = "threshold" | "overflow";

export interface TurnCompactionOptions {
  compactor: Compactor;
  engine: Engine;
  /** Most tokens of one answer. */
  maxTokens: number;
  signal: AbortSignal;
  /** Called after each that changed the context. */
  onCompacted: (outcome: CompactionOutcome) => void;
}

/** An answer that ends so near to the end of the window was ended by it. */
const windowEndTokens = 16;
/** How servers say that no token is left for the answer. */
const noOutputRoom = /max(?:imum)?[_ ](?:(?:output|completion|new)[_ ])?tokens\b.*(?:at least|minimum|below|less than|greater than|positive)|no room for (?:the )?(?:requested )?output|output budget/i;

export class TurnCompaction {
  readonly #options: TurnCompactionOptions;
  /** Compact-and-retries since the last answer that ended well. */
  readonly #retried = new Set<RetryReason>();
  #hasUnderflowed = false;
  /** A compaction inside the run left a request that is too large (6.27). */
  #isTooLarge = false;
  /** An overflow that stays. */
  isUnresolved = false;

  constructor(options: TurnCompactionOptions) {
    this.#options = options;
  }

  /** Before the prompt's first run. */
  async beforePrompt(): Promise<void> {
    const { compactor, signal } = this.#options;
    if (!compactor.enabled || signal.aborted) return;
    // A model is opened early only when the stored context may really be too long for it.
    if (compactor.measure() * 2 <= compactor.sizes.threshold) return;
    await compactor.open(signal);
    if (!signal.aborted && compactor.isDue()) await this.#run({ reason: "threshold" });
  }

  /** Between two steps of a run. */
  async betweenSteps(): Promise<void> {
    const { compactor } = this.#options;
    if (compactor.takeWanted()) await this.#run({ reason: "manual", midTurn: true });
    else if (compactor.isDue()) this.#isTooLarge = !(await this.#run({ reason: "threshold", midTurn: true })).fits;
  }

  /** Opens the model; what keeps the next request from being sent, if anything does. */
  async beforeRequest(): Promise<EngineFailure | undefined> {
    const { compactor, signal } = this.#options;
    if (!compactor.enabled || signal.aborted) return undefined;
    await compactor.open(signal);
    return signal.aborted ? undefined : compactor.overflow();
  }

  /** Why the context should be compacted and the answer tried again. */
  retryReason(message: AssistantMessage, failure?: EngineFailure): RetryReason | undefined {
    const { compactor } = this.#options;
    if (!compactor.enabled || this.#isTooLarge) return undefined;
    if (failure?.kind === "overflow") return "overflow";
    if (failure?.kind === "bad_request") return this.#isUnderflow(failure) ? "threshold" : undefined;
    return message.stopReason === "length" ? this.#cutReason(message) : undefined;
  }

  /** Whether the work may go on. */
  async retry(reason: RetryReason, failure?: EngineFailure): Promise<boolean> {
    const { compactor } = this.#options;
    if (reason === "overflow" && this.#retried.has(reason)) {
      this.isUnresolved = true;
      await compactor.giveUp(`the context is still too long after a compaction: ${failure?.message ?? "the answer was cut at the end of the window"}`);
      return false;
    }
    this.#retried.add(reason);
    if (failure?.kind === "bad_request") this.#hasUnderflowed = true;
    const { status, fits } = await this.#run({ reason, retries: true });
    const isHelped = status === "compacted" && fits;
    this.isUnresolved = reason === "overflow" && !isHelped && status !== "cancelled";
    return isHelped;
  }

  /** Takes note of an answer that ended well. */
  noteAnswer({ stopReason }: AssistantMessage): void {
    if (stopReason === "stop" || stopReason === "toolUse") this.#retried.clear();
  }

  /** After the last run of the turn. */
  async afterRun(last: AssistantMessage | undefined): Promise<void> {
    const { compactor, signal } = this.#options;
    const reason = signal.aborted || compactor.isWanted ? undefined : this.#reasonAfter(last);
    if (reason) await this.#run({ reason });
    // It may have been asked for meanwhile.
    if (signal.aborted || !compactor.takeWanted()) return;
    await compactor.open(signal);
    await this.#run({ reason: "manual" });
  }

  #reasonAfter(last: AssistantMessage | undefined): RetryReason | undefined {
    const { compactor, engine } = this.#options;
    if (!compactor.enabled || this.isUnresolved || last === undefined) return undefined;
    const { errorKind, stopReason, usage: { cacheRead, cacheWrite, input } } = last;
    if (stopReason === "stop" && input + cacheRead + cacheWrite > engine.info().contextWindow) return "overflow";
    const isSettled = stopReason === "stop" || stopReason === "toolUse" || (stopReason === "error" && errorKind !== "overflow" && errorKind !== "storage");
    return isSettled && compactor.isDue() ? "threshold" : undefined;
  }

  async #run(run: Omit<CompactionRun, "signal">): Promise<CompactionOutcome> {
    const { compactor, onCompacted, signal } = this.#options;
    const outcome = await compactor.run({ ...run, signal });
    onCompacted(outcome);
    return outcome;
  }

  #isUnderflow({ message }: EngineFailure): boolean {
    return !this.#hasUnderflowed && noOutputRoom.test(message) && this.#options.compactor.isDue();
  }

  #cutReason({ usage }: AssistantMessage): RetryReason | undefined {
    const { compactor, engine, maxTokens } = this.#options;
    const { contextWindow, maxTokens: engineMax } = engine.info();
    if (usage.output >= Math.min(maxTokens, engineMax)) return !this.#retried.has("threshold") && compactor.isDue() ? "threshold" : undefined;
    return usage.totalTokens >= contextWindow - windowEndTokens ? "overflow" : undefined;
  }
}
