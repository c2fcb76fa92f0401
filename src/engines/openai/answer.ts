// Turns the pieces of one streamed answer into action events: blocks open and close in order, calls are put together
// from their deltas, calls in plain text are found, usage is the server's or an estimate.
import type { ActionEvent } from "../../core/engine.ts";
import { usageOf, type Usage } from "../../core/message.ts";
import { ToolNames, readArguments, unreadableCall } from "../call-forms.ts";
import { TextCalls, type TextPiece } from "../text-calls.ts";
import { contentOf, type CallDelta, type Chunk, type Counts, type Delta } from "./chunk.ts";

const charactersPerToken = 4;

/** Tokens that a text has about. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}

interface OpenCall {
  index: number;
  wireIndex: number | undefined;
  id: string | undefined;
  name: string;
  text: string;
  started: boolean;
}

export class Answer {
  readonly #names: ToolNames;
  readonly #texts: TextCalls;
  readonly #promptCharacters: number;
  /** The reply's arguments are its text. */
  readonly #jsonReply: boolean;
  #block: { type: "text" | "thinking"; index: number } | undefined;
  #textCall: { index: number; asText: boolean } | undefined;
  #calls: OpenCall[] = [];
  #nextIndex: number;
  #counts: Counts | undefined;
  #characters = 0;
  #thinkingCharacters = 0;
  /** As the server said it. */
  finishReason: string | undefined;
  /** Something was said or called. */
  hasOutcome = false;

  constructor(options: { tools: readonly string[]; promptCharacters: number; jsonReply: boolean; firstIndex: number }) {
    this.#names = new ToolNames(options.tools);
    this.#texts = new TextCalls(this.#names);
    this.#promptCharacters = options.promptCharacters;
    this.#jsonReply = options.jsonReply;
    this.#nextIndex = options.firstIndex;
  }

  get nextIndex(): number {
    return this.#nextIndex;
  }

  get hasThought(): boolean {
    return this.#thinkingCharacters > 0;
  }

  *push(chunk: Chunk): Generator<ActionEvent> {
    if (chunk.usage) this.#counts = chunk.usage;
    const choice = chunk.choices?.[0];
    if (!choice) return;
    const delta = choice.delta ?? choice.message;
    if (delta) yield* this.#take(delta);
    if (choice.finish_reason) this.finishReason = choice.finish_reason;
  }

  /** Closes what is open. @param cut the output limit ended it: a call that is not complete stays open. */
  *end(cut: boolean): Generator<ActionEvent> {
    for (const piece of this.#texts.end(cut)) yield* this.#show(piece);
    yield* this.#closeBlock();
    for (const call of this.#calls) yield* this.#endCall(call, cut);
    this.#calls = [];
  }

  usage(): Usage {
    const { completion_tokens: output, completion_tokens_details: outputDetails, prompt_tokens: prompt, prompt_tokens_details: promptDetails } = this.#counts ?? {};
    // A server that counts nothing although it was asked something counts wrongly.
    if (prompt === undefined || prompt === null || prompt === 0) {
      return usageOf({ input: estimateTokens(this.#promptCharacters), output: output || estimateTokens(this.#characters), estimated: true });
    }
    const cacheRead = Math.min(promptDetails?.cached_tokens ?? 0, prompt);
    const reasoning = outputDetails?.reasoning_tokens;
    const estimated = output === undefined || output === null;
    return usageOf({
      input: prompt - cacheRead,
      output: output ?? estimateTokens(this.#characters),
      cacheRead,
      ...(reasoning ? { reasoning } : {}),
      estimated,
    });
  }

  *#take(delta: Delta): Generator<ActionEvent> {
    const { text, thinking } = contentOf(delta.content);
    const thought = `${delta.reasoning_content ?? delta.reasoning ?? ""}${thinking}`;
    if (thought !== "") yield* this.#show({ type: "thinking", text: thought });
    const said = `${text}${delta.refusal ?? ""}`;
    this.#characters += said.length;
    if (said !== "") for (const piece of this.#texts.push(said)) yield* this.#show(piece);
    for (const call of delta.tool_calls ?? []) yield* this.#takeCall(call);
    if (delta.function_call) yield* this.#takeCall({ index: 0, id: undefined, function: delta.function_call });
  }

  *#show(piece: TextPiece): Generator<ActionEvent> {
    switch (piece.type) {
      case "text":
      case "thinking":
        if (piece.type === "thinking") this.#thinkingCharacters += piece.text.length;
        else this.hasOutcome ||= piece.text.trim() !== "";
        yield* this.#openBlock(piece.type);
        yield { type: `${piece.type}_delta`, index: this.#block?.index ?? 0, delta: piece.text };
        return;
      case "call_start": {
        yield* this.#closeBlock();
        this.hasOutcome = true;
        const index = this.#nextIndex++;
        this.#textCall = { index, asText: this.#jsonReply && piece.name === "reply" };
        yield this.#textCall.asText ? { type: "text_start", index, terminal: "reply" } : { type: "call_start", index, name: piece.name };
        return;
      }
      case "call_delta":
      case "call_end": {
        const call = this.#textCall;
        if (!call) return;
        if (piece.type === "call_delta") yield { type: call.asText ? "text_delta" : "call_delta", index: call.index, delta: piece.delta };
        else yield call.asText ? { type: "text_end", index: call.index } : { type: "call_end", index: call.index, arguments: piece.arguments };
      }
    }
  }

  *#openBlock(type: "text" | "thinking"): Generator<ActionEvent> {
    if (this.#block?.type === type) return;
    yield* this.#closeBlock();
    this.#block = { type, index: this.#nextIndex++ };
    yield { type: `${type}_start`, index: this.#block.index };
  }

  *#closeBlock(): Generator<ActionEvent> {
    const block = this.#block;
    this.#block = undefined;
    if (block) yield { type: `${block.type}_end`, index: block.index };
  }

  *#takeCall(delta: CallDelta): Generator<ActionEvent> {
    const written = delta.function?.name || undefined;
    const given = delta.function?.arguments ?? "";
    const text = typeof given === "string" ? given : JSON.stringify(given);
    let call = this.#callOf(delta, written);
    if (!call) {
      // What was held back of the text is settled before the call's block opens.
      for (const piece of this.#texts.end(false)) yield* this.#show(piece);
      yield* this.#closeBlock();
      call = { index: -1, wireIndex: delta.index ?? undefined, id: delta.id || undefined, name: "", text: "", started: false };
      this.#calls.push(call);
    }
    call.id ??= delta.id || undefined;
    if (!call.started && written !== undefined) {
      call.name = this.#names.find(written) ?? written;
      call.started = true;
      call.index = this.#nextIndex++;
      this.hasOutcome = true;
      yield { type: "call_start", index: call.index, name: call.name, ...(call.id === undefined ? {} : { id: call.id }) };
      if (call.text !== "") yield { type: "call_delta", index: call.index, delta: call.text };
    }
    call.text += text;
    this.#characters += text.length + (written?.length ?? 0);
    if (text !== "" && call.started) yield { type: "call_delta", index: call.index, delta: text };
  }

  /** The call that a delta goes on with. Some servers leave the index out, or give 0 to every call. */
  #callOf({ id, index }: CallDelta, written: string | undefined): OpenCall | undefined {
    const known = id ? this.#calls.find((call) => call.id === id) : undefined;
    if (known) return known;
    const last = this.#calls.at(-1);
    const candidate = index === undefined || index === null ? last : this.#calls.findLast((call) => call.wireIndex === index);
    if (!candidate) return undefined;
    const another = (id && candidate.id !== undefined) || (written !== undefined && candidate.started && readObject(candidate.text));
    return another ? undefined : candidate;
  }

  *#endCall(call: OpenCall, cut: boolean): Generator<ActionEvent> {
    const args = readArguments(call.text);
    if (!call.started || (cut && (!args || call.text.trim() === ""))) return;
    yield { type: "call_end", index: call.index, arguments: args ?? unreadableCall(call.name, call.text).arguments };
  }
}

function readObject(text: string): boolean {
  return text.trim() !== "" && readArguments(text) !== undefined;
}
