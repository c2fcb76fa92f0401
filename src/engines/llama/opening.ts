// Opens a model: header checked, window fitted to the memory, library loaded, weights and context made. Must not take
// memory before the fit has said that it is there.
import { statSync } from "node:fs";
import type { Llama, LlamaContext, LlamaContextSequence, LlamaGrammar, LlamaGrammarEvaluationState, LlamaModel } from "node-llama-cpp";
import { AgentError, messageOf } from "../../core/error.ts";
import type { Log } from "../../core/runtime.ts";
import { fitBatch, fitContext, fitThreads } from "../../models/fit.ts";
import { readGguf, type GgufInfo } from "../../models/gguf.ts";
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
  close(): Promise<void>;
}

const grammarsMax = 16;

/** @throws AgentError `model_missing`, `model_invalid` or `out_of_memory` */
export function planModel({ modelPath, ...options }: LlamaEngineOptions): Plan {
  const model = readGguf(modelPath);
  const machine = readMachine();
  const threads = fitThreads(options.threads, machine);
  const batchSize = fitBatch(model, threads);
  const { contextSize } = fitContext(modelPath, model, options.contextSize, batchSize, machine);
  if (options.contextSize > model.contextLength) options.log("warn", `localModels.managed.contextSize is ${options.contextSize}, but ${options.modelId} was made for ${model.contextLength} tokens: ${contextSize} are used.`);
  return { model, threads, batchSize, contextSize };
}

/**
 * @param library opens the library; it stays open when the model can't be
 * @throws AgentError; `aborted` when the signal fired
 */
export async function openModel(options: LlamaEngineOptions, library: () => Promise<Llama>, signal: AbortSignal, onProgress: (progress: number) => void): Promise<OpenModel> {
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
  const { LlamaGrammar: Grammar, LlamaGrammarEvaluationState: GrammarState } = await import("node-llama-cpp");
  llama.maxThreads = plan.threads;
  const model = await llama.loadModel({
    modelPath: options.modelPath,
    gpuLayers: llama.gpu === false ? 0 : options.gpuLayers,
    // The fit has looked at the memory, with the limits of control groups; the binding does not know those.
    ignoreMemorySafetyChecks: llama.gpu === false,
    loadSignal: signal,
    onLoadProgress: onProgress,
  });
  const context = await model.createContext({
    contextSize: plan.contextSize,
    batchSize: llama.gpu === false ? plan.batchSize : 512,
    threads: plan.threads,
    ignoreMemorySafetyChecks: llama.gpu === false,
    createSignal: signal,
  });
  const grammars = new Map<string, LlamaGrammar>();
  const grammarOf = (text: string): LlamaGrammar => {
    const known = grammars.get(text);
    if (known !== undefined) return known;
    const grammar = new Grammar(llama, { grammar: text, rootRuleName: "root" });
    if (grammars.size >= grammarsMax) grammars.clear();
    grammars.set(text, grammar);
    return grammar;
  };
  return {
    plan: { ...plan, batchSize: context.batchSize, contextSize: context.contextSize },
    model,
    context,
    sequence: context.getSequence(),
    tokenizer: promptTokenizer(model, plan.model.tokenizer === "llama"),
    grammarState: (text) => new GrammarState({ model, grammar: grammarOf(text) }),
    states: options.promptStates && promptStates({ ...options.promptStates, identity: identityOf(llama, context, options), log: options.log }),
    close: () => model.dispose(),
  };
}

/** What a computed state depends on beside the tokens. */
function identityOf(llama: Llama, context: LlamaContext, { modelPath }: LlamaEngineOptions): string {
  const { size, mtimeMs } = statSync(modelPath);
  return JSON.stringify([size, mtimeMs, llama.llamaCppRelease.release, llama.gpu, context.kvCacheKeyType ?? 0, context.kvCacheValueType ?? 0, context.flashAttention]);
}
