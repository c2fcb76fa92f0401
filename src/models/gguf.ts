// Checks a model file's header before native code sees the file, and tells what is in it. Format: "GGUF" by ggml-org
// (docs/gguf.md of the ggml repository). Must not read the weights: a header of some MiB is read, in chunks.
import { AgentError, messageOf } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import { GgufCursor, GgufDefect } from "./gguf-cursor.ts";
import { readTensors } from "./gguf-tensors.ts";
import { readValues, type GgufValues } from "./gguf-values.ts";
import { checkVocabulary } from "./gguf-vocabulary.ts";

export interface GgufInfo {
  architecture: string;
  name: string | undefined;
  blockCount: number;
  /** Tokens that the model was trained for. */
  contextLength: number;
  embeddingLength: number;
  /** Attention heads for keys and values of each block; 0 in blocks without attention. */
  headCountsKv: readonly number[];
  keyLength: number;
  valueLength: number;
  /** 0 when the file does not hold its vocabulary. */
  vocabularySize: number;
  /** `gpt2`, `llama` and so on: how text becomes tokens. */
  tokenizer: string | undefined;
  /** llama.cpp's number of the quantisation. */
  fileType: number | undefined;
  chatTemplate: string | undefined;
  bosToken: number | undefined;
  eosToken: number | undefined;
  eotToken: number | undefined;
  tensorBytes: number;
  parameterCount: number;
  sizeBytes: number;
}

/**
 * Takes below 100 MB and less than a second whatever the file holds.
 * @throws AgentError `model_invalid` (the defect and what to do), `model_missing` (there is no such file)
 */
export function readGguf(path: string): GgufInfo {
  const reading = readGgufInSlices(path);
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return value;
  }
}

/** As `readGguf`, with a pause (a bare `yield`) after each slice of work of a millisecond or two, for who has to answer meanwhile. */
export function* readGgufInSlices(path: string): Generator<void, GgufInfo, void> {
  let cursor: GgufCursor | undefined;
  try {
    cursor = new GgufCursor(path);
    return yield* readHeader(cursor);
  } catch (error) {
    if (error instanceof GgufDefect) throw invalid(path, error.message);
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") throw new AgentError("model_missing", `${path}: there is no such file. Check localModels.managed.modelId, or run: atomic models list`, { cause: error });
    throw new AgentError("model_invalid", `${path}: can't be read (${messageOf(error)}). Check the file's rights.`, { cause: error });
  } finally {
    cursor?.close();
  }
}

function invalid(path: string, defect: string): AgentError {
  return new AgentError("model_invalid", `${path}: ${defect}. Download the model again (atomic models pull), or name another one in localModels.managed.modelId.`);
}

function* readHeader(cursor: GgufCursor): Generator<void, GgufInfo, void> {
  if (cursor.sizeBytes === 0) throw new GgufDefect("it is empty");
  const magic = cursor.take(4, "the magic number").toString("latin1");
  if (magic !== "GGUF") throw new GgufDefect("it is not a GGUF file: it does not begin with GGUF");
  const version = cursor.u32("the version");
  if (version >= 0x10000) throw new GgufDefect("its bytes are in big-endian order, which this machine can't run");
  if (version !== 2 && version !== 3) throw new GgufDefect(`its GGUF version is ${version}; 2 and 3 can be read`);
  const tensorCount = cursor.count(limits.ggufTensorsMax, "the number of tensors");
  const valueCount = cursor.count(limits.ggufValuesMax, "the number of metadata values");
  const values = yield* readValues(cursor, valueCount);
  const parts = values.number("split.count") ?? 1;
  if (parts > 1) throw new GgufDefect(`it is one of ${parts} parts; join them into one file with llama-gguf-split --merge`);
  const tensors = readTensors(cursor, tensorCount, values.number("general.alignment") ?? 32);
  return describe(values, tensors, cursor.sizeBytes);
}

function describe(values: GgufValues, tensors: ReturnType<typeof readTensors>, sizeBytes: number): GgufInfo {
  const architecture = values.text("general.architecture");
  if (architecture === undefined || architecture === "") throw new GgufDefect("it does not say which architecture it has (general.architecture)");
  const sized = (key: string, max: number) => inRange(values.number(`${architecture}.${key}`), `${architecture}.${key}`, max);
  const blockCount = sized("block_count", limits.ggufBlocksMax);
  const contextLength = sized("context_length", 2 ** 30);
  const embeddingLength = sized("embedding_length", 2 ** 20);
  const headCounts = perBlock(values, `${architecture}.attention.head_count`, blockCount);
  const headCountsKv = values.has(`${architecture}.attention.head_count_kv`) ? perBlock(values, `${architecture}.attention.head_count_kv`, blockCount) : headCounts;
  const heads = Math.max(1, ...headCounts);
  const vocabularySize = checkVocabulary(values, tensors.shapes.get("token_embd.weight"));
  return {
    architecture,
    name: values.text("general.name"),
    blockCount,
    contextLength,
    embeddingLength,
    headCountsKv,
    keyLength: values.number(`${architecture}.attention.key_length`) ?? Math.ceil(embeddingLength / heads),
    valueLength: values.number(`${architecture}.attention.value_length`) ?? Math.ceil(embeddingLength / heads),
    vocabularySize,
    tokenizer: values.text("tokenizer.ggml.model"),
    fileType: values.number("general.file_type"),
    chatTemplate: values.text("tokenizer.chat_template"),
    bosToken: values.number("tokenizer.ggml.bos_token_id"),
    eosToken: values.number("tokenizer.ggml.eos_token_id"),
    eotToken: values.number("tokenizer.ggml.eot_token_id"),
    tensorBytes: tensors.bytes,
    parameterCount: tensors.elements,
    sizeBytes,
  };
}

function inRange(value: number | undefined, key: string, max: number): number {
  if (value === undefined) throw new GgufDefect(`it does not hold ${key}`);
  if (!Number.isInteger(value) || value < 1 || value > max) throw new GgufDefect(`${key} is ${value}; it must be from 1 to ${max}`);
  return value;
}

/** A value that is given once for all blocks or as a list with one entry a block. */
function perBlock(values: GgufValues, key: string, blockCount: number): readonly number[] {
  const list = values.numbers(key);
  const single = values.number(key);
  const counts = list ?? Array.from({ length: blockCount }, () => single ?? 0);
  if (counts.length !== blockCount) throw new GgufDefect(`${key} has ${counts.length} entries for ${blockCount} blocks`);
  for (const count of counts) if (!Number.isInteger(count) || count < 0 || count > 2 ** 16) throw new GgufDefect(`${key} holds ${count}; it must be from 0 to 65536`);
  return counts;
}
