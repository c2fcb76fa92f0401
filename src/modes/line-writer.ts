// The one writer of a mode's output descriptor. A line is never cut; lines of one tick go out in one write;
// a slow reader holds back whoever awaits `write`, never the event loop.
import { write } from "node:fs";
import { limits } from "../core/limits.ts";

/** Writes some of the bytes from `offset` on and tells how many; fails like `fs.write`. */
export type WriteBytes = (bytes: Uint8Array, offset: number) => Promise<number>;

export interface LineWriterOptions {
  /** Above so many waiting bytes `write` returns a promise. */
  pendingBytesMax?: number;
  /** Called once when the reader is gone (EPIPE and its like); what is still waiting is dropped. */
  onClosed?: () => void;
}

export class LineWriter {
  readonly #writeBytes: WriteBytes;
  readonly #pendingBytesMax: number;
  readonly #onClosed: () => void;
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

  /** The reader is gone: nothing is written any more. */
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
        else return this.#close();
      }
    }
  }

  #close(): void {
    this.#closed = true;
    this.#lines = [];
    this.#pendingBytes = 0;
    this.#onClosed();
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
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
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "EAGAIN" || code === "EINTR";
}
