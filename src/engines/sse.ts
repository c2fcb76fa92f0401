// Server-sent events from bytes, as the WHATWG HTML standard (section 9.2) writes them: UTF-8 split anywhere, LF, CR and
// CRLF, comments, several data lines. Nothing else of the protocol (ids, reconnection) means anything to a model server.
import { limits } from "../core/limits.ts";

export interface ServerSentEvent {
  /** `message` unless the server named it. */
  event: string;
  data: string;
}

/** Events of a body. What stands after the last line end is dropped; an event without its blank line is kept.
 * @throws RangeError when one event is longer than the bound. */
export async function* readEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent, void, void> {
  const decoder = new TextDecoder("utf-8");
  const reader = new EventReader();
  for await (const piece of bytes) yield* reader.push(decoder.decode(piece, { stream: true }));
  yield* reader.push(decoder.decode());
  yield* reader.end();
}

class EventReader {
  /** Pieces of the line that is not complete yet. */
  #line: string[] = [];
  #lineLength = 0;
  #data: string[] = [];
  #dataLength = 0;
  #event = "";
  #skipLineFeed = false;

  *push(text: string): Generator<ServerSentEvent> {
    let at = 0;
    if (text !== "" && this.#skipLineFeed) {
      this.#skipLineFeed = false;
      if (text.startsWith("\n")) at = 1;
    }
    const ends = /\r\n?|\n/g;
    ends.lastIndex = at;
    for (let found = ends.exec(text); found; found = ends.exec(text)) {
      this.#line.push(text.slice(at, found.index));
      at = ends.lastIndex;
      this.#skipLineFeed = found[0] === "\r" && at === text.length;
      const line = this.#line.join("");
      this.#line = [];
      this.#lineLength = 0;
      const event = this.#take(line);
      if (event) yield event;
    }
    this.#line.push(text.slice(at));
    this.#lineLength += text.length - at;
    if (this.#lineLength + this.#dataLength > limits.answerBytesMax) throw new RangeError(`an event of the stream is longer than ${limits.answerBytesMax} characters`);
  }

  /** Servers that close right after their last data line mean it. */
  *end(): Generator<ServerSentEvent> {
    const event = this.#take("");
    if (event) yield event;
  }

  #take(line: string): ServerSentEvent | undefined {
    if (line === "") {
      const event = this.#data.length > 0 ? { event: this.#event || "message", data: this.#data.join("\n") } : undefined;
      this.#data = [];
      this.#dataLength = 0;
      this.#event = "";
      return event;
    }
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (field === "data") {
      this.#data.push(value);
      this.#dataLength += value.length;
    } else if (field === "event") this.#event = value;
    // Older llama-servers tell of a failure in a field of its own.
    else if (field === "error") return { event: "error", data: value };
    return undefined;
  }
}
