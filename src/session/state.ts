// A session as the sidecar shows it (sidecar.md section 8), read off its stored entries. Pure; what only a running session
// knows is laid over it.
import { contentText, type AgentMessage, type AssistantMessage, type ToolResultMessage } from "../core/message.ts";
import { brokenText, failedText, pausedText } from "../wire/sidecar/own-replies.ts";
import { sessionCompactionOf } from "./compaction-state.ts";
import type { ConversationTurn, SessionCompaction, SessionState, SessionSummary } from "../wire/sidecar/schema.ts";
import { messagesOf, settingsOf } from "./context.ts";
import type { AnyEntry } from "./entry.ts";
import { type EndedTurn, endedTurnOf, isTurnStart, progressOf, type ReplyMark, replyMarkOf } from "./progress.ts";
import type { StoredSession } from "./rows.ts";

export interface StateSource {
  session: StoredSession;
  /** All of them, in order. */
  entries: readonly AnyEntry[];
  /** A live process owns it. */
  isBusy: boolean;
}

/** What a running session adds. */
export interface LiveState {
  status?: SessionState["status"];
  /** Steps of the turn that runs. */
  openSteps: number;
  /** Results that are told and not stored yet. */
  results: readonly ToolResultMessage[];
  extra: Partial<Pick<SessionState, "approvalLevel" | "model" | "pendingApprovals" | "contextUsage">>;
}

const macroTurnsMax = 200;

export function sessionStateOf({ session, entries, isBusy }: StateSource, live?: LiveState): SessionState {
  const progress = progressOf(entries.filter(({ type }) => type === "custom"), { isBusy: isBusy || live !== undefined });
  const { turns, starts } = turnsOf(entries, live?.results ?? []);
  const { name } = settingsOf(entries, []);
  const compaction = storedCompactionOf(entries);
  return {
    id: `s-${session.id}`,
    workingDir: session.cwd,
    status: live?.status ?? progress.status,
    knownFacts: [],
    latestResult: latestResultOf(turns),
    loadedSkills: loadedSkillsOf(entries, live?.results ?? []),
    loadedTools: [],
    worldSnapshot: null,
    stepCount: progress.stepCount + (live?.openSteps ?? 0),
    turnCount: progress.turnCount,
    turns,
    ...(starts.length > 0 ? { macroTurnStarts: starts.slice(-macroTurnsMax) } : {}),
    createdAt: Date.parse(session.created) || 0,
    updatedAt: Date.parse(entries.at(-1)?.timestamp ?? session.created) || 0,
    lastError: progress.lastError,
    metadata: { ...progress.metadata, ...(name === undefined ? {} : { title: name }) },
    ...(compaction === undefined ? {} : { conversationPackStart: compaction.coveredThrough + 1, compaction }),
    ...live?.extra,
  };
}

export function storedCompactionOf(entries: readonly AnyEntry[]): SessionCompaction | undefined {
  return sessionCompactionOf(entries, (index) => turnsOf(entries.slice(0, index), []).turns.length);
}

/** @param entries those of type `custom` are enough */
export function sessionSummaryOf({ session, entries, isBusy }: StateSource, { name, updatedAt, live }: { name?: string | undefined; updatedAt: number; live?: LiveState | undefined }): SessionSummary {
  const { lastError, metadata, status, stepCount, turnCount } = progressOf(entries, { isBusy });
  const title = name ?? metadata["title"];
  return {
    id: `s-${session.id}`,
    workingDir: session.cwd,
    status: live?.status ?? status,
    turnCount,
    stepCount: stepCount + (live?.openSteps ?? 0),
    createdAt: Date.parse(session.created) || 0,
    updatedAt,
    lastError,
    busy: isBusy,
    ...(typeof title === "string" && title !== "" ? { title } : {}),
  };
}

function turnsOf(entries: readonly AnyEntry[], late: readonly ToolResultMessage[]): { turns: ConversationTurn[]; starts: number[] } {
  const turns: ConversationTurn[] = [];
  const starts: number[] = [];
  const calls = new Set<string>();
  let promptTold = false;
  for (const entry of entries) {
    if (isTurnStart(entry)) {
      promptTold = false;
      starts.push(turns.length);
    }
    const ended = endedTurnOf(entry);
    const mark = replyMarkOf(entry);
    if (mark) turns.push(...judgedReply(turns.pop(), mark));
    if (ended) turns.push(...ownWords(ended, Date.parse(entry.timestamp) || 0));
    for (const message of messagesOf(entry)) {
      if (message.role === "toolResult") calls.add(message.toolCallId);
      turns.push(...turnOf(message, promptTold));
      if (message.role === "user") promptTold = true;
    }
  }
  for (const result of late) if (!calls.has(result.toolCallId)) turns.push(...turnOf(result, false));
  return { turns, starts };
}

