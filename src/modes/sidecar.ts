// The sidecar's life: boot frame, requests, and the ways it ends (sidecar.md 1.1, 3.2, 5.13). No model, database or skill
// folder is touched here; everything outside is handed in.
import type { z } from "zod";
import { AgentError } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import { encodeLine, LineReader } from "../wire/lines.ts";
import type { HostRequestType, PingResponse, requestPayloads, ResponsePayloads } from "../wire/sidecar/schema.ts";
import { LineWriter, type WriteBytes } from "./line-writer.ts";
import { Dispatcher, eventFrame, type Handler, type Handlers, PayloadError } from "./sidecar-dispatch.ts";
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
  watch: EndWatch;
}

/**
 * Serves one host and resolves with the exit status when all frames have left. The caller sets that status and lets the
 * event loop drain.
 */
export async function runSidecar(options: SidecarOptions): Promise<number> {
  return await new Sidecar(options).run();
}

const capabilities = [
  "approval_withdrawn",
  "approval_grants",
  "assistant_reset",
  "compaction",
  "event_correlation",
  "list_sessions",
  "models",
  "resume_session",
  "step_index",
] as const;

class Sidecar {
  readonly #options: SidecarOptions;
  readonly #writer: LineWriter;
  readonly #reader = new LineReader();
  readonly #unanswered = new Set<Promise<void>>();
  readonly #ended = Promise.withResolvers<number>();
  #room: Promise<void> | undefined;
  #shutdownTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SidecarOptions) {
    this.#options = options;
    this.#writer = new LineWriter(options.output, { onClosed: () => this.#ended.resolve(0) });
  }

  async run(): Promise<number> {
    const { llamaUrl, stateDir, input, watch } = this.#options;
    const stops = [watch.onSignal((signal) => this.#ended.resolve(exitCodeOfSignal[signal])), watch.onParentGone(() => this.#ended.resolve(0))];
    const boot = eventFrame("log", { level: "info", message: "atomic-agent sidecar booted", context: { llamaUrl, stateDir } });
    void this.#writer.write(encodeLine(boot));
    const bytes = input.getReader();
    this.#serve(bytes).then(
      () => this.#ended.resolve(0),
      () => this.#ended.resolve(0),
    );
    const code = await this.#ended.promise;
    await this.#leave(code);
    // A stdin that failed can't be let go again: that is no failure of its own.
    await Promise.allSettled([bytes.cancel()]);
    clearTimeout(this.#shutdownTimer);
    for (const stop of stops) stop();
    return code;
  }

  /** Takes requests until stdin ends; a reader that takes no answers is asked no more questions. */
  async #serve(bytes: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> }): Promise<void> {
    // Loaded after the boot frame and before the first request, so that checks are instant and answers keep their order.
    const { requestPayloads } = await import("../wire/sidecar/schema.ts");
    const dispatcher = new Dispatcher(this.#handlers(requestPayloads), (frame) => {
      this.#room = this.#writer.write(encodeLine(frame));
    });
    for (;;) {
      const { done, value } = await bytes.read();
      for (const line of value === undefined ? this.#reader.end() : this.#reader.push(value)) this.#take(dispatcher.take(line));
      if (done) return;
      await this.#room;
    }
  }

  #take(answer: Promise<void> | undefined): void {
    if (answer === undefined) return;
    this.#unanswered.add(answer);
    void answer.then(() => this.#unanswered.delete(answer));
  }

  /** What was asked is answered, what was written leaves: both within the time that an end may take. */
  async #leave(code: number): Promise<void> {
    const late = Promise.withResolvers<"late">();
    const timer = setTimeout(() => late.resolve("late"), limits.shutdownMs - limits.lastFlushMs);
    const left = await Promise.race([Promise.all(this.#unanswered).then(() => this.#writer.flush()), late.promise]);
    clearTimeout(timer);
    if (left === "late") this.#options.watch.exitNow(code);
  }

  #handlers(schemas: RequestPayloads): Handlers {
    const checked = <Type extends HostRequestType>(type: Type, handle: (payload: z.infer<RequestPayloads[Type]>) => unknown): Handler => {
      return (payload) => handle(checkedPayload(schemas[type], payload) as z.infer<RequestPayloads[Type]>);
    };
    const unavailable = (type: HostRequestType): Handler => checked(type, () => refuse(`${type} is not available in this version`));
    const noSession = () => refuse("no active session — call start_session first");
    return {
      ping: () => this.#ping(),
      shutdown: () => this.#shutdown(),
      start_session: unavailable("start_session"),
      send_message: checked("send_message", ({ sessionId }) => refuse(`no active session with id ${sessionId}`)),
      steer_message: checked("steer_message", () => ({ steered: false })),
      cancel: checked("cancel", () => ({ cancelled: false })),
      approval_response: checked("approval_response", () => ({ resolved: false })),
      get_session: checked("get_session", () => null),
      skill_install: checked("skill_install", noSession),
      skill_uninstall: checked("skill_uninstall", noSession),
      skill_list: () => ({ skills: [] }),
      compact_session: checked("compact_session", noSession),
      get_compaction: checked("get_compaction", noSession),
      list_sessions: unavailable("list_sessions"),
      models_list: unavailable("models_list"),
      set_model: unavailable("set_model"),
    };
  }

  #ping(): ResponsePayloads["ping"] {
    const { llamaUrl, stateDir, agentVersion, sandbox } = this.#options;
    return {
      ok: true,
      llamaUrl,
      stateDir,
      version: "0.1.0",
      agentVersion,
      protocol: { name: "atomic-agent-sidecar", revision: 1 },
      capabilities: [...capabilities],
      sandbox,
    };
  }

  /** The host has this long to end stdin by itself. */
  #shutdown(): ResponsePayloads["shutdown"] {
    this.#shutdownTimer ??= setTimeout(() => this.#ended.resolve(0), limits.shutdownMs);
    return { ok: true };
  }
}

type RequestPayloads = typeof requestPayloads;

function refuse(message: string): never {
  throw new AgentError("internal", message);
}

/** @throws PayloadError that names the field. */
function checkedPayload(schema: z.ZodType, payload: Record<string, unknown>): unknown {
  const result = schema.safeParse(payload);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.path.join(".") ?? "";
  throw new PayloadError(field, `${field}: ${issue?.message ?? "not valid"}`);
}
