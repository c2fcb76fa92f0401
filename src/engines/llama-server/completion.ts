// One generation of a llama-server: `/completion` with token ids, its stream read into text events, exact usage.
import type { EngineFailure, TextEvent, TextRequest } from "../../core/engine.ts";
import { messageOf } from "../../core/error.ts";
import { usageOf, type Usage } from "../../core/message.ts";
import { classifyStreamError, textOf } from "../http-failure.ts";
import { EngineError, openAnswer, redact, shownUrl, type HttpServer } from "../http.ts";
import { readEvents } from "../sse.ts";
import { thinkingRoom, type ThinkingMarks } from "../thinking-marks.ts";
import { CompletionEvent } from "./answers.ts";

export interface Connection {
  server: HttpServer;
  prompt: readonly number[];
  /** The prompt ends inside thinking. */
  thinking?: {
    marks: ThinkingMarks;
    /** The prompt with a thought and its closing mark. */
    followedBy(thought: string): Promise<readonly number[]>;
  };
  /** -1 = the server chooses. */
  slotId: number;
  contextWindow?: number;
  firstTokenTimeoutMs: number;
  idleTimeoutMs: number;
  totalMs?: number;
}

type Closing = Extract<TextEvent, { type: "ended" | "failed" }>;

/** At least one character, whatever it is; for a retry after an empty answer where no grammar asks for more. */
const anything = "root ::= .+\n";

interface Count {
  input: number;
  cached: number;
  output: number;
  accepted: boolean;
  /** Tokens of the thought, before the output counted here. */
  reasoning?: number;
}

/** Yields everything but the closing event, which it returns. */
export async function* complete(connection: Connection, request: TextRequest): AsyncGenerator<TextEvent, Closing, void> {
  const count: Count = { input: 0, cached: 0, output: 0, accepted: false };
  try {
    return yield* connection.thinking ? thinkAndAnswer(connection, connection.thinking, request, count) : stream(connection, request, count);
  } catch (error) {
    if (request.signal.aborted) return { type: "ended", stop: "aborted", usage: usage(count) };
    if (error instanceof EngineError) return { type: "failed", failure: error.failure, usage: usage(count) };
    return { type: "failed", failure: { kind: "engine", category: "tool", message: redact(messageOf(error), connection.server) }, usage: usage(count) };
  }
}

/** Greedy thinking goes round in circles. */
const thinkingTemperatureMin = 0.6;

/** Two requests, the second of which goes on where the first stopped: what limits a thought is a number of tokens, which no grammar can count. */
async function* thinkAndAnswer(connection: Connection, thinking: NonNullable<Connection["thinking"]>, request: TextRequest, count: Count): AsyncGenerator<TextEvent, Closing, void> {
  const { contextWindow = Infinity, prompt } = connection;
  const { grammar: _, ...free } = request;
  const maxTokens = thinkingRoom(request.thinkingTokensMax, Math.min(request.maxTokens, contextWindow - prompt.length));
  const thought: string[] = [];
  const thinks = { ...free, forbidEmpty: false, maxTokens, temperature: Math.max(request.temperature, thinkingTemperatureMin), ...(request.temperature > 0 ? {} : { seed: request.seed ?? 0 }) };
  for await (const event of answered(stream(connection, thinks, count, thinking.marks.close))) {
    if (event.type === "failed" || (event.type === "ended" && request.signal.aborted)) return event;
    if (event.type === "text") thought.push(event.text);
    if (event.type !== "ended") yield event.type === "text" ? { type: "thinking", text: event.text } : event;
  }
  const begun = await thinking.followedBy(thought.join(""));
  count.reasoning = Math.max(0, begun.length - prompt.length);
  count.output = 0;
  const answer: Count = { input: 0, cached: 0, output: 0, accepted: true };
  const rest = { ...request, maxTokens: Math.max(1, request.maxTokens - count.reasoning) };
  const said = yield* stream({ ...connection, prompt: begun }, rest, answer);
  count.output = answer.output;
  return { ...said, usage: usage(count) };
}

/** The last event among the others. */
async function* answered(events: AsyncGenerator<TextEvent, Closing, void>): AsyncGenerator<TextEvent, void, void> {
  yield yield* events;
}

