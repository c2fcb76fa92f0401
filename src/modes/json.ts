// The JSON event stream: header, events of each prompt, `agent_settled` (json-mode.md). Drives a session and knows nothing
// of models; everything outside is handed in.
import { messageOf } from "../core/error.ts";
import type { AgentEvent, Emit } from "../core/event.ts";
import { limits } from "../core/limits.ts";
import { contentText, type ImageContent, type TextContent, type Usage, usageOf } from "../core/message.ts";
import type { AbortReason, TurnOutcome } from "../session/session.ts";
import { createJsonProjection } from "../wire/json/project.ts";
import type { AgentSettled, JsonEvent, Outcome, SessionHeader } from "../wire/json/schema.ts";
import { encodeLine } from "../wire/lines.ts";
import { failedTurn } from "./failed-turn.ts";
import { LineWriter, type WriteBytes } from "./line-writer.ts";
import { type EndWatch, exitCodeOfSignal } from "./signals.ts";
import { runStdinCommands } from "./stdin-commands.ts";

export type PromptContent = (TextContent | ImageContent)[];

/** What the mode needs of a session. */
export interface DrivenSession {
  prompt(content: PromptContent): Promise<TurnOutcome>;
  steer(text: string): void | Promise<void>;
  followUp(text: string): void | Promise<void>;
  abort(reason: AbortReason): void | Promise<void>;
  compact(): void | Promise<void>;
  readonly usage: Usage;
  undelivered(): { steering: string[]; followUp: string[] };
  close(): Promise<void>;
}

export interface JsonModeOptions {
  /** The descriptor of the real stdout. */
  output: number | WriteBytes;
  header: SessionHeader;
  updates: "snapshot" | "delta";
  /** Assembles the prompts; called after the header went out, since it may read stdin. The signal ends the reading. */
  readPrompts: (signal: AbortSignal) => Promise<PromptContent[]>;
  openSession: (emit: Emit) => Promise<DrivenSession>;
  /** Lines of `--stdin-commands`. */
  commands?: ReadableStream<Uint8Array>;
  /** `--timeout`, in milliseconds. */
  timeoutMs?: number;
  watch: EndWatch;
  /** Takes one line for people, without its LF. */
  warn: (message: string) => void;
  now: () => number;
}

/**
 * Runs the whole stream and resolves with the exit status (9.5) when the last line has left. The caller sets that status and
 * lets the event loop drain. Failures before the header are the caller's.
 */
export async function runJsonMode(options: JsonModeOptions): Promise<number> {
  return await new JsonRun(options).run();
}

class JsonRun {
  readonly #options: JsonModeOptions;
  readonly #writer: LineWriter;
  readonly #project: (event: AgentEvent) => JsonEvent[];
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

  constructor(options: JsonModeOptions) {
    this.#options = options;
    this.#startedAt = options.now();
    this.#project = createJsonProjection({ updates: options.updates });
    this.#writer = new LineWriter(options.output, { onClosed: () => this.#abort({ kind: "reader_gone", message: "the reader closed stdout" }, 1) });
  }

  async run(): Promise<number> {
    const stopWatching = this.#watch();
    void this.#writer.write(encodeLine(this.#options.header));
    const ended = await Promise.race([this.#drivePrompts().then(() => true), this.#overdue.promise.then(() => false)]);
    const code = this.#settle();
    await this.#flush();
    const closed = await within(this.#session?.close() ?? Promise.resolve(), limits.shutdownMs);
    stopWatching();
    const status = this.#writer.closed ? (this.#forcedCode ?? 1) : code;
    if (!ended || !closed || this.#writer.busy) this.#options.watch.exitNow(status);
    return status;
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

  /** Ends everything. The first reason counts, but a signal after a command still decides the exit status. */
  #abort(reason: AbortReason, forcedCode?: number): void {
    this.#aborted.resolve();
    this.#stop.abort();
    // The last line told the status already; only its loss changes it.
    if (!this.#settled || reason.kind === "reader_gone") this.#forcedCode ??= forcedCode;
    if (this.#settled || this.#abortReason !== undefined) return;
    this.#abortReason = reason;
    this.#after(limits.shutdownMs - limits.lastFlushMs, () => this.#overdue.resolve());
    if (this.#session !== undefined) void this.#abortSession(this.#session, reason);
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
      const { provider = "", model = "" } = this.#options.header;
      for (const event of failedTurn(error, prompt, { provider, model }, Date.now())) await this.#emit(event);
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
          return await session.compact();
      }
    });
  }

  /** Writes the lines of an event; the loop waits for a slow reader here. */
  async #emit(event: AgentEvent): Promise<void> {
    if (this.#settled) return;
    let room: Promise<void> | undefined;
    for (const frame of this.#project(event)) room = this.#writer.write(encodeLine(frame));
    await room;
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
    void this.#writer.write(encodeLine(settled));
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
