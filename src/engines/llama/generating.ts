// One generation on an open model: prompt to tokens, prompt read, tokens sampled and turned into text. Ends with `ended`
// or by throwing; engine.ts turns what is thrown into the failure event. Must not be run twice at once on a model.
import type { LlamaGrammarEvaluationState, Token } from "node-llama-cpp";
import type { TextEvent, TextRequest } from "../../core/engine.ts";
import { AgentError, messageOf } from "../../core/error.ts";
import { type Usage, usageOf } from "../../core/message.ts";
import type { RenderedChat } from "../chat-template.ts";
import type { OpenModel } from "./opening.ts";
import { readPrompt, reusePrefix } from "./reading.ts";
import { textDecoder } from "./text-decoder.ts";
import { think } from "./thinking.ts";

/** Tokens so far; also right when the generation is left by an error. */
export interface Counts {
  input: number;
  output: number;
  cacheRead: number;
  /** Of the output. */
  reasoning?: number;
}

/** The prompt does not fit into the window. */
export class PromptOverflow extends Error {}

/** The grammar can't be read, or leaves no token. */
export class GrammarFailure extends Error {}

/** Sampling above temperature 0, mild enough for small models. */
const sampling = { topK: 40, topP: 0.95, minP: 0.05 };
const anyText = "root ::= [^\\x00]+";

export async function* generate(open: OpenModel, prompt: RenderedChat, request: TextRequest, counts: Counts): AsyncGenerator<TextEvent, void, void> {
  const { signal } = request;
  const grammarState = grammarStateOf(open, request);
  const promptTokens = await open.tokenizer.tokenize(prompt.segments, signal, request.purpose === "plan" ? (request.varying ?? 1) : undefined);
  if (promptTokens === undefined) return yield ended("aborted", counts);
  const { tokens } = promptTokens;
  // The last cell of the window stays free for the binding.
  if (tokens.length > open.plan.contextSize - 1) throw new PromptOverflow(`The prompt has ${tokens.length} tokens, the model's window ${open.plan.contextSize}.`);
  const cached = await reusePrefix(open, promptTokens);
  counts.cacheRead = cached;
  yield { type: "prompt_accepted", promptTokens: tokens.length, cachedTokens: cached, slotId: -1 };
  const total = tokens.length - cached;
  if (signal.aborted) return yield ended("aborted", counts);
  for await (const position of readPrompt(open, promptTokens, cached)) {
    counts.input = position - cached;
    if (signal.aborted) return yield ended("aborted", counts);
    if (total > open.plan.batchSize) yield { type: "progress", stage: "prompt", progress: counts.input / total };
  }
  const begun = prompt.thinking ? yield* think(open, tokens, prompt.thinking, request, counts) : tokens;
  if (!begun) return yield ended("aborted", counts);
  yield* sample(open, begun, request, grammarState, counts);
}

async function* sample(open: OpenModel, prompt: readonly Token[], request: TextRequest, grammarState: LlamaGrammarEvaluationState | undefined, counts: Counts): AsyncGenerator<TextEvent, void, void> {
  const { model, sequence, plan } = open;
  const spacePrefix = plan.model.tokenizer === "llama";
  const decoder = textDecoder((tokens, before) => model.detokenize(tokens, false, spacePrefix ? before : undefined), prompt);
  open.predictor?.updateInputTokens(request.draft === undefined ? [] : model.tokenize(request.draft));
  const generated: Token[] = [];
  const pieces: string[] = [];
  const tokens = sequence.evaluate(prompt.slice(sequence.nextTokenIndex), {
    temperature: request.temperature,
    ...(request.temperature > 0 ? sampling : {}),
    seed: request.seed ?? Math.floor(Math.random() * 2 ** 32),
    ...(grammarState === undefined ? {} : { grammarEvaluationState: grammarState }),
    yieldEogToken: true,
  });
  let stop: "end" | "length" | "aborted" | undefined;
  try {
    while (stop === undefined) {
      const { value: token, done } = await nextToken(tokens, grammarState !== undefined);
      if (generated.length === 0 && counts.reasoning === undefined) counts.input++;
      if (done || model.isEogToken(token)) stop = "end";
      else {
        generated.push(token);
        counts.output++;
        const text = decoder.push(token);
        pieces.push(text);
        if (text !== "") yield { type: "text", text };
        if (request.signal.aborted) stop = "aborted";
        else if (counts.output >= request.maxTokens || sequence.nextTokenIndex >= plan.contextSize - 1) stop = "length";
      }
    }
  } finally {
    await tokens.return();
    const rest = decoder.end();
    pieces.push(rest);
    if (generated.length > 0) open.tokenizer.remember(pieces.join(""), generated);
    if (rest !== "" && stop !== undefined) yield { type: "text", text: rest };
  }
  yield ended(stop, counts);
}

async function nextToken(tokens: AsyncGenerator<Token, void | Token>, hasGrammar: boolean): Promise<{ value: Token; done: false } | { value: undefined; done: true }> {
  try {
    const next = await tokens.next();
    return next.done === true ? { value: undefined, done: true } : { value: next.value, done: false };
  } catch (error) {
    if (hasGrammar && /sample next token|grammar/i.test(messageOf(error))) throw new GrammarFailure(`The grammar leaves the model no token (${messageOf(error)}).`, { cause: error });
    throw error;
  }
}

function grammarStateOf(open: OpenModel, request: TextRequest): LlamaGrammarEvaluationState | undefined {
  const grammar = request.grammar ?? (request.forbidEmpty === true ? anyText : undefined);
  if (grammar === undefined) return undefined;
  try {
    return open.grammarState(grammar);
  } catch (error) {
    throw new GrammarFailure(`The grammar can't be read by the engine (${messageOf(error)}).`, { cause: error });
  }
}

function ended(stop: "end" | "length" | "aborted", counts: Counts): TextEvent {
  return { type: "ended", stop, usage: usageFrom(counts) };
}

export function usageFrom(counts: Counts): Usage {
  return usageOf({ ...counts });
}

/** @returns true for what is no failure of the engine but an answer to a signal */
export function isAbort(error: unknown): boolean {
  return error instanceof AgentError && error.code === "aborted";
}
