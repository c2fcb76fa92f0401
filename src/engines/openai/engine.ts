// Any server with `/v1/chat/completions` as an action engine: vLLM, Ollama, LM Studio, llama-server, a cluster behind one
// URL. It tries the best form first and learns from refusals; it never retries a failure, the loop does.
import type { ActionEngine, ActionEvent, ActionRequest, EngineFailure, ModelInfo } from "../../core/engine.ts";
import { messageOf } from "../../core/error.ts";
import { addUsage, usageOf, type Usage } from "../../core/message.ts";
import type { Log } from "../../core/runtime.ts";
import { classifyStreamError, textOf } from "../http-failure.ts";
import { EngineError, isLoopback, openAnswer, readJson, redact, shownUrl, type HttpServer } from "../http.ts";
import { readEvents } from "../sse.ts";
import { Answer, estimateTokens } from "./answer.ts";
import { Chunk } from "./chunk.ts";
import { firstDialect, learn, type Dialect } from "./dialect.ts";
import { bodyOf } from "./request.ts";
import { readServerFacts, type ServerFacts } from "./server-facts.ts";

export interface OpenAiOptions {
  /** Name of the provider on the wires. */
  id: string;
  /** With or without `/v1`. */
  url: string;
  apiKey?: string;
  headers?: Readonly<Record<string, string>>;
  /** Absent = the first model that the server lists. */
  model?: string;
  /** Tokens; absent = what the server tells, else `assumedWindow`. */
  contextWindow?: number;
  maxOutputTokens?: number;
  /** Absent = found out. */
  supportsTools?: boolean;
  supportsParallelTools?: boolean;
  /** Added to every request; wins over what stands there. */
  extraBody?: Readonly<Record<string, unknown>>;
  /** Silence before the first byte and between two. */
  idleTimeoutMs: number;
  /** For a whole request. */
  requestTimeoutMs: number;
  log: Log;
}

export interface OpenAiEngine extends ActionEngine {
  /** Asks the server for its models and window, once; `act` does it by itself. A failure is only logged. */
  probe(signal: AbortSignal): Promise<void>;
}

const assumedWindow = 32_768;
const factsTimeoutMs = 5000;
/** More than there is to learn. */
const refusalsMax = 8;

export function createOpenAiEngine(options: OpenAiOptions): OpenAiEngine {
  return new CompatibleServer(options);
}

type Closing = Extract<ActionEvent, { type: "ended" | "failed" }>;

class CompatibleServer implements OpenAiEngine {
  readonly kind = "action";
  readonly #options: OpenAiOptions;
  readonly #server: HttpServer;
  #dialect: Dialect;
  #facts: ServerFacts | undefined;

