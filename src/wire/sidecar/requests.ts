// What a host may ask and what it is answered (sidecar.md sections 2 and 3). On input `null` for an optional field counts as
// absent, and unknown fields are ignored.
import { z } from "zod";
import { SessionCompaction, SessionState, SessionSummary } from "./session-state.ts";
import { ApprovalLevel, CompactionNumbers, Count, Data, EngineName, SandboxKind, SkillSource, StepErrorCategory, TurnReason } from "./values.ts";

const Nothing = z.record(z.string(), z.unknown());
const Required = z.string().min(1);
const OfSession = z.object({ sessionId: z.string() });

export const StartSessionPayload = z.object({
  workingDir: Required,
  metadata: Data.nullish(),
  resumeSessionId: Required.nullish(),
  approvalLevel: ApprovalLevel.nullish(),
  model: Required.nullish(),
});
export type StartSessionPayload = z.infer<typeof StartSessionPayload>;

export const SendMessagePayload = z.object({
  sessionId: z.string(),
  text: z.string().regex(/\S/, "expected a text that is not blank"),
  maxSteps: z.int().min(1).nullish(),
});
export type SendMessagePayload = z.infer<typeof SendMessagePayload>;

export const SteerMessagePayload = z.object({ sessionId: z.string(), text: z.string() });
export type SteerMessagePayload = z.infer<typeof SteerMessagePayload>;

export const CancelPayload = OfSession;
export type CancelPayload = z.infer<typeof CancelPayload>;

export const ApprovalResponsePayload = z.object({
  approvalId: z.string(),
  approved: z.boolean(),
  reason: z.string().nullish(),
  grant: z.enum(["once", "session"]).nullish(),
});
export type ApprovalResponsePayload = z.infer<typeof ApprovalResponsePayload>;

export const SkillInstallPayload = z.object({ sourcePath: Required, force: z.boolean().nullish() });
export type SkillInstallPayload = z.infer<typeof SkillInstallPayload>;

export const SkillUninstallPayload = z.object({ name: Required });
export type SkillUninstallPayload = z.infer<typeof SkillUninstallPayload>;

export const ListSessionsPayload = z.object({ limit: z.int().min(1).max(500).nullish(), workingDir: z.string().nullish() });
export type ListSessionsPayload = z.infer<typeof ListSessionsPayload>;

export const SetModelPayload = z.object({ model: Required, sessionId: z.string().nullish() });
export type SetModelPayload = z.infer<typeof SetModelPayload>;

/** Payload of each request. `run_step` is declared and never handled. */
export const requestPayloads = {
  ping: Nothing,
  start_session: StartSessionPayload,
  send_message: SendMessagePayload,
  steer_message: SteerMessagePayload,
  cancel: CancelPayload,
  approval_response: ApprovalResponsePayload,
  get_session: OfSession,
  skill_install: SkillInstallPayload,
  skill_uninstall: SkillUninstallPayload,
  skill_list: Nothing,
  shutdown: Nothing,
  run_step: Nothing,
  compact_session: OfSession,
  get_compaction: OfSession,
  list_sessions: ListSessionsPayload,
  models_list: Nothing,
  set_model: SetModelPayload,
} as const;

export type RequestPayloads = { [Type in keyof typeof requestPayloads]: z.infer<(typeof requestPayloads)[Type]> };

export const HostRequestType = z.enum(Object.keys(requestPayloads) as (keyof typeof requestPayloads)[]);
export type HostRequestType = z.infer<typeof HostRequestType>;

/** The host's choice; a number is echoed as that number. */
export const RequestId = z.union([Required, z.number()]);
export type RequestId = z.infer<typeof RequestId>;

function request<Type extends HostRequestType, Payload extends z.ZodType>(type: Type, payload: Payload) {
  return z.object({ kind: z.literal("request"), id: RequestId, type: z.literal(type), payload });
}

const noPayload = z.unknown().optional();
const anyPayload = Nothing.nullish();

