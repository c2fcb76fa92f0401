// Lets the model think before it answers: free text up to its closing mark, or as many tokens as it may take. The mark is
// always there afterwards, so that the grammar of the answer begins where the answer does.
import type { Token } from "node-llama-cpp";
import type { TextEvent, TextRequest } from "../../core/engine.ts";
import { afterThinking, ThoughtReader, thinkingRoom, type ThinkingMarks } from "../thinking-marks.ts";
import type { Counts } from "./generating.ts";
import type { OpenModel } from "./opening.ts";
import { textDecoder } from "./text-decoder.ts";

const temperatureMin = 0.6;
const sampling = { topK: 20, topP: 0.95 };

/** @returns the prompt with the thought and its mark; undefined when the signal fired */
export async function* think(open: OpenModel, prompt: readonly Token[], marks: ThinkingMarks, request: TextRequest, counts: Counts): AsyncGenerator<TextEvent, readonly Token[] | undefined, void> {
  const { model, plan, sequence } = open;
  const room = thinkingRoom(request.thinkingTokensMax, Math.min(request.maxTokens, plan.contextSize - prompt.length));
  const reader = new ThoughtReader(marks);
  const decoder = textDecoder((tokens, before) => model.detokenize(tokens, true, plan.model.tokenizer === "llama" ? before : undefined), prompt);
  const thought: Token[] = [];
  // Greedy at the caller's wish means the same text each time: so a fixed seed.
  const seed = request.seed ?? (request.temperature > 0 ? Math.floor(Math.random() * 2 ** 32) : 0);
  const tokens = sequence.evaluate(prompt.slice(sequence.nextTokenIndex), { ...sampling, temperature: Math.max(request.temperature, temperatureMin), seed, yieldEogToken: true });
  try {
    while (thought.length < room && !reader.done && !request.signal.aborted) {
      const { done, value } = await tokens.next();
      if (thought.length === 0) counts.input++;
      if (done === true || model.isEogToken(value)) break;
      thought.push(value);
      counts.output++;
      const text = reader.push(decoder.push(value));
      if (text !== "") yield { type: "thinking", text };
    }
  } finally {
    await tokens.return();
    const held = reader.done ? "" : reader.push(decoder.end()) + reader.end();
    if (held !== "") yield { type: "thinking", text: held };
    counts.reasoning = thought.length;
  }
  if (request.signal.aborted) return undefined;
  const rest = reader.done ? "\n\n".slice(newlinesIn(reader.rest)) : afterThinking(marks);
  const closing = rest === "" ? [] : model.tokenize(rest, true, plan.model.tokenizer === "llama" ? "trimLeadingSpace" : undefined);
  counts.output += closing.length;
  counts.reasoning += closing.length;
  return [...prompt, ...thought, ...closing];
}

/** What the model wrote after its mark is left as it is. */
function newlinesIn(rest: string): number {
  return Math.min(2, rest.length - rest.replaceAll("\n", "").length);
}
