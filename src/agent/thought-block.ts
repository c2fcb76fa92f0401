// The block of thinking that may come before everything else in an answer of a text engine.
import type { ActionEvent } from "../core/engine.ts";

export class ThoughtBlock {
  #state: "none" | "open" | "closed" = "none";

  /** The events of a piece of thinking. */
  grow(delta: string): ActionEvent[] {
    const begins = this.#state === "none";
    this.#state = "open";
    return [...(begins ? [{ type: "thinking_start" as const, index: 0 }] : []), { type: "thinking_delta", index: 0, delta }];
  }

  /** What comes after it: the block is closed, and the others are counted on from it. */
  before(events: ActionEvent[]): ActionEvent[] {
    if (this.#state === "none" || events.every(({ type }) => type === "progress")) return events;
    const ends: ActionEvent[] = this.#state === "open" ? [{ type: "thinking_end", index: 0 }] : [];
    this.#state = "closed";
    return [...ends, ...events.map((event) => ("index" in event ? { ...event, index: event.index + 1 } : event))];
  }
}
