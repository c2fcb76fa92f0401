// What every source of weights is handed, and how one says that it cannot deliver.
import { AgentError } from "../core/error.ts";
import { throwIfAborted } from "./folder.ts";
import type { PartialFile } from "./partial-file.ts";

export interface SourceTarget {
  partial: PartialFile;
  /** Size of the whole file, where it is known. */
  bytes: number | undefined;
  signal: AbortSignal;
  /** Called after each appended piece. */
  onBytes(): void;
  onRetry(message: string, attempt: number, delayMs: number): void;
  /** Called once the size is known. @throws AgentError `storage_full` */
  checkSpace(bytes: number, extraBytes: number): Promise<void>;
}

/** This source cannot deliver; another one may. */
export class SourceError extends Error {
  /** Worth another try at the same source. */
  readonly transient: boolean;
  /** The address is none of the file, or not any more. */
  readonly refused: boolean;
  /** Wait that the server asked for. */
  readonly retryAfterMs: number;

  constructor(message: string, options: { transient?: boolean; refused?: boolean; retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "SourceError";
    this.transient = options.transient ?? false;
    this.refused = options.refused ?? false;
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}

/** @throws AgentError `aborted` as soon as the signal fires */
export async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    signal.addEventListener("abort", done);
  });
  throwIfAborted(signal);
}

/** Appends, but never beyond the size that the file must have. */
export async function appendWithin(target: SourceTarget, chunk: Uint8Array): Promise<void> {
  const { partial, bytes } = target;
  if (partial.bytes === 0 && chunk.length >= magic.length && !magic.every((byte, index) => chunk[index] === byte)) {
    throw new SourceError(`what comes is not a GGUF file (it starts with ${quoteBytes(chunk)})`);
  }
  if (bytes !== undefined && partial.bytes + chunk.length > bytes) throw new SourceError(`more than the expected ${bytes} bytes came`);
  throwIfAborted(target.signal);
  await partial.append(chunk);
  target.onBytes();
}

/** Turns what was thrown after the signal fired into `aborted`. */
export function asAborted(error: unknown, signal: AbortSignal): unknown {
  if (!signal.aborted || error instanceof AgentError) return error;
  return new AgentError("aborted", "stopped; the same command goes on from what is there", { cause: error });
}

const magic = new TextEncoder().encode("GGUF");

function quoteBytes(chunk: Uint8Array): string {
  return JSON.stringify(new TextDecoder("latin1").decode(chunk.subarray(0, 16)));
}
