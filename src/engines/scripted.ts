// An engine that plays a file: for exact transcripts in tests and for host authors without weights.
// The file's format is described in docs/scripted.md; each generation takes the next step.
import { readFileSync } from "node:fs";
import { z } from "zod";
import { AgentError, messageOf } from "../core/error.ts";
import type { ActionEngine, ActionEvent, ActionRequest, EngineFailure } from "../core/engine.ts";
import { ErrorKind, contentText, usageOf, type AgentMessage, type Usage } from "../core/message.ts";

const Expectation = z.strictObject({
  lastRole: z.string().optional(),
  contains: z.string().optional(),
  absent: z.string().optional(),
  tools: z.array(z.string()).optional(),
});

const ErrorItem = z.strictObject({
  error: z.string(),
  category: z.enum(["transport", "grammar", "model", "tool"]).default("model"),
  retryable: z.boolean().optional(),
  errorKind: ErrorKind.optional(),
});
type ErrorItem = z.infer<typeof ErrorItem>;

const chunk = z.int().min(1).default(4);

const PlainItem = z.union([
  z.strictObject({ text: z.string(), chunk }),
  z.strictObject({ thinking: z.string(), chunk }),
  z.strictObject({ call: z.string(), args: z.record(z.string(), z.unknown()).default({}) }),
  ErrorItem,
  z.strictObject({ overflow: z.literal(true) }),
  z.strictObject({ stop: z.literal("length") }),
  z.strictObject({ delayMs: z.number().min(0) }),
  z.strictObject({ hang: z.literal(true) }),
  z.strictObject({ usage: z.strictObject({ input: z.int().min(0).default(0), output: z.int().min(0).default(0), cacheRead: z.int().min(0).default(0) }) }),
  z.strictObject({ expect: Expectation }),
]);
type PlainItem = z.infer<typeof PlainItem>;
type Item = PlainItem | { repeat: number; items: Item[] };
const Item: z.ZodType<Item> = z.lazy(() => z.union([z.strictObject({ repeat: z.int().min(0), items: z.array(Item) }), PlainItem]));

export const ScriptedFile = z.strictObject({
  contextWindow: z.int().min(256).default(32_768),
  steps: z.array(z.array(Item)),
  compaction: z.array(z.union([z.string(), ErrorItem, z.array(Item)])).default([]),
});
export type ScriptedFile = z.infer<typeof ScriptedFile>;

/** @throws AgentError `model_unknown` when there is no such file, `model_invalid` when it can't be played. */
export function readScript(path: string): ScriptedFile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new AgentError("model_unknown", `scripted:${path}: ${messageOf(error)}`, { cause: error });
  }
  try {
    return ScriptedFile.parse(JSON.parse(text));
  } catch (error) {
    const what = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new AgentError("model_invalid", `${path} is not a script: ${what}`, { cause: error });
  }
}

export function createScriptedEngine(script: ScriptedFile, path: string): ActionEngine {
  let nextStep = 0;
  let nextCompaction = 0;
  return {
    kind: "action",
    info: () => ({
      id: `scripted:${path}`,
      name: "scripted",
      api: "scripted",
      provider: "scripted",
      baseUrl: "",
      reasoning: true,
      input: ["text", "image"],
      contextWindow: script.contextWindow,
      maxTokens: script.contextWindow,
    }),
    act(request) {
      // A generation that can't begin any more takes no step.
      if (request.signal.aborted) return play(undefined, request);
      if (request.purpose === "step") return play(script.steps[nextStep++], request);
      return play(compactionItems(script.compaction[nextCompaction++]), request);
    },
    close: async () => {},
  };
}

function compactionItems(answer: string | ErrorItem | Item[] | undefined): Item[] | undefined {
  if (answer === undefined || Array.isArray(answer)) return answer;
  return [typeof answer === "string" ? { text: answer, chunk: 64 } : answer];
}

interface Play {
  request: ActionRequest;
  index: number;
  characters: number;
  pieces: number;
  usage: Usage | undefined;
}

async function* play(items: readonly Item[] | undefined, request: ActionRequest): AsyncGenerator<ActionEvent, void, void> {
  const state: Play = { request, index: 0, characters: 0, pieces: 0, usage: undefined };
  if (request.signal.aborted) return yield aborted(state);
  yield { type: "prompt_accepted", promptTokens: promptTokens(request), cachedTokens: 0, slotId: -1 };
  const outcome = items ? yield* playItems(items, state) : failed(state, { kind: "engine", category: "model", message: "the script has no further step" });
  yield outcome ?? { type: "ended", stop: "end", usage: usage(state) };
}

/** The closing event when the items bring one. */
async function* playItems(items: readonly Item[], state: Play): AsyncGenerator<ActionEvent, ActionEvent | undefined, void> {
  for (const item of items) {
    if (state.request.signal.aborted) return aborted(state);
    if ("repeat" in item) {
      for (let round = 0; round < item.repeat; round += 1) {
        const outcome = yield* playItems(item.items, state);
        if (outcome) return outcome;
      }
      continue;
    }
    const outcome = yield* playItem(item, state);
    if (outcome) return outcome;
  }
  return undefined;
}

