// A llama-server behind a URL as a text engine: our template, our grammar, token ids instead of text, one pinned slot.
// It starts no server. An abort drops the request, and with it the server's work.
import type { ModelInfo, TextEngine, TextEvent, TextRequest } from "../../core/engine.ts";
import { AgentError, messageOf } from "../../core/error.ts";
import { usageOf } from "../../core/message.ts";
import type { Log } from "../../core/runtime.ts";
import { canThink, renderChat } from "../chat-template.ts";
import { EngineError, isLoopback, openAnswer, requestJson, shownUrl, type HttpServer } from "../http.ts";
import { Props, Slots } from "./answers.ts";
import { complete, type Connection } from "./completion.ts";
import { PromptTokens, TokensAnswer } from "./prompt.ts";
import { afterThinking } from "../thinking-marks.ts";
import { releaseSlot, takeSlot, type SlotState } from "./slots.ts";

export interface LlamaServerOptions {
  url: string;
  apiKey?: string;
  headers?: Readonly<Record<string, string>>;
  /** Name on the wires; default `llama-server`. */
  provider?: string;
  /** For one answer of `/health`. */
  healthTimeoutMs: number;
  /** Silence until the first token: a server says little while it reads the prompt or loads the model. */
  firstTokenTimeoutMs: number;
  /** Silence between tokens. */
  idleTimeoutMs: number;
  /** For `/props`, `/slots` and `/tokenize`. */
  requestTimeoutMs: number;
  /** For a whole generation. */
  streamTotalTimeoutMs?: number;
  log: Log;
}

interface Opened {
  props: Props;
  slotId: number;
  tokens: PromptTokens;
}

const healthIntervalMs = 250;
/** Where a server does not tell its window. */
const assumedWindow = 4096;

export function createLlamaServerEngine(options: LlamaServerOptions): TextEngine {
  return new LlamaServerEngine(options);
}

class LlamaServerEngine implements TextEngine {
  readonly kind = "text";
  readonly #options: LlamaServerOptions;
  readonly #server: HttpServer;
  #opened: Opened | undefined;
  #opening: Promise<Opened> | undefined;
  #warned = false;

