// Runs one command line to its end: a session of its own without a terminal, empty stdin, one pipe for all it writes.
// Whatever it leaves running is ended. Knows nothing of arguments and results; that is shell-run.ts.
import { closeSync } from "node:fs";
import { limits } from "../core/limits.ts";
import { libc } from "../sandbox/libc.ts";
import { commandVariable } from "./child-environment.ts";
import { endStrays, runningShells, send, type Stray } from "./strays.ts";

export interface CommandOptions {
  argv: string[];
  /** Holds the command's id under `commandVariable`. */
  environment: Record<string, string>;
  timeoutMs: number;
  signal: AbortSignal;
  /** What it wrote, in arrival order. */
  onOutput: (chunk: Buffer) => void;
}

export interface CommandEnd {
  exitCode?: number;
  signal?: string;
  /** It was ended by us. */
  cause?: "timeout" | "abort";
  durationMs: number;
  /** Processes that were still running in the background, now ended. */
  strays: Stray[];
}

/** @throws when the command line cannot be started. */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const { environment, signal } = options;
  const id = environment[commandVariable] ?? "";
  libc().adoptOrphans();
  const began = performance.now();
  const pipe = libc().pipe();
  let child: Bun.Subprocess;
  try {
    child = Bun.spawn(options.argv, { cwd: "/", env: environment, stdin: "ignore", stdout: pipe.write, stderr: pipe.write, detached: true });
  } catch (error) {
    closeSync(pipe.read);
    throw error;
  } finally {
    closeSync(pipe.write);
  }
  runningShells.add(child.pid);
  const output = new PipeReader(pipe.read, options.onOutput);
  try {
    const cause = await endOf(child, options.timeoutMs, signal);
    const durationMs = Math.round(performance.now() - began);
    if (cause !== undefined) await endGroup(child);
    const strays = await endStrays(child.pid, id);
    await output.end();
    const how = child.signalCode ? { signal: String(child.signalCode) } : child.exitCode === null ? {} : { exitCode: child.exitCode };
    return { ...how, ...(cause ? { cause } : {}), durationMs, strays: cause ? [] : strays };
  } finally {
    runningShells.delete(child.pid);
  }
}

const drainMs = 300;
const timerMax = 2 ** 31 - 1;

/** Waits for the shell alone: its background processes do not count. */
async function endOf(child: Bun.Subprocess, timeoutMs: number, signal: AbortSignal): Promise<"timeout" | "abort" | undefined> {
  const { promise, resolve } = Promise.withResolvers<"timeout" | "abort" | undefined>();
  const timer = setTimeout(() => resolve("timeout"), Math.min(timeoutMs, timerMax));
  const onAbort = () => resolve("abort");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  void child.exited.then(() => resolve(undefined));
  const cause = await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);
  return cause;
}

async function endGroup(child: Bun.Subprocess): Promise<void> {
  send(-child.pid, "SIGTERM");
  await Promise.race([child.exited, Bun.sleep(limits.killGraceMs)]);
  send(-child.pid, "SIGKILL");
  await child.exited;
}

interface ChunkReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** Reads a pipe to its end, and lets go of one that somebody else keeps open. */
class PipeReader {
  #reader: ChunkReader;
  #finished: Promise<void>;

  constructor(descriptor: number, onOutput: (chunk: Buffer) => void) {
    this.#reader = Bun.file(descriptor).stream().getReader();
    this.#finished = this.#read(onOutput).finally(() => closeSync(descriptor));
  }

  async end(): Promise<void> {
    const late = Symbol();
    const winner = await Promise.race([this.#finished, Bun.sleep(drainMs).then(() => late)]);
    if (winner === late) await this.#reader.cancel();
    await this.#finished;
  }

  async #read(onOutput: (chunk: Buffer) => void): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) return;
      if (value) onOutput(Buffer.from(value));
    }
  }
}
