// One message and what becomes of it: its own events, then its result.
import type { SendMessageResponse, SidecarEvent } from "../wire/sidecar/schema.ts";
import type { EventStream } from "./event-stream.ts";

export class Turn implements AsyncIterable<SidecarEvent> {
  readonly #events: EventStream;
  readonly #response: Promise<SendMessageResponse>;

  constructor(events: EventStream, response: Promise<SendMessageResponse>) {
    this.#events = events;
    this.#response = response;
    // A failure is told by result(); one that nobody asks for is no fault of the process.
    const end = (): void => events.end();
    response.then(end, end);
  }

  /** The events of this turn, from the first to the last before its response. They can be read once. */
  [Symbol.asyncIterator](): AsyncGenerator<SidecarEvent, void, undefined> {
    return this.#events[Symbol.asyncIterator]();
  }

  /**
   * Lets go of the events that were not read, and waits for the end of the turn. A turn that failed resolves too, with
   * `reason: "failed"`. @throws SidecarError when the message was refused or the sidecar ended.
   */
  async result(): Promise<SendMessageResponse> {
    this.#events.close();
    return await this.#response;
  }
}
