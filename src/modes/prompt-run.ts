// Drives a session through its prompts for the modes that have no host: outcome and exit status, signals, timeout, lost
// readers and parents (json-mode.md 9.2 to 9.5). What is written is the business of a face; everything outside is handed in.
import { messageOf } from "../core/error.ts";
import type { AgentEvent, Emit } from "../core/event.ts";
import { limits } from "../core/limits.ts";
import { contentText, type ImageContent, type TextContent, type Usage, usageOf } from "../core/message.ts";
import type { AbortReason, TurnOutcome } from "../session/session.ts";
import type { AgentSettled, Outcome } from "../wire/json/schema.ts";
import { failedTurn } from "./failed-turn.ts";
import { isReaderGone, LineWriter, type WriteBytes } from "./line-writer.ts";
import { type EndWatch, exitCodeOfSignal } from "./signals.ts";
import { runStdinCommands } from "./stdin-commands.ts";

export type PromptContent = (TextContent | ImageContent)[];

/** What the mode needs of a session. */
export interface DrivenSession {
  prompt(content: PromptContent): Promise<TurnOutcome>;
  steer(text: string): void | Promise<void>;
  followUp(text: string): void | Promise<void>;
  abort(reason: AbortReason): void | Promise<void>;
  compact?(): void | Promise<void>;
  readonly usage: Usage;
  undelivered(): { steering: string[]; followUp: string[] };
  close(): Promise<void>;
}

/** What a mode writes: whole lines, or "" for none. */
export interface Face {
  /** Before stdin is read and before anything is loaded. */
  begin(): string;
  event(event: AgentEvent): string;
  /** Once, last. */
  end(settled: AgentSettled): string;
  /** Whom a failure before the first generation is said of. */
  engine: { provider: string; model: string };
}

export interface PromptRunOptions {
  /** The descriptor of the real stdout. */
  output: number | WriteBytes;
  face: Face;
  /** Assembles the prompts; called after the face has begun, since it may read stdin. The signal ends the reading. */
  readPrompts: (signal: AbortSignal) => Promise<PromptContent[]>;
  openSession: (emit: Emit) => Promise<DrivenSession>;
  /** Lines of `--stdin-commands`. */
  commands?: ReadableStream<Uint8Array>;
  /** `--timeout`, in milliseconds. */
  timeoutMs?: number;
  watch: EndWatch;
  /** Takes one line for people, without its LF. */
  warn: (message: string) => void;
  /** Milliseconds since the epoch; never runs backwards. */
  now: () => number;
}

/**
 * Runs all prompts and resolves with the exit status (9.5) when the last line has left. The caller sets that status and lets
 * the event loop drain. Failures before the face begins are the caller's.
 */
export async function runPrompts(options: PromptRunOptions): Promise<number> {
  return await new PromptRun(options).run();
}

class PromptRun {
  readonly #options: PromptRunOptions;
  readonly #writer: LineWriter;
  readonly #startedAt: number;
  /** Resolves with the first abort, and when the work after one takes too long. */
  readonly #aborted = Promise.withResolvers<void>();
  readonly #overdue = Promise.withResolvers<void>();
  readonly #stop = new AbortController();
  #session: DrivenSession | undefined;
  #outcome: Outcome | undefined;
  #abortReason: AbortReason | undefined;
  /** Status that a signal or a lost reader decides, whatever the outcome (C11). */
  #forcedCode: number | undefined;
  #timers: ReturnType<typeof setTimeout>[] = [];
  /** The last line is written: events that come later are dropped. */
  #settled = false;

  constructor(options: PromptRunOptions) {
    this.#options = options;
    this.#startedAt = options.now();
    this.#writer = new LineWriter(options.output, { onClosed: (error) => this.#loseReader(error) });
  }

