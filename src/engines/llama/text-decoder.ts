// Turns generated tokens into text as they come, never cutting a code point: a token may hold a part of one.
// Must not know where the tokens come from.
import type { Token } from "node-llama-cpp";

export type Detokenize = (tokens: readonly Token[], before: readonly Token[]) => string;

export interface TextDecoder {
  /** The text that is complete with this token; often all of its own, sometimes "". */
  push(token: Token): string;
  /** What is left at the end, incomplete or not. */
  end(): string;
}

const replacement = "\uFFFD";
/** A code point has at most four bytes and a token at least one. */
const waitTokensMax = 4;
const contextTokens = 4;

/** @param before the tokens that the text continues */
export function textDecoder(detokenize: Detokenize, before: readonly Token[]): TextDecoder {
  let context = before.slice(-contextTokens);
  let waiting: Token[] = [];
  const flush = (text: string): string => {
    context = [...context, ...waiting].slice(-contextTokens);
    waiting = [];
    return text;
  };
  return {
    push(token) {
      waiting.push(token);
      const text = detokenize(waiting, context);
      return text.endsWith(replacement) && waiting.length < waitTokensMax ? "" : flush(text);
    },
    end: () => (waiting.length === 0 ? "" : flush(detokenize(waiting, context))),
  };
}
