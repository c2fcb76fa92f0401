// From the session's events to events of the sidecar (sidecar.md sections 4, 5 and 12): one table, no I/O.
// It holds the open step: what was streamed, which calls were announced, what is still owed to the host.
import type { AgentEvent, TurnReason } from "../../core/event.ts";
import { contentText } from "../../core/message.ts";
import type { SidecarEventPayloads, SidecarEventType } from "./events.ts";
import { brokenText, pausedText } from "./own-replies.ts";
import { StepCalls } from "./step-calls.ts";
import type { MetricName } from "./events.ts";

/** An event without its envelope. */
export type SidecarEventBody = { [Type in SidecarEventType]: { type: Type; payload: SidecarEventPayloads[Type] } }[SidecarEventType];

export interface SidecarProjectionOptions {
  sessionId: string;
  /** Milliseconds; never runs backwards. */
  now: () => number;
  /** The turn was cancelled, though it may still be ending. */
  isCancelled: () => boolean;
}

/** Makes the projection of one session. */
export function createSidecarProjection(options: SidecarProjectionOptions): (event: AgentEvent) => SidecarEventBody[] {
  const { sessionId } = options;
  const state: State = { ...options, sessionId, stepIndex: 0, llmRequests: 0, stepCount: 0, promptTold: false, calls: new StepCalls(sessionId, 0, 0), turnIndex: 0, loading: undefined, parkedMs: undefined };
  return (event) => project(state, event);
}

interface State extends SidecarProjectionOptions {
  turnIndex: number;
  stepIndex: number;
  /** Of the step: those that failed before an engine took their prompt have no number. */
  llmRequests: number;
  /** Steps of the turn that have ended. */
  stepCount: number;
  /** The user's message of the turn is behind; further ones are steering. */
  promptTold: boolean;
  calls: StepCalls;
  loading: { stage: "weights" | "prompt"; sinceMs: number; toldMs: number; progress: number } | undefined;
  /** Time spent waiting for a provider that is not back yet. */
  parkedMs: number | undefined;
}

type Of<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;
type Projections = { [Type in AgentEvent["type"]]: (state: State, event: Of<Type>) => SidecarEventBody[] };

function project<Type extends AgentEvent["type"]>(state: State, event: Of<Type>): SidecarEventBody[] {
  const projection: Projections[Type] = projections[event.type as Type];
  return projection(state, event);
}

/** Has no event of its own on this wire. */
const unseen = (): SidecarEventBody[] => [];

