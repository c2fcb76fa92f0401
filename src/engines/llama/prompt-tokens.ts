// Turns a rendered chat into tokens: the template's parts with special tokens, messages without, so that a message can't
// pretend to be one. Remembers the tokens of generated texts: read back, they are exactly those that were made.
import type { LlamaModel, Token } from "node-llama-cpp";
import type { Segment } from "../chat-template.ts";

export interface PromptTokens {
  tokens: Token[];
  /** How many of them come before the first user message: the part that stays the same. */
  headLength: number;
}

export interface PromptTokenizer {
  tokenize(segments: readonly Segment[]): PromptTokens;
  /** Keeps the tokens of a text that was generated. */
  remember(text: string, tokens: readonly Token[]): void;
}

/** Tokens kept in all, of generated texts and of texts tokenized before. */
const rememberedTokensMax = 262_144;

/** @param spacePrefix the vocabulary puts a space before each text (SentencePiece) */
export function promptTokenizer(model: LlamaModel, spacePrefix: boolean): PromptTokenizer {
  const known = new Map<string, readonly Token[]>();
  let knownCount = 0;
  const remember = (text: string, tokens: readonly Token[]): void => {
    knownCount += tokens.length - (known.get(text)?.length ?? 0);
    known.delete(text);
    known.set(text, tokens);
    for (const [oldest, old] of known) {
      if (knownCount <= rememberedTokensMax || known.size === 1) break;
      known.delete(oldest);
      knownCount -= old.length;
    }
  };
  const literal = (text: string): readonly Token[] => {
    const tokens = known.get(text) ?? model.tokenize(text, false, spacePrefix ? "trimLeadingSpace" : undefined);
    remember(text, tokens);
    return tokens;
  };
  return {
    tokenize(segments) {
      const tokens: Token[] = [];
      const first = segments[0];
      const begin = model.tokens.bos;
      if (model.tokens.shouldPrependBosToken && begin !== null && !(first?.literal === false && model.tokens.bosString !== null && first.text.startsWith(model.tokens.bosString))) tokens.push(begin);
      let headLength = 0;
      for (const segment of segments) {
        if (headLength === 0 && segment.literal && segment.role !== "system") headLength = tokens.length;
        for (const token of segment.literal ? literal(segment.text) : model.tokenize(segment.text, true, spacePrefix ? "trimLeadingSpace" : undefined)) tokens.push(token);
      }
      return { tokens, headLength };
    },
    remember(text, tokens) {
      // A control token leaves no text: as part of a message it would be more than what the message says.
      if (!tokens.some((token) => model.getTokenAttributes(token).control)) remember(text, tokens);
    },
  };
}
