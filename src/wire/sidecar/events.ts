// What the sidecar tells by itself (sidecar.md section 4). Key order of the envelope is part of the contract.
import { z } from "zod";
import {
  ApprovalCategory,
  CompactionNumbers,
  CompactionReason,
  Count,
  Data,
  EpochMs,
  SkillSource,
  StepErrorCategory,
  ToolStatus,
  TurnCause,
  TurnReason,
} from "./values.ts";

const sessionId = z.string();
const stepIndex = Count;

/** Tool events carry -1 as `stepIndex`; `step` is the real one. */
const toolCall = {
  sessionId,
  stepIndex: z.literal(-1),
  tool: z.string(),
};
const toolCallPlace = {
  batchIndex: Count.optional(),
  batchSize: Count.optional(),
  step: Count.optional(),
  toolCallId: z.string().optional(),
};
const compactionEnd = { ...CompactionNumbers, usage: Data.optional(), calls: Count.optional() };

export const LogLevel = z.enum(["debug", "info", "warn", "error"]);
export type LogLevel = z.infer<typeof LogLevel>;

export const MetricName = z.enum([
  "agent.step.tokens",
  "agent.step.duration_ms",
  "agent.llm.latency_ms",
  "agent.llm.prompt_tokens",
  "agent.llm.completion_tokens",
  "agent.llm.kv_cache_hit",
  "agent.llm.failure",
  "agent.tool.call",
  "agent.tool.success",
  "agent.tool.failure",
  "agent.approval.requested",
  "agent.approval.granted",
  "agent.approval.denied",
]);
export type MetricName = z.infer<typeof MetricName>;

/** Codes of section 6 that an `error` event carries. */
export const ErrorEventCode = z.union([z.enum(["handler_failed", "parse_error"]), z.templateLiteral(["step_error:", StepErrorCategory])]);
export type ErrorEventCode = z.infer<typeof ErrorEventCode>;

