// Reads the arguments of a tool call while they are still being written (json-mode.md U5, C6): the longest readable
// prefix of a JSON object. One pass, no recursion, never throws.

/**
 * The object that `text` begins to say: the whole of it when it parses, else every member that can be read so far.
 * The last string may be cut; a key without a value, half a literal and everything after a syntax error are left out.
 */
export function parsePartialJson(text: string): Record<string, unknown> {
  const whole = parsed(text);
  if (isObject(whole)) return whole;
  return whole === undefined ? new PrefixReader(text).read() : {};
}

type Container = { kind: "object"; value: Record<string, unknown>; key: string | undefined } | { kind: "array"; value: unknown[] };

class PrefixReader {
  readonly #text: string;
  #at = 0;
  readonly #open: Container[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  read(): Record<string, unknown> {
    this.#skipSpace();
    if (this.#text[this.#at] !== "{") return {};
    const root: Record<string, unknown> = {};
    this.#at += 1;
    this.#open.push({ kind: "object", value: root, key: undefined });
    // A container just opened may close at once; after a member only a comma or the end may follow.
    let state: "first" | "next" | "after" = "first";
    while (this.#open.length > 0) {
      const container = this.#open[this.#open.length - 1];
      this.#skipSpace();
      const character = this.#text[this.#at];
      if (container === undefined || character === undefined) break;
      if (character === (container.kind === "object" ? "}" : "]") && state !== "next") {
        this.#at += 1;
        this.#open.pop();
        state = "after";
      } else if (state === "after") {
        if (character !== ",") break;
        this.#at += 1;
        state = "next";
      } else {
        if (container.kind === "object" && !this.#key(container)) break;
        const result = this.#value(container);
        if (result === "stop") break;
        state = result === "opened" ? "first" : "after";
      }
    }
    return root;
  }

  /** A key and its colon. */
  #key(container: Container & { kind: "object" }): boolean {
    const key = this.#string();
    this.#skipSpace();
    if (key === undefined || !key.closed || this.#text[this.#at] !== ":") return false;
    this.#at += 1;
    this.#skipSpace();
    container.key = key.value;
    return true;
  }

  #value(container: Container): "opened" | "done" | "stop" {
    const character = this.#text[this.#at];
    if (character === "{" || character === "[") {
      const opened: Container = character === "{" ? { kind: "object", value: {}, key: undefined } : { kind: "array", value: [] };
      this.#at += 1;
      put(container, opened.value);
      this.#open.push(opened);
      return "opened";
    }
    if (character === '"') {
      const string = this.#string();
      if (string === undefined) return "stop";
      put(container, string.value);
      return string.closed ? "done" : "stop";
    }
    return this.#scalar(container);
  }

  #scalar(container: Container): "done" | "stop" {
    scalar.lastIndex = this.#at;
    const match = scalar.exec(this.#text);
    if (match === null) return "stop";
    put(container, JSON.parse(match[0]));
    this.#at += match[0].length;
    return "done";
  }

  /** The string at the reader's place; what is cut off or broken ends it, unclosed. */
  #string(): { value: string; closed: boolean } | undefined {
    if (this.#text[this.#at] !== '"') return undefined;
    stringBody.lastIndex = this.#at + 1;
    const end = this.#at + 1 + (stringBody.exec(this.#text)?.[0].length ?? 0);
    const closed = this.#text[end] === '"';
    const value: unknown = JSON.parse(`${this.#text.slice(this.#at, end)}"`);
    this.#at = closed ? end + 1 : this.#text.length;
    // Half a surrogate pair isn't shown: its other half is still to come.
    return { value: closed ? String(value) : String(value).replace(/[\ud800-\udbff]$/, ""), closed };
  }

  #skipSpace(): void {
    space.lastIndex = this.#at;
    this.#at += space.exec(this.#text)?.[0].length ?? 0;
  }
}

const space = /[ \t\r\n]*/y;
const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Whole characters and whole escapes only. */
const stringBody = /(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y;

/** Defines the member, so that a key like `__proto__` is plain data. */
function put(container: Container, value: unknown): void {
  if (container.kind === "array") container.value.push(value);
  else if (container.key !== undefined) Object.defineProperty(container.value, container.key, { value, writable: true, enumerable: true, configurable: true });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Deep nesting overflows the parser's stack: the prefix reader has none.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
