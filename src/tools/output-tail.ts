// What a command has written: counted whole, its end kept in memory, all of it in a private file once the end alone
// cannot show it.
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { limits } from "../core/limits.ts";
import { type Bounds, clipTail, type Clipped } from "./clip.ts";

export class OutputTail {
  totalBytes = 0;
  /** Bytes in the file of the whole output. */
  keptBytes = 0;
  #bounds: Bounds;
  #path: string;
  #chunks: Buffer[] = [];
  #heldBytes = 0;
  #lineEnds = 0;
  #lastByte = 0x0a;
  #descriptor: number | undefined;

  constructor(bounds: Bounds, path: string) {
    this.#bounds = bounds;
    this.#path = path;
  }

  add(chunk: Buffer): void {
    this.totalBytes += chunk.length;
    this.#lastByte = chunk[chunk.length - 1] ?? this.#lastByte;
    for (let at = 0; at < chunk.length; at++) if (chunk[at] === 0x0a) this.#lineEnds++;
    this.#chunks.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#descriptor !== undefined) this.#keep(chunk);
    if (this.#heldBytes > 2 * this.#bounds.maxBytes) this.#drop();
  }

  /** The end of the output so far, within the bounds. Bytes that are not UTF-8 become U+FFFD. */
  snapshot(): Clipped {
    const held = Buffer.concat(this.#chunks);
    const lines = this.#lineEnds + (this.#lastByte === 0x0a ? 0 : 1);
    const text = held.toString("utf8");
    // What is not UTF-8 grows when it is decoded: then the decoded text counts.
    const bytes = this.#heldBytes === this.totalBytes ? Buffer.byteLength(text, "utf8") : this.totalBytes;
    return clipTail(text, this.#bounds, { lines, bytes });
  }

  /** Path of the file with the whole output, made now if it is not there yet. */
  finishFile(): string {
    this.#openFile();
    return this.#path;
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #drop(): void {
    this.#openFile();
    const held = Buffer.concat(this.#chunks);
    const tail = Buffer.from(held.subarray(held.length - this.#bounds.maxBytes));
    this.#chunks = [tail];
    this.#heldBytes = tail.length;
  }

  /** Before anything was dropped, so that the file begins with all there was. */
  #openFile(): void {
    if (this.#descriptor !== undefined) return;
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    this.#descriptor = openSync(this.#path, "wx", 0o600);
    for (const chunk of this.#chunks) this.#keep(chunk);
  }

  #keep(chunk: Buffer): void {
    const part = chunk.subarray(0, Math.max(0, limits.keptOutputBytesMax - this.keptBytes));
    for (let done = 0; done < part.length; ) done += writeSync(this.#descriptor ?? -1, part, done);
    this.keptBytes += part.length;
  }
}
