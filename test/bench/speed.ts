// The one job by which engines are compared: read a long prompt, write some tokens, greedily. Times what comes out.

export interface SpeedJob {
  prompt: string;
  /** Tokens to generate. */
  outputTokens: number;
  /** Tokens. */
  contextSize: number;
}

export interface Speed {
  /** Prompt tokens by the time until the first token comes. */
  prefillTokensPerSecond: number;
  /** Tokens after the first by the time they took. */
  decodeTokensPerSecond: number;
}

export const speedJob: SpeedJob = {
  prompt: Array.from({ length: 40 }, (_, index) => `Line ${index}: the quick brown fox number ${index * 7} jumps over ${index} lazy dogs.`).join("\n"),
  outputTokens: 48,
  contextSize: 2048,
};

/** @param run yields first the number of prompt tokens, then pieces of so many tokens as they come. */
export async function measurePieces(run: () => AsyncGenerator<{ promptTokens: number } | { tokens: number }>): Promise<Speed> {
  const startedAt = performance.now();
  let promptTokens = 0;
  let firstAt = 0;
  let lastAt = 0;
  let following = 0;
  for await (const piece of run()) {
    if ("promptTokens" in piece) promptTokens = piece.promptTokens;
    else if (firstAt === 0) firstAt = performance.now();
    else {
      following += piece.tokens;
      lastAt = performance.now();
    }
  }
  return { prefillTokensPerSecond: (promptTokens * 1000) / (firstAt - startedAt), decodeTokensPerSecond: (following * 1000) / (lastAt - firstAt) };
}
