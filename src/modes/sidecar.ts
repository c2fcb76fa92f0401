// The sidecar's life: boot frame, requests, and the ways it ends (sidecar.md 1.1, 3.2, 5.13). No model, database or skill
// folder is touched here; everything outside is handed in.
import { messageOf } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import { encodeLine, LineReader } from "../wire/lines.ts";
import type { SidecarEventBody } from "../wire/sidecar/project.ts";
import type { LogLevel, PingResponse, RequestId, ResponsePayloads, SidecarEvent, SidecarResponse } from "../wire/sidecar/schema.ts";
import { isReaderGone, LineWriter, type WriteBytes } from "./line-writer.ts";
import type { SessionRoutes, SidecarParts } from "./sidecar/routes.ts";
import { Dispatcher, eventFrame, type Handlers } from "./sidecar-dispatch.ts";
import { type EndWatch, exitCodeOfSignal } from "./signals.ts";

export interface SidecarOptions {
  input: ReadableStream<Uint8Array>;
  /** The descriptor of the real stdout. */
  output: number | WriteBytes;
  llamaUrl: string;
  /** Absolute path. */
  stateDir: string;
  agentVersion: string;
  sandbox: PingResponse["sandbox"];
  /** Least level of `log` events; the boot frame always appears. */
  logLevel: LogLevel;
  /** What sessions are made of; asked for when the boot frame is out. */
  loadParts: (log: (level: LogLevel, message: string) => void) => Promise<SidecarParts>;
  watch: EndWatch;
  /** Takes one line for people. */
  warn: (message: string) => void;
}

/**
 * Serves one host and resolves with the exit status when all frames have left. The caller sets that status and lets the
 * event loop drain.
 */
export async function runSidecar(options: SidecarOptions): Promise<number> {
  return await new Sidecar(options).run();
}

const capabilities: PingResponse["capabilities"] = [
  "approval_withdrawn",
  "approval_grants",
  "assistant_reset",
  "compaction",
  "event_correlation",
  "list_sessions",
  "models",
  "resume_session",
  "step_index",
];

const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

class Sidecar {
  readonly #options: SidecarOptions;
  readonly #writer: LineWriter;
  readonly #reader = new LineReader();
  readonly #unanswered = new Set<Promise<void>>();
  readonly #ended = Promise.withResolvers<number>();
  #room: Promise<void> | undefined;
  #routes: SessionRoutes | undefined;
  #shutdownTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SidecarOptions) {
    this.#options = options;
    this.#writer = new LineWriter(options.output, { onClosed: (error) => this.#loseReader(error) });
  }

  async run(): Promise<number> {
    const { llamaUrl, stateDir, input, watch } = this.#options;
    const stops = [watch.onSignal((signal) => this.#ended.resolve(exitCodeOfSignal[signal])), watch.onParentGone(() => this.#ended.resolve(0))];
    const boot = eventFrame("log", { level: "info", message: "atomic-agent sidecar booted", context: { llamaUrl, stateDir } });
    this.#write(boot);
    const watched = this.#watchOutput();
    const bytes = input.getReader();
    this.#serve(bytes).then(
      () => this.#ended.resolve(0),
      (error: unknown) => this.#fail(error),
    );
    const code = await this.#ended.promise;
    await this.#leave(code);
    // A stdin that failed can't be let go again: that is no failure of its own.
    await Promise.allSettled([bytes.cancel()]);
    clearTimeout(this.#shutdownTimer);
    for (const stop of [...stops, await watched]) stop();
    return code;
  }

  /** A host that closes our stdout is gone, whether or not there is something to tell it. */
  async #watchOutput(): Promise<() => void> {
    const { output } = this.#options;
    if (typeof output !== "number") return () => {};
    const { watchReader } = await import("./sidecar/reader-watch.ts");
    return await watchReader(output, () => this.#ended.resolve(0));
  }

  /** Takes requests until stdin ends; a reader that takes no answers is asked no more questions. */
  async #serve(bytes: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> }): Promise<void> {
    // Loaded after the boot frame and before the first request, so that checks are instant and answers keep their order.
    const { SessionRoutes } = await import("./sidecar/routes.ts");
    const parts = await this.#options.loadParts((level, message) => void this.#tell({ type: "log", payload: { level, message } }));
    this.#routes = new SessionRoutes(parts, (body, correlationId) => this.#tell(body, correlationId));
    const dispatcher = new Dispatcher(this.#handlers(this.#routes), (frame) => this.#write(frame));
    for (;;) {
      const { done, value } = await bytes.read();
      for (const line of value === undefined ? this.#reader.end() : this.#reader.push(value)) {
        this.#take(dispatcher.take(line));
        if (this.#room !== undefined) await this.#room;
      }
      if (done) return;
    }
  }

  #write(frame: SidecarEvent | SidecarResponse): Promise<void> | undefined {
    this.#room = this.#writer.write(encodeLine(frame));
    return this.#room;
  }

  #tell({ payload, type }: SidecarEventBody, correlationId?: RequestId): Promise<void> | undefined {
    if (type === "log" && levels.indexOf(payload.level) < levels.indexOf(this.#options.logLevel)) return undefined;
    return this.#write(eventFrame(type, payload, correlationId) as SidecarEvent);
  }

  /** A stdin that can't be read counts as ended; anything else is a fault of ours. */
  #fail(error: unknown): void {
    const isRead = this.#routes !== undefined;
    if (!isRead) this.#options.warn(`internal fault: ${messageOf(error)}`);
    this.#ended.resolve(isRead ? 0 : 1);
  }

  #loseReader(error: unknown): void {
    if (!isReaderGone(error)) this.#options.warn(`stdout can't be written: ${messageOf(error)}`);
    this.#ended.resolve(0);
  }

  #take(answer: Promise<void> | undefined): void {
    if (answer === undefined) return;
    this.#unanswered.add(answer);
    void answer.then(() => this.#unanswered.delete(answer));
  }

  /** The session ends, what was asked is answered, what was written leaves: all within the time that an end may take. */
  async #leave(code: number): Promise<void> {
    const late = Promise.withResolvers<"late">();
    const timer = setTimeout(() => late.resolve("late"), limits.shutdownMs - limits.lastFlushMs);
    const left = await Promise.race([this.#close(), late.promise]);
    clearTimeout(timer);
    if (left === "late") this.#options.watch.exitNow(code);
  }

  async #close(): Promise<void> {
    await this.#routes?.end();
    await Promise.all(this.#unanswered);
    await this.#writer.flush();
  }

  #handlers(routes: SessionRoutes): Handlers {
    return { ...routes.handlers(), ping: () => this.#ping(), shutdown: () => this.#shutdown(routes) };
  }

  #ping(): ResponsePayloads["ping"] {
    const { llamaUrl, stateDir, agentVersion, sandbox } = this.#options;
    const selection = this.#routes?.selection;
    return {
      ok: true,
      // The boot frame is out before any folder was looked at; from then on it is known.
      llamaUrl: this.#routes?.llamaUrl ?? llamaUrl,
      stateDir,
      version: "0.1.0",
      agentVersion,
      protocol: { name: "atomic-agent-sidecar", revision: 1 },
      capabilities,
      sandbox,
      ...(selection === undefined ? {} : { model: selection.model, engine: selection.engine }),
    };
  }

  /** The host has this long, once it is answered, to end stdin by itself. */
  async #shutdown(routes: SessionRoutes): Promise<ResponsePayloads["shutdown"]> {
    await routes.end();
    this.#shutdownTimer ??= setTimeout(() => this.#ended.resolve(0), limits.shutdownMs);
    return { ok: true };
  }
}
