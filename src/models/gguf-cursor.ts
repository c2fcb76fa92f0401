// Reads little-endian values from a file in chunks of one MiB. Every read is checked against the file's size before
// memory is taken, so a count or a length in the file is never trusted. Must not know what the values mean.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const chunkBytes = 1024 * 1024;

/** What is wrong with the bytes; the caller adds the path and what to do. */
export class GgufDefect extends Error {}

/** Names what is read in the message of a defect; a function where it is read thousands of times. */
export type What = string | (() => string);

export class GgufCursor {
  readonly sizeBytes: number;
  private readonly descriptor: number;
  private readonly chunk = Buffer.allocUnsafe(chunkBytes);
  private chunkStart = 0;
  private chunkLength = 0;
  private at = 0;

  constructor(path: string) {
    this.descriptor = openSync(path, "r");
    const stat = fstatSync(this.descriptor);
    if (!stat.isFile()) {
      this.close();
      throw new GgufDefect("it is not a regular file");
    }
    this.sizeBytes = stat.size;
  }

  get position(): number {
    return this.at;
  }

  close(): void {
    closeSync(this.descriptor);
  }

  /** Passes over bytes that must exist. `what` names them in the message. */
  skip(bytes: number, what: What): void {
    this.require(bytes, what);
    this.at += bytes;
  }

  u32(what: What): number {
    return this.chunk.readUInt32LE(this.reach(4, what));
  }

  /** A length or count of 64 bits that may be at most `max`. */
  count(max: number, what: What): number {
    const from = this.reach(8, what);
    const value = this.chunk.readUInt32LE(from + 4) * 2 ** 32 + this.chunk.readUInt32LE(from);
    if (value > max) throw new GgufDefect(`${nameOf(what)} is ${this.chunk.readBigUInt64LE(from)}, more than the ${max} that a model file can hold`);
    return value;
  }

  /** Bytes that must exist, at most one chunk; the view is valid until the next read. */
  take(bytes: number, what: What): Buffer {
    const from = this.reach(bytes, what);
    return this.chunk.subarray(from, from + bytes);
  }

  /** Moves past bytes that must exist. @returns where they are in the chunk */
  private reach(bytes: number, what: What): number {
    this.require(bytes, what);
    if (this.at < this.chunkStart || this.at + bytes > this.chunkStart + this.chunkLength) this.fill();
    const from = this.at - this.chunkStart;
    if (from + bytes > this.chunkLength) throw new GgufDefect(`it became shorter while it was read, at ${nameOf(what)}`);
    this.at += bytes;
    return from;
  }

  private fill(): void {
    this.chunkStart = this.at;
    this.chunkLength = 0;
    while (this.chunkLength < chunkBytes) {
      const read = readSync(this.descriptor, this.chunk, this.chunkLength, chunkBytes - this.chunkLength, this.chunkStart + this.chunkLength);
      if (read === 0) break;
      this.chunkLength += read;
    }
  }

  private require(bytes: number, what: What): void {
    const left = this.sizeBytes - this.at;
    if (bytes > left) throw new GgufDefect(`it ends inside ${nameOf(what)}: ${bytes} bytes are needed at ${this.at}, ${left} are left`);
  }
}

function nameOf(what: What): string {
  return typeof what === "string" ? what : what();
}
