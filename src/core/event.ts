// The one stream of events that a session produces. Each wire is a projection of it (wire/json, wire/sidecar).
// Inside words: a turn is one user message to its reply; a run is a stretch of it without retry or compaction in between;
// a step is one decision and its calls; an attempt is one generation of a step.
import type { ApprovalRequest, Withdrawal } from "./approval.ts";
import type { CompactionReason, VerbatimCompactionResult } from "./compaction.ts";
import type { EngineFailure, ModelInfo, StepErrorCategory } from "./engine.ts";
import type { AgentMessage, AssistantMessage, ThinkingLevel, ToolCall, ToolResultMessage, Usage } from "./message.ts";
import type { LogLevel } from "./runtime.ts";
import type { ToolResult } from "./tool.ts";

export type TurnReason = "reply" | "finish" | "max_steps" | "cancelled" | "failed";
export type { CompactionReason };

/** How an assistant message grew (json-mode.md section 4). */
export type MessageUpdate =
  | { type: "text_start"; contentIndex: number }
  | { type: "text_delta"; contentIndex: number; delta: string }
  | { type: "text_end"; contentIndex: number; content: string }
  | { type: "thinking_start"; contentIndex: number }
  | { type: "thinking_delta"; contentIndex: number; delta: string }
  | { type: "thinking_end"; contentIndex: number; content: string }
  | { type: "toolcall_start"; contentIndex: number; id: string; toolName: string }
  | { type: "toolcall_delta"; contentIndex: number; delta: string }
  | { type: "toolcall_end"; contentIndex: number; toolCall: ToolCall };

export interface Batch {
  /** Position among the calls of the step, and their number; a single call has size 1. */
  index: number;
  size: number;
}

export type AgentEvent =
  | { type: "turn_started"; turnIndex: number; text: string }
  | { type: "turn_ended"; turnIndex: number; reason: TurnReason; cause?: string; failure?: { message: string; category: StepErrorCategory }; stepCount: number; usage: Usage; durationMs: number }
  | { type: "run_started" }
  | { type: "run_ended"; messages: AgentMessage[] }
  | { type: "step_started"; stepIndex: number }
  | { type: "step_ended"; stepIndex: number; tokensUsed: number; durationMs: number }
  | { type: "attempt_started"; stepIndex: number; attempt: number }
  | { type: "attempt_ended"; message: AssistantMessage; toolResults: ToolResultMessage[] }
  | { type: "message_started"; message: AgentMessage }
  | { type: "message_updated"; update: MessageUpdate; terminal?: "reply" | "finish" }
  | { type: "message_ended"; message: AgentMessage }
  | { type: "generation_started"; stepIndex: number; attempt: number; slotId: number; promptTokens: number; cachedTokens: number; model: string }
  | { type: "generation_ended"; stepIndex: number; attempt: number; usage: Usage; stop: "end" | "length" | "tool_calls"; durationMs: number }
  | { type: "generation_failed"; stepIndex: number; attempt: number; failure: EngineFailure; willRetry: boolean }
  /** The engine went away: the step waits `retryInMs` now, after `waitedMs`. */
  | { type: "engine_waiting"; stepIndex: number; retryInMs: number; waitedMs: number; maxWaitMs: number }
  | { type: "engine_progressed"; stage: "weights" | "prompt"; progress: number }
  | { type: "tool_started"; stepIndex: number; call: ToolCall; batch: Batch }
  | { type: "tool_updated"; call: ToolCall; partialResult: ToolResult }
  | { type: "tool_ended"; stepIndex: number; call: ToolCall; batch: Batch; result: ToolResult; isError: boolean; durationMs: number }
  /** What a reply wants to attach, as `given`: resolved, or refused and the reply with it. */
  | { type: "reply_judged"; stepIndex: number; given: unknown; attachments: string[]; refusal?: string }
  | { type: "approval_requested"; request: ApprovalRequest }
  | { type: "approval_withdrawn"; approvalId: string; reason: Withdrawal }
  | { type: "queue_changed"; steering: string[]; followUp: string[] }
  | { type: "retry_started"; attempt: number; maxAttempts: number; delayMs: number; errorMessage: string }
  | { type: "retry_ended"; success: boolean; attempt: number; finalError?: string }
  | { type: "compaction_started"; reason: CompactionReason; tokensBefore: number; midTurn?: true }
  /** Of the text that the planner is shown, `sourceTokens` in all: part `chunk` of `chunks`, from 1, begins or is done. */
  | { type: "compaction_progressed"; chunk: number; chunks: number; completedChunks: number; sourceTokens: number }
  | { type: "compaction_ended"; reason: CompactionReason; result?: VerbatimCompactionResult; aborted: boolean; noop?: true; willRetry: boolean; unresolvedOverflow?: true; errorMessage?: string; midTurn?: true; usage?: Usage; calls?: number }
  | { type: "summary_retry_scheduled"; attempt: number; maxAttempts: number; delayMs: number; errorMessage: string }
  | { type: "summary_retry_started"; reason: CompactionReason }
  | { type: "summary_retry_ended" }
  | { type: "loop_detected"; stepIndex: number; tool: string; count: number; level: "warn" | "veto" | "stop" }
  | { type: "session_renamed"; name?: string }
  | { type: "model_changed"; model: ModelInfo; previousModel?: ModelInfo; source: "set" | "cycle" | "restore" }
  | { type: "thinking_level_changed"; level: ThinkingLevel }
  | { type: "logged"; level: LogLevel; message: string; context?: Record<string, unknown> };

/** Takes an event to whoever listens; the loop waits for it, so a slow reader slows the model. */
export type Emit = (event: AgentEvent) => void | Promise<void>;