async function* playItem(item: PlainItem, state: Play): AsyncGenerator<ActionEvent, ActionEvent | undefined, void> {
  const { signal } = state.request;
  if ("text" in item) return yield* playText("text", item.text, item.chunk, state);
  if ("thinking" in item) return yield* playText("thinking", item.thinking, item.chunk, state);
  if ("call" in item) yield* playCall(item.call, item.args, state);
  if ("error" in item) return failed(state, failureOf(item));
  if ("overflow" in item) return failed(state, { kind: "overflow", category: "model", message: "the request is longer than the context window" });
  if ("stop" in item) return { type: "ended", stop: "length", usage: usage(state) };
  if ("usage" in item) state.usage = usageOf(item.usage);
  if ("expect" in item) {
    const difference = differs(item.expect, state.request);
    if (difference !== undefined) return failed(state, { kind: "engine", category: "model", message: `expect: ${difference}`, retryable: false });
  }
  if ("delayMs" in item || "hang" in item) {
    await pause("delayMs" in item ? item.delayMs : undefined, signal);
    if (signal.aborted) return aborted(state);
  }
  return undefined;
}

/** A script without waits must not keep signals and cancels from being heard. */
const piecesPerBreath = 256;

function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Each character is a grapheme of its own; finding that out one by one would be a fifth of the time of a long stream. */
const plainText = /^[\t\n\x20-\x7e]*$/;
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

async function* playText(kind: "text" | "thinking", text: string, chunkChars: number, state: Play): AsyncGenerator<ActionEvent, ActionEvent | undefined, void> {
  const index = state.index++;
  yield { type: `${kind}_start`, index };
  for (const delta of pieces(text, chunkChars)) {
    if (++state.pieces % piecesPerBreath === 0) await breathe();
    if (state.request.signal.aborted) return aborted(state);
    state.characters += delta.length;
    yield { type: `${kind}_delta`, index, delta };
  }
  yield { type: `${kind}_end`, index };
  return undefined;
}

/** Pieces of at most `chunkChars` UTF-16 units that never cut a grapheme; one longer than that stands alone. */
function* pieces(text: string, chunkChars: number): Generator<string> {
  if (plainText.test(text)) {
    for (let start = 0; start < text.length; start += chunkChars) yield text.slice(start, start + chunkChars);
    return;
  }
  let piece = "";
  for (const { segment } of graphemes.segment(text)) {
    if (piece !== "" && piece.length + segment.length > chunkChars) {
      yield piece;
      piece = "";
    }
    piece += segment;
  }
  if (piece !== "") yield piece;
}

function* playCall(name: string, args: Record<string, unknown>, state: Play): Generator<ActionEvent> {
  const index = state.index++;
  const text = JSON.stringify(args);
  state.characters += text.length;
  yield { type: "call_start", index, name };
  yield { type: "call_delta", index, delta: text };
  yield { type: "call_end", index, arguments: args };
}

const kindOfCategory = { transport: "network", grammar: "bad_request", model: "engine", tool: "engine" } as const;

function failureOf(item: ErrorItem): EngineFailure {
  const { category, error, errorKind, retryable } = item;
  return { kind: errorKind ?? kindOfCategory[category], category, message: error, retryable: retryable ?? category === "transport" };
}

function differs(expectation: z.infer<typeof Expectation>, request: ActionRequest): string | undefined {
  const { absent, contains, lastRole, tools } = expectation;
  const role = request.messages.at(-1)?.role;
  const sent = [request.system, ...request.messages.map(messageText)].join("\n");
  const offered = request.tools.map((tool) => tool.name);
  if (lastRole !== undefined && role !== lastRole) return `the last message is of role ${role}, not ${lastRole}`;
  if (contains !== undefined && !sent.includes(contains)) return `what was sent does not contain ${JSON.stringify(contains)}`;
  if (absent !== undefined && sent.includes(absent)) return `what was sent contains ${JSON.stringify(absent)}`;
  if (tools && JSON.stringify([...tools].toSorted()) !== JSON.stringify([...offered].toSorted())) return `the tools are ${offered.join(", ")}, not ${tools.join(", ")}`;
  return undefined;
}

function messageText(message: AgentMessage): string {
  if (message.role === "assistant") return JSON.stringify(message.content);
  if (message.role === "branchSummary") return message.summary;
  if (message.role === "bashExecution") return `${message.command}\n${message.output}`;
  return contentText(message.content);
}

const charactersPerToken = 4;

function promptTokens(request: ActionRequest): number {
  const characters = request.system.length + request.messages.reduce((sum, message) => sum + messageText(message).length, 0);
  return Math.ceil(characters / charactersPerToken);
}

function usage(state: Play): Usage {
  return state.usage ?? usageOf({ input: promptTokens(state.request), output: Math.ceil(state.characters / charactersPerToken) });
}

function failed(state: Play, failure: EngineFailure): ActionEvent {
  return { type: "failed", failure, usage: state.usage ?? usageOf({}) };
}

function aborted(state: Play): ActionEvent {
  return { type: "ended", stop: "aborted", usage: usage(state) };
}

async function pause(delayMs: number | undefined, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // A hang holds the process like a real engine would.
  const timer = delayMs === undefined ? setInterval(() => {}, 60_000) : setTimeout(resolve, delayMs);
  const onAbort = (): void => resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) resolve();
  await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);
}