  constructor(options: OpenAiOptions) {
    const { apiKey, headers, supportsTools, url } = options;
    this.#options = options;
    this.#dialect = firstDialect(supportsTools);
    this.#server = {
      url: url.replace(/\/+$/, "").replace(/\/v1$/, ""),
      local: isLoopback(url),
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(headers === undefined ? {} : { headers }),
    };
  }

  info(): ModelInfo {
    const { contextWindow: configured, id, maxOutputTokens } = this.#options;
    const contextWindow = configured ?? this.#facts?.contextWindow ?? assumedWindow;
    const model = this.#model() ?? "default";
    return {
      id: model,
      name: model,
      api: "openai-completions",
      provider: id,
      baseUrl: shownUrl(this.#server.url),
      reasoning: false,
      input: this.#facts?.images ? ["text", "image"] : ["text"],
      contextWindow,
      maxTokens: Math.min(maxOutputTokens ?? contextWindow, contextWindow),
    };
  }

  async probe(signal: AbortSignal): Promise<void> {
    if (this.#facts) return;
    try {
      const { idleTimeoutMs, model, requestTimeoutMs } = this.#options;
      this.#facts = await readServerFacts({ server: this.#server, model, signal, timeoutMs: Math.min(requestTimeoutMs, idleTimeoutMs, factsTimeoutMs) });
    } catch (error) {
      if (signal.aborted) return;
      this.#options.log("debug", `${shownUrl(this.#server.url)} tells nothing about its models`, { error: redact(messageOf(error), this.#server) });
      const kind = error instanceof EngineError ? error.failure.kind : undefined;
      // A server that is away may come back; without a model's name nothing can be asked of it.
      const askAgain = kind === "network" || kind === "server" || this.#options.model === undefined;
      if (!askAgain) this.#facts = { models: [] };
    }
  }

  async *act(request: ActionRequest): AsyncGenerator<ActionEvent, void, void> {
    try {
      await this.probe(request.signal);
      yield* this.#act(request);
    } catch (error) {
      yield this.#closing(error, request, usageOf({}));
    }
  }

  needsGuide(): boolean {
    return this.#dialect.calls !== "native";
  }

  async close(): Promise<void> {}

  #model(): string | undefined {
    return this.#options.model ?? this.#facts?.models[0];
  }

  async *#act(request: ActionRequest): AsyncGenerator<ActionEvent, void, void> {
    const first = new Attempt(this.#server, request, this.#dialect, 0);
    let last = yield* this.#attempt(first, request);
    const { answer } = first;
    if (last.type === "ended" && last.stop === "end" && answer.hasThought && !answer.hasOutcome && request.tools.length > 0) {
      // It thought and then said nothing: once more, in a form that leaves only an action.
      const forced: Dialect = { ...this.#dialect, calls: this.#dialect.responseFormat ? "schema" : "text" };
      const before = last.usage;
      last = yield* this.#attempt(new Attempt(this.#server, request, forced, answer.nextIndex), request);
      last = { ...last, usage: addUsage(before, last.usage) };
    }
    yield last;
  }

  async *#attempt(attempt: Attempt, request: ActionRequest): AsyncGenerator<ActionEvent, Closing, void> {
    try {
      const { bytes, contentType } = await this.#send(attempt, request);
      if (attempt.firstIndex === 0) yield { type: "prompt_accepted", promptTokens: estimateTokens(attempt.promptCharacters), cachedTokens: 0, slotId: -1 };
      return yield* attempt.read(bytes, contentType);
    } catch (error) {
      return this.#closing(error, request, attempt.usage());
    }
  }

  /** Sends, and sends again in another form as long as a refusal says what is not understood. */
  async #send(attempt: Attempt, request: ActionRequest): Promise<{ bytes: AsyncGenerator<Uint8Array, void, void>; contentType: string }> {
    const { extraBody = {}, idleTimeoutMs, requestTimeoutMs, supportsParallelTools, supportsTools } = this.#options;
    const { images, maxTokens, model } = this.#limits();
    for (let refusals = 0; ; refusals += 1) {
      const body = bodyOf(request, { model, maxTokens, dialect: attempt.dialect, parallelCalls: supportsParallelTools, images, extraBody });
      attempt.begin(JSON.stringify(body["messages"]).length + JSON.stringify(body["tools"] ?? "").length);
      try {
        return await openAnswer(this.#server, { path: "/v1/chat/completions", body, signal: request.signal, silenceMs: () => idleTimeoutMs, totalMs: requestTimeoutMs });
      } catch (error) {
        const next = error instanceof EngineError && isRefusal(error) ? learn(attempt.dialect, error.message) : undefined;
        if (!next || refusals >= refusalsMax || (supportsTools === true && next.calls !== "native")) throw error;
        this.#options.log("debug", "the server refused a part of the request; it is left out from now on", { refusal: messageOf(error) });
        attempt.dialect = next;
        this.#dialect = { ...next, calls: attempt.firstIndex === 0 ? next.calls : this.#dialect.calls };
      }
    }
  }

  #limits(): { model: string; maxTokens: number; images: boolean } {
    const model = this.#model();
    if (model === undefined) {
      throw new EngineError({ kind: "model_missing", category: "transport", message: `${shownUrl(this.#server.url)} lists no model; name one with defaultChatModel or --model` });
    }
    const { input, maxTokens } = this.info();
    return { model, maxTokens, images: input.includes("image") };
  }

  #closing(error: unknown, request: ActionRequest, usage: Usage): Closing {
    if (request.signal.aborted) return { type: "ended", stop: "aborted", usage };
    if (error instanceof EngineError) return { type: "failed", failure: error.failure, usage };
    return { type: "failed", failure: { kind: "engine", category: "tool", message: redact(messageOf(error), this.#server) }, usage };
  }
}

/** Statuses by which servers say that they don't understand; Ollama and old llama-servers say so with 500. */
function isRefusal({ failure, status }: EngineError): boolean {
  return failure.kind !== "overflow" && status !== undefined && [400, 404, 405, 422, 500, 501].includes(status);
}

/** One request and its answer. */
class Attempt {
  readonly #server: HttpServer;
  readonly #request: ActionRequest;
  readonly firstIndex: number;
  dialect: Dialect;
  promptCharacters = 0;
  answer: Answer;
  #sent = false;

  constructor(server: HttpServer, request: ActionRequest, dialect: Dialect, firstIndex: number) {
    this.#server = server;
    this.#request = request;
    this.dialect = dialect;
    this.firstIndex = firstIndex;
    this.answer = this.#fresh();
  }

  begin(promptCharacters: number): void {
    this.promptCharacters = promptCharacters;
    this.answer = this.#fresh();
  }

  usage(): Usage {
    return this.#sent ? this.answer.usage() : usageOf({});
  }

  async *read(bytes: AsyncGenerator<Uint8Array, void, void>, contentType: string): AsyncGenerator<ActionEvent, Closing, void> {
    const { answer } = this;
    this.#sent = true;
    let done = false;
    try {
      for await (const chunk of contentType.includes("application/json") ? this.#whole(bytes) : this.#chunks(bytes)) {
        if (chunk === "done") {
          done = true;
          break;
        }
        yield* answer.push(chunk);
      }
    } catch (error) {
      // A connection that breaks after the answer's end takes nothing away.
      if (answer.finishReason === undefined || this.#request.signal.aborted) throw error;
    }
    const reason = answer.finishReason;
    if (reason === undefined && !done) throw this.#failed({ kind: "server", category: "model" }, "ended its answer before it was complete");
    if (reason === "content_filter") throw this.#failed({ kind: "bad_request", category: "model", retryable: false }, "withheld the answer (content_filter)");
    if (reason === "error") throw this.#failed({ kind: "server", category: "model" }, "ended its answer with an error");
    const cut = reason === "length" || reason === "max_tokens";
    yield* answer.end(cut);
    return { type: "ended", stop: cut ? "length" : "end", usage: answer.usage(), ...(reason === undefined ? {} : { rawStopReason: reason }) };
  }

  async *#chunks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Chunk | "done", void, void> {
    for await (const { data, event } of readEvents(bytes)) {
      if (data.trim() === "[DONE]") yield "done";
      else yield this.#parse(data, event === "error");
    }
  }

  async *#whole(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Chunk | "done", void, void> {
    yield this.#parse(JSON.stringify(await readJson(bytes, this.#server)), false);
    yield "done";
  }

  #parse(data: string, isError: boolean): Chunk {
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      throw this.#failed(isError ? classifyStreamError(data, this.#server.local) : { kind: "server", category: "transport" }, `sent an event that is no JSON: ${redact(data.slice(0, 80), this.#server)}`);
    }
    const chunk = Chunk.safeParse(value);
    if (!chunk.success) throw this.#failed({ kind: "server", category: "transport" }, "sent an event that is no object");
    const error = chunk.data.error ?? (isError ? value : undefined);
    if (error === undefined || error === null) return chunk.data;
    throw this.#failed(classifyStreamError(value, this.#server.local), `broke off: ${redact(textOf(value) ?? data, this.#server)}`);
  }

  #failed(failure: Omit<EngineFailure, "message">, what: string): EngineError {
    return new EngineError({ ...failure, message: `${shownUrl(this.#server.url)} ${what}` });
  }

  #fresh(): Answer {
    const { outputSchema, tools } = this.#request;
    const offered = tools.length > 0 ? [...tools.map((tool) => tool.name), "reply", "finish"] : this.#request.purpose === "step" ? ["reply", "finish"] : [];
    return new Answer({
      tools: offered,
      promptCharacters: this.promptCharacters,
      jsonReply: outputSchema !== undefined && this.dialect.calls === "schema",
      firstIndex: this.firstIndex,
    });
  }
}
