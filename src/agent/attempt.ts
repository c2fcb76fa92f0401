// One generation shown as one assistant message: opens it at the first block, tells how it grows, closes it whatever
// happens. It adds nothing to the conversation and runs no tool.
import type { ActionEvent, EngineFailure, ModelInfo } from "../core/engine.ts";
import type { Emit, MessageUpdate } from "../core/event.ts";
import { usageOf, type AgentMessage, type AssistantMessage, type StopReason, type Usage } from "../core/message.ts";
import type { Runtime } from "../core/runtime.ts";

export interface AttemptOptions {
  events: AsyncGenerator<ActionEvent, void, void>;
  model: ModelInfo;
  emit: Emit;
  runtime: Runtime;
  /** Ids of the session's calls; the new ones are added. */
  callIds: Set<string>;
  stepIndex: number;
  attempt: number;
  /** One line that says why the signal fired. */
  abortMessage: () => string;
  commit: Commit;
}

/** Stores a message before it is told as ended; what keeps it from being stored, if anything. */
export type Commit = (message: AgentMessage) => EngineFailure | undefined;

export interface AttemptResult {
  message: AssistantMessage;
  failure?: EngineFailure;
  /** What its first reply wants to attach, unchecked. */
  attachments?: unknown;
  /** It holds a `finish`, alone or beside calls. */
  finishes: boolean;
}

interface CallBlock {
  kind: "call";
  id: string;
  name: string;
  text: string;
  arguments?: Record<string, unknown>;
}
type Block = { kind: "text"; text: string; terminal?: "reply" | "finish"; attachments?: unknown } | { kind: "thinking"; text: string } | CallBlock;

/** Runs the generation to its end. Does not emit `generation_failed`: only the turn knows whether it is tried again. */
export async function runAttempt(options: AttemptOptions): Promise<AttemptResult> {
  const writer = new MessageWriter(options);
  const { stepIndex, attempt, emit, runtime, model } = options;
  const startedAt = runtime.now();
  for await (const event of options.events) {
    if (event.type === "progress") {
      await emit({ type: "engine_progressed", stage: event.stage, progress: event.progress });
    } else if (event.type === "prompt_accepted") {
      const { slotId, promptTokens, cachedTokens } = event;
      await emit({ type: "generation_started", stepIndex, attempt, slotId, promptTokens, cachedTokens, model: model.id });
    } else if (event.type === "failed") {
      return writer.close({ stop: "error", failure: event.failure, usage: event.usage });
    } else if (event.type === "ended") {
      const result = await writer.close({ stop: event.stop === "aborted" ? "aborted" : event.stop === "length" ? "length" : "stop", usage: event.usage, ...(event.rawStopReason ? { raw: event.rawStopReason } : {}) });
      if (!result.failure && event.stop !== "aborted") await emit(generationEnded(result.message, options, runtime.now() - startedAt));
      return result;
    } else {
      await writer.write(event);
    }
  }
  return writer.close({ stop: "error", failure: { kind: "engine", category: "model", message: "the engine ended its stream without an end" }, usage: usageOf({}) });
}

function generationEnded(message: AssistantMessage, { stepIndex, attempt }: AttemptOptions, durationMs: number) {
  const stop = message.stopReason === "length" ? "length" : message.stopReason === "toolUse" ? "tool_calls" : "end";
  return { type: "generation_ended", stepIndex, attempt, usage: message.usage, stop, durationMs } as const;
}

interface Closing {
  stop: "stop" | "length" | "error" | "aborted";
  usage: Usage;
  failure?: EngineFailure;
  raw?: string;
}