/** What the product itself said at the end of a turn. */
function ownWords({ cause, message, reason, stepCount }: EndedTurn, at: number): ConversationTurn[] {
  const said = (text: string): ConversationTurn[] => [{ kind: "assistant_reply", at, text }];
  if (reason === "max_steps") return said(pausedText(cause, stepCount));
  if (reason === "failed") return said(failedText(message ?? "no reason is known"));
  return reason === "reply" && cause === "loop_breaker" ? said(brokenText) : [];
}

function turnOf(message: AgentMessage, steered: boolean): ConversationTurn[] {
  switch (message.role) {
    case "user":
      return [{ kind: "user", at: message.timestamp, text: contentText(message.content), ...(steered ? { steered } : {}) }];
    case "assistant":
      return assistantTurns(message);
    case "toolResult":
      return [resultTurn(message)];
    default:
      return [];
  }
}

/** A reply that was refused is a call that failed. */
function judgedReply(turn: ConversationTurn | undefined, { attachments, given, refusal }: ReplyMark): ConversationTurn[] {
  if (turn?.kind !== "assistant_reply") return turn === undefined ? [] : [turn];
  const { at, progressNote, stopped, text, ...rest } = turn;
  if (refusal !== undefined) {
    return [
      { kind: "assistant_tool_call", at, tool: "reply", args: { text, attachments: given } },
      { kind: "tool_result", at, tool: "reply", status: "error", summary: refusal },
    ];
  }
  const flags = { ...(progressNote ? { progressNote } : {}), ...(stopped ? { stopped } : {}) };
  return [{ ...rest, at, text, ...(attachments.length > 0 ? { attachments } : {}), ...flags }];
}

function assistantTurns({ content, stopReason, terminal, timestamp: at }: AssistantMessage): ConversationTurn[] {
  if (stopReason === "error" || terminal === "finish") return [];
  const thinking = content.map((block) => (block.type === "thinking" ? block.thinking : "")).join("");
  const reasoning = thinking === "" ? {} : { reasoning: thinking };
  const calls = stopReason === "aborted" ? [] : content.filter((block) => block.type === "toolCall");
  const text = content.flatMap((block) => (block.type === "text" && block.text.trim() !== "" ? [block.text] : [])).join("\n\n");
  const flags = stopReason === "aborted" ? { stopped: true } : calls.length > 0 ? { progressNote: true } : {};
  return [
    ...calls.map(({ arguments: args, id, name }) => ({ kind: "assistant_tool_call" as const, at, tool: name, args, ...reasoning, toolCallId: id })),
    ...(text === "" ? [] : [{ kind: "assistant_reply" as const, at, text, ...(calls.length === 0 ? reasoning : {}), ...flags }]),
  ];
}

function resultTurn({ content, details, isError, timestamp: at, toolCallId, toolName }: ToolResultMessage): ConversationTurn {
  const isCut = typeof details === "object" && details !== null && "truncation" in details;
  return { kind: "tool_result", at, tool: toolName, status: isError ? "error" : "ok", summary: contentText(content), ...(isCut ? { truncated: true } : {}), toolCallId };
}

/** Each skill as it was last opened. */
function loadedSkillsOf(entries: readonly AnyEntry[], late: readonly ToolResultMessage[]): SessionState["loadedSkills"] {
  const skills = new Map<string, SessionState["loadedSkills"][number]>();
  for (const message of [...entries.flatMap(messagesOf), ...late]) {
    if (message.role !== "toolResult" || message.toolName !== "skill.view" || message.isError) continue;
    const { name, version } = (message.details ?? {}) as { name?: unknown; version?: unknown };
    if (typeof name === "string") skills.set(name, { name, version: String(version ?? "0.0.0"), body: contentText(message.content), loadedAt: message.timestamp });
  }
  return [...skills.values()];
}

function latestResultOf(turns: readonly ConversationTurn[]): SessionState["latestResult"] {
  const last = turns.findLast((turn) => turn.kind === "tool_result");
  return last?.kind === "tool_result" ? { tool: last.tool, status: last.status, summary: last.summary } : null;
}
