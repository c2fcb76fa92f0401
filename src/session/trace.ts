// One file a session with every event as a row of JSON Lines (sidecar.md section 10), where the configuration asks for it.
// For looking at later: a trace that can't be written ends itself, never the turn.
import { appendFileSync, closeSync, constants, fstatSync, ftruncateSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { messageOf } from "../core/error.ts";
import type { AgentEvent } from "../core/event.ts";
import { jsonLine } from "./entry.ts";

/** One row; what else stands in it is the event of that type. The type `trace_cut` ends a trace that reached its limit. */
export const TraceRow = z.looseObject({
  /** From 1, without gaps, also over several processes. */
  seq: z.int().min(1),
  sessionId: z.string(),
  /** Milliseconds since the epoch. */
  ts: z.int().min(0),
  type: z.string(),
});

export interface TraceOptions {
  /** The folder of all traces, absolute; made when it is not there. */
  folder: string;
  /** The session's id in the store; rows and file name hold it as hosts see it. */
  id: string;
  /** Most bytes of the file, the last row included. */
  bytesMax: number;
  /** Texts that stand in no row: `***` stands in their place. */
  secrets: readonly string[];
  now: () => number;
  /** Takes one line for people when the trace ends before the session does. */
  warn: (message: string) => void;
}

export interface Trace {
  /** Appends a row. Never fails. */
  add(event: AgentEvent): void;
  close(): void;
}

/** Goes on with the file that an earlier process left. */
export function openTrace(options: TraceOptions): Trace {
  const path = tracePath(options.folder, options.id);
  let file: TraceFile | undefined;
  const end = (reason: string): void => {
    file?.close();
    file = undefined;
    options.warn(`the trace ${path} ends here: ${reason}`);
  };
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      end(messageOf(error));
    }
  };
  attempt(() => {
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    file = new TraceFile(path, options);
  });
  return {
    add: (event) => attempt(() => file?.append(event) === false && end(`it has tracing.trace.maxBytesPerSession (${options.bytesMax}) bytes`)),
    close: () => {
      file?.close();
      file = undefined;
    },
  };
}

/** Removes the trace of a session, if there is one. */
export function removeTrace(folder: string, id: string): void {
  rmSync(tracePath(folder, id), { force: true });
}

function tracePath(folder: string, id: string): string {
  return join(folder, `s-${encodeURIComponent(id)}.ndjson`);
}

const cutType = "trace_cut";
/** Shorter ones would blacken words. */
const secretCharsMin = 4;

class TraceFile {
  readonly #descriptor: number;
  readonly #options: TraceOptions;
  readonly #secrets: readonly string[];
  #seq = 0;
  #bytes: number;
  #isCut = false;

  constructor(path: string, options: TraceOptions) {
    this.#options = options;
    this.#secrets = options.secrets.filter(({ length }) => length >= secretCharsMin).toSorted((a, b) => b.length - a.length);
    this.#descriptor = openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    this.#bytes = fstatSync(this.#descriptor).size;
    if (this.#bytes > 0) this.#resume(path);
  }

  /** @returns false when nothing can be added any more */
  append({ type, ...fields }: AgentEvent): boolean {
    if (this.#isCut) return false;
    const row = this.#row(type, fields);
    const last = this.#row(cutType, { maxBytes: this.#options.bytesMax });
    this.#isCut = this.#bytes + row.length + last.length > this.#options.bytesMax;
    if (!this.#isCut) this.#write(row);
    else if (this.#bytes + last.length <= this.#options.bytesMax) this.#write(last);
    return !this.#isCut;
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #write(row: Buffer): void {
    appendFileSync(this.#descriptor, row);
    this.#bytes += row.length;
    this.#seq += 1;
  }

  #row(type: string, fields: Record<string, unknown>): Buffer {
    const row = { seq: this.#seq + 1, sessionId: `s-${this.#options.id}`, ts: this.#options.now(), type, ...fields };
    return Buffer.from(`${jsonLine(this.#masked(row))}\n`);
  }

  #masked(value: unknown): unknown {
    if (this.#secrets.length === 0) return value;
    if (typeof value === "string") return this.#secrets.reduce((text, secret) => text.replaceAll(secret, "***"), value);
    if (Array.isArray(value)) return value.map((item) => this.#masked(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.#masked(member)]));
  }

  /** Goes on behind the last whole row. */
  #resume(path: string): void {
    const bytes = readFileSync(path);
    const end = bytes.lastIndexOf(0x0a) + 1;
    if (end < bytes.length) ftruncateSync(this.#descriptor, end);
    this.#bytes = end;
    const lastRow = bytes.subarray(bytes.lastIndexOf(0x0a, end - 2) + 1, end).toString();
    if (lastRow === "") return;
    const { seq, type } = TraceRow.parse(JSON.parse(lastRow));
    this.#seq = seq;
    this.#isCut = type === cutType;
  }
}
