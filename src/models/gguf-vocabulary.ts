// Checks that the vocabulary of a model file is one: what fits together, which ids exist, how bytes are written.
// Must not judge what the tokens say.
import { GgufDefect } from "./gguf-cursor.ts";
import type { GgufValues } from "./gguf-values.ts";

const typeByte = 6;
/** As the format spells them. */
const idKeys = ["bos", "eos", "eot", "eom", "unknown", "seperator", "padding", "cls", "mask", "prefix", "suffix", "middle"];

/**
 * @param embedding shape of the token embeddings, fastest dimension first
 * @returns the number of tokens; 0 when the file holds none
 */
export function checkVocabulary(values: GgufValues, embedding: readonly number[] | undefined): number {
  const { tokens } = values;
  if (tokens === undefined) {
    if (values.text("tokenizer.ggml.model") === "none" || !values.has("tokenizer.ggml.model")) throw new GgufDefect("it holds no vocabulary (tokenizer.ggml.tokens), so it can't read text");
    throw new GgufDefect("its vocabulary (tokenizer.ggml.tokens) is missing");
  }
  if (tokens.count === 0) throw new GgufDefect("its vocabulary is empty");
  for (const key of ["tokenizer.ggml.token_type", "tokenizer.ggml.scores"]) {
    const length = values.length(key);
    if (length !== undefined && length < tokens.count) throw new GgufDefect(`${key} has ${length} entries for ${tokens.count} tokens`);
  }
  const rows = embedding?.[1];
  if (rows !== undefined && rows < tokens.count) throw new GgufDefect(`its vocabulary has ${tokens.count} tokens, its weights know ${rows}`);
  checkBytes(tokens.byteLike, values.numbers("tokenizer.ggml.token_type"));
  for (const name of idKeys) checkId(values, `tokenizer.ggml.${name}_token_id`, tokens.count);
  return tokens.count;
}

function checkBytes(byteLike: Uint8Array, types: readonly number[] | undefined): void {
  const wrong = byteLike.indexOf(2);
  if (wrong >= 0) throw new GgufDefect(`token ${wrong} is written like a byte (<0x..>) but names none`);
  const unnamed = types?.findIndex((type, index) => type === typeByte && index < byteLike.length && byteLike[index] !== 1) ?? -1;
  if (unnamed >= 0) throw new GgufDefect(`token ${unnamed} is marked as a byte but is not written as one (<0x..>)`);
}

function checkId(values: GgufValues, key: string, count: number): void {
  const id = values.number(key);
  // Minus one, also as 32 bits without a sign, says that there is none.
  if (id === undefined || id === -1 || id === 0xffff_ffff) return;
  if (!Number.isInteger(id) || id < 0 || id >= count) throw new GgufDefect(`${key} is ${id}, but there are ${count} tokens`);
}
