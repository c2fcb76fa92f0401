// The in-process engine: one model, one context, one sequence whose computed state is used again from call to call, and a
// small context beside it for questions apart from the conversation.
// Opens nothing before the first generation. Failures are the last event of a generation, never thrown.
import type { Llama } from "node-llama-cpp";
import type { EngineFailure, ModelInfo, ModelTraits, TextEngine, TextEvent, TextRequest } from "../../core/engine.ts";
import { AgentError, messageOf } from "../../core/error.ts";
import { callTagsOf } from "../call-tags.ts";
import { canThink, renderChat, type RenderedChat } from "../chat-template.ts";
import { type Counts, generate, GrammarFailure, isAbort, PromptOverflow, usageFrom } from "./generating.ts";
import { modelNotes } from "./model-notes.ts";
import { type LlamaEngineOptions, openModel, type OpenModel, type Plan, planModel } from "./opening.ts";
import { type Lazily, lazily } from "./lazily.ts";

export type { LlamaEngineOptions } from "./opening.ts";

/** Loading is told in steps of at least this part. */
const progressStep = 0.01;

export function createLlamaEngine(options: LlamaEngineOptions): TextEngine {
  // A library that is closed takes the log of the next one with it: it stays open when a load fails or is cancelled.
  const library = lazily(options.openLibrary, (llama) => llama.dispose());
  const openLibrary = (): Promise<Llama> => library.open(new AbortController().signal, () => {});
  const model: LazyModel = lazily(
    (signal, onProgress) => openModel(options, openLibrary, signal, onProgress),
    (open) => open.close(),
  );
  const render = chatRenderer(options);
  let plan: Plan | undefined;
  let turn: Promise<void> = Promise.resolve();

  const planNow = (): Plan | undefined => model.current()?.plan ?? (plan ??= planQuietly(options));

  return {
    kind: "text",
    info: () => infoOf(options, planNow()),
    traits: () => traitsOf(options, planNow()),
    openState: () => (model.current() !== undefined ? "ready" : model.isOpening() ? "loading" : undefined),
    answersApart: () => true,
    countTokens: (text) => model.current()?.tokenizer.count(text),
    open: async (signal, onProgress) => void (await model.open(signal, onProgress)),
    async *complete(request) {
      const counts: Counts = { input: 0, output: 0, cacheRead: 0 };
      const before = turn;
      const own = Promise.withResolvers<void>();
      turn = before.then(() => own.promise);
      try {
        await orAborted(before, request.signal);
        yield* run(model, render, request, counts);
      } catch (error) {
        if (request.signal.aborted || isAbort(error)) yield { type: "ended", stop: "aborted", usage: usageFrom(counts) };
        else yield { type: "failed", failure: failureOf(error), usage: usageFrom(counts) };
      } finally {
        own.resolve();
      }
    },
    close: async () => {
      // A generation under way is not cut off: whoever closes aborts it first.
      await turn;
      await model.close();
      await library.close();
    },
  };
}

type LazyModel = Lazily<OpenModel, number>;
type Render = (open: OpenModel, request: TextRequest) => RenderedChat;

/** Renders by the model's template; warns once when it can't be used. */
function chatRenderer(options: LlamaEngineOptions): Render {
  let warned = false;
  return (open, { chat, thinkingTokensMax = 0 }) => {
    const { bosString, eosString } = open.model.tokens;
    const rendered = renderChat(open.plan.model.chatTemplate, chat, { bosToken: bosString ?? "", eosToken: eosString ?? "", addGenerationPrompt: true, thinks: thinkingTokensMax > 0 });
    if (rendered.warning !== undefined && !warned) {
      warned = true;
      options.log("warn", `${options.modelId}: ${rendered.warning}.`);
    }
    return rendered;
  };
}

async function* run(model: LazyModel, render: Render, request: TextRequest, counts: Counts): AsyncGenerator<TextEvent, void, void> {
  const opened = yield* opening(model, request.signal);
  const open = request.purpose === "plan" ? await opened.apart() : opened;
  try {
    yield* generate(open, render(open, request), request, counts);
  } catch (error) {
    // Nobody knows what the sequence holds after an error of the native code.
    if (!(error instanceof PromptOverflow || error instanceof GrammarFailure)) await open.sequence.clearHistory();
    throw error;
  }
}

async function* opening(model: LazyModel, signal: AbortSignal): AsyncGenerator<TextEvent, OpenModel, void> {
  const progress = { seen: 0, last: 0, wake: (): void => {} };
  const loaded = model.open(signal, (value) => {
    progress.last = Math.max(progress.last, value);
    progress.wake();
  });
  let open: OpenModel | undefined;
  while (open === undefined) {
    const reported = new Promise<undefined>((resolve) => (progress.wake = () => resolve(undefined)));
    open = await Promise.race([loaded, reported]);
    if (progress.last < progress.seen + progressStep) continue;
    progress.seen = progress.last;
    yield { type: "progress", stage: "weights", progress: Math.min(1, progress.seen) };
  }
  return open;
}

/** @throws AgentError `aborted` when the signal fires before the promise resolves */
async function orAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(new AgentError("aborted", "The generation was cancelled."));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([aborted.promise, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function infoOf({ modelId, contextSize }: LlamaEngineOptions, plan: Plan | undefined): ModelInfo {
  const contextWindow = plan?.contextSize ?? (contextSize > 0 ? contextSize : 4096);
  return {
    id: modelId,
    name: plan?.model.name ?? modelId,
    api: "in-process",
    provider: "llama",
    baseUrl: "",
    reasoning: canThink(plan?.model.chatTemplate),
    input: ["text"],
    contextWindow,
    maxTokens: contextWindow,
  };
}

function traitsOf({ modelPath, promptStates }: LlamaEngineOptions, plan: Plan | undefined): ModelTraits {
  if (!plan) return {};
  const { chatTemplate, parameterCount } = plan.model;
  return {
    parameters: parameterCount,
    ...(chatTemplate === undefined ? {} : { chatTemplate, callTags: () => callTagsOf(chatTemplate) }),
    ...(promptStates === undefined ? {} : { notes: modelNotes(promptStates.directory, modelPath) }),
  };
}

/** A model that can't be used says so when it is opened. */
function planQuietly(options: LlamaEngineOptions): Plan | undefined {
  try {
    return planModel(options);
  } catch (error) {
    options.log("debug", `Nothing is known of the model yet: ${messageOf(error)}`);
    return undefined;
  }
}

function failureOf(error: unknown): EngineFailure {
  const message = messageOf(error);
  if (error instanceof PromptOverflow) return { kind: "overflow", category: "model", message, retryable: false };
  if (error instanceof GrammarFailure) return { kind: "engine", category: "grammar", message, retryable: false };
  const kind = error instanceof AgentError && error.code === "model_missing" ? "model_missing" : "engine";
  return { kind, category: "model", message, retryable: false };
}
