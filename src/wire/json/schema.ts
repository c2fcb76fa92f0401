// Every line of the JSON event stream (json-mode.md sections 2 to 5), also those that this version never emits.
// The one source of the wire's types; key order is part of the contract (R8).
import { z } from "zod";
import { CompactionReason, VerbatimCompactionResult } from "../../core/compaction.ts";
import { AgentMessage, AssistantMessage, ImageContent, TextContent, ThinkingLevel, ToolCall, ToolResultMessage, Usage } from "../../core/message.ts";

/** The types of section 3 are the vocabulary itself. */
export { CompactionReason, VerbatimCompactionResult } from "../../core/compaction.ts";
export {
  AgentMessage,
  AssistantMessage,
  BashExecutionMessage,
  BranchSummaryMessage,
  CustomMessage,
  Diagnostic,
  ErrorKind,
  ImageContent,
  StopReason,
  TextContent,
  ThinkingContent,
  ThinkingLevel,
  ToolCall,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "../../core/message.ts";

const Count = z.int().min(0);
const Attempt = z.int().min(1);

export const Model = z.object({
  id: z.string(),
  name: z.string(),
  api: z.string(),
  provider: z.string(),
  baseUrl: z.string(),
  reasoning: z.boolean(),
  thinkingLevelMap: z.partialRecord(ThinkingLevel, z.string()).optional(),
  input: z.array(z.enum(["text", "image"])),
  /** USD per million tokens. */
  cost: z.object({ input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number() }),
  contextWindow: Count,
  maxTokens: Count,
  samplingParams: z.record(z.string(), z.unknown()).optional(),
  compat: z.record(z.string(), z.unknown()).optional(),
});
export type Model = z.infer<typeof Model>;

export const AssistantMessageEvent = z.discriminatedUnion("type", [
  z.object({ type: z.enum(["text_start", "thinking_start"]), contentIndex: Count }),
  z.object({ type: z.enum(["text_delta", "thinking_delta"]), contentIndex: Count, delta: z.string() }),
  z.object({ type: z.enum(["text_end", "thinking_end"]), contentIndex: Count, content: z.string() }),
  z.object({ type: z.literal("toolcall_start"), contentIndex: Count, id: z.string().optional(), toolName: z.string().optional() }),
  z.object({ type: z.literal("toolcall_delta"), contentIndex: Count, delta: z.string() }),
  z.object({ type: z.literal("toolcall_end"), contentIndex: Count, toolCall: ToolCall }),
]);
export type AssistantMessageEvent = z.infer<typeof AssistantMessageEvent>;

export const ToolExecutionResult = z.object({
  content: z.array(z.union([TextContent, ImageContent])),
  details: z.unknown().optional(),
});
export type ToolExecutionResult = z.infer<typeof ToolExecutionResult>;

export const SandboxKind = z.enum(["landlock", "seatbelt", "none", "off"]);
export type SandboxKind = z.infer<typeof SandboxKind>;

export const SessionHeader = z.object({
  type: z.literal("session"),
  version: z.literal(3),
  id: z.uuid(),
  /** ISO 8601 UTC with milliseconds. */
  timestamp: z.iso.datetime({ precision: 3 }),
  cwd: z.string(),
  parentSession: z.string().optional(),
  provider: z.string().optional(),
  model: z.string().optional(),
  agentVersion: z.string(),
  sandbox: SandboxKind,
  resumed: z.literal(true).optional(),
});
export type SessionHeader = z.infer<typeof SessionHeader>;

export const Outcome = z.enum(["ok", "empty", "length", "error", "unresolved_overflow", "aborted", "timeout", "max_steps", "schema"]);
export type Outcome = z.infer<typeof Outcome>;

const Queues = z.object({ steering: z.array(z.string()), followUp: z.array(z.string()) });

export const AgentSettled = z.object({
  type: z.literal("agent_settled"),
  outcome: Outcome,
  exitCode: Count,
  usage: Usage,
  durationMs: z.number().min(0),
  /** What an abort or the end left in the queues. */
  undelivered: Queues.optional(),
});
export type AgentSettled = z.infer<typeof AgentSettled>;

const RetryWait = { attempt: Attempt, maxAttempts: Attempt, delayMs: z.number().min(0), errorMessage: z.string() };
const ToolExecution = { toolCallId: z.string(), toolName: z.string() };

export const JsonEvent = z.discriminatedUnion("type", [
  SessionHeader,
  z.object({ type: z.literal("agent_start") }),
  z.object({ type: z.literal("agent_end"), messages: z.array(AgentMessage) }),
  z.object({ type: z.literal("turn_start") }),
  z.object({ type: z.literal("turn_end"), message: AssistantMessage, toolResults: z.array(ToolResultMessage) }),
  z.object({ type: z.literal("message_start"), message: AgentMessage }),
  /** `message` is the snapshot; left out with `--updates delta`. */
  z.object({ type: z.literal("message_update"), message: AssistantMessage.optional(), assistantMessageEvent: AssistantMessageEvent }),
  z.object({ type: z.literal("message_end"), message: AgentMessage }),
  z.object({ type: z.literal("tool_execution_start"), ...ToolExecution, args: z.unknown() }),
  z.object({ type: z.literal("tool_execution_update"), ...ToolExecution, args: z.unknown(), partialResult: ToolExecutionResult }),
  z.object({ type: z.literal("tool_execution_end"), ...ToolExecution, result: ToolExecutionResult, isError: z.boolean() }),
  z.object({ type: z.literal("queue_update"), ...Queues.shape }),
  z.object({ type: z.literal("compaction_start"), reason: CompactionReason, midTurn: z.literal(true).optional() }),
  z.object({
    type: z.literal("compaction_end"),
    reason: CompactionReason,
    result: VerbatimCompactionResult.optional(),
    aborted: z.boolean(),
    willRetry: z.boolean(),
    unresolvedOverflow: z.boolean().optional(),
    errorMessage: z.string().optional(),
    midTurn: z.literal(true).optional(),
  }),
  z.object({ type: z.literal("session_info_changed"), name: z.string().optional() }),
  z.object({ type: z.literal("model_changed"), model: Model, previousModel: Model.optional(), source: z.enum(["set", "cycle", "restore"]) }),
  z.object({ type: z.literal("thinking_level_changed"), level: ThinkingLevel }),
  z.object({ type: z.literal("auto_retry_start"), ...RetryWait }),
  z.object({ type: z.literal("auto_retry_end"), success: z.boolean(), attempt: Attempt, finalError: z.string().optional() }),
  z.object({ type: z.literal("summarization_retry_scheduled"), ...RetryWait }),
  z.object({ type: z.literal("summarization_retry_attempt_start"), source: z.enum(["branchSummary", "compaction"]), reason: CompactionReason.optional() }),
  z.object({ type: z.literal("summarization_retry_finished") }),
  AgentSettled,
]);
export type JsonEvent = z.infer<typeof JsonEvent>;
export type JsonEventType = JsonEvent["type"];

/** A line of stdin with `--stdin-commands` (json-mode.md 9.4). */
export const StdinCommand = z.discriminatedUnion("type", [
  z.object({ type: z.literal("steer"), text: z.string() }),
  z.object({ type: z.literal("follow_up"), text: z.string() }),
  z.object({ type: z.literal("abort") }),
  z.object({ type: z.literal("compact") }),
]);
export type StdinCommand = z.infer<typeof StdinCommand>;