class MessageWriter {
  readonly #options: AttemptOptions;
  readonly #blocks: Block[] = [];
  readonly #closed = new Set<number>();
  readonly #timestamp: number;
  #opened = false;

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.#timestamp = options.runtime.now();
  }

  async write(event: Exclude<ActionEvent, { type: "progress" | "prompt_accepted" | "ended" | "failed" }>): Promise<void> {
    await this.#open();
    const contentIndex = event.index;
    switch (event.type) {
      case "text_start":
      case "thinking_start": {
        const terminal = event.type === "text_start" ? event.terminal : undefined;
        this.#blocks[contentIndex] = event.type === "text_start" ? { kind: "text", text: "", ...(terminal ? { terminal } : {}) } : { kind: "thinking", text: "" };
        return this.#update({ type: event.type, contentIndex }, terminal);
      }
      case "text_delta":
      case "thinking_delta":
        this.#append(contentIndex, event.delta);
        return this.#update({ type: event.type, contentIndex, delta: event.delta });
      case "text_end":
        this.#attach(contentIndex, event.attachments);
        return this.#closeBlock(contentIndex);
      case "thinking_end":
        return this.#closeBlock(contentIndex);
      case "call_start": {
        const id = this.#callId(event.id);
        this.#blocks[contentIndex] = { kind: "call", id, name: event.name, text: "" };
        return this.#update({ type: "toolcall_start", contentIndex, id, toolName: event.name });
      }
      case "call_delta":
        this.#append(contentIndex, event.delta);
        return this.#update({ type: "toolcall_delta", contentIndex, delta: event.delta });
      case "call_end": {
        const block = this.#blocks[contentIndex];
        if (block?.kind === "call") block.arguments = event.arguments;
        return this.#closeBlock(contentIndex);
      }
    }
  }

  async close(closing: Closing): Promise<AttemptResult> {
    const cut = closing.stop === "error" || closing.stop === "aborted";
    for (const index of this.#blocks.keys()) {
      if (this.#closed.has(index) || (cut && this.#blocks[index]?.kind === "call")) continue;
      await this.#closeBlock(index);
    }
    const spoken = this.#message(closing);
    const failure = closing.failure ?? emptyFailure(spoken) ?? this.#options.commit(this.#told(spoken));
    const message = failure && !closing.failure ? this.#message({ ...closing, stop: "error", failure }) : spoken;
    const ended = this.#told(message);
    // An answer that could not be stored is told as failed, and nothing is left to be done when that can't be stored either.
    if (failure) this.#options.commit(ended);
    if (!this.#opened) await this.#options.emit({ type: "message_started", message: ended });
    await this.#options.emit({ type: "message_ended", message: ended });
    const finishes = this.#blocks.some((block) => block.kind === "text" && block.terminal === "finish");
    const reply = this.#blocks.find((block) => block.kind === "text" && block.terminal === "reply");
    return { message: ended, finishes, ...(reply?.kind === "text" ? { attachments: reply.attachments } : {}), ...(failure ? { failure } : {}) };
  }

  /** Nothing came before the end: the message starts as it ends, and nothing is counted for it. */
  #told(message: AssistantMessage): AssistantMessage {
    return this.#opened ? message : { ...message, usage: usageOf({}) };
  }

  /** The engine's own id, unless the session has it already: some servers begin to count anew in every answer. */
  #callId(given: string | undefined): string {
    const { callIds, runtime } = this.#options;
    const id = given !== undefined && !callIds.has(given) ? given : `call_${runtime.id().replaceAll("-", "").slice(-12)}`;
    callIds.add(id);
    return id;
  }

  async #open(): Promise<void> {
    if (this.#opened) return;
    this.#opened = true;
    await this.#options.emit({ type: "message_started", message: { ...this.#base([], usageOf({}), "pending") } });
  }

  #append(index: number, delta: string): void {
    const block = this.#blocks[index];
    if (block) block.text += delta;
  }

  #attach(index: number, attachments: unknown): void {
    const block = this.#blocks[index];
    if (block?.kind === "text") block.attachments = attachments;
  }

  async #closeBlock(contentIndex: number): Promise<void> {
    const block = this.#blocks[contentIndex];
    if (!block) return;
    this.#closed.add(contentIndex);
    if (block.kind === "call") return this.#update({ type: "toolcall_end", contentIndex, toolCall: toolCallOf(block) });
    return this.#update({ type: block.kind === "text" ? "text_end" : "thinking_end", contentIndex, content: block.text });
  }

  async #update(update: MessageUpdate, terminal?: "reply" | "finish"): Promise<void> {
    await this.#options.emit({ type: "message_updated", update, ...(terminal ? { terminal } : {}) });
  }

  #message({ stop, usage, failure, raw }: Closing): AssistantMessage {
    const content = this.#blocks.map((block, index) =>
      block.kind === "text"
        ? { type: "text" as const, text: block.text }
        : block.kind === "thinking"
          ? { type: "thinking" as const, thinking: block.text }
          : { ...toolCallOf(block), ...(this.#closed.has(index) ? {} : { incomplete: true as const }) },
    );
    const calls = content.some((block) => block.type === "toolCall");
    const stopReason: StopReason = stop === "stop" && calls ? "toolUse" : stop;
    const terminal = this.#blocks.findLast((block) => block.kind === "text" && block.terminal !== undefined);
    return {
      ...this.#base(content, usage, stopReason),
      ...(stop === "error" ? { errorMessage: oneLine(failure?.message ?? "the generation failed") } : {}),
      ...(stop === "aborted" ? { errorMessage: oneLine(this.#options.abortMessage()) } : {}),
      ...(raw ? { rawStopReason: raw } : {}),
      ...(stop === "error" ? { errorKind: failure?.kind ?? "engine" } : {}),
      ...(terminal?.kind === "text" && terminal.terminal && !calls && stop === "stop" ? { terminal: terminal.terminal } : {}),
    };
  }

  #base(content: AssistantMessage["content"], usage: Usage, stopReason: StopReason): AssistantMessage {
    const { api, provider, id } = this.#options.model;
    return { role: "assistant", content, api, provider, model: id, usage, stopReason, timestamp: this.#timestamp };
  }
}

function toolCallOf(block: CallBlock) {
  return { type: "toolCall" as const, id: block.id, name: block.name, arguments: block.arguments ?? readable(block.text) };
}

/** Arguments of a call that was cut: what parses, else nothing. */
function readable(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function emptyFailure(message: AssistantMessage): EngineFailure | undefined {
  const empty = message.stopReason === "stop" && message.content.every((block) => block.type === "thinking" || (block.type === "text" && block.text.trim() === ""));
  return empty ? { kind: "empty", category: "model", message: "the model answered nothing" } : undefined;
}

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, " ").trim() || "unknown failure";
}