  async run(): Promise<number> {
    const stopWatching = this.#watch();
    void this.#write(this.#options.face.begin());
    const ended = await Promise.race([this.#drivePrompts().then(() => true), this.#overdue.promise.then(() => false)]);
    const code = this.#settle();
    const [closed] = await Promise.all([this.#close(), this.#flush()]);
    stopWatching();
    const status = this.#writer.closed ? (this.#forcedCode ?? 1) : code;
    if (!ended || !closed || this.#writer.busy) this.#options.watch.exitNow(status);
    return status;
  }

  /** Lets go of the model; a run that was ended has little time left for that. */
  async #close(): Promise<boolean> {
    try {
      return await within(this.#session?.close() ?? Promise.resolve(), this.#abortReason === undefined ? limits.shutdownMs : limits.lastFlushMs);
    } catch (error) {
      this.#options.warn(messageOf(error));
      return true;
    }
  }

  /** A reader may take its time, unless something wants the process to end. */
  async #flush(): Promise<void> {
    const flushed = this.#writer.flush();
    await Promise.race([flushed, this.#aborted.promise.then(() => within(flushed, limits.lastFlushMs))]);
  }

  #watch(): () => void {
    const { watch, timeoutMs } = this.#options;
    if (timeoutMs !== undefined) this.#after(timeoutMs, () => this.#abort({ kind: "timeout", message: `timeout after ${timeoutMs / 1000} s` }));
    const stops = [
      watch.onSignal((signal) => this.#abort({ kind: "signal", message: `stopped by ${signal}` }, exitCodeOfSignal[signal])),
      watch.onParentGone(() => this.#abort({ kind: "host_gone", message: "the process that started this one is gone" }, exitCodeOfSignal.SIGHUP)),
    ];
    return () => {
      for (const stop of stops) stop();
      for (const timer of this.#timers) clearTimeout(timer);
    };
  }

  #after(delayMs: number, action: () => void): void {
    this.#timers.push(setTimeout(action, Math.min(delayMs, longestTimerMs)));
  }

  /** A reader that went away needs no word; anything else that keeps stdout from being written does. */
  #loseReader(error: unknown): void {
    if (!isReaderGone(error)) this.#options.warn(`stdout can't be written: ${messageOf(error)}`);
    this.#abort({ kind: "reader_gone", message: "stdout can't be written any more" }, 1);
  }

  /** Ends everything. The first reason counts, but a signal after a command still decides the exit status. */
  #abort(reason: AbortReason, forcedCode?: number): void {
    this.#aborted.resolve();
    this.#stop.abort();
    // The last line told the status already; only its loss changes it.
    if (!this.#settled || reason.kind === "reader_gone") this.#forcedCode ??= forcedCode;
    if (this.#settled) return;
    if (this.#abortReason !== undefined) return this.#hurry(reason);
    this.#abortReason = reason;
    this.#hurry(reason);
    if (this.#session !== undefined) void this.#abortSession(this.#session, reason);
  }

  /** From now on the work has only so long to end; a signal after a command shortens that. */
  #hurry({ kind }: AbortReason): void {
    const patient = kind === "command" || kind === "timeout";
    this.#after(patient ? limits.abortMs : limits.shutdownMs - limits.lastFlushMs, () => this.#overdue.resolve());
  }

  async #abortSession(session: DrivenSession, reason: AbortReason): Promise<void> {
    try {
      await session.abort(reason);
    } catch (error) {
      this.#options.warn(messageOf(error));
    }
  }

  async #drivePrompts(): Promise<void> {
    const prompts = await this.#untilAborted(this.#options.readPrompts(this.#stop.signal), []);
    const spoken = prompts?.filter(hasContent) ?? [];
    if (prompts !== undefined && spoken.length > 0) await this.#runPrompts(spoken);
    if (this.#abortReason === undefined && prompts !== undefined && spoken.length === 0) this.#note("empty");
  }

  async #runPrompts(prompts: PromptContent[]): Promise<void> {
    const opening = this.#options.openSession((event) => this.#emit(event));
    const session = await this.#untilAborted(opening, prompts[0] ?? []);
    if (session === undefined) return await this.#closeLate(opening);
    this.#session = session;
    const stopCommands = this.#takeCommands(session);
    for (const prompt of prompts) {
      if (this.#abortReason !== undefined) break;
      this.#note(await this.#outcomeOf(session, prompt));
    }
    await stopCommands();
  }

  async #outcomeOf(session: DrivenSession, prompt: PromptContent): Promise<TurnOutcome> {
    try {
      return await session.prompt(prompt);
    } catch (error) {
      this.#options.warn(messageOf(error));
      return "error";
    }
  }

  /** Nobody waits for a session that opens after an abort, but what it holds is let go. */
  async #closeLate(opening: Promise<DrivenSession>): Promise<void> {
    if (this.#abortReason === undefined) return;
    opening.then((late) => late.close()).catch((error: unknown) => this.#options.warn(messageOf(error)));
  }

  /** The promise's value; undefined when an abort comes first, or when it fails: then the stream shows a failed turn. */
  async #untilAborted<Value>(promise: Promise<Value>, prompt: PromptContent): Promise<Value | undefined> {
    try {
      return await Promise.race([promise, this.#aborted.promise.then(() => undefined)]);
    } catch (error) {
      const { face, now, warn } = this.#options;
      warn(messageOf(error));
      for (const event of failedTurn(error, prompt, face.engine, now())) await this.#emit(event);
      this.#note("error");
      return undefined;
    }
  }

  #takeCommands(session: DrivenSession): () => Promise<void> {
    const { commands, warn } = this.#options;
    if (commands === undefined) return async () => {};
    return runStdinCommands(commands, warn, async (command) => {
      switch (command.type) {
        case "steer":
          return await session.steer(command.text);
        case "follow_up":
          return await session.followUp(command.text);
        case "abort":
          return this.#abort({ kind: "command", message: "aborted by a command" });
        case "compact":
          if (session.compact === undefined) return warn("stdin command ignored: compact is not available");
          return await session.compact();
      }
    });
  }

  /** The loop waits here for a slow reader. What comes after the last line is dropped. */
  async #emit(event: AgentEvent): Promise<void> {
    if (!this.#settled) await this.#write(this.#options.face.event(event));
  }

  #write(lines: string): Promise<void> | undefined {
    return lines === "" ? undefined : this.#writer.write(lines);
  }

  /** The first bad outcome wins over everything later; `length` over `ok`. */
  #note(outcome: Outcome): void {
    if (this.#outcome === undefined || (isGood(this.#outcome) && outcome !== "ok")) this.#outcome = outcome;
  }

  #abortedOutcome(): Outcome {
    return this.#abortReason?.kind === "timeout" ? "timeout" : "aborted";
  }

  #settle(): number {
    if (this.#abortReason !== undefined) this.#note(this.#abortedOutcome());
    this.#settled = true;
    const outcome = this.#outcome ?? "error";
    const exitCode = this.#forcedCode ?? (isGood(outcome) ? 0 : 1);
    const undelivered = this.#session?.undelivered();
    const left = undelivered !== undefined && undelivered.steering.length + undelivered.followUp.length > 0;
    const settled: AgentSettled = {
      type: "agent_settled",
      outcome,
      exitCode,
      usage: this.#session?.usage ?? usageOf({}),
      durationMs: Math.max(0, Math.round(this.#options.now() - this.#startedAt)),
      ...(left ? { undelivered } : {}),
    };
    void this.#write(this.#options.face.end(settled));
    return exitCode;
  }
}

/** Longer waits make a timer fire at once. */
const longestTimerMs = 2 ** 31 - 1;

function isGood(outcome: Outcome): boolean {
  return outcome === "ok" || outcome === "empty" || outcome === "length";
}

function hasContent(content: PromptContent): boolean {
  return content.some((block) => block.type === "image") || contentText(content).trim() !== "";
}

/** Whether the promise ended within so many milliseconds. */
async function within(promise: Promise<void>, waitMs: number): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), waitMs);
  try {
    return await Promise.race([promise.then(() => true as const), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
