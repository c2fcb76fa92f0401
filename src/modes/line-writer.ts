// The one writer of a mode's output descriptor. A line is never cut; lines of one tick go out in one write;
// a slow reader holds back whoever awaits `write`, never the event loop.
import { write } from "node:fs";
import { limits } from "../core/limits.ts";

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
    if (this.#closed) return undefined;
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

  async #drain(): Promise<void> {
    // The rest of this tick may bring more lines for the same write.
    await Promise.resolve();
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