export const HostRequest = z.discriminatedUnion("type", [
  request("ping", noPayload),
  request("start_session", StartSessionPayload),
  request("send_message", SendMessagePayload),
  request("steer_message", SteerMessagePayload),
  request("cancel", CancelPayload),
  request("approval_response", ApprovalResponsePayload),
  request("get_session", OfSession),
  request("skill_install", SkillInstallPayload),
  request("skill_uninstall", SkillUninstallPayload),
  request("skill_list", noPayload),
  request("shutdown", noPayload),
  request("run_step", anyPayload),
  request("compact_session", OfSession),
  request("get_compaction", OfSession),
  request("list_sessions", ListSessionsPayload.nullish()),
  request("models_list", anyPayload),
  request("set_model", SetModelPayload),
]);
export type HostRequest = z.infer<typeof HostRequest>;

export const PingResponse = z.object({
  ok: z.literal(true),
  llamaUrl: z.string(),
  stateDir: z.string(),
  /** A literal for ever; not for negotiation. */
  version: z.literal("0.1.0"),
  agentVersion: z.string(),
  protocol: z.object({ name: z.literal("atomic-agent-sidecar"), revision: z.int().min(1) }),
  capabilities: z.array(z.string()),
  sandbox: SandboxKind,
  model: z.string().optional(),
  engine: EngineName.optional(),
});
export type PingResponse = z.infer<typeof PingResponse>;

export const SendMessageResponse = z.object({
  reason: TurnReason,
  turnCount: Count,
  stepCount: Count,
  turnIndex: Count.optional(),
  usage: z.object({ promptTokens: Count, completionTokens: Count, cachedTokens: Count }).optional(),
  started: z.literal(false).optional(),
  error: z.object({ message: z.string(), category: StepErrorCategory }).optional(),
});
export type SendMessageResponse = z.infer<typeof SendMessageResponse>;

export const SkillSummary = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  source: SkillSource,
  path: z.string().optional(),
  dangerous: z.boolean().optional(),
  trusted: z.boolean().optional(),
});
export type SkillSummary = z.infer<typeof SkillSummary>;

export const CompactionResponse = z.object({ status: z.enum(["compacted", "noop", "busy", "failed", "cancelled"]), ...CompactionNumbers });
export type CompactionResponse = z.infer<typeof CompactionResponse>;

export const ModelSummary = z.object({
  id: z.string(),
  engine: EngineName,
  active: z.boolean(),
  state: z.enum(["installed", "missing", "loading", "ready"]).optional(),
  contextWindow: Count.optional(),
  sizeBytes: Count.optional(),
  provider: z.string().optional(),
});
export type ModelSummary = z.infer<typeof ModelSummary>;

/** Payload of each successful response. */
export const responsePayloads = {
  ping: PingResponse,
  start_session: z.object({ sessionId: z.string(), resumed: z.literal(true).optional() }),
  send_message: SendMessageResponse,
  steer_message: z.object({ steered: z.boolean() }),
  cancel: z.object({ cancelled: z.boolean(), wasRunning: z.boolean().optional(), queued: Count.optional() }),
  approval_response: z.object({ resolved: z.boolean(), grant: z.enum(["once", "session"]).optional() }),
  get_session: SessionState.nullable(),
  skill_install: z.object({ name: z.string(), installedAt: z.string(), version: z.string().optional(), replaced: z.boolean().optional() }),
  skill_uninstall: z.object({ removed: z.boolean() }),
  skill_list: z.object({ skills: z.array(SkillSummary) }),
  shutdown: z.object({ ok: z.literal(true) }),
  compact_session: CompactionResponse,
  get_compaction: SessionCompaction.nullable(),
  list_sessions: z.object({ sessions: z.array(SessionSummary) }),
  models_list: z.object({ models: z.array(ModelSummary) }),
  set_model: z.object({ model: z.string(), engine: EngineName, appliesFrom: z.enum(["now", "next_step", "next_session"]) }),
} as const;
export type ResponsePayloads = { [Type in keyof typeof responsePayloads]: z.infer<(typeof responsePayloads)[Type]> };

export const ResponseError = z.object({
  message: z.string(),
  code: z.enum(["unknown_request", "handler_failed"]),
  /** Dotted path of the offending payload field. */
  field: z.string().optional(),
});
export type ResponseError = z.infer<typeof ResponseError>;

export const SidecarResponse = z.object({
  kind: z.literal("response"),
  id: z.uuid(),
  /** The request's id; "" when it had none that can be echoed. */
  correlationId: z.union([z.string(), z.number()]),
  ok: z.boolean(),
  payload: Data.nullable(),
  error: ResponseError.optional(),
});
export type SidecarResponse = z.infer<typeof SidecarResponse>;
