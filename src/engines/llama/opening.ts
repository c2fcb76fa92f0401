// Opens a model: header checked, window fitted to the memory, library loaded, weights and context made. Must not take
// memory before the fit has said that it is there.
import { statSync } from "node:fs";
import type { InputLookupTokenPredictor, Llama, LlamaContext, LlamaContextOptions, LlamaContextSequence, LlamaGrammar, LlamaGrammarEvaluationState, LlamaModel } from "node-llama-cpp";
import { AgentError, messageOf } from "../../core/error.ts";
import type { Log } from "../../core/runtime.ts";
import { type CacheType, cacheTypesFor, type ContextFit, fitBatch, fitContext, fitThreads } from "../../models/fit.ts";
import type { GgufInfo } from "../../models/gguf.ts";
import { headerInSlices, headerOf } from "../../models/known-header.ts";
import { readMachine } from "../../models/machine.ts";
import { promptStates, type PromptStates } from "./prompt-state.ts";
import { promptTokenizer, type PromptTokenizer } from "./prompt-tokens.ts";

export interface LlamaEngineOptions {
  /** The weights, a GGUF file. */
  modelPath: string;
  /** What the model is called in events. */
  modelId: string;
  /** Called once, when the model opens; the engine disposes of what it gets. */
  openLibrary: () => Promise<Llama>;
  /** 0 = fitted to the machine, for each of them. */
  threads: number;
  contextSize: number;
  gpuLayers: "auto" | number;
  /** `auto` unless it is given, for both. */
  kvCacheType?: "auto" | CacheType | undefined;
  flashAttention?: "auto" | "on" | "off" | undefined;
  /** Where computed heads of prompts are kept; absent = they are not. */
  promptStates?: { directory: string; bytesMax: number } | undefined;
  log: Log;
}

export interface Plan {
  model: GgufInfo;
  threads: number;
  /** Tokens between two looks at the signal. */
  batchSize: number;
  contextSize: number;
  cacheType: CacheType;
}

export interface OpenModel {
  plan: Plan;
  model: LlamaModel;
  context: LlamaContext;
  sequence: LlamaContextSequence;
  tokenizer: PromptTokenizer;
  /** A fresh state of a grammar. @throws Error when the grammar can't be read */
  grammarState(grammar: string): LlamaGrammarEvaluationState;
  states: PromptStates | undefined;
  /** Of the small context: guesses the next tokens from a text that the answer repeats. */
  predictor?: InputLookupTokenPredictor;
  /** A small context beside this one, for questions that are no part of the conversation. */
  apart(): Promise<OpenModel>;
  close(): Promise<void>;
}

const grammarsMax = 16;

/** @throws AgentError `model_missing`, `model_invalid` or `out_of_memory` */
export function planModel({ modelPath, ...options }: LlamaEngineOptions): Plan {
  const model = headerOf(modelPath);
  const machine = readMachine();
  const threads = fitThreads(options.threads, machine);
  const batchSize = fitBatch(model, threads);
  const { cacheType, contextSize } = fitCache(modelPath, model, options, (type) => fitContext(modelPath, model, options.contextSize, batchSize, machine, type));
  if (options.contextSize > model.contextLength) options.log("warn", `localModels.managed.contextSize is ${options.contextSize}, but ${options.modelId} was made for ${model.contextLength} tokens: ${contextSize} are used.`);
  return { model, threads, batchSize, contextSize, cacheType };
}

function fitCache(modelPath: string, model: GgufInfo, { flashAttention = "auto", kvCacheType = "auto", log }: Omit<LlamaEngineOptions, "modelPath">, fit: (type: CacheType) => ContextFit): { cacheType: CacheType; contextSize: number } {
  const [first, ...others] = cacheTypesFor(kvCacheType, flashAttention, model);
  if (kvCacheType !== "auto" && kvCacheType !== first) log("warn", `localModels.managed.kvCacheType is ${kvCacheType}, which needs flash attention and heads of a multiple of 32 numbers: ${first} is used.`);
  try {
    return { cacheType: first, contextSize: fit(first).contextSize };
  } catch (error) {
    const [next] = others;
    if (next === undefined) throw error;
    const { contextSize } = fit(next);
    log("debug", `${modelPath}: there is no room for an attention cache of ${first}: ${next} is used`);
    return { cacheType: next, contextSize };
  }
}

/**
 * @param library opens the library; it stays open when the model can't be
 * @throws AgentError; `aborted` when the signal fired
 */
export async function openModel(options: LlamaEngineOptions, library: () => Promise<Llama>, signal: AbortSignal, onProgress: (progress: number) => void): Promise<OpenModel> {
  await headerInSlices(options.modelPath);
  const plan = planModel(options);
  const llama = await library();
  try {
    signal.throwIfAborted();
    return await loadModel(llama, plan, options, signal, onProgress);
  } catch (error) {
    if (signal.aborted) throw new AgentError("aborted", "Loading the model was cancelled.", { cause: error });
    throw new AgentError("model_invalid", `${options.modelPath}: the engine can't load this model (${messageOf(error)}). Name another one in localModels.managed.modelId (atomic models list).`, { cause: error });
  }
}

