// Readers of JSON that arrives in pieces: one value, or the inside of one string. They find the end and decode on the
// way; they don't judge what is inside.

/** Takes the text of one JSON value out of a stream. The end of a number, `true`, `false` or `null` shows only in what follows. */
export class JsonValueReader {
  #pieces: string[] = [];
  #depth = 0;
  #inString = false;
  #escaped = false;
  #started = false;
  #bare = false;

  /** The value's text so far. */
  get text(): string {
    return this.#pieces.join("");
  }

  /** `taken` belongs to the value, `rest` follows it once it is `done`. */
  push(text: string): { taken: string; rest: string; done: boolean } {
    for (let at = 0; at < text.length; at += 1) {
      if (this.#bare && endsBare.test(text[at] ?? "")) return this.#take(text, at, true);
      if (this.#closes(text.charCodeAt(at))) return this.#take(text, at + 1, true);
    }
    return this.#take(text, text.length, false);
  }

  #closes(code: number): boolean {
    if (this.#escaped) this.#escaped = false;
    else if (this.#inString) {
      if (code === 0x5c) this.#escaped = true;
      else if (code === 0x22) {
        this.#inString = false;
        return this.#depth === 0;
      }
    } else if (code === 0x22) {
      this.#inString = true;
      this.#started = true;
    } else if (code === 0x7b || code === 0x5b) {
      this.#depth += 1;
      this.#started = true;
    } else if (code === 0x7d || code === 0x5d) {
      this.#depth -= 1;
      return this.#started && this.#depth <= 0;
    } else if (!this.#started && code > 0x20) {
      this.#started = true;
      this.#bare = true;
    }
    return false;
  }

  #take(text: string, length: number, done: boolean): { taken: string; rest: string; done: boolean } {
    const taken = text.slice(0, length);
    this.#pieces.push(taken);
    return { taken, rest: text.slice(length), done };
  }
}

const endsBare = /[\s,\]}]/;

const simpleEscapes: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Decodes the inside of a JSON string that arrives in pieces; a delta never ends inside an escape or a surrogate pair. */
export class JsonStringReader {
  #held = "";

  push(text: string): { delta: string; rest: string; done: boolean } {
    const input = this.#held + text;
    this.#held = "";
    let delta = "";
    let at = 0;
    while (at < input.length) {
      const character = input[at] ?? "";
      if (character === '"') return { delta, rest: input.slice(at + 1), done: true };
      const width = character === "\\" ? (input[at + 1] === "u" ? 6 : 2) : 1;
      if (at + width > input.length) break;
      const decoded = width === 1 ? character : decodeEscape(input.slice(at, at + width));
      if (isHighSurrogate(decoded)) {
        const pair = this.#pair(input, at + width);
        if (pair === undefined) break;
        delta += decoded + pair.text;
        at += width + pair.width;
      } else {
        delta += decoded;
        at += width;
      }
    }
    this.#held = input.slice(at);
    return { delta, rest: "", done: false };
  }

  /** What completes a high surrogate at `at`; undefined while too little has arrived. */
  #pair(input: string, at: number): { text: string; width: number } | undefined {
    const width = input[at] === "\\" ? 6 : 1;
    if (at + width > input.length) return undefined;
    const next = width === 1 ? (input[at] ?? "") : decodeEscape(input.slice(at, at + width));
    return /^[\uDC00-\uDFFF]$/.test(next) ? { text: next, width } : { text: "", width: 0 };
  }
}

function decodeEscape(text: string): string {
  if (text[1] === "u") return String.fromCharCode(Number.parseInt(text.slice(2), 16));
  return simpleEscapes[text[1] ?? ""] ?? text[1] ?? "";
}

function isHighSurrogate(text: string): boolean {
  return /^[\uD800-\uDBFF]$/.test(text);
}
