// One generation, whatever the engine: a text engine is bound by the grammar and its text is read as an action; an action
// engine's calls of `reply` and `finish` become text. What comes out is the same for both.
import type { ActionEngine, ActionEvent, Engine, TextEngine, TextEvent } from "../core/engine.ts";
import type { ThinkingLevel } from "../core/message.ts";
import { ActionDecoder, actionGrammar } from "./action.ts";
import { type ApartOptions, rewriteStep, samplingOf, selectionStep } from "./apart-steps.ts";
import type { Conversation } from "./conversation.ts";
import { formOf } from "./chosen-form.ts";
import { renderConversation, type SystemText } from "./prompt.ts";
import { RunawayGuard } from "./runaway.ts";
import { inlineReferences } from "./schema-references.ts";
import { replyOnly, type StepOffer } from "./step-offer.ts";
import { TerminalCalls } from "./terminal-calls.ts";
import { ThoughtBlock } from "./thought-block.ts";

export interface Sampling {
  temperature: number;
  seed?: number;
  maxTokens: number;
}

export interface GenerateOptions {
  engine: Engine;
  conversation: Conversation;
  /** The session's unchanging head. */
  system: SystemText;
  offer: StepOffer;
  sampling: Sampling;
  thinking: ThinkingLevel;
  /** Most tokens of thinking before the answer of a text engine; absent = none. */
  thinkingTokensMax?: number;
  parallelMax: number;
  forbidEmpty: boolean;
  outputSchema?: Record<string, unknown>;
  signal: AbortSignal;
}

export interface Generation {
  events: AsyncGenerator<ActionEvent, void, void>;
  /** What a text engine wrote so far; undefined for action engines. */
  rawText(): string | undefined;
}

/** Starts one generation. Its events end with `ended` or `failed`, whatever happens. */
export function generate(options: GenerateOptions): Generation {
  const { engine } = options;
  if (engine.kind === "action") return { events: fromActionEngine(engine, options), rawText: () => undefined };
  const written: string[] = [];
  const { rewrite, selection } = options.offer;
  const { sampling, signal } = options;
  const apart: ApartOptions = { engine, sampling, signal, written, step: (isReply) => fromTextEngine(engine, isReply ? { ...options, offer: replyOnly } : options, written) };
  const events = rewrite ? rewriteStep(rewrite, apart) : selection ? selectionStep(selection, apart) : fromTextEngine(engine, options, written);
  return { events, rawText: () => written.join("") };
}

async function* fromActionEngine(engine: ActionEngine, options: GenerateOptions): AsyncGenerator<ActionEvent, void, void> {
  const terminals = new TerminalCalls();
  const stream = engine.act({
    purpose: "step",
    system: options.system.action,
    guide: options.system.guide,
    messages: options.conversation.messages.filter((message) => !(message.role === "assistant" && (message.stopReason === "error" || message.stopReason === "aborted"))),
    tools: options.offer.tools,
    thinking: options.thinking,
    ...options.sampling,
    ...(options.outputSchema ? { outputSchema: options.outputSchema } : {}),
    signal: options.signal,
  });
  for await (const event of stream) yield* terminals.pass(event);
}

/** A small model that makes more calls at once makes the same ones again. */
const callsMax = 4;

async function* fromTextEngine(engine: TextEngine, options: GenerateOptions, written: string[]): AsyncGenerator<ActionEvent, void, void> {
  const { offer, outputSchema, parallelMax } = options;
  const form = formOf(engine);
  const grammar = actionGrammar({ form, tools: offer.tools, parallelMax: Math.min(parallelMax, callsMax), forbidden: offer.forbidden, offer: offer.options, mayReply: offer.mayReply, ...(offer.mayClaim === undefined ? {} : { mayClaim: offer.mayClaim }), isChange: offer.isChange === true, ...(outputSchema ? { outputSchema: inlineReferences(outputSchema) } : {}) });
  const decoder = new ActionDecoder({ form, jsonReply: outputSchema !== undefined });
  const chat = renderConversation(options.system.text(form), options.conversation, form);
  const guard = new RunawayGuard();
  const runaway = new AbortController();
  const signal = AbortSignal.any([options.signal, runaway.signal]);
  const { thinkingTokensMax = 0, forbidEmpty } = options;
  const stream = engine.complete({ purpose: "step", chat, grammar, forbidEmpty, ...samplingOf(options.sampling, offer.isVaried ? 1 : 0), ...(thinkingTokensMax > 0 ? { thinkingTokensMax } : {}), signal });
  const thought = new ThoughtBlock();
  for await (const given of stream) {
    if (given.type === "text" && guard.push(given.text)) runaway.abort();
    const isCut = given.type === "ended" && given.stop === "aborted" && !options.signal.aborted;
    const event: TextEvent = isCut ? { ...given, stop: "length" } : given;
    const read = event.type === "thinking" ? thought.grow(event.text) : thought.before(readEvent(event, decoder, written));
    yield* read;
    const last = read.at(-1);
    if (last?.type === "failed" && event.type === "text") return;
  }
}

function readEvent(event: Exclude<TextEvent, { type: "thinking" }>, decoder: ActionDecoder, written: string[]): ActionEvent[] {
  if (event.type === "text") {
    written.push(event.text);
    try {
      return decoder.push(event.text);
    } catch (error) {
      return [failedToRead(error instanceof Error ? error.message : String(error))];
    }
  }
  if (event.type !== "ended" && event.type !== "failed") return [event];
  const { events, complete } = decoder.end();
  if (event.type === "ended" && event.stop === "end" && !complete && written.length > 0) {
    return [...events, failedToRead("the text ended inside an action")];
  }
  return [...events, event];
}

function failedToRead(message: string): ActionEvent {
  const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
  return { type: "failed", failure: { kind: "engine", category: "grammar", message: `the model's text can't be read as an action: ${message}` }, usage: none };
}
