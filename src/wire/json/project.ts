// From the session's events to lines of the JSON stream (json-mode.md sections 4 and 5): one table, no I/O.
// Holds nothing but the assistant message that is being written, and that only for snapshots.
import type { ModelInfo } from "../../core/engine.ts";
import type { AgentEvent, MessageUpdate } from "../../core/event.ts";
import type { AssistantMessage, TextContent, ThinkingContent, ToolCall } from "../../core/message.ts";
import type { ToolResult } from "../../core/tool.ts";
import { parsePartialJson } from "./partial-json.ts";
import type { JsonEvent, Model, ToolExecutionResult } from "./schema.ts";

export interface JsonProjectionOptions {
  /** `snapshot`: each update shows the message so far; `delta`: it shows only what was added (U8). */
  updates: "snapshot" | "delta";
}

/** Makes the projection of one stream. Frames are new objects whose parts are never changed afterwards (R9). */
export function createJsonProjection(options: JsonProjectionOptions): (event: AgentEvent) => JsonEvent[] {
  const state: State = { snapshots: options.updates === "snapshot", message: undefined, argumentText: new Map() };
  return (event) => project(state, event);
}

interface State {
  readonly snapshots: boolean;
  /** The open assistant message as of the last update. */
  message: AssistantMessage | undefined;
  /** Text of the arguments of each call that is still being written, by its index. */
  readonly argumentText: Map<number, string>;
}

type Of<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;
type Projections = { [Type in AgentEvent["type"]]: (state: State, event: Of<Type>) => JsonEvent[] };

function project<Type extends AgentEvent["type"]>(state: State, event: Of<Type>): JsonEvent[] {
  const projection: Projections[Type] = projections[event.type as Type];
  return projection(state, event);
}

/** Has no line of its own on this wire. */
const unseen = (): JsonEvent[] => [];

const projections: Projections = {
  turn_started: unseen,
  turn_ended: unseen,
  run_started: () => [{ type: "agent_start" }],
  run_ended: (_, { messages }) => [{ type: "agent_end", messages }],
  step_started: unseen,
  step_ended: unseen,
  attempt_started: () => [{ type: "turn_start" }],
  attempt_ended: (_, { message, toolResults }) => [{ type: "turn_end", message, toolResults }],
  message_started: (state, { message }) => {
    if (state.snapshots && message.role === "assistant") openMessage(state, message);
    return [{ type: "message_start", message }];
  },
  message_updated: (state, { update }) => [
    state.snapshots
      ? { type: "message_update", message: snapshot(state, update), assistantMessageEvent: update }
      : { type: "message_update", assistantMessageEvent: update },
  ],
  message_ended: (state, { message }) => {
    if (message.role === "assistant") state.message = undefined;
    return [{ type: "message_end", message }];
  },
  generation_started: unseen,
  generation_ended: unseen,
  generation_failed: unseen,
  engine_waiting: unseen,
  engine_progressed: unseen,
  tool_started: (_, { call }) => [{ type: "tool_execution_start", ...executionOf(call), args: call.arguments }],
  tool_updated: (_, { call, partialResult }) => [
    { type: "tool_execution_update", ...executionOf(call), args: call.arguments, partialResult: resultOf(partialResult) },
  ],
  tool_ended: (_, { call, result, isError }) => [{ type: "tool_execution_end", ...executionOf(call), result: resultOf(result), isError }],
  approval_requested: unseen,
  approval_withdrawn: unseen,
  queue_changed: (_, { steering, followUp }) => [{ type: "queue_update", steering, followUp }],
  retry_started: (_, { attempt, maxAttempts, delayMs, errorMessage }) => [{ type: "auto_retry_start", attempt, maxAttempts, delayMs, errorMessage }],
  retry_ended: (_, { success, attempt, finalError }) => [{ type: "auto_retry_end", success, attempt, ...present({ finalError }) }],
  compaction_progressed: unseen,
  compaction_started: (_, { reason, midTurn }) => [{ type: "compaction_start", reason, ...present({ midTurn }) }],
  compaction_ended: (_, { reason, result, aborted, willRetry, unresolvedOverflow, errorMessage, midTurn }) => [
    { type: "compaction_end", reason, ...present({ result }), aborted, willRetry, ...present({ unresolvedOverflow, errorMessage, midTurn }) },
  ],
  summary_retry_scheduled: (_, { attempt, maxAttempts, delayMs, errorMessage }) => [
    { type: "summarization_retry_scheduled", attempt, maxAttempts, delayMs, errorMessage },
  ],
  summary_retry_started: (_, { reason }) => [{ type: "summarization_retry_attempt_start", source: "compaction", reason }],
  summary_retry_ended: () => [{ type: "summarization_retry_finished" }],
  loop_detected: unseen,
  reply_judged: unseen,
  session_renamed: (_, { name }) => [{ type: "session_info_changed", ...present({ name }) }],
  model_changed: (_, { model, previousModel, source }) => [
    { type: "model_changed", model: modelOf(model), ...(previousModel === undefined ? {} : { previousModel: modelOf(previousModel) }), source },
  ],
  thinking_level_changed: (_, { level }) => [{ type: "thinking_level_changed", level }],
  logged: unseen,
};

