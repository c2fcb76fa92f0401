// The state of a session as `get_session` shows it (sidecar.md section 8).
import { z } from "zod";
import { ApprovalCategory, ApprovalLevel, CompactionReason, Count, Data, EpochMs, SessionStatus, ToolStatus } from "./values.ts";

export const SessionCompaction = z.object({
  version: z.literal(1),
  summary: z.string(),
  coveredThrough: z.int(),
  /** SHA-256, hex. */
  boundaryHash: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: EpochMs,
  reason: CompactionReason,
  model: z.string(),
  tokensBefore: Count,
  tokensAfter: Count,
  costUsd: z.number().optional(),
  usage: Data.optional(),
  calls: Count.optional(),
});
export type SessionCompaction = z.infer<typeof SessionCompaction>;

const TurnApproval = z.object({ verdict: z.enum(["approved", "denied"]), category: ApprovalCategory, at: EpochMs });
const TurnRead = z.object({ path: z.string(), contentHash: z.string(), startLine: z.int(), endLine: z.int(), numbered: z.boolean() });

export const ConversationTurn = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("user"), at: EpochMs, text: z.string(), steered: z.boolean().optional() }),
  z.object({
    kind: z.literal("assistant_tool_call"),
    at: EpochMs,
    tool: z.string(),
    args: Data,
    reasoning: z.string().optional(),
    toolCallId: z.string().optional(),
  }),
  z.object({
    kind: z.literal("tool_result"),
    at: EpochMs,
    tool: z.string(),
    status: ToolStatus,
    summary: z.string(),
    truncated: z.boolean().optional(),
    approvals: z.array(TurnApproval).optional(),
    read: TurnRead.optional(),
    toolCallId: z.string().optional(),
  }),
  z.object({
    kind: z.literal("assistant_reply"),
    at: EpochMs,
    text: z.string(),
    reasoning: z.string().optional(),
    attachments: z.array(z.string()).optional(),
    progressNote: z.boolean().optional(),
    stopped: z.boolean().optional(),
  }),
]);
export type ConversationTurn = z.infer<typeof ConversationTurn>;

/** Token counts of the next prompt, after the first step. */
export const ContextUsage = z.object({
  tokens: Count,
  contextWindow: Count,
  droppedTurns: Count,
  conversationTokens: Count,
  conversationCap: Count,
  conversationPairs: Count,
  droppedPairs: Count,
  sections: z.array(z.object({ label: z.string(), tokens: Count })),
});
export type ContextUsage = z.infer<typeof ContextUsage>;

export const SessionState = z.object({
  id: z.string(),
  workingDir: z.string(),
  status: SessionStatus,
  knownFacts: z.array(z.object({ text: z.string(), source: z.string().optional() })),
  latestResult: z.object({ tool: z.string(), status: z.string(), summary: z.string(), details: z.unknown().optional() }).nullable(),
  loadedSkills: z.array(z.object({ name: z.string(), version: z.string(), body: z.string(), loadedAt: EpochMs })),
  loadedTools: z.array(z.unknown()),
  worldSnapshot: z.null(),
  stepCount: Count,
  turnCount: Count,
  turns: z.array(ConversationTurn),
  macroTurnStarts: z.array(Count).optional(),
  createdAt: EpochMs,
  updatedAt: EpochMs,
  lastError: z.string().nullable(),
  contextUsage: ContextUsage.optional(),
  metadata: Data,
  conversationPackStart: Count.optional(),
  compaction: SessionCompaction.optional(),
  compactionWarning: z.string().optional(),
  /** Of the active session only. */
  approvalLevel: ApprovalLevel.optional(),
  model: z.string().optional(),
  pendingApprovals: z.array(z.object({ approvalId: z.string(), tool: z.string(), category: ApprovalCategory })).optional(),
});
export type SessionState = z.infer<typeof SessionState>;

export const SessionSummary = z.object({
  id: z.string(),
  workingDir: z.string(),
  status: SessionStatus,
  turnCount: Count,
  stepCount: Count,
  createdAt: EpochMs,
  updatedAt: EpochMs,
  lastError: z.string().nullable(),
  busy: z.boolean(),
  title: z.string().optional(),
});
export type SessionSummary = z.infer<typeof SessionSummary>;
