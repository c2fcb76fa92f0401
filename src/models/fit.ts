// Fits a model to the machine: threads to the cores that the process may use, the window to the memory that is left.
// Pure: what the machine has comes from machine.ts. Must not be asked after memory was taken: it is what prevents that.
import { AgentError } from "../core/error.ts";
import type { GgufInfo } from "./gguf.ts";
import type { Machine } from "./machine.ts";

export interface ContextFit {
  /** Tokens of the window. */
  contextSize: number;
  /** Weights, window and working space together. */
  needBytes: number;
}

/** How a number of the attention cache is kept. */
export type CacheType = "f16" | "q8_0" | "q4_0";

/** Bytes a number; the packed types keep a scale of 16 bits for each 32 numbers. */
const cacheBytes: Readonly<Record<CacheType, number>> = { f16: 2, q8_0: 34 / 32, q4_0: 18 / 32 };
const packedLength = 32;
/** Tokens; the largest window that is chosen without being asked for. */
const autoContextMax = 32_768;
/** Tokens; a smaller window is only taken when the setting names it. */
const autoContextMin = 2048;
const contextMin = 256;
const contextStep = 256;
/** Code, tokenizer and buffers of the engine beside weights and window. */
const engineBytes = 96 * 1024 * 1024;
const bytesPerF32 = 4;
/** Weights times tokens that one core reads in a second; measured with models of 0.6e9 and 1.8e9 weights. */
const readingSpeed = 8e10;
/** A prompt can be cancelled between batches: how long one should take, with room for slower machines. */
const batchSeconds = 0.36;

/** @param setting 0 = all usable cores */
export function fitThreads(setting: number, machine: Pick<Machine, "cores">): number {
  const usable = Math.max(1, machine.cores);
  return setting > 0 ? Math.min(setting, usable) : usable;
}

/** Tokens that are read between two looks at the signal: a power of two from 16 to 256. */
export function fitBatch(model: Pick<GgufInfo, "parameterCount">, threads: number): number {
  const tokens = (batchSeconds * readingSpeed * threads) / Math.max(1, model.parameterCount);
  return Math.min(256, Math.max(16, 2 ** Math.floor(Math.log2(Math.max(1, tokens)))));
}

/**
 * @param setting `localModels.managed.contextSize`; 0 = as large as fits, up to the trained length and 32768
 * @throws AgentError `out_of_memory` with need, have and what would help
 */
export function fitContext(path: string, model: GgufInfo, setting: number, batchSize: number, machine: Pick<Machine, "memoryBytes">, cacheType: CacheType = "f16"): ContextFit {
  const perToken = windowBytesPerToken(model, cacheType);
  const fixed = model.tensorBytes + engineBytes + model.vocabularySize * batchSize * bytesPerF32;
  const have = machine.memoryBytes;
  const need = (tokens: number): number => fixed + tokens * perToken;
  if (setting > 0) {
    const asked = roundUp(Math.max(contextMin, Math.min(setting, model.contextLength)));
    if (need(asked) > have) throw tooLarge(path, need(asked), have, `a window of ${asked} tokens`, need(Math.min(asked, autoContextMin)) <= have);
    return { contextSize: asked, needBytes: need(asked) };
  }
  const most = Math.min(autoContextMax, roundUp(model.contextLength));
  const least = Math.min(autoContextMin, most);
  const fitting = perToken === 0 ? most : Math.floor((have - fixed) / perToken / contextStep) * contextStep;
  const contextSize = Math.min(most, fitting);
  if (contextSize < least) throw tooLarge(path, need(least), have, `the smallest window (${least} tokens)`, need(contextMin) <= have);
  return { contextSize, needBytes: need(contextSize) };
}

/**
 * The types of the cache to try, the first that fits is the one. A packed cache needs flash attention, and heads that can be
 * cut into its blocks; `auto` takes one only where there is no room for anything else.
 */
export function cacheTypesFor(setting: "auto" | CacheType, flashAttention: "auto" | "on" | "off", model: Pick<GgufInfo, "keyLength" | "valueLength">): readonly [CacheType, ...CacheType[]] {
  const canPack = flashAttention !== "off" && model.keyLength % packedLength === 0 && model.valueLength % packedLength === 0;
  if (!canPack) return ["f16"];
  return setting === "auto" ? ["f16", "q8_0"] : [setting];
}

/** Bytes that the window's keys and values take for each token. */
export function windowBytesPerToken(model: Pick<GgufInfo, "headCountsKv" | "keyLength" | "valueLength">, cacheType: CacheType = "f16"): number {
  const heads = model.headCountsKv.reduce((sum, count) => sum + count, 0);
  return Math.ceil(heads * (model.keyLength + model.valueLength) * cacheBytes[cacheType]);
}

function roundUp(tokens: number): number {
  return Math.ceil(tokens / contextStep) * contextStep;
}

function tooLarge(path: string, need: number, have: number, window: string, smallerHelps: boolean): AgentError {
  const help = smallerHelps ? "Set localModels.managed.contextSize to a smaller number, or name a smaller model" : "Name a smaller model";
  return new AgentError("out_of_memory", `${path}: the model with ${window} needs ${mebibytes(need)} MiB of memory, ${mebibytes(have)} MiB are available. ${help} in localModels.managed.modelId (atomic models list).`);
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
