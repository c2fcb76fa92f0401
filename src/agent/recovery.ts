// What follows a failed generation (json-mode.md 8, sidecar.md 11): another try after a wait, one more answer at once, a
// long wait for a provider that went away, or the end. Counts, and waits for nothing itself.
import type { EngineFailure } from "../core/engine.ts";
import { isRetried, retryDelayMs, type RetrySettings } from "./retry.ts";

export type Remedy =
  | { kind: "retry"; delayMs: number }
  /** Asks again at once: the answer could not be used, or another engine answers now. */
  | { kind: "repair" }
  /** The step is parked; the waits before this one took `waitedMs`. */
  | { kind: "park"; delayMs: number; waitedMs: number }
  | { kind: "none" };

export interface RecoverySettings {
  retry: RetrySettings;
  /** Longest wait for a provider, all parts together; 0 = none. Absent = the rules of json-mode.md, without repairs. */
  parkMaxMs?: number | undefined;
}

const repairsPerTurn = 2;
const firstParkMs = 2000;
const longestParkMs = 30_000;

/** One of a turn. */
export class Recovery {
  readonly #settings: RecoverySettings;
  #retries = 0;
  #repairs = 0;
  #repairedStep = -1;
  #parks = 0;
  #parkedMs = 0;
  #lastKind: EngineFailure["kind"] | undefined;

  constructor(settings: RecoverySettings) {
    this.#settings = settings;
  }

  /** Tries of the open series; 0 = none is open. */
  get retries(): number {
    return this.#retries;
  }

  /** The answer before was empty. */
  get afterEmpty(): boolean {
    return this.#lastKind === "empty";
  }

  /** A generation succeeded, or nothing is tried any more. */
  reset(): void {
    this.#retries = this.#parks = this.#parkedMs = 0;
    this.#lastKind = undefined;
  }

  /** Decides, and counts what it decided. */
  after(failure: EngineFailure, stepIndex: number): Remedy {
    const { retry, parkMaxMs } = this.#settings;
    if (failure.replaced) {
      this.reset();
      return { kind: "repair" };
    }
    const again = failure.kind === "empty" && parkMaxMs !== undefined ? this.#lastKind !== "empty" : true;
    this.#lastKind = failure.kind;
    if (isRetried(failure) && again && retry.enabled && this.#retries < retry.maxRetries) {
      this.#retries += 1;
      return { kind: "retry", delayMs: retryDelayMs(retry, this.#retries, failure) };
    }
    if (parkMaxMs === undefined) return { kind: "none" };
    if (isUnusable(failure) && this.#repairs < repairsPerTurn && this.#repairedStep !== stepIndex) {
      this.#repairs += 1;
      this.#repairedStep = stepIndex;
      return { kind: "repair" };
    }
    const delayMs = Math.min(firstParkMs * 2 ** this.#parks, longestParkMs, parkMaxMs - this.#parkedMs);
    if (failure.category !== "transport" || !isRetried(failure) || delayMs <= 0) return { kind: "none" };
    const waitedMs = this.#parkedMs;
    this.#parks += 1;
    this.#parkedMs += delayMs;
    return { kind: "park", delayMs, waitedMs };
  }
}

/** The model answered, but not with what can be read or is whole. */
function isUnusable({ category, kind, retryable }: EngineFailure): boolean {
  return retryable !== false && (category === "grammar" || kind === "engine") && category !== "transport" && category !== "tool";
}
