// The one writer of a mode's output descriptor. A line is never cut; a line after a pause goes out at once, lines of one tick
// in one write; a slow reader holds back whoever awaits `write`, never the event loop.
import { write, writeSync } from "node:fs";
import { limits } from "../core/limits.ts";
import { type DescriptorState, pollOf } from "./descriptor-poll.ts";

/** Writes some of the bytes from `offset` on and tells how many; fails like `fs.write`. */
export type WriteBytes = (bytes: Uint8Array, offset: number) => Promise<number>;

export interface LineWriterOptions {
  /** Above so many waiting bytes `write` returns a promise. */
  pendingBytesMax?: number;
  /** Called once when nothing can be written any more; what is still waiting is dropped. See `isReaderGone`. */
  onClosed?: (error: unknown) => void;
}

export class LineWriter {
  readonly #writeBytes: WriteBytes;
  readonly #writeAtOnce: ((bytes: Uint8Array) => number) | undefined;
  readonly #pendingBytesMax: number;
  readonly #onClosed: (error: unknown) => void;
  /** Lines not yet handed to the system, and their bytes; `#inFlightBytes` are on their way. */
  #lines: string[] = [];
  #pendingBytes = 0;
  #inFlightBytes = 0;
  #draining: Promise<void> | undefined;
  #room: PromiseWithResolvers<void> | undefined;
  #closed = false;

  constructor(output: number | WriteBytes, options: LineWriterOptions = {}) {
    this.#writeBytes = typeof output === "number" ? toDescriptor(output) : output;
    this.#writeAtOnce = typeof output === "number" ? atOnceTo(output) : undefined;
    this.#pendingBytesMax = options.pendingBytesMax ?? limits.pendingOutputBytesMax;
    this.#onClosed = options.onClosed ?? (() => {});
  }

  /** Nothing is written any more. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Something waits for the reader. */
  get busy(): boolean {
    return this.#draining !== undefined;
  }

  /** Takes one whole line, LF included. Returns a promise while the reader is too slow: await it before the next line. */
  write(line: string): Promise<void> | undefined {
    if (this.#closed || (this.#draining === undefined && this.#leaves(line))) return undefined;
    this.#lines.push(line);
    this.#pendingBytes += Buffer.byteLength(line);
    this.#draining ??= this.#drain();
    if (this.#pendingBytes + this.#inFlightBytes <= this.#pendingBytesMax) return undefined;
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /** Resolves when everything written so far has left, or the reader is gone. Never fails. */
  async flush(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  /** Whether the line is, or will be, on its way by itself. */
  #leaves(line: string): boolean {
    if (this.#writeAtOnce === undefined || line.length > atOnceBytesMax) return false;
    const bytes = encoder.encode(line);
    try {
      const written = this.#writeAtOnce(bytes);
      if (written > 0 && written < bytes.length) this.#draining = this.#drain(bytes.subarray(written));
      return written > 0;
    } catch (error) {
      // Tried again beside the event loop; what is final comes again there.
      if (!isTemporary(error)) this.#close(error);
      return this.#closed;
    }
  }

  /** @param rest of a line that left in part */
  async #drain(rest?: Uint8Array): Promise<void> {
    // The rest of this tick may bring more lines for the same write.
    await (rest === undefined ? Promise.resolve() : this.#send(rest));
    while (this.#lines.length > 0 && !this.#closed) {
      const bytes = encoder.encode(this.#lines.join(""));
      this.#lines = [];
      this.#pendingBytes = 0;
      this.#inFlightBytes = bytes.length;
      await this.#send(bytes);
      this.#inFlightBytes = 0;
      this.#makeRoom();
    }
    this.#draining = undefined;
    this.#makeRoom();
  }

  async #send(bytes: Uint8Array): Promise<void> {
    let offset = 0;
    while (offset < bytes.length) {
      try {
        offset += await this.#writeBytes(bytes, offset);
      } catch (error) {
        if (isTemporary(error)) await new Promise((resolve) => setTimeout(resolve, retryMs));
        else return this.#close(error);
      }
    }
  }

  #close(error: unknown): void {
    this.#closed = true;
    this.#lines = [];
    this.#pendingBytes = 0;
    this.#onClosed(error);
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}

/** Whether a writer closed because nobody reads any more, which is no fault: a full disk, for one, is. */
export function isReaderGone(error: unknown): boolean {
  const code = codeOf(error);
  return code === "EPIPE" || code === "ECONNRESET";
}

const encoder = new TextEncoder();
/** Wait before a descriptor that someone made non-blocking is tried again. */
const retryMs = 5;

/** What a writable descriptor takes without waiting: PIPE_BUF of Linux. */
const atOnceBytesMax = 4096;
/** A stream of lines without such a pause is better written in large pieces. */
const pauseMs = 1;

/**
 * Writes a short line after a pause, when the reader has room for it: an answer should not wait until a thread of the pool
 * is awake. @returns how many bytes left; 0 when they have to go another way
 */
function atOnceTo(descriptor: number): (bytes: Uint8Array) => number {
  let poll: (() => DescriptorState) | undefined;
  let isAsked = false;
  let lastAt = Number.NEGATIVE_INFINITY;
  return (bytes) => {
    const now = performance.now();
    const isPaused = now - lastAt > pauseMs;
    lastAt = now;
    if (poll !== undefined) return isPaused && bytes.length <= atOnceBytesMax && poll().canTake ? writeSync(descriptor, bytes) : 0;
    // The first line does not wait for the library to be looked up.
    if (!isAsked) void pollOf(descriptor).then((found) => (poll = found));
    isAsked = true;
    return 0;
  };
}

/** `fs.write` runs beside the event loop, so that a full pipe blocks neither timers nor requests. */
function toDescriptor(descriptor: number): WriteBytes {
  return (bytes, offset) =>
    new Promise((resolve, reject) => {
      write(descriptor, bytes, offset, bytes.length - offset, null, (error, written) => (error ? reject(error) : resolve(written)));
    });
}

function isTemporary(error: unknown): boolean {
  const code = codeOf(error);
  return code === "EAGAIN" || code === "EINTR";
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
