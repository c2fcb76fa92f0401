// Reads little-endian values from a file in chunks of one MiB. Every read is checked against the file's size before
// memory is taken, so a count or a length in the file is never trusted. Must not know what the values mean.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const chunkBytes = 1024 * 1024;

/** What is wrong with the bytes; the caller adds the path and what to do. */
export class GgufDefect extends Error {}

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
  skip(bytes: number, what: string): void {
    this.require(bytes, what);
    this.at += bytes;
  }

  u8(what: string): number {
    return this.take(1, what).readUInt8(0);
  }

  u32(what: string): number {
    return this.take(4, what).readUInt32LE(0);
  }

  u64(what: string): bigint {
    return this.take(8, what).readBigUInt64LE(0);
  }

  /** A length or count of 64 bits that may be at most `max`. */
  count(max: number, what: string): number {
    const value = this.u64(what);
    if (value > BigInt(max)) throw new GgufDefect(`${what} is ${value}, more than the ${max} that a model file can hold`);
    return Number(value);
  }

  /** Bytes that must exist, at most one chunk; the view is valid until the next read. */
  take(bytes: number, what: string): Buffer {
    this.require(bytes, what);
    if (this.at < this.chunkStart || this.at + bytes > this.chunkStart + this.chunkLength) this.fill();
    const from = this.at - this.chunkStart;
    if (from + bytes > this.chunkLength) throw new GgufDefect(`it became shorter while it was read, at ${what}`);
    this.at += bytes;
    return this.chunk.subarray(from, from + bytes);
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

  private require(bytes: number, what: string): void {
    const left = this.sizeBytes - this.at;
    if (bytes > left) throw new GgufDefect(`it ends inside ${what}: ${bytes} bytes are needed at ${this.at}, ${left} are left`);
  }
}
