// Texts that arrive while a turn runs: steering is read at the next step, follow-ups when the turn would end well.
// Every change is told as one `queue_changed`; a text leaves its queue right before the message that carries it.
import type { Emit } from "../core/event.ts";

export class Inbox {
  #steering: string[] = [];
  #followUp: string[] = [];
  readonly #emit: Emit;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  async steer(text: string): Promise<void> {
    this.#steering.push(text);
    await this.#changed();
  }

  async followUp(text: string): Promise<void> {
    this.#followUp.push(text);
    await this.#changed();
  }

  /** The oldest steering text, taken out; undefined when there is none. */
  async takeSteering(): Promise<string | undefined> {
    const text = this.#steering.shift();
    if (text !== undefined) await this.#changed();
    return text;
  }

  async takeFollowUp(): Promise<string | undefined> {
    const text = this.#followUp.shift();
    if (text !== undefined) await this.#changed();
    return text;
  }

  get hasSteering(): boolean {
    return this.#steering.length > 0;
  }

  get hasFollowUp(): boolean {
    return this.#followUp.length > 0;
  }

  pending(): { steering: string[]; followUp: string[] } {
    return { steering: [...this.#steering], followUp: [...this.#followUp] };
  }

  /** Empties both queues and gives what was in them. */
  async drop(): Promise<{ steering: string[]; followUp: string[] }> {
    const dropped = this.pending();
    this.#steering = [];
    this.#followUp = [];
    if (dropped.steering.length + dropped.followUp.length > 0) await this.#changed();
    return dropped;
  }

  async #changed(): Promise<void> {
    await this.#emit({ type: "queue_changed", ...this.pending() });
  }
}