  constructor(options: LlamaServerOptions) {
    const { apiKey, headers, url } = options;
    this.#options = options;
    this.#server = {
      url: url.replace(/\/+$/, "").replace(/\/v1$/, ""),
      local: isLoopback(url),
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(headers === undefined ? {} : { headers }),
    };
  }

  info(): ModelInfo {
    const props = this.#opened?.props;
    const name = modelName(props);
    const contextWindow = windowOf(props) ?? assumedWindow;
    return {
      id: name,
      name,
      api: "llama-server",
      provider: this.#options.provider ?? "llama-server",
      baseUrl: shownUrl(this.#server.url),
      // Not known before the server was asked.
      reasoning: canThink(props?.chat_template),
      input: ["text"],
      contextWindow,
      maxTokens: contextWindow,
    };
  }

  /** @throws AgentError `engine_unavailable` when the server is not there or does not get ready. */
  async open(signal: AbortSignal, onProgress: (progress: number) => void): Promise<void> {
    try {
      await this.#open(signal, onProgress);
    } catch (error) {
      if (signal.aborted) throw new AgentError("aborted", "opening the model was aborted", { cause: error });
      throw new AgentError("engine_unavailable", `llama-server: ${messageOf(error)}`, { cause: error });
    }
  }

  async *complete(request: TextRequest): AsyncGenerator<TextEvent, void, void> {
    let connection: Connection;
    try {
      const opened = await this.#open(request.signal, () => {});
      connection = await this.#connect(opened, request);
    } catch (error) {
      if (request.signal.aborted) yield { type: "ended", stop: "aborted", usage: usageOf({}) };
      else if (error instanceof EngineError) yield { type: "failed", failure: error.failure, usage: usageOf({}) };
      else yield { type: "failed", failure: { kind: "engine", category: "tool", message: messageOf(error) }, usage: usageOf({}) };
      return;
    }
    const last = yield* complete(connection, request);
    // The server went away: another one may sit there next time, with another model and window.
    if (last.type === "failed" && last.failure.kind === "network") this.#forget();
    yield last;
  }

  async close(): Promise<void> {
    this.#forget();
  }

  #forget(): void {
    if (this.#opened && this.#opened.slotId >= 0) releaseSlot(this.#server.url, this.#opened.slotId);
    this.#opened = undefined;
  }

  async #open(signal: AbortSignal, onProgress: (progress: number) => void): Promise<Opened> {
    if (this.#opened) return this.#opened;
    this.#opening ??= this.#connectServer(signal, onProgress).finally(() => {
      this.#opening = undefined;
    });
    try {
      this.#opened = await this.#opening;
    } catch (error) {
      // Somebody else began it and gave up.
      const cancelled = error instanceof EngineError && error.failure.category === "cancelled";
      if (cancelled && !signal.aborted) return this.#open(signal, onProgress);
      throw error;
    }
    return this.#opened;
  }

  async #connectServer(signal: AbortSignal, onProgress: (progress: number) => void): Promise<Opened> {
    await this.#untilHealthy(signal, onProgress);
    const props = Props.parse(await this.#get("/props", signal));
    if (windowOf(props) === undefined) this.#options.log("warn", `the llama-server does not tell its context window; ${assumedWindow} tokens are assumed`, { url: shownUrl(this.#server.url) });
    const slotId = takeSlot(this.#server.url, await this.#slots(props, signal));
    const tokens = new PromptTokens(async (body, tokenSignal) => TokensAnswer.parse(await requestJson(this.#server, { path: "/tokenize", body, signal: tokenSignal, ...this.#bounds() })).tokens);
    return { props, slotId, tokens };
  }

  /** While the server loads its weights it answers 503; that is waited for. */
  async #untilHealthy(signal: AbortSignal, onProgress: (progress: number) => void): Promise<void> {
    const { firstTokenTimeoutMs, healthTimeoutMs } = this.#options;
    const startedAt = performance.now();
    for (;;) {
      try {
        const { bytes } = await openAnswer(this.#server, { path: "/health", signal, silenceMs: () => healthTimeoutMs, totalMs: healthTimeoutMs });
        await bytes.return();
        return;
      } catch (error) {
        const loading = error instanceof EngineError && error.status === 503 && /loading/i.test(error.message);
        if (!loading || performance.now() - startedAt > firstTokenTimeoutMs) throw error;
        onProgress(0);
      }
      await pause(healthIntervalMs, signal);
    }
  }

  /** `/slots` can be switched off; then the number of slots is all there is to know. */
  async #slots(props: Props, signal: AbortSignal): Promise<SlotState[]> {
    try {
      return Slots.parse(await this.#get("/slots", signal));
    } catch (error) {
      if (signal.aborted) throw error;
      return Array.from({ length: props.total_slots ?? 1 }, (_, id) => ({ id }));
    }
  }

  async #connect({ props, slotId, tokens }: Opened, request: TextRequest): Promise<Connection> {
    const rendered = renderChat(props.chat_template, request.chat, {
      bosToken: props.bos_token ?? "",
      eosToken: props.eos_token ?? "",
      addGenerationPrompt: true,
      thinks: (request.thinkingTokensMax ?? 0) > 0,
    });
    if (rendered.warning !== undefined && !this.#warned) {
      this.#warned = true;
      this.#options.log("warn", rendered.warning);
    }
    const { firstTokenTimeoutMs, idleTimeoutMs, streamTotalTimeoutMs } = this.#options;
    const contextWindow = windowOf(props);
    const { segments, thinking } = rendered;
    return {
      server: this.#server,
      prompt: await tokens.of(segments, request.signal),
      ...(thinking ? { thinking: { marks: thinking, followedBy: (thought: string) => tokens.of([...segments, { text: thought, literal: true }, { text: afterThinking(thinking), literal: false }], request.signal) } } : {}),
      slotId,
      firstTokenTimeoutMs,
      idleTimeoutMs,
      ...(contextWindow === undefined ? {} : { contextWindow }),
      ...(streamTotalTimeoutMs === undefined ? {} : { totalMs: streamTotalTimeoutMs }),
    };
  }

  #get(path: string, signal: AbortSignal): Promise<unknown> {
    return requestJson(this.#server, { path, signal, ...this.#bounds() });
  }

  #bounds(): { silenceMs: () => number; totalMs: number } {
    const { requestTimeoutMs } = this.#options;
    return { silenceMs: () => requestTimeoutMs, totalMs: requestTimeoutMs };
  }
}

function windowOf(props: Props | undefined): number | undefined {
  return props?.default_generation_settings?.n_ctx;
}

/** The alias, or the file's name when the alias is its path. */
function modelName(props: Props | undefined): string {
  const named = props?.model_alias || props?.model_path || "default";
  return named.split(/[\\/]/).at(-1) || "default";
}

async function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, durationMs);
  const onAbort = (): void => resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) resolve();
  await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);
}