const projections: Projections = {
  turn_started: (state, { turnIndex, text }) => {
    const { sessionId } = state;
    Object.assign(state, { turnIndex, stepCount: 0, promptTold: false, parkedMs: undefined });
    return [
      { type: "user_message", payload: { sessionId, text } },
      { type: "turn_started", payload: { sessionId, turnIndex } },
    ];
  },
  turn_ended: (state, event) => [...endingOf(state, event), turnFinished(state, event)],
  run_started: unseen,
  run_ended: unseen,
  step_started: (state, { stepIndex }) => {
    const { sessionId } = state;
    Object.assign(state, { stepIndex, llmRequests: 0, calls: new StepCalls(sessionId, state.turnIndex, stepIndex), loading: undefined });
    return [{ type: "step_started", payload: { sessionId, stepIndex } }];
  },
  step_ended: (state, { stepIndex, tokensUsed, durationMs }) => {
    state.stepCount = stepIndex + 1;
    return [
      ...state.calls.close(),
      metric("agent.step.tokens", tokensUsed),
      metric("agent.step.duration_ms", durationMs),
      { type: "step_finished", payload: { sessionId: state.sessionId, stepIndex, tokensUsed, durationMs } },
    ];
  },
  attempt_started: (state) => {
    state.calls.beginAttempt();
    return [];
  },
  attempt_ended: unseen,
  message_started: unseen,
  message_updated: (state, { update, terminal }) => state.calls.grow(update, terminal),
  message_ended: (state, { message }) => {
    if (message.role === "assistant") state.calls.take(message);
    if (message.role !== "user") return [];
    if (state.promptTold) return [{ type: "steer_applied", payload: { sessionId: state.sessionId, text: contentText(message.content), stepIndex: state.stepIndex } }];
    state.promptTold = true;
    return [];
  },
  generation_started: (state, { cachedTokens, model, promptTokens, slotId, stepIndex }) => {
    if (state.calls.announced) return [];
    const { sessionId } = state;
    const waitedMs = state.parkedMs;
    const attempt = state.llmRequests + 1;
    Object.assign(state, { parkedMs: undefined, loading: undefined, llmRequests: attempt });
    return [
      ...(waitedMs === undefined ? [] : [{ type: "provider_recovered" as const, payload: { sessionId, stepIndex, waitedMs } }]),
      { type: "llm_request", payload: { sessionId, slotId, promptTokens, cacheReused: cachedTokens > 0, stepIndex, attempt, model } },
    ];
  },
  generation_ended: (state, { durationMs, stepIndex, stop, usage }) => {
    if (state.calls.announced) return [];
    const promptTokens = usage.input + usage.cacheRead;
    state.calls.due = true;
    return [
      { type: "llm_response", payload: { sessionId: state.sessionId, completionTokens: usage.output, durationMs, stepIndex, attempt: state.llmRequests, promptTokens, cachedTokens: usage.cacheRead, stop } },
      metric("agent.llm.latency_ms", durationMs),
      metric("agent.llm.prompt_tokens", promptTokens),
      metric("agent.llm.completion_tokens", usage.output),
      metric("agent.llm.kv_cache_hit", promptTokens === 0 ? 0 : usage.cacheRead / promptTokens),
    ];
  },
  generation_failed: (state, { failure, stepIndex, willRetry }) => {
    const { category, message } = failure;
    const owed = state.calls.announced ? state.calls.close() : [];
    state.calls.due = false;
    const failed: SidecarEventBody = { type: "error", payload: { message, code: `step_error:${category}`, stack: `${category}: ${message}`, willRetry } };
    return [...owed, metric("agent.llm.failure", 1, { category }), failed, ...(willRetry ? state.calls.reset(stepIndex) : [])];
  },
  engine_waiting: (state, { maxWaitMs, retryInMs, stepIndex, waitedMs }) => {
    state.parkedMs = waitedMs + retryInMs;
    return [{ type: "provider_waiting", payload: { sessionId: state.sessionId, stepIndex, retryInMs, waitedMs, maxWaitMs } }];
  },
  engine_progressed: (state, { stage, progress }) => loadingOf(state, stage, progress),
  tool_started: (state, { call }) => [...state.calls.announce(), metric("agent.tool.call", 1, { tool: call.name })],
  tool_updated: unseen,
  tool_ended: (state, { call, durationMs, isError, result }) => [
    ...state.calls.result(call, { ...result, isError, durationMs, cancelled: state.isCancelled() }),
    metric(isError ? "agent.tool.failure" : "agent.tool.success", 1, { tool: call.name }),
  ],
  reply_judged: ({ calls }, judged) => {
    calls.judgeReply(judged);
    return [];
  },
  approval_requested: ({ calls, sessionId }, { request: { call, commandHash, expiresAt, id, need } }) => [
    ...calls.announce(),
    metric("agent.approval.requested", 1, { category: need.category }),
    {
      type: "approval_request",
      payload: {
        approvalId: id,
        sessionId,
        tool: call.name,
        category: need.category,
        reason: need.reason,
        ...(need.preview === undefined ? {} : { preview: need.preview }),
        affectedResources: need.affectedResources,
        toolCallId: call.id,
        ...(expiresAt === undefined ? {} : { expiresAt }),
        commandHash,
        grantable: need.grant !== undefined,
      },
    },
  ],
  approval_withdrawn: ({ sessionId }, { approvalId, reason }) => [{ type: "approval_withdrawn", payload: { approvalId, sessionId, reason } }],
  queue_changed: unseen,
  retry_started: unseen,
  retry_ended: unseen,
  compaction_started: ({ sessionId }, { reason, tokensBefore }) => [{ type: "compaction_started", payload: { type: "compaction_started", sessionId, reason, tokensBefore } }],
  compaction_progressed: ({ sessionId }, { chunk, chunks, completedChunks, sourceTokens }) => [
    { type: "compaction_progress", payload: { type: "compaction_progress", sessionId, chunk, chunks, completedChunks, sourceTokens } },
  ],
  compaction_ended: ({ sessionId }, event) => [compactionEnd(sessionId, event)],
  summary_retry_scheduled: unseen,
  summary_retry_started: unseen,
  summary_retry_ended: unseen,
  loop_detected: ({ calls, sessionId }, { count, level, stepIndex, tool }) => [
    ...calls.announce(),
    { type: "loop_detected", payload: { sessionId, stepIndex, tool, count, level } },
  ],
  session_renamed: unseen,
  model_changed: unseen,
  thinking_level_changed: unseen,
  logged: (_, { level, message, context }) => [{ type: "log", payload: { level, message, ...(context === undefined ? {} : { context }) } }],
};

