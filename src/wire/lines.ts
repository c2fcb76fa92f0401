// Bytes to lines and values to lines, for both wires (json-mode.md R1, R2, 9.4; sidecar.md 1.2). Pure: no I/O.
// Only LF ends a line. What is kept of an unfinished line is bounded, and every byte is looked at once.
import { limits } from "../core/limits.ts";

/**
 * One line of input without its line end. A line that can't be used says why and shows what can be shown of it:
 * the whole line with U+FFFD for bad bytes, or the head of an over-long one.
 */
export type InputLine = { ok: true; text: string } | { ok: false; reason: "not_utf8" | "too_long"; text: string };

export interface LineBounds {
  /** Longest line in bytes, without its LF. */
  lineBytesMax: number;
  /** Bytes of an over-long line that are quoted back. */
  quotedBytesMax: number;
}

const wireBounds: LineBounds = { lineBytesMax: limits.inputLineBytesMax, quotedBytesMax: limits.quotedLineBytesMax };

/** Splits a byte stream at LF. A CR before LF, blank lines and a BOM before the first line are dropped. */
export class LineReader {
  readonly #bounds: LineBounds;
  /** The unfinished line: the first `#length` bytes of `#buffer`. */
  #buffer = new Uint8Array(0);
  #length = 0;
  /** Inside an over-long line: everything up to the next LF is thrown away. */
  #discarding = false;
  #first = true;

  constructor(bounds: LineBounds = wireBounds) {
    this.#bounds = bounds;
  }

  /** Takes the next bytes, cut anywhere. An over-long line is reported as soon as it is too long, and once. */
  push(bytes: Uint8Array): InputLine[] {
    const lines: InputLine[] = [];
    let start = 0;
    while (start < bytes.length) {
      const end = bytes.indexOf(lineFeed, start);
      const piece = bytes.subarray(start, end === -1 ? bytes.length : end);
      this.#take(piece, end !== -1, lines);
      start += piece.length + 1;
    }
    return lines;
  }

  /** The end of the stream: a last line without LF counts. */
  end(): InputLine[] {
    const lines: InputLine[] = [];
    if (this.#length > 0) this.#take(new Uint8Array(0), true, lines);
    return lines;
  }

  #take(piece: Uint8Array, ended: boolean, lines: InputLine[]): void {
    if (!this.#discarding && this.#length + piece.length > this.#bounds.lineBytesMax) {
      lines.push(this.#tooLong(piece));
      this.#discarding = true;
    } else if (!this.#discarding && ended) {
      const line = this.#finish(this.#length === 0 ? piece : this.#append(piece));
      if (line !== undefined) lines.push(line);
    } else if (!this.#discarding) {
      this.#append(piece);
    }
    if (ended) this.#reset();
  }

  /** Copies a piece behind the unfinished line; the buffer doubles, so that many small pieces cost linear time. */
  #append(piece: Uint8Array): Uint8Array {
    const length = this.#length + piece.length;
    if (length > this.#buffer.length) {
      const grown = new Uint8Array(Math.min(Math.max(length, this.#buffer.length * 2, 4096), this.#bounds.lineBytesMax));
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(piece, this.#length);
    this.#length = length;
    return this.#buffer.subarray(0, length);
  }

  #finish(bytes: Uint8Array): InputLine | undefined {
    const line = withoutReturn(this.#withoutMark(bytes));
    return isBlank(line) ? undefined : decoded(line);
  }

  #tooLong(piece: Uint8Array): InputLine {
    const max = this.#bounds.quotedBytesMax;
    const kept = this.#buffer.subarray(0, Math.min(this.#length, max));
    const head = new Uint8Array(Math.min(kept.length + piece.length, max));
    head.set(kept);
    head.set(piece.subarray(0, head.length - kept.length), kept.length);
    this.#buffer = new Uint8Array(0);
    this.#length = 0;
    // A stream decoder holds back the character that the cut falls into.
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.#withoutMark(head), { stream: true });
    return { ok: false, reason: "too_long", text };
  }

  #withoutMark(bytes: Uint8Array): Uint8Array {
    const marked = this.#first && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    return marked ? bytes.subarray(3) : bytes;
  }

  #reset(): void {
    this.#discarding = false;
    this.#first = false;
    this.#length = 0;
    // A buffer that one long line needed isn't held for all the short ones after it.
    if (this.#buffer.length > bufferKeptBytesMax) this.#buffer = new Uint8Array(0);
  }
}

/**
 * One line of output, LF included. JSON.stringify escapes lone surrogates by itself; U+2028 and U+2029 are escaped here,
 * because readers that split at Unicode line ends would cut the line there.
 */
export function encodeLine(value: object): string {
  const text = JSON.stringify(value);
  const hasSeparators = text.includes("\u2028") || text.includes("\u2029");
  return `${hasSeparators ? text.replace(separators, escaped) : text}\n`;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const blanks: ReadonlySet<number> = new Set([0x20, 0x09, carriageReturn]);
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const bufferKeptBytesMax = 64 * 1024;
const separators = /[\u2028\u2029]/g;

function escaped(character: string): string {
  return character === "\u2028" ? "\\u2028" : "\\u2029";
}

function withoutReturn(bytes: Uint8Array): Uint8Array {
  return bytes[bytes.length - 1] === carriageReturn ? bytes.subarray(0, -1) : bytes;
}

function isBlank(bytes: Uint8Array): boolean {
  let index = 0;
  while (index < bytes.length && blanks.has(bytes[index] ?? 0)) index++;
  return index === bytes.length;
}

function decoded(bytes: Uint8Array): InputLine {
  try {
    return { ok: true, text: strict.decode(bytes) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { ok: false, reason: "not_utf8", text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes) };
  }
}
