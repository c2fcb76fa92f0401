// The sidecar's process: lines out of its stdout, lines into its stdin, and its end. It knows no frames.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { limits } from "../core/limits.ts";
import { LineReader, type InputLine } from "../wire/lines.ts";

export interface SidecarEnd {
  /** null when a signal ended it, or when it never started. */
  exitCode: number | null;
  signal: string | null;
  /** For people: why, with the last lines of its stderr. */
  message: string;
  /** False when the executable is not there. */
  started: boolean;
}

export interface ChildOptions {
  command: readonly string[];
  cwd: string | undefined;
  /** The whole environment of the child. */
  env: { [name: string]: string | undefined };
  /** @returns true when somebody waited for it: he has his turn before the next line is told */
  onLine: (line: InputLine) => boolean;
  onStderr: (text: string) => void;
  /** Called once, after the last line. */
  onEnd: (end: SidecarEnd) => void;
}

export class Child {
  readonly #running: ChildProcessWithoutNullStreams;
  readonly #options: ChildOptions;
  #stderr = "";
  #fault = "";
  #isOver = false;
  /** Lines to tell; while they are told, and what is told after the last one. */
  readonly #lines: InputLine[] = [];
  #isTelling = false;
  #pendingEnd: SidecarEnd | undefined;

  constructor(options: ChildOptions) {
    this.#options = options;
    const [program = "", ...args] = options.command;
    this.#running = spawn(program, args, { cwd: options.cwd, env: options.env, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    const reader = new LineReader({ lineBytesMax: limits.clientLineBytesMax, quotedBytesMax: limits.quotedLineBytesMax });
    this.#running.stdout.on("data", (bytes: Uint8Array) => void this.#tell(reader.push(bytes)));
    this.#running.stdout.on("end", () => void this.#tell(reader.end()));
    this.#running.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-limits.errorTextCharsMax);
      options.onStderr(text);
    });
    // Its end is told by "close"; a pipe that broke before is part of that.
    this.#running.stdin.on("error", () => undefined);
    this.#running.on("error", (error) => this.#end({ exitCode: null, signal: null, message: `${program} could not be started: ${error.message}`, started: false }));
    this.#running.on("close", (exitCode, signal) => this.#end({ exitCode, signal, message: this.#describe(exitCode, signal), started: true }));
  }

  get pid(): number | undefined {
    return this.#running.pid;
  }

  /** Bytes that wait for the child to read them. */
  get unreadBytes(): number {
    return this.#running.stdin.writableLength;
  }

  writeLine(text: string): void {
    this.#running.stdin.write(`${text}\n`);
  }

  /** Reads on, or lets the pipe fill so that the sidecar waits. */
  setReading(isReading: boolean): void {
    const { stdout } = this.#running;
    if (isReading === !stdout.isPaused()) return;
    if (isReading) stdout.resume();
    else stdout.pause();
  }

  closeInput(): void {
    this.#running.stdin.end();
  }

  /** @param fault what the sidecar did wrong, when that is why */
  kill(fault = ""): void {
    this.#fault ||= fault;
    this.#running.kill("SIGKILL");
    this.setReading(true);
  }

  async #tell(lines: InputLine[]): Promise<void> {
    for (const line of lines) this.#lines.push(line);
    if (this.#isTelling) return;
    this.#isTelling = true;
    for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) {
      if (this.#options.onLine(line)) await new Promise(setImmediate);
    }
    this.#isTelling = false;
    if (this.#pendingEnd) this.#end(this.#pendingEnd);
  }

  #end(end: SidecarEnd): void {
    this.#pendingEnd ??= end;
    if (this.#isOver || this.#isTelling) return;
    this.#isOver = true;
    this.#options.onEnd(this.#pendingEnd);
  }

  #describe(exitCode: number | null, signal: string | null): string {
    const how = signal === null ? `ended with status ${exitCode}` : `was ended by ${signal}`;
    return [this.#fault || `the sidecar ${how}`, this.#stderr.trim()].filter((part) => part !== "").join(": ");
  }
}
