// The messages of a session and the blocks they are made of, exactly as json-mode.md section 3 writes them.
// Key order is part of the contract: build every object in the order of its schema.
import { z } from "zod";

export const TextContent = z.object({
  type: z.literal("text"),
  text: z.string(),
  textSignature: z.string().optional(),
});
export type TextContent = z.infer<typeof TextContent>;

export const ThinkingContent = z.object({
  type: z.literal("thinking"),
  thinking: z.string(),
  thinkingSignature: z.string().optional(),
  redacted: z.boolean().optional(),
});
export type ThinkingContent = z.infer<typeof ThinkingContent>;

export const ImageContent = z.object({
  type: z.literal("image"),
  data: z.base64(),
  mimeType: z.string(),
});
export type ImageContent = z.infer<typeof ImageContent>;

export const ToolCall = z.object({
  type: z.literal("toolCall"),
  id: z.string(),
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  thoughtSignature: z.string().optional(),
  /** Cut off by an error or an abort; never executed. */
  incomplete: z.literal(true).optional(),
});
export type ToolCall = z.infer<typeof ToolCall>;

export const Usage = z.object({
  /** Prompt tokens really processed, cached ones excluded. */
  input: z.int().min(0),
  output: z.int().min(0),
  cacheRead: z.int().min(0),
  cacheWrite: z.int().min(0),
  reasoning: z.int().min(0).optional(),
  totalTokens: z.int().min(0),
  /** USD; all 0 for local models. */
  cost: z.object({
    input: z.number(),
    output: z.number(),
    cacheRead: z.number(),
    cacheWrite: z.number(),
    total: z.number(),
  }),
  /** The server reported no usage: the numbers are counted or estimated here. */
  estimated: z.literal(true).optional(),
});
export type Usage = z.infer<typeof Usage>;

export const StopReason = z.enum(["pending", "stop", "length", "toolUse", "error", "aborted"]);
export type StopReason = z.infer<typeof StopReason>;

export const ErrorKind = z.enum([
  "network",
  "timeout",
  "rate_limit",
  "server",
  "empty",
  "auth",
  "bad_request",
  "model_missing",
  "overflow",
  "engine",
  "schema",
  "storage",
]);
export type ErrorKind = z.infer<typeof ErrorKind>;

export const Diagnostic = z.object({
  type: z.string(),
  timestamp: z.int(),
  error: z
    .object({
      name: z.string().optional(),
      message: z.string(),
      code: z.union([z.string(), z.number()]).optional(),
    })
    .optional(),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type Diagnostic = z.infer<typeof Diagnostic>;

const UserContent = z.array(z.union([TextContent, ImageContent]));

export const UserMessage = z.object({
  role: z.literal("user"),
  content: z.union([z.string(), UserContent]),
  timestamp: z.int(),
});
export type UserMessage = z.infer<typeof UserMessage>;

export const AssistantMessage = z.object({
  role: z.literal("assistant"),
  content: z.array(z.union([TextContent, ThinkingContent, ToolCall])),
  api: z.string(),
  provider: z.string(),
  model: z.string(),
  usage: Usage,
  stopReason: StopReason,
  timestamp: z.int(),
  responseModel: z.string().optional(),
  responseId: z.string().optional(),
  diagnostics: z.array(Diagnostic).optional(),
  /** Present exactly when stopReason is `error` or `aborted`; one line for people. */
  errorMessage: z.string().optional(),
  rawStopReason: z.string().optional(),
  /** Present exactly when stopReason is `error`. */
  errorKind: ErrorKind.optional(),
  /** The text block was a `reply` or `finish` call of the model that ended the turn. */
  terminal: z.enum(["reply", "finish"]).optional(),
});
export type AssistantMessage = z.infer<typeof AssistantMessage>;

export const ToolResultMessage = z.object({
  role: z.literal("toolResult"),
  toolCallId: z.string(),
  toolName: z.string(),
  content: UserContent,
  details: z.unknown().optional(),
  usage: Usage.optional(),
  isError: z.boolean(),
  timestamp: z.int(),
});
export type ToolResultMessage = z.infer<typeof ToolResultMessage>;

export const BashExecutionMessage = z.object({
  role: z.literal("bashExecution"),
  command: z.string(),
  output: z.string(),
  exitCode: z.int().optional(),
  cancelled: z.boolean(),
  truncated: z.boolean(),
  fullOutputPath: z.string().optional(),
  timestamp: z.int(),
  excludeFromContext: z.boolean().optional(),
});
export type BashExecutionMessage = z.infer<typeof BashExecutionMessage>;

export const CustomMessage = z.object({
  role: z.literal("custom"),
  customType: z.string(),
  content: z.union([z.string(), UserContent]),
  display: z.boolean(),
  details: z.unknown().optional(),
  timestamp: z.int(),
});
export type CustomMessage = z.infer<typeof CustomMessage>;

export const BranchSummaryMessage = z.object({
  role: z.literal("branchSummary"),
  summary: z.string(),
  fromId: z.string(),
  timestamp: z.int(),
});
export type BranchSummaryMessage = z.infer<typeof BranchSummaryMessage>;

export const AgentMessage = z.discriminatedUnion("role", [
  UserMessage,
  AssistantMessage,
  ToolResultMessage,
  BashExecutionMessage,
  CustomMessage,
  BranchSummaryMessage,
]);
export type AgentMessage = z.infer<typeof AgentMessage>;

export const ThinkingLevel = z.enum(["off", "minimal", "low", "medium", "high", "xhigh", "max"]);
export type ThinkingLevel = z.infer<typeof ThinkingLevel>;

const noCost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

/** Usage from token counts; the total is their sum, the cost that of a local model. */
export function usageOf(counts: { input?: number; output?: number; cacheRead?: number; reasoning?: number; estimated?: boolean }): Usage {
  const { input = 0, output = 0, cacheRead = 0, reasoning, estimated } = counts;
  return {
    input,
    output,
    cacheRead,
    cacheWrite: 0,
    ...(reasoning === undefined ? {} : { reasoning }),
    totalTokens: input + output + cacheRead,
    cost: { ...noCost },
    ...(estimated ? { estimated: true as const } : {}),
  };
}

/** Sum of two usages; `estimated` when either is. */
export function addUsage(a: Usage, b: Usage): Usage {
  const reasoning = a.reasoning === undefined && b.reasoning === undefined ? undefined : (a.reasoning ?? 0) + (b.reasoning ?? 0);
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    ...(reasoning === undefined ? {} : { reasoning }),
    totalTokens: a.totalTokens + b.totalTokens,
    cost: {
      input: a.cost.input + b.cost.input,
      output: a.cost.output + b.cost.output,
      cacheRead: a.cost.cacheRead + b.cost.cacheRead,
      cacheWrite: a.cost.cacheWrite + b.cost.cacheWrite,
      total: a.cost.total + b.cost.total,
    },
    ...(a.estimated || b.estimated ? { estimated: true as const } : {}),
  };
}

/** The text of a message's content; images become the line `[image]`. */
export function contentText(content: string | readonly { type: string; text?: string }[]): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? (block.text ?? "") : block.type === "image" ? "[image]" : "")).join("\n");
}
