// Opens and closes the runs, steps and attempts of a turn, each start paired with its end, and keeps what they add up to.
import type { Emit } from "../core/event.ts";
import { addUsage, usageOf, type AgentMessage, type AssistantMessage, type Usage } from "../core/message.ts";

export class TurnProgress {
  readonly #emit: Emit;
  readonly #now: () => number;
  readonly startedAt: number;
  stepIndex = 0;
  usage = usageOf({});
  /** Messages of the open run; undefined between two runs. */
  #messages: AgentMessage[] | undefined;
  #step: { startedAt: number; tokens: number; attempts: number } | undefined;

  constructor(emit: Emit, now: () => number) {
    this.#emit = emit;
    this.#now = now;
    this.startedAt = now();
  }

  /** Number of the attempt at the open step, from 1. */
  get attempt(): number {
    return this.#step?.attempts ?? 1;
  }

  /** Since the turn began. */
  get durationMs(): number {
    return this.#now() - this.startedAt;
  }

  async openRun(): Promise<void> {
    this.#messages = [];
    await this.#emit({ type: "run_started" });
  }

  async closeRun(): Promise<void> {
    const messages = this.#messages;
    this.#messages = undefined;
    if (messages) await this.#emit({ type: "run_ended", messages });
  }

  /** Opens a step with it unless one is open. */
  async openAttempt(): Promise<void> {
    if (!this.#step) {
      this.#step = { startedAt: this.#now(), tokens: 0, attempts: 0 };
      await this.#emit({ type: "step_started", stepIndex: this.stepIndex });
    }
    this.#step.attempts += 1;
    await this.#emit({ type: "attempt_started", stepIndex: this.stepIndex, attempt: this.#step.attempts });
  }

  async closeStep(): Promise<void> {
    const step = this.#step;
    if (!step) return;
    await this.#emit({ type: "step_ended", stepIndex: this.stepIndex, tokensUsed: step.tokens, durationMs: this.#now() - step.startedAt });
    this.#step = undefined;
    this.stepIndex += 1;
  }

  /** Takes messages that ended in the open run. */
  add(...messages: AgentMessage[]): void {
    this.#messages?.push(...messages);
  }

  /** Takes the answer of an attempt, with its usage. */
  addAnswer(message: AssistantMessage): void {
    this.add(message);
    this.spend(message.usage);
    if (this.#step) this.#step.tokens += message.usage.totalTokens;
  }

  spend(usage: Usage): void {
    this.usage = addUsage(this.usage, usage);
  }
}