/** Payload of each event. */
export const eventPayloads = {
  session_started: z.object({ sessionId, workingDir: z.string(), resumed: z.literal(true).optional() }),
  turn_started: z.object({ sessionId, turnIndex: Count }),
  turn_finished: z.object({ sessionId, turnIndex: Count, reason: TurnReason, stepCount: Count, durationMs: Count, cause: TurnCause.optional() }),
  step_started: z.object({ sessionId, stepIndex }),
  step_finished: z.object({ sessionId, stepIndex, tokensUsed: Count, durationMs: Count }),
  session_completed: z.object({ sessionId, reason: z.enum(["finish", "max_steps"]) }),
  session_failed: z.object({ sessionId, error: z.string(), category: StepErrorCategory }),
  user_message: z.object({ sessionId, text: z.string() }),
  assistant_delta: z.object({ sessionId, text: z.string().min(1) }),
  assistant_reply: z.object({
    sessionId,
    text: z.string(),
    attachments: z.array(z.string()).min(1).max(10).optional(),
    progressNote: z.literal(true).optional(),
    stepIndex: stepIndex.optional(),
  }),
  assistant_reset: z.object({ sessionId, stepIndex }),
  reasoning_delta: z.object({ sessionId, stepIndex, text: z.string().min(1) }),
  tool_call_started: z.object({ ...toolCall, args: Data, ...toolCallPlace }),
  tool_call_result: z.object({
    ...toolCall,
    status: ToolStatus,
    summary: z.string(),
    truncated: z.literal(true).optional(),
    ...toolCallPlace,
    durationMs: Count.optional(),
    exitCode: z.int().optional(),
  }),
  steer_applied: z.object({ sessionId, text: z.string().min(1), stepIndex }),
  steer_undelivered: z.object({ sessionId, text: z.string().min(1) }),
  approval_request: z.object({
    approvalId: z.string(),
    sessionId,
    tool: z.string(),
    category: ApprovalCategory.optional(),
    reason: z.string(),
    preview: z.string().optional(),
    affectedResources: z.array(z.string()).optional(),
    toolCallId: z.string().optional(),
    expiresAt: EpochMs.optional(),
    commandHash: z.string().optional(),
    grantable: z.boolean().optional(),
  }),
  approval_withdrawn: z.object({ approvalId: z.string(), sessionId, reason: z.enum(["cancelled", "session_disposed", "shutdown", "expired"]) }),
  llm_request: z.object({
    sessionId,
    slotId: z.int(),
    promptTokens: Count,
    cacheReused: z.boolean(),
    stepIndex: stepIndex.optional(),
    attempt: Count.optional(),
    model: z.string().optional(),
  }),
  llm_response: z.object({
    sessionId,
    completionTokens: Count,
    durationMs: Count,
    stepIndex: stepIndex.optional(),
    attempt: Count.optional(),
    promptTokens: Count.optional(),
    cachedTokens: Count.optional(),
    stop: z.enum(["end", "length", "tool_calls"]).optional(),
  }),
  llm_unavailable: z.object({ url: z.string(), error: z.string().nullable(), mode: z.enum(["managed", "external"]), hint: z.string() }),
  skill_registry_updated: z.object({ installed: z.array(z.object({ name: z.string(), source: SkillSource })) }),
  log: z.object({ level: LogLevel, message: z.string(), context: Data.optional() }),
  metric: z.object({ name: MetricName, value: z.number(), tags: z.record(z.string(), z.string()).optional() }),
  error: z.object({ message: z.string(), code: ErrorEventCode.optional(), stack: z.string().optional(), willRetry: z.boolean().optional() }),
  model_loading: z.object({ sessionId, stage: z.enum(["weights", "prompt"]), progress: z.number().min(0).max(1) }),
  provider_waiting: z.object({ sessionId, stepIndex, retryInMs: Count, waitedMs: Count, maxWaitMs: Count }),
  provider_recovered: z.object({ sessionId, stepIndex, waitedMs: Count }),
  loop_detected: z.object({ sessionId, stepIndex, tool: z.string(), count: Count, level: z.enum(["warn", "veto", "stop"]) }),
  compaction_started: z.object({ type: z.literal("compaction_started"), sessionId, reason: CompactionReason, tokensBefore: Count }),
  compaction_progress: z.object({
    type: z.literal("compaction_progress"),
    sessionId,
    chunk: Count,
    chunks: Count,
    completedChunks: Count,
    sourceTokens: Count,
  }),
  compaction_completed: z.object({ type: z.literal("compaction_completed"), sessionId, status: z.enum(["compacted", "noop"]), ...compactionEnd }),
  compaction_failed: z.object({ type: z.literal("compaction_failed"), sessionId, status: z.enum(["failed", "cancelled"]), ...compactionEnd }),
  /** Reserved, never emitted. */
  pong: Data,
  trace: Data,
} as const;

export type SidecarEventType = keyof typeof eventPayloads;
export type SidecarEventPayloads = { [Type in SidecarEventType]: z.infer<(typeof eventPayloads)[Type]> };

/** What every event is around its payload, also one of a type that is not known yet. */
export const EventEnvelope = z.object({
  kind: z.literal("event"),
  id: z.uuid(),
  type: z.string(),
  /** Id of the request that caused it. */
  correlationId: z.union([z.string(), z.number()]).optional(),
  payload: Data,
});
export type EventEnvelope = z.infer<typeof EventEnvelope>;

export type SidecarEventOf<Type extends SidecarEventType> = Omit<EventEnvelope, "type" | "payload"> & { type: Type; payload: SidecarEventPayloads[Type] };
export type SidecarEvent = { [Type in SidecarEventType]: SidecarEventOf<Type> }[SidecarEventType];

export const SidecarEventType = z.enum(Object.keys(eventPayloads) as SidecarEventType[]);

const options = Object.entries(eventPayloads).map(([type, payload]) => EventEnvelope.extend({ type: z.literal(type), payload }));

/** Every event of this revision; one table makes schema and types. */
export const SidecarEvent = z.union(options) as unknown as z.ZodType<SidecarEvent>;