async function* stream(connection: Connection, request: TextRequest, count: Count, stopAt?: string): AsyncGenerator<TextEvent, Closing, void> {
  const { contextWindow, prompt, server } = connection;
  if (contextWindow !== undefined && prompt.length >= contextWindow) {
    throw new EngineError({ kind: "overflow", category: "model", message: `the prompt has ${prompt.length} tokens, the context window ${contextWindow}` });
  }
  const { bytes } = await openAnswer(server, {
    path: "/completion",
    body: { ...bodyOf(connection, request), ...(stopAt === undefined ? {} : { stop: [stopAt] }) },
    signal: request.signal,
    silenceMs: () => (count.output === 0 ? connection.firstTokenTimeoutMs : connection.idleTimeoutMs),
    ...(connection.totalMs === undefined ? {} : { totalMs: connection.totalMs }),
  });
  for await (const { data, event } of readEvents(bytes)) {
    if (data === "[DONE]") break;
    const said = parse(data, server);
    if (event === "error" || said.error !== undefined) throw streamError(said.error ?? data, server);
    yield* opening(said, connection, count);
    note(said, count);
    if (said.content !== "") yield { type: "text", text: said.content };
    if (said.stop) return ended(said, count);
  }
  throw new EngineError({ kind: "server", category: "model", message: `${shownUrl(server.url)} ended its answer before it was complete` });
}

function bodyOf({ contextWindow, prompt, slotId }: Connection, request: TextRequest): Record<string, unknown> {
  const { forbidEmpty, maxTokens, seed, temperature } = request;
  const grammar = request.grammar ?? (forbidEmpty ? anything : undefined);
  return {
    prompt,
    stream: true,
    cache_prompt: true,
    return_progress: true,
    id_slot: slotId,
    // Beyond the window a server shifts the prompt out or fails, depending on its version.
    n_predict: contextWindow === undefined ? maxTokens : Math.min(maxTokens, contextWindow - prompt.length),
    temperature,
    ...(seed === undefined ? {} : { seed }),
    ...(grammar === undefined ? {} : { grammar }),
  };
}

function* opening(said: CompletionEvent, { prompt, slotId }: Connection, count: Count): Generator<TextEvent> {
  const progress = said.prompt_progress;
  if (!count.accepted && (progress || said.content !== "" || said.stop)) {
    count.accepted = true;
    count.cached = Math.min(progress?.cache ?? said.timings?.cache_n ?? 0, prompt.length);
    count.input = prompt.length - count.cached;
    yield { type: "prompt_accepted", promptTokens: prompt.length, cachedTokens: count.cached, slotId };
  }
  if (progress && progress.total > 0) yield { type: "progress", stage: "prompt", progress: Math.min(1, progress.processed / progress.total) };
}

function note(said: CompletionEvent, count: Count): void {
  count.output = Math.max(count.output, said.tokens_predicted ?? count.output + (said.content === "" ? 0 : 1));
  if (said.timings?.predicted_n !== undefined && said.stop) count.output = said.timings.predicted_n;
  if (said.timings?.cache_n === undefined || said.timings.prompt_n === undefined || !said.stop) return;
  count.cached = said.timings.cache_n;
  count.input = said.timings.prompt_n;
}

function ended(said: CompletionEvent, count: Count): Closing {
  const length = said.stop_type === "limit" || said.stopped_limit === true;
  return { type: "ended", stop: length ? "length" : "end", usage: usage(count), ...(said.stop_type ? { rawStopReason: said.stop_type } : {}) };
}

function usage({ cached, input, output, reasoning }: Count): Usage {
  return usageOf({ input, output: output + (reasoning ?? 0), cacheRead: cached, ...(reasoning === undefined ? {} : { reasoning }) });
}

function parse(data: string, server: HttpServer): CompletionEvent {
  try {
    return CompletionEvent.parse(JSON.parse(data));
  } catch {
    throw new EngineError({ kind: "server", category: "transport", message: `${shownUrl(server.url)} sent an event that is no completion: ${redact(data.slice(0, 80), server)}` });
  }
}

function streamError(value: unknown, server: HttpServer): EngineError {
  const failure: EngineFailure = {
    ...classifyStreamError(value, server.local),
    message: `${shownUrl(server.url)}: ${redact(textOf(value) ?? JSON.stringify(value), server)}`,
  };
  return new EngineError(failure);
}
