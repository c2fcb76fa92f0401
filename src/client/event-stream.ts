// Events that wait for one reader. The reader decides the pace: when too many wait, the sidecar is no longer read.
import { limits } from "../core/limits.ts";
import type { SidecarEvent } from "../wire/sidecar/schema.ts";

export class EventStream implements AsyncIterable<SidecarEvent> {
  readonly #changed: () => void;
  #waiting: SidecarEvent[] = [];
  #isEnded = false;
  #wake: (() => void) | undefined;

  /** @param changed called whenever `isFull` may have changed, and once more when the stream is over */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get isFull(): boolean {
    return this.#waiting.length >= limits.clientEventsMax;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  push(event: SidecarEvent): void {
    if (this.#isEnded) return;
    this.#waiting.push(event);
    this.#wake?.();
  }

  /** Nothing more comes; what waits can still be read. */
  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  /** Throws away what waits, and whatever may come. */
  close(): void {
    this.#waiting = [];
    this.end();
    this.#changed();
  }

  /** Each event once, in order. To leave the loop closes the stream. */
  async *[Symbol.asyncIterator](): AsyncGenerator<SidecarEvent, void, undefined> {
    try {
      for (;;) {
        const event = this.#waiting.shift();
        if (event !== undefined) {
          this.#changed();
          yield event;
        } else if (this.#isEnded) return;
        else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          this.#wake = undefined;
        }
      }
    } finally {
      this.close();
    }
  }
}