function openMessage(state: State, message: AssistantMessage): void {
  state.message = message;
  state.argumentText.clear();
}

/** The message after the update: a new object each time, sharing the blocks that did not change. */
function snapshot(state: State, update: MessageUpdate): AssistantMessage {
  const { message } = state;
  if (message === undefined) throw new Error(`${update.type} outside an assistant message`);
  const content = [...message.content];
  content[update.contentIndex] = grown(state, content[update.contentIndex], update);
  state.message = { ...message, content };
  return state.message;
}

type Block = TextContent | ThinkingContent | ToolCall;

function grown(state: State, block: Block | undefined, update: MessageUpdate): Block {
  switch (update.type) {
    case "text_start":
      return { type: "text", text: "" };
    case "thinking_start":
      return { type: "thinking", thinking: "" };
    case "toolcall_start":
      return { type: "toolCall", id: update.id, name: update.toolName, arguments: {} };
    case "text_delta":
      return { type: "text", text: (block?.type === "text" ? block.text : "") + update.delta };
    case "thinking_delta":
      return { type: "thinking", thinking: (block?.type === "thinking" ? block.thinking : "") + update.delta };
    case "text_end":
      return { type: "text", text: update.content };
    case "thinking_end":
      return { type: "thinking", thinking: update.content };
    case "toolcall_delta":
      return grownCall(state, block, update);
    case "toolcall_end":
      state.argumentText.delete(update.contentIndex);
      return update.toolCall;
  }
}

function grownCall(state: State, block: Block | undefined, update: { type: string; contentIndex: number; delta: string }): ToolCall {
  if (block?.type !== "toolCall") throw new Error(`${update.type} without a toolcall_start`);
  const text = (state.argumentText.get(update.contentIndex) ?? "") + update.delta;
  state.argumentText.set(update.contentIndex, text);
  return { ...block, arguments: parsePartialJson(text) };
}

function executionOf(call: ToolCall): { toolCallId: string; toolName: string } {
  return { toolCallId: call.id, toolName: call.name };
}

function resultOf({ content, details }: ToolResult): ToolExecutionResult {
  return { content, ...present({ details }) };
}

/** A model as section 3.5 writes it; what runs here costs nothing. */
function modelOf({ id, name, api, provider, baseUrl, reasoning, input, contextWindow, maxTokens }: ModelInfo): Model {
  return { id, name, api, provider, baseUrl, reasoning, input, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow, maxTokens };
}

type Present<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** Only the fields that have a value: an absent one is never written (R7). */
function present<Fields extends Record<string, unknown>>(fields: Fields): Present<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<Fields>;
}
