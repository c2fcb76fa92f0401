// Small types that requests, responses and events of the sidecar share (sidecar.md sections 3 to 8).
import { z } from "zod";
import { approvalCategories } from "../../core/approval.ts";

export const Count = z.int().min(0);
export const EpochMs = z.int().min(0);

export const TurnReason = z.enum(["reply", "finish", "max_steps", "cancelled", "failed"]);
export type TurnReason = z.infer<typeof TurnReason>;

export const TurnCause = z.enum(["step_ceiling", "time_ceiling", "no_progress", "credit_exhausted", "loop_breaker"]);
export type TurnCause = z.infer<typeof TurnCause>;

export const StepErrorCategory = z.enum(["transport", "grammar", "model", "cancelled", "tool"]);
export type StepErrorCategory = z.infer<typeof StepErrorCategory>;

export const ApprovalCategory = z.enum(approvalCategories);
export type ApprovalCategory = z.infer<typeof ApprovalCategory>;

export const ApprovalLevel = z.int().min(1).max(5);

export const EngineName = z.enum(["llama", "llama-server", "openai-compatible", "scripted"]);
export type EngineName = z.infer<typeof EngineName>;

export const SandboxKind = z.enum(["landlock", "seatbelt", "none", "off"]);
export type SandboxKind = z.infer<typeof SandboxKind>;

export const CompactionReason = z.enum(["manual", "threshold", "overflow"]);
export type CompactionReason = z.infer<typeof CompactionReason>;

export const SkillSource = z.enum(["global", "project"]);
export type SkillSource = z.infer<typeof SkillSource>;

export const SessionStatus = z.enum(["pending", "running", "awaiting_approval", "awaiting_llm", "completed", "failed", "cancelled", "stalled"]);
export type SessionStatus = z.infer<typeof SessionStatus>;

export const ToolStatus = z.enum(["ok", "error"]);
export type ToolStatus = z.infer<typeof ToolStatus>;

/** Any JSON object; values from outside, `null` among them, are passed on as given (C3). */
export const Data = z.record(z.string(), z.unknown());

/** What became of a compaction (3.6); also inside the events that end one. */
export const CompactionNumbers = {
  reason: CompactionReason,
  message: z.string().optional(),
  tokensBefore: Count.optional(),
  tokensAfter: Count.optional(),
  costUsd: z.number().optional(),
};
