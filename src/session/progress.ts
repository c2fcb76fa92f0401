// How far a session has come (sidecar.md section 8): its turns leave marks among the entries, so that counters and status
// survive the process. The marks are `custom` entries: exported, never in the context.
import type { TurnReason } from "../core/event.ts";
import type { AnyEntry, EntryBody } from "./entry.ts";

export interface EndedTurn {
  turnIndex: number;
  reason: TurnReason;
  /** Steps of this turn alone. */
  stepCount: number;
  /** With `max_steps`. */
  cause?: string;
  /** With `failed`, and with `cancelled` when nobody wished it. */
  message?: string;
}

export type StoredStatus = "pending" | "running" | "completed" | "failed" | "cancelled" | "stalled";

export interface SessionProgress {
  /** Turns begun. */
  turnCount: number;
  /** Steps of the ended turns. */
  stepCount: number;
  status: StoredStatus;
  lastError: string | null;
  /** The host's own words about the session. */
  metadata: Record<string, unknown>;
}

const started = "turn_started";
const ended = "turn_ended";
const metadataType = "metadata";
const replyJudged = "reply_judged";

export function turnStartedEntry(turnIndex: number): EntryBody {
  return { type: "custom", customType: started, data: { turnIndex } };
}

export function turnEndedEntry(turn: EndedTurn): EntryBody {
  return { type: "custom", customType: ended, data: turn };
}

/** What became of the attachments of the reply before it. */
export interface ReplyMark {
  given: unknown;
  attachments: string[];
  refusal?: string;
}

export function replyMarkEntry({ attachments, given, refusal }: ReplyMark): EntryBody {
  return { type: "custom", customType: replyJudged, data: { given, attachments, ...(refusal === undefined ? {} : { refusal }) } };
}

export function replyMarkOf({ customType, data, type }: AnyEntry): ReplyMark | undefined {
  if (type !== "custom" || customType !== replyJudged || !isRecord(data)) return undefined;
  return { given: undefined, attachments: [], ...data };
}

const interruptedText = "turn interrupted: the agent stopped before it finished";

/** Ends the turn that an earlier process did not; undefined when there is none. */
export function interruptedEntry(entries: readonly AnyEntry[]): EntryBody | undefined {
  const { status, turnCount } = progressOf(entries, { isBusy: true });
  return status === "running" ? turnEndedEntry({ turnIndex: turnCount - 1, reason: "cancelled", stepCount: 0, message: interruptedText }) : undefined;
}

export function metadataEntry(metadata: Record<string, unknown>): EntryBody {
  return { type: "custom", customType: metadataType, data: metadata };
}

/**
 * Reads the marks; a turn that began and never ended belongs to a live owner or was interrupted.
 * @param entries all of a session, or only those of type `custom`
 */
export function progressOf(entries: readonly AnyEntry[], { isBusy }: { isBusy: boolean }): SessionProgress {
  const progress: SessionProgress = { turnCount: 0, stepCount: 0, status: "pending", lastError: null, metadata: {} };
  for (const { type, customType, data } of entries) {
    if (type !== "custom" || !isRecord(data)) continue;
    if (customType === metadataType) progress.metadata = data;
    else if (customType === started) Object.assign(progress, { turnCount: progress.turnCount + 1, status: "running" });
    else if (customType === ended) {
      const turn = data as Partial<EndedTurn>;
      progress.stepCount += turn.stepCount ?? 0;
      Object.assign(progress, restOf(turn));
    }
  }
  if (progress.status !== "running" || isBusy) return progress;
  return { ...progress, status: "cancelled", lastError: interruptedText };
}

export function isTurnStart({ customType, type }: AnyEntry): boolean {
  return type === "custom" && customType === started;
}

/** The end of a turn that an entry marks, if it does. */
export function endedTurnOf({ customType, data, type }: AnyEntry): EndedTurn | undefined {
  if (type !== "custom" || customType !== ended || !isRecord(data)) return undefined;
  return { turnIndex: 0, reason: "reply", stepCount: 0, ...data };
}

function restOf({ reason, cause, message, stepCount = 0 }: Partial<EndedTurn>): Pick<SessionProgress, "status" | "lastError"> {
  switch (reason) {
    case "finish":
      return { status: "completed", lastError: null };
    case "cancelled":
      return { status: "cancelled", lastError: message ?? null };
    case "max_steps":
      return { status: "stalled", lastError: `task_stopped:${cause ?? "step_ceiling"}: ${stepCount} steps without reply` };
    case "failed":
      return { status: "failed", lastError: message ?? "the turn failed" };
    default:
      return { status: "pending", lastError: null };
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
