// A session as the sidecar shows it (sidecar.md section 8), read off its stored entries. Pure; what only a running session
// knows is laid over it.
import { contentText, type AgentMessage, type AssistantMessage, type ToolResultMessage } from "../core/message.ts";
import { brokenText, failedText, pausedText } from "../wire/sidecar/own-replies.ts";
import { sessionCompactionOf } from "./compaction-state.ts";
import type { ContextUsage, ConversationTurn, SessionCompaction, SessionState, SessionSummary } from "../wire/sidecar/schema.ts";
import { isReplaced, messagesOf, settingsOf } from "./context.ts";
import type { AnyEntry } from "./entry.ts";
import { type EndedTurn, endedTurnOf, isTurnStart, progressOf, type ReplyMark, replyMarkOf } from "./progress.ts";
import type { StoredSession } from "./rows.ts";
import { approvalsOf, knownFactsOf, readOf } from "./turn-facts.ts";

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
  extra: Partial<Pick<SessionState, "approvalLevel" | "model" | "pendingApprovals" | "compactionWarning">>;
  /** Of the last request; what was compacted is read off the entries. */
  contextUsage?: Omit<ContextUsage, keyof Dropped> | undefined;
}

type ResultRow = Extract<ConversationTurn, { kind: "tool_result" }>;

const macroTurnsMax = 200;

export function sessionStateOf({ session, entries, isBusy }: StateSource, live?: LiveState): SessionState {
  const progress = progressOf(entries.filter(({ type }) => type === "custom"), { isBusy: isBusy || live !== undefined });
  const { turns, starts } = turnsOf(entries, live?.results ?? []);
  const { name } = settingsOf(entries, []);
  const compaction = storedCompactionOf(entries);
  const covered = (compaction?.coveredThrough ?? -1) + 1;
  const droppedPairs = starts.filter((_, index) => (starts[index + 1] ?? turns.length) <= covered).length;
  const messages = [...entries.flatMap(messagesOf), ...(live?.results ?? [])];
  return {
    id: `s-${session.id}`,
    workingDir: session.cwd,
    status: live?.status ?? progress.status,
    knownFacts: knownFactsOf(messages),
    latestResult: latestResultOf(messages),
    loadedSkills: loadedSkillsOf(messages),
    loadedTools: [],
    worldSnapshot: null,
    stepCount: progress.stepCount + (live?.openSteps ?? 0),
    turnCount: progress.turnCount,
    turns,
    ...(starts.length > 0 ? { macroTurnStarts: starts.slice(-macroTurnsMax) } : {}),
    createdAt: Date.parse(session.created) || 0,
    updatedAt: Date.parse(entries.at(-1)?.timestamp ?? session.created) || 0,
    lastError: progress.lastError,
    ...(live?.contextUsage ? { contextUsage: contextUsageOf(live.contextUsage, { droppedTurns: covered, droppedPairs, conversationPairs: progress.turnCount - droppedPairs }) } : {}),
    metadata: { ...progress.metadata, ...(name === undefined ? {} : { title: name }) },
    ...(compaction === undefined ? {} : { conversationPackStart: covered, compaction }),
    ...live?.extra,
  };
}

type Dropped = Pick<ContextUsage, "droppedTurns" | "droppedPairs" | "conversationPairs">;

/** In the order of the contract. */
function contextUsageOf({ contextWindow, conversationCap, conversationTokens, sections, tokens }: Omit<ContextUsage, keyof Dropped>, { conversationPairs, droppedPairs, droppedTurns }: Dropped): ContextUsage {
  return { tokens, contextWindow, droppedTurns, conversationTokens, conversationCap, conversationPairs, droppedPairs, sections };
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
  const results = new Set<string>();
  const calls = new Map<string, Record<string, unknown>>();
  const approvals = approvalsOf(entries);
  const rowsOf = (message: AgentMessage, isSteered: boolean): ConversationTurn[] =>
    message.role === "toolResult" ? [resultTurn(message, approvals.get(message.toolCallId), calls.get(message.toolCallId))] : turnOf(message, isSteered);
  const told = entries.map((entry) => ({ entry, messages: messagesOf(entry) }));
  const all = told.flatMap(({ messages }) => messages);
  const replaced = new Set(all.filter((message, index) => isReplaced(message, all[index + 1])));
  let promptTold = false;
  for (const { entry, messages } of told) {
    if (isTurnStart(entry)) {
      promptTold = false;
      starts.push(turns.length);
    }
    const ended = endedTurnOf(entry);
    const mark = replyMarkOf(entry);
    if (mark) turns.push(...judgedReply(turns.pop(), mark));
    if (ended) turns.push(...ownWords(ended, Date.parse(entry.timestamp) || 0));
    for (const message of messages) {
      if (replaced.has(message)) continue;
      if (message.role === "toolResult") results.add(message.toolCallId);
      if (message.role === "assistant") for (const block of message.content) if (block.type === "toolCall") calls.set(block.id, block.arguments);
      turns.push(...rowsOf(message, promptTold));
      if (message.role === "user") promptTold = true;
    }
  }
  for (const result of late) if (!results.has(result.toolCallId)) turns.push(...rowsOf(result, false));
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

function resultTurn(message: ToolResultMessage, approvals: ResultRow["approvals"], args: Record<string, unknown> | undefined): ResultRow {
  const { content, details, isError, timestamp: at, toolCallId, toolName } = message;
  const isCut = typeof details === "object" && details !== null && "truncation" in details;
  const read = readOf(message, args);
  return {
    kind: "tool_result",
    at,
    tool: toolName,
    status: isError ? "error" : "ok",
    summary: contentText(content),
    ...(isCut ? { truncated: true } : {}),
    ...(approvals ? { approvals } : {}),
    ...(read ? { read } : {}),
    toolCallId,
  };
}

/** Each skill as it was last opened. */
function loadedSkillsOf(messages: readonly AgentMessage[]): SessionState["loadedSkills"] {
  const skills = new Map<string, SessionState["loadedSkills"][number]>();
  for (const message of messages) {
    if (message.role !== "toolResult" || message.toolName !== "skill.view" || message.isError) continue;
    const { name, version } = (message.details ?? {}) as { name?: unknown; version?: unknown };
    if (typeof name === "string") skills.set(name, { name, version: String(version ?? "0.0.0"), body: contentText(message.content), loadedAt: message.timestamp });
  }
  return [...skills.values()];
}

function latestResultOf(messages: readonly AgentMessage[]): SessionState["latestResult"] {
  const last = messages.findLast((message) => message.role === "toolResult");
  if (last?.role !== "toolResult") return null;
  const { content, details, isError, toolName } = last;
  const isTelling = typeof details === "object" && details !== null && Object.keys(details).length > 0;
  return { tool: toolName, status: isError ? "error" : "ok", summary: contentText(content), ...(isTelling ? { details } : {}) };
}