type TurnEnded = Of<"turn_ended">;

function turnFinished({ sessionId }: State, { cause, durationMs, reason, stepCount, turnIndex }: TurnEnded): SidecarEventBody {
  const told = cause as SidecarEventPayloads["turn_finished"]["cause"];
  return { type: "turn_finished", payload: { sessionId, turnIndex, reason, stepCount, durationMs, ...(told === undefined ? {} : { cause: told }) } };
}

/** What stands between the last step and `turn_finished` (5.8 to 5.11). */
function endingOf({ sessionId }: State, { cause, failure, reason, stepCount }: TurnEnded): SidecarEventBody[] {
  const endings: { [Reason in TurnReason]: () => SidecarEventBody[] } = {
    reply: () => (cause === undefined ? [] : ownReply(sessionId, brokenText)),
    finish: () => [{ type: "session_completed", payload: { sessionId, reason: "finish" } }],
    max_steps: () => [...ownReply(sessionId, pausedText(cause, stepCount)), { type: "session_completed", payload: { sessionId, reason: "max_steps" } }],
    cancelled: () => [{ type: "session_failed", payload: { sessionId, error: "cancelled", category: "cancelled" } }],
    failed: () => [{ type: "session_failed", payload: { sessionId, error: failure?.message ?? "the turn failed", category: failure?.category ?? "tool" } }],
  };
  return endings[reason]();
}

function ownReply(sessionId: string, text: string): SidecarEventBody[] {
  return [
    { type: "assistant_delta", payload: { sessionId, text } },
    { type: "assistant_reply", payload: { sessionId, text } },
  ];
}

function compactionEnd(sessionId: string, { aborted, calls, errorMessage, noop, reason, result, usage }: Of<"compaction_ended">): SidecarEventBody {
  const message = errorMessage === undefined ? {} : { message: errorMessage };
  const spent = { ...(usage === undefined ? {} : { usage: { ...usage } }), ...(calls === undefined ? {} : { calls }) };
  if (result !== undefined) {
    const { tokensBefore, tokensAfter } = result.stats;
    return { type: "compaction_completed", payload: { type: "compaction_completed", sessionId, status: "compacted", reason, ...message, tokensBefore, tokensAfter, ...spent } };
  }
  if (noop) return { type: "compaction_completed", payload: { type: "compaction_completed", sessionId, status: "noop", reason, ...message, ...spent } };
  return { type: "compaction_failed", payload: { type: "compaction_failed", sessionId, status: aborted ? "cancelled" : "failed", reason, ...message, ...spent } };
}

const loadingAfterMs = 500;
const loadingEveryMs = 100;

/** Only what takes long is told, and not too often. */
function loadingOf(state: State, stage: "weights" | "prompt", given: number): SidecarEventBody[] {
  const nowMs = state.now();
  if (state.loading?.stage !== stage) state.loading = { stage, sinceMs: nowMs, toldMs: -Infinity, progress: 0 };
  const { loading } = state;
  const progress = Math.min(1, Math.max(loading.progress, given));
  if (nowMs - loading.sinceMs < loadingAfterMs || nowMs - loading.toldMs < loadingEveryMs) return [];
  Object.assign(loading, { toldMs: nowMs, progress });
  return [{ type: "model_loading", payload: { sessionId: state.sessionId, stage, progress } }];
}

function metric(name: MetricName, value: number, tags?: Record<string, string>): SidecarEventBody {
  return { type: "metric", payload: { name, value, ...(tags === undefined ? {} : { tags }) } };
}