async function loadModel(llama: Llama, plan: Plan, options: LlamaEngineOptions, signal: AbortSignal, onProgress: (progress: number) => void): Promise<OpenModel> {
  const { InputLookupTokenPredictor: Predictor, LlamaGrammar: Grammar, LlamaGrammarEvaluationState: GrammarState } = await import("node-llama-cpp");
  llama.maxThreads = plan.threads;
  const model = await llama.loadModel({
    modelPath: options.modelPath,
    gpuLayers: llama.gpu === false ? 0 : options.gpuLayers,
    // The fit has looked at the memory, with the limits of control groups; the binding does not know those.
    ignoreMemorySafetyChecks: llama.gpu === false,
    loadSignal: signal,
    onLoadProgress: onProgress,
  });
  const contextOf = (contextSize: number, createSignal?: AbortSignal): Promise<LlamaContext> =>
    model.createContext({
      contextSize,
      batchSize: llama.gpu === false ? plan.batchSize : 512,
      threads: plan.threads,
      ...cacheOptions(plan, options),
      ignoreMemorySafetyChecks: llama.gpu === false,
      ...(createSignal ? { createSignal } : {}),
    });
  const context = await contextOf(plan.contextSize, signal);
  const grammars = new Map<string, LlamaGrammar>();
  const grammarOf = (text: string): LlamaGrammar => {
    const known = grammars.get(text);
    if (known !== undefined) return known;
    const grammar = new Grammar(llama, { grammar: text, rootRuleName: "root" });
    if (grammars.size >= grammarsMax) grammars.clear();
    grammars.set(text, grammar);
    return grammar;
  };
  const onContext = (context: LlamaContext, predictor?: InputLookupTokenPredictor): Pick<OpenModel, "plan" | "context" | "sequence" | "predictor"> => ({
    plan: { ...plan, batchSize: context.batchSize, contextSize: context.contextSize },
    context,
    sequence: context.getSequence(predictor && { tokenPredictor: predictor }),
    ...(predictor && { predictor }),
  });
  let apart: Promise<OpenModel> | undefined;
  const open: OpenModel = {
    ...onContext(context),
    model,
    tokenizer: promptTokenizer(model, plan.model.tokenizer === "llama"),
    grammarState: (text) => new GrammarState({ model, grammar: grammarOf(text) }),
    states: options.promptStates && promptStates({ ...options.promptStates, identity: identityOf(llama, context, options), log: options.log }),
    apart: () => (apart ??= contextOf(apartContextSize).then((small) => ({ ...open, ...onContext(small, canTakeBack(model) ? new Predictor(guesses) : undefined) }))),
    close: () => model.dispose(),
  };
  return open;
}

/**
 * In tokens: two that are alike come before a guess. With 2 cores four tokens at once take as long as two, one after another; more
 * cost more where they are wrong than they bring where they are right.
 */
const guesses = { patternLength: { min: 2 }, predictionLength: { min: 1, max: 3 } };

/** A guess that was wrong is taken out of the state; some kinds of models can only go back to a copy of it, which costs more than a guess brings. */
function canTakeBack({ fileInsights: { isHybrid, isRecurrent, swaSize } }: LlamaModel): boolean {
  return !isHybrid && !isRecurrent && swaSize === undefined;
}

/** Tokens: the longest question, of what a request asks for (`agent/work-plan`), has about 1700, and a request comes behind it. */
export const apartContextSize = 2560;

/** Where nothing is asked for, the binding decides, which knows the models that can't. */
function cacheOptions({ cacheType }: Plan, { flashAttention = "auto" }: LlamaEngineOptions): LlamaContextOptions {
  const type = ({ f16: "F16", q8_0: "Q8_0", q4_0: "Q4_0" } as const)[cacheType];
  const packed = cacheType === "f16" ? {} : { experimentalKvCacheKeyType: type, experimentalKvCacheValueType: type };
  return { ...packed, ...(flashAttention === "off" ? { flashAttention: false } : flashAttention === "on" || cacheType !== "f16" ? { flashAttention: true } : {}) };
}

/** What a computed state depends on beside the tokens. */
function identityOf(llama: Llama, context: LlamaContext, { modelPath }: LlamaEngineOptions): string {
  const { size, mtimeMs } = statSync(modelPath);
  return JSON.stringify([size, mtimeMs, llama.llamaCppRelease.release, llama.gpu, context.kvCacheKeyType ?? 0, context.kvCacheValueType ?? 0, context.flashAttention]);
}
