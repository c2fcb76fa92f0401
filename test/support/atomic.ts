// Runs the executable as a user's program would: a child process with a home, a state folder and an environment of its own.
// Nothing of the developer's own state or settings reaches it.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { isObject, type JsonObject } from "./json-checker/values.ts";
import { makeWorkspace, type Workspace } from "./workspace.ts";

export const repositoryRoot = resolve(import.meta.dir, "../..");

/** The executable under test: ATOMIC_TEST_EXECUTABLE, else dist/atomic. @throws when it was not built. */
export function executablePath(): string {
  const name = process.platform === "win32" ? "atomic.exe" : "atomic";
  const path = process.env["ATOMIC_TEST_EXECUTABLE"] ?? join(repositoryRoot, "dist", name);
  if (!existsSync(path)) throw new Error(`there is no ${path}: run \`npm run build\` first`);
  return path;
}

/** A private home folder with the state folder inside; give the same one to several runs that share a state. */
export interface Home extends Disposable {
  path: string;
  /** The state folder (`ATOMIC_AGENT_STATE_DIR`). */
  state: string;
  folder: Workspace;
}

export function makeHome(): Home {
  const folder = makeWorkspace();
  return { path: folder.path, state: folder.at("state"), folder, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

export interface RunOptions {
  /** Working folder; absent = a fresh empty one. */
  cwd?: string;
  home?: Home;
  /** Added to the environment; undefined takes a variable out. */
  env?: { [name: string]: string | undefined };
  /** Absent = the null device. */
  stdin?: string | Uint8Array;
  /** Another name of the executable. */
  executable?: string;
  /** Then the child is killed and the test fails. Default 30 s. */
  timeoutMs?: number;
}

export interface AtomicResult {
  stdout: Uint8Array;
  /** stdout as text. */
  text: string;
  stderr: string;
  /** null when a signal ended the process. */
  exitCode: number | null;
  signal: string | null;
  durationMs: number;
  /** stdout as JSON lines. @throws when a line is none. */
  events(): JsonObject[];
}

/** Runs `atomic ARGS` to its end. @throws when it takes longer than the limit. */
export async function runAtomic(args: readonly string[], options: RunOptions = {}): Promise<AtomicResult> {
  using running = startAtomic(args, options);
  if (options.stdin !== undefined) {
    running.write(options.stdin);
    running.end();
  }
  return await running.result();
}

export interface RunningAtomic extends Disposable {
  pid: number;
  /** Every object of stdout so far. */
  events: readonly JsonObject[];
  /** The next object that fits, after the one found last. @throws when the process ends or the time is over. */
  waitFor(fits: (event: JsonObject) => boolean, timeoutMs?: number): Promise<JsonObject>;
  /** Writes one JSON line to stdin. */
  send(message: JsonObject): void;
  write(bytes: string | Uint8Array): void;
  /** Closes stdin. */
  end(): void;
  signal(name: NodeJS.Signals): void;
  /** Waits for the end of the process. @throws when it takes longer than the limit. */
  result(): Promise<AtomicResult>;
}

const timeoutDefaultMs = 30_000;

/** Starts `atomic ARGS` with an open stdin (unless neither `stdin` nor a writer is wanted: see `runAtomic`). `using` kills it. */
export function startAtomic(args: readonly string[], options: RunOptions & { interactive?: boolean } = {}): RunningAtomic {
  const startedAt = performance.now();
  const ownHome = options.home ? undefined : makeHome();
  const ownFolder = options.cwd === undefined ? makeWorkspace() : undefined;
  const home = options.home ?? ownHome;
  const child = Bun.spawn([options.executable ?? executablePath(), ...args], {
    cwd: options.cwd ?? ownFolder?.path ?? "",
    env: environment(home, options.env ?? {}),
    stdin: options.interactive || options.stdin !== undefined ? "pipe" : "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const output = new Output();
  const stdoutDone = output.follow(child.stdout);
  const stderrDone = new Response(child.stderr).text();
  const result = async (): Promise<AtomicResult> => {
    const [exitCode, stderr] = await within(options.timeoutMs ?? timeoutDefaultMs, () => child.kill("SIGKILL"), Promise.all([child.exited, stderrDone, stdoutDone]));
    const stdout = output.bytes();
    const signal = child.signalCode === null ? null : String(child.signalCode);
    return { stdout, text: new TextDecoder().decode(stdout), stderr, exitCode: signal ? null : exitCode, signal, durationMs: performance.now() - startedAt, events: () => parseLines(stdout) };
  };
  return {
    pid: child.pid,
    events: output.events,
    waitFor: (fits, timeoutMs = timeoutDefaultMs) => output.waitFor(fits, timeoutMs),
    send: (message) => writeTo(child.stdin, `${JSON.stringify(message)}\n`),
    write: (bytes) => writeTo(child.stdin, bytes),
    end: () => void (child.stdin && child.stdin.end()),
    signal: (name) => child.kill(name),
    result,
    [Symbol.dispose]: () => {
      if (child.exitCode === null) child.kill("SIGKILL");
      ownHome?.[Symbol.dispose]();
      ownFolder?.[Symbol.dispose]();
    },
  };
}

function environment(home: Home | undefined, added: RunOptions["env"]): { [name: string]: string } {
  const base: { [name: string]: string | undefined } = {
    PATH: process.env["PATH"],
    LANG: "C.UTF-8",
    TZ: "UTC",
    SystemRoot: process.env["SystemRoot"],
    TMPDIR: process.env["TMPDIR"],
    HOME: home?.path,
    USERPROFILE: home?.path,
    ATOMIC_AGENT_STATE_DIR: home?.state,
    ...added,
  };
  return Object.fromEntries(Object.entries(base).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function writeTo(stdin: Bun.FileSink | undefined, bytes: string | Uint8Array): void {
  if (!stdin) throw new Error("stdin is the null device: start with `interactive: true`");
  stdin.write(bytes);
  void stdin.flush();
}

/** stdout as it arrives: bytes, objects, and those who wait for one. */
class Output {
  readonly events: JsonObject[] = [];
  readonly #chunks: Uint8Array[] = [];
  #rest: Uint8Array = new Uint8Array();
  #next = 0;
  #ended = false;
  #wake: (() => void)[] = [];

  async follow(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const chunk of stream) {
      this.#chunks.push(chunk);
      this.#split(chunk);
      this.#notify();
    }
    this.#ended = true;
    this.#notify();
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#chunks);
  }

  async waitFor(fits: (event: JsonObject) => boolean, timeoutMs: number): Promise<JsonObject> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      for (; this.#next < this.events.length; this.#next++) {
        const event = this.events[this.#next];
        if (event && fits(event)) {
          this.#next++;
          return event;
        }
      }
      const seen = `seen so far:\n${this.events.slice(-20).map((event) => JSON.stringify(event).slice(0, 200)).join("\n")}`;
      if (this.#ended) throw new Error(`the process ended before the awaited event; ${seen}`);
      const { promise, resolve: wake } = Promise.withResolvers<void>();
      this.#wake.push(wake);
      await within(deadline - performance.now(), () => undefined, promise, `the awaited event did not come; ${seen}`);
    }
  }

  #split(chunk: Uint8Array): void {
    let bytes: Uint8Array = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a)) {
      const value = parseLine(new TextDecoder().decode(bytes.subarray(0, end)));
      if (value) this.events.push(value);
      bytes = bytes.subarray(end + 1);
    }
    this.#rest = bytes;
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

function parseLine(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function parseLines(stdout: Uint8Array): JsonObject[] {
  const text = new TextDecoder().decode(stdout);
  return text.split("\n").slice(0, -1).map((line) => {
    const value = parseLine(line);
    if (!value) throw new Error(`stdout has a line that is no object: ${line.slice(0, 300)}`);
    return value;
  });
}

async function within<T>(limitMs: number, onLimit: () => void, work: Promise<T>, message = `no end within ${limitMs} ms`): Promise<T> {
  let timer: Timer | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      onLimit();
      reject(new Error(message));
    }, Math.max(0, limitMs));
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
