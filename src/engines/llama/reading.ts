// Brings a sequence to a prompt: keeps what it holds of it already, loads the head's state from disk where that says
// more, and reads the rest batch by batch. Must not generate.
import type { LlamaContextSequence, Token } from "node-llama-cpp";
import type { OpenModel } from "./opening.ts";
import type { PromptTokens } from "./prompt-tokens.ts";
import { limits } from "../../core/limits.ts";

/** Keeps the longest part of the prompt that is computed already, always leaving its last token to be read. @returns its length */
export async function reusePrefix({ sequence, states }: OpenModel, { tokens, headLength }: PromptTokens): Promise<number> {
  const common = commonLength(sequence.contextTokens, tokens);
  if (states !== undefined && headLength >= limits.promptStateTokensMin && common < headLength && headLength < tokens.length) {
    if (await states.load(sequence, tokens.slice(0, headLength))) {
      await sequence.takeCheckpoint();
      return headLength;
    }
  }
  return keepPrefix(sequence, Math.min(commonLength(sequence.contextTokens, tokens), tokens.length - 1));
}

/**
 * Reads all but the last token of a prompt, of which `from` are computed. Between batches it yields how many are, so
 * that the caller can look at its signal; what was read stays usable when the caller stops.
 */
export async function* readPrompt({ sequence, states, plan }: OpenModel, { tokens, headLength }: PromptTokens, from: number): AsyncGenerator<number, void, void> {
  const end = tokens.length - 1;
  const isHeadLong = headLength >= limits.promptStateTokensMin && headLength <= end;
  for (let at = from; at < end; ) {
    // Also where no state is kept: numbers depend on how a prompt is cut into batches, and the same seed has to say the same.
    const limit = isHeadLong && at < headLength ? headLength : end;
    const next = Math.min(limit, at + plan.batchSize);
    await sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(at, next));
    at = next;
    if (isHeadLong && states !== undefined && at === headLength) {
      await sequence.takeCheckpoint();
      await states.save(sequence, tokens.slice(0, headLength));
    }
    yield at;
  }
  // Where a state can't be cut back to any length, here is where the next prompt will go on.
  await sequence.takeCheckpoint();
}

async function keepPrefix(sequence: LlamaContextSequence, length: number): Promise<number> {
  if (length >= sequence.nextTokenIndex) return length;
  let kept = length;
  if (sequence.needsCheckpoints && length > 0) {
    // Such a state can only go back to a checkpoint: the binding would read again what lies between, unasked.
    kept = length - Math.max(0, sequence.getRestoreToPrefixIndexEvaluationSize(length - 1));
    if (kept <= 1) kept = 0;
  }
  await sequence.eraseContextTokenRanges([{ start: kept, end: sequence.nextTokenIndex }]);
  return Math.min(kept, sequence.nextTokenIndex);
}

function commonLength(a: readonly Token[], b: readonly Token[]): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[length] === b[length]) length++;
  return length;
}
