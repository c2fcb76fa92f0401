// Turns a rendered chat into tokens: the template's parts with special tokens, messages without, so that a message can't
// pretend to be one. Remembers the tokens of generated texts: read back, they are exactly those that were made.
import { setImmediate } from "node:timers/promises";
import type { LlamaModel, Token } from "node-llama-cpp";
import type { Segment } from "../chat-template.ts";

export interface PromptTokens {
  tokens: Token[];
  /** How many of them are the part that stays the same. */
  headLength: number;
}

export interface PromptTokenizer {
  /**
   * Other work of the process has its turn between the pieces of a long text.
   * @param varying how many messages at the end change; all but the system text where absent
   * @returns undefined when the signal fires before the end
   */
  tokenize(segments: readonly Segment[], signal: AbortSignal, varying?: number): Promise<PromptTokens | undefined>;
  /** Tokens of a text; undefined for one so long that nobody can wait for the answer. */
  count(text: string): number | undefined;
  /** Keeps the tokens of a text that was generated. */
  remember(text: string, tokens: readonly Token[]): void;
}

/** Tokens kept in all, of generated texts and of texts tokenized before. */
const rememberedTokensMax = 262_144;
/** Characters that are tokenized in one go: about fifteen milliseconds. */
const pieceCharsMax = 16_384;
const countedCharsMax = 131_072;

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
  const tokensOf = (text: string): readonly Token[] => model.tokenize(text, false, spacePrefix ? "trimLeadingSpace" : undefined);
  const literal = async (text: string, signal: AbortSignal): Promise<readonly Token[]> => {
    const pieces = known.has(text) ? [] : piecesOf(text);
    const made: Token[] = [];
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await setImmediate();
      if (signal.aborted) return made;
      for (const token of tokensOf(piece)) made.push(token);
    }
    const tokens = known.get(text) ?? made;
    remember(text, tokens);
    return tokens;
  };
  return {
    count(text) {
      if (!known.has(text) && text.length > countedCharsMax) return undefined;
      const tokens = known.get(text) ?? tokensOf(text);
      remember(text, tokens);
      return tokens.length;
    },
    async tokenize(segments, signal, varying) {
      const tokens: Token[] = [];
      const first = segments[0];
      const begin = model.tokens.bos;
      if (model.tokens.shouldPrependBosToken && begin !== null && !(first?.literal === false && model.tokens.bosString !== null && first.text.startsWith(model.tokens.bosString))) tokens.push(begin);
      let headLength = 0;
      const changing = segments.filter(({ literal: isMessage, role }) => isMessage && role !== "system");
      const firstChanging = varying === undefined ? changing[0] : changing.at(-varying);
      for (const segment of segments) {
        if (segment === firstChanging) headLength = tokens.length;
        for (const token of segment.literal ? await literal(segment.text, signal) : model.tokenize(segment.text, true, spacePrefix ? "trimLeadingSpace" : undefined)) tokens.push(token);
      }
      return signal.aborted ? undefined : { tokens, headLength };
    },
    remember(text, tokens) {
      // A control token leaves no text: as part of a message it would be more than what the message says.
      if (!tokens.some((token) => model.getTokenAttributes(token).control)) remember(text, tokens);
    },
  };
}

/** Cut after a line that is followed by text: no vocabulary has a token that goes on there. Else wherever the room ends. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (text.length - from > pieceCharsMax) {
    const room = text.slice(from, from + pieceCharsMax + 1);
    const line = /^[^]*\S\n(?=\S)/.exec(room)?.[0].length ?? pieceCharsMax;
    const cutsPair = /[\uD800-\uDBFF]/.test(text.charAt(from + line - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(from + line));
    const length = cutsPair ? line - 1 : line;
    pieces.push(text.slice(from, from + length));
    from += length;
  }
  return [...pieces, text.slice(from)];
}
