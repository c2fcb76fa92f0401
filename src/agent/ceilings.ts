// When a turn has to end without a reply: too many steps, a leg of steps that brought nothing, too much time
// (sidecar.md 11). Knows no clock.
import type { ToolResultMessage } from "../core/message.ts";

export interface Leg {
  /** Steps after which it is looked at what came of them. */
  steps: number;
  /** Whether another leg follows one that brought something. */
  autoContinue: boolean;
}

export type CeilingCause = "step_ceiling" | "time_ceiling" | "no_progress";

export class Ceilings {
  readonly #maxSteps: number;
  readonly #leg: Leg | undefined;
  readonly #endsAtMs: number;
  #legSucceeded = false;

  /** @param endsAtMs milliseconds since the epoch; Infinity = no limit */
  constructor(maxSteps: number, leg?: Leg, endsAtMs = Infinity) {
    this.#maxSteps = maxSteps;
    this.#leg = leg;
    this.#endsAtMs = endsAtMs;
  }

  isLast(stepIndex: number): boolean {
    return stepIndex >= this.#maxSteps - 1;
  }

  /** Why no further step may follow the one that brought these results. */
  after(stepIndex: number, results: readonly ToolResultMessage[], nowMs: number): CeilingCause | undefined {
    if (this.isLast(stepIndex)) return "step_ceiling";
    if (results.some((result) => !result.isError)) this.#legSucceeded = true;
    if (nowMs >= this.#endsAtMs) return "time_ceiling";
    if (this.#leg === undefined || (stepIndex + 1) % this.#leg.steps !== 0) return undefined;
    if (!this.#legSucceeded) return "no_progress";
    this.#legSucceeded = false;
    return this.#leg.autoContinue ? undefined : "step_ceiling";
  }
}
