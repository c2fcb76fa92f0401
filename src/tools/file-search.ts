// Searches one file for a pattern, line by line, through a buffer of constant size, whatever the file's size.
// Lines longer than the buffer are searched in pieces that overlap.
import { readSync } from "node:fs";
import { limits } from "../core/limits.ts";
import type { LineMatcher } from "./line-matcher.ts";

export interface FoundLine {
  /** From 1. */
  line: number;
  text: string;
  /** The hit in `text`, in characters; absent for a line of context. */
  hit?: { index: number; length: number };
  /** Bytes of the line before the hit. */
  hitByte?: number;
  /** `text` is only a piece of a longer line; it begins this many bytes after the line's start. */
  pieceStart?: number;
}

export interface SearchOptions {
  matcher: LineMatcher;
  /** Lines of context on each side. */
  context: number;
  signal: AbortSignal;
  /** Return false to stop. */
  onLine: (found: FoundLine) => boolean;
}

const bufferBytes = 1024 * 1024;
const overlapBytes = 4096;
const workBetweenPausesMs = 15;

/** Searches from the descriptor's start, skipping `bomBytes`; pauses now and then for other work. */
export async function searchFile(descriptor: number, bomBytes: number, options: SearchOptions): Promise<void> {
  const search = new LineSearch(options);
  const buffer = Buffer.allocUnsafe(bufferBytes);
  let kept = 0;
  let position = bomBytes;
  for (let pausedAt = performance.now(); ; ) {
    if (performance.now() - pausedAt > workBetweenPausesMs) {
      await new Promise(setImmediate);
      pausedAt = performance.now();
    }
    options.signal.throwIfAborted();
    const read = readSync(descriptor, buffer, kept, buffer.length - kept, position);
    position += read;
    const filled = buffer.subarray(0, kept + read);
    const taken = search.take(filled, read === 0);
    if (search.done || read === 0) return;
    kept = filled.length - taken;
    buffer.copyWithin(0, taken, filled.length);
  }
}

interface PassedLine {
  line: number;
  bytes: Buffer;
}

/** State of the search of one file: where it is, and which lines are still wanted as context. */
class LineSearch {
  done = false;
  #options: SearchOptions;
  #line = 1;
  #before: PassedLine[] = [];
  #after = 0;
  /** Bytes of the current line that are gone already, whether it was a hit, and its beginning. */
  #pieceStart = 0;
  #pieceHit = false;
  #head: PassedLine | undefined;
  #scanIsSlow = false;

  constructor(options: SearchOptions) {
    this.#options = options;
  }

  /** Searches the whole lines in `bytes` and returns how many bytes are dealt with. */
  take(bytes: Buffer, last: boolean): number {
    let at = 0;
    const end = last ? bytes.length : bytes.lastIndexOf(0x0a) + 1;
    if (end === 0) return bytes.length < bufferBytes ? 0 : this.#takePiece(bytes, bytes.length - overlapBytes);
    const nextHit = this.#hitFinder(bytes.subarray(0, end));
    while (at < end && !this.done) {
      if (nextHit && this.#after === 0 && this.#pieceStart === 0) at = this.#skip(bytes, at, end, nextHit(at));
      if (at >= end) break;
      const lineEnd = bytes.indexOf(0x0a, at);
      const next = lineEnd < 0 ? end : lineEnd + 1;
      this.#takeLine(bytes.subarray(at, lineEnd < 0 ? end : lineEnd));
      at = next;
    }
    return end;
  }

  /** Tells where the next hit may be, at or after a byte, or -1; undefined where each line has to be looked at. */
  #hitFinder(bytes: Buffer): ((from: number) => number) | undefined {
    const { needle, scan } = this.#options.matcher;
    if (needle) return (from) => bytes.indexOf(needle, from);
    if (!scan || this.#scanIsSlow) return undefined;
    const text = bytes.toString("utf8");
    // Only where each byte is one character are places in the text those of the bytes.
    if (text.length !== bytes.length) return undefined;
    return (from) => {
      if (this.#scanIsSlow) return from;
      const began = performance.now();
      scan.lastIndex = from;
      const index = scan.exec(text)?.index ?? -1;
      // A scan that took too long may have been given up: line by line is slower and sure.
      this.#scanIsSlow = performance.now() - began > limits.patternMatchMs;
      return this.#scanIsSlow ? from : index;
    };
  }

  /** Moves to the start of the line of the next hit, remembering the lines before it. */
  #skip(bytes: Buffer, from: number, end: number, hit: number): number {
    const target = hit < 0 ? end : hit === 0 ? 0 : bytes.lastIndexOf(0x0a, hit - 1) + 1;
    if (target <= from) return from;
    this.#remember(bytes, from, target);
    this.#line += countLineEnds(bytes, from, target);
    return target;
  }

  #remember(bytes: Buffer, from: number, target: number): void {
    const { context } = this.#options;
    if (context === 0) return;
    const passed: PassedLine[] = [];
    let line = this.#line + countLineEnds(bytes, from, target);
    for (let end = target; end > from && passed.length < context; ) {
      const start = Math.max(from, end >= 2 ? bytes.lastIndexOf(0x0a, end - 2) + 1 : 0);
      passed.unshift({ line: --line, bytes: Buffer.from(bytes.subarray(start, Math.min(end - 1, start + overlapBytes))) });
      end = start;
    }
    this.#before = [...this.#before, ...passed].slice(-context);
  }

  #takeLine(bytes: Buffer): void {
    const line = bytes[bytes.length - 1] === 0x0d ? bytes.subarray(0, -1) : bytes;
    this.#look(line, false);
    if (this.#head && !this.#pieceHit) this.#passed(this.#head);
    this.#head = undefined;
    this.#line++;
    this.#pieceStart = 0;
    this.#pieceHit = false;
  }

  /** A stretch of a line that does not fit into the buffer; `length` bytes of it are done with afterwards. */
  #takePiece(bytes: Buffer, length: number): number {
    this.#look(bytes, true);
    this.#pieceStart += length;
    return length;
  }

  #look(bytes: Buffer, isPiece: boolean): void {
    if (this.#pieceHit) return;
    const text = bytes.toString("utf8");
    const hit = this.#options.matcher.find(text);
    // A piece has no line start: what matches only there (`^`) is no hit.
    if (hit && !(this.#pieceStart > 0 && hit.index === 0)) return this.#report(text, hit);
    const { context } = this.#options;
    if (this.#pieceStart > 0 || context === 0) return;
    if (this.#after > 0) {
      this.#after--;
      this.done = !this.#options.onLine({ line: this.#line, text });
      return;
    }
    const head = { line: this.#line, bytes: Buffer.from(bytes.subarray(0, overlapBytes)) };
    if (isPiece) this.#head = head;
    else this.#passed(head);
  }

  /** A line without a hit, which may become the context of a later one. */
  #passed(line: PassedLine): void {
    this.#before = [...this.#before, line].slice(-this.#options.context);
  }

  #report(text: string, hit: { index: number; length: number }): void {
    for (const { line, bytes } of this.#before) this.#options.onLine({ line, text: bytes.toString("utf8").replace(/\r$/, "") });
    this.#before = [];
    this.#after = this.#options.context;
    this.#pieceHit = true;
    const hitByte = this.#pieceStart + Buffer.byteLength(text.slice(0, hit.index), "utf8");
    const piece = this.#pieceStart > 0 ? { pieceStart: this.#pieceStart } : {};
    this.done = !this.#options.onLine({ line: this.#line, text, hit, hitByte, ...piece });
  }
}

function countLineEnds(bytes: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) if (bytes[at] === 0x0a) count++;
  return count;
}
