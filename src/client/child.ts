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
  onLine: (line: InputLine) => void;
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

  constructor(options: ChildOptions) {
    this.#options = options;
    const [program = "", ...args] = options.command;
    this.#running = spawn(program, args, { cwd: options.cwd, env: options.env, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    const reader = new LineReader({ lineBytesMax: limits.clientLineBytesMax, quotedBytesMax: limits.quotedLineBytesMax });
    const take = (lines: InputLine[]): void => {
      for (const line of lines) options.onLine(line);
    };
    this.#running.stdout.on("data", (bytes: Uint8Array) => take(reader.push(bytes)));
    this.#running.stdout.on("end", () => take(reader.end()));
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

  #end(end: SidecarEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onEnd(end);
  }

  #describe(exitCode: number | null, signal: string | null): string {
    const how = signal === null ? `ended with status ${exitCode}` : `was ended by ${signal}`;
    return [this.#fault || `the sidecar ${how}`, this.#stderr.trim()].filter((part) => part !== "").join(": ");
  }
}
