// The prompt of a llama-server as token ids. Texts of users, files and tools are tokenised without special tokens, so that
// a `<|im_end|>` in them stays text; only the template's own parts may hold special ones.
import { z } from "zod";
import { limits } from "../../core/limits.ts";
import type { Segment } from "../chat-template.ts";

/** Body of `/tokenize`. */
export interface TokenizeBody {
  content: string;
  /** Whether `<|im_end|>` and its like become special tokens. */
  parse_special: boolean;
  /** Whether the beginning that the model wants is added. */
  add_special: boolean;
}

export type AskTokens = (body: TokenizeBody, signal: AbortSignal) => Promise<number[]>;

export const TokensAnswer = z.object({ tokens: z.array(z.int()) });

const requestsAtOnce = 4;

/** Tokenises segments and keeps what it learnt: a conversation grows at its end, so only new segments are asked for. */
export class PromptTokens {
  readonly #ask: AskTokens;
  readonly #kept = new Map<string, number[]>();
  #keptTokens = 0;
  /** What the server puts in front of every prompt; empty for most models. */
  #beginning: number[] | undefined;

  constructor(ask: AskTokens) {
    this.#ask = ask;
  }

  async of(segments: readonly Segment[], signal: AbortSignal): Promise<number[]> {
    this.#beginning ??= await this.#ask({ content: "", parse_special: false, add_special: true }, signal);
    const merged = merge(segments);
    const missing = merged.filter((segment) => !this.#kept.has(keyOf(segment)));
    const fresh = new Map<string, number[]>();
    for (let at = 0; at < missing.length; at += requestsAtOnce) {
      await Promise.all(
        missing.slice(at, at + requestsAtOnce).map(async (segment) => {
          fresh.set(keyOf(segment), await this.#ask({ content: segment.text, parse_special: !segment.literal, add_special: false }, signal));
        }),
      );
    }
    const parts = merged.map((segment) => this.#kept.get(keyOf(segment)) ?? fresh.get(keyOf(segment)) ?? []);
    this.#keep(fresh);
    const tokens = parts.flat();
    // A template that writes the beginning itself does not get it twice.
    const begins = this.#beginning.every((token, index) => tokens[index] === token);
    return begins ? tokens : [...this.#beginning, ...tokens];
  }

  #keep(fresh: ReadonlyMap<string, number[]>): void {
    for (const [key, tokens] of fresh) {
      this.#keptTokens += tokens.length + key.length;
      this.#kept.set(key, tokens);
    }
    if (this.#keptTokens <= limits.keptTokensMax) return;
    this.#kept.clear();
    this.#keptTokens = 0;
  }
}

function keyOf({ literal, text }: Segment): string {
  return `${literal ? "l" : "t"}${text}`;
}

/** Neighbours of one kind as one segment, empty ones left out. */
function merge(segments: readonly Segment[]): Segment[] {
  const merged: Segment[] = [];
  for (const segment of segments) {
    const last = merged.at(-1);
    if (segment.text === "") continue;
    if (last?.literal === segment.literal) last.text += segment.text;
    else merged.push({ ...segment });
  }
  return merged;
}
