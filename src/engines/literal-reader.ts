// Reads one literal the way small models write them: JSON, or Python with single quotes, True, None and trailing commas.
// It evaluates nothing and looks at nothing but the text.

export interface Read {
  value: unknown;
  /** Where the literal ended. */
  end: number;
}

const depthMax = 32;

/** The literal that begins at `start` (white space aside); undefined when there is none. */
export function readLiteral(text: string, start = 0): Read | undefined {
  return new LiteralReader(text).read(start, 0);
}

/** Named arguments `a=1, b="x")` up to the closing bracket; undefined when they are not of this form. */
export function readNamedArguments(text: string, start: number): { value: Record<string, unknown>; end: number } | undefined {
  const entries: [string, unknown][] = [];
  let at = skipSpace(text, start);
  while (text[at] !== ")") {
    const name = /[A-Za-z_]\w*/y;
    name.lastIndex = at;
    const found = name.exec(text);
    if (!found) return undefined;
    at = skipSpace(text, name.lastIndex);
    if (text[at] !== "=" && text[at] !== ":") return undefined;
    const read = readLiteral(text, at + 1);
    if (!read) return undefined;
    entries.push([found[0], read.value]);
    at = skipSpace(text, read.end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
    else if (text[at] !== ")") return undefined;
  }
  return { value: Object.fromEntries(entries), end: at + 1 };
}

export function skipSpace(text: string, start: number): number {
  let at = start;
  while (/\s/.test(text[at] ?? "")) at += 1;
  return at;
}

const words: Record<string, unknown> = { true: true, True: true, false: false, False: false, null: null, None: null };
const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

class LiteralReader {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  read(start: number, depth: number): Read | undefined {
    const at = skipSpace(this.#text, start);
    const character = this.#text[at];
    if (character === undefined || depth > depthMax) return undefined;
    if (character === "{") return this.#object(at, depth);
    if (character === "[" || character === "(") return this.#list(at, depth, character === "[" ? "]" : ")");
    if (character === '"' || character === "'") return this.#string(at, character);
    return this.#word(at);
  }

  #object(start: number, depth: number): Read | undefined {
    const entries: [string, unknown][] = [];
    let at = skipSpace(this.#text, start + 1);
    while (this.#text[at] !== "}") {
      const key = this.read(at, depth + 1);
      if (typeof key?.value !== "string") return undefined;
      at = skipSpace(this.#text, key.end);
      if (this.#text[at] !== ":") return undefined;
      const item = this.read(at + 1, depth + 1);
      if (!item) return undefined;
      entries.push([key.value, item.value]);
      at = this.#afterItem(item.end, "}");
      if (at < 0) return undefined;
    }
    return { value: Object.fromEntries(entries), end: at + 1 };
  }

  #list(start: number, depth: number, close: string): Read | undefined {
    const items: unknown[] = [];
    let at = skipSpace(this.#text, start + 1);
    while (this.#text[at] !== close) {
      const item = this.read(at, depth + 1);
      if (!item) return undefined;
      items.push(item.value);
      at = this.#afterItem(item.end, close);
      if (at < 0) return undefined;
    }
    return { value: items, end: at + 1 };
  }

  /** The next item or the closing bracket; -1 when neither follows. */
  #afterItem(end: number, close: string): number {
    const at = skipSpace(this.#text, end);
    if (this.#text[at] === ",") return skipSpace(this.#text, at + 1);
    return this.#text[at] === close ? at : -1;
  }

  #string(start: number, quote: string): Read | undefined {
    let value = "";
    for (let at = start + 1; at < this.#text.length; at += 1) {
      const character = this.#text[at] ?? "";
      if (character === quote) return { value, end: at + 1 };
      if (character !== "\\") {
        value += character;
        continue;
      }
      at += 1;
      const escaped = this.#text[at] ?? "";
      const hex = escaped === "u" ? this.#text.slice(at + 1, at + 5) : "";
      if (/^[\da-fA-F]{4}$/.test(hex)) {
        value += String.fromCharCode(Number.parseInt(hex, 16));
        at += 4;
      } else value += escapes[escaped] ?? escaped;
    }
    return undefined;
  }

  #word(at: number): Read | undefined {
    const number = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])/y;
    number.lastIndex = at;
    const digits = number.exec(this.#text);
    if (digits) return { value: Number(digits[0]), end: number.lastIndex };
    const name = /[A-Za-z]+(?!\w)/y;
    name.lastIndex = at;
    const word = name.exec(this.#text)?.[0] ?? "";
    return Object.hasOwn(words, word) ? { value: words[word], end: at + word.length } : undefined;
  }
}
