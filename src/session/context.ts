// From stored entries to what the next request holds (json-mode.md 11.2). Pure: reads no disk, changes no entry.
import { compactionMessage } from "../agent/compaction/boundary.ts";
import { AgentMessage, type AssistantMessage, type ToolCall, type ToolResultMessage, usageOf } from "../core/message.ts";
import type { AnyEntry } from "./entry.ts";

/** The way from the root to an entry, by default to the last one, which is the leaf on load. */
export function pathOf(entries: readonly AnyEntry[], leafId = entries.at(-1)?.id): AnyEntry[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const path: AnyEntry[] = [];
  for (let id: string | null | undefined = leafId; typeof id === "string"; ) {
    const entry = byId.get(id);
    if (entry === undefined) break;
    byId.delete(id); // an entry that is its own ancestor ends the way
    path.push(entry);
    id = entry.parentId;
  }
  return path.toReversed();
}

/**
 * The messages of a path as a request needs them: the newest compaction stands for what is before its first kept entry,
 * every call has exactly one result right behind it, and attempts that a later one replaced are gone.
 */
export function contextOf(path: readonly AnyEntry[]): AgentMessage[] {
  const boundary = path.findLastIndex(isVerbatimCompaction);
  const compaction = path[boundary];
  if (compaction === undefined) return settled(path.flatMap(messagesOf));
  const firstKept = path.findIndex(({ id }) => id === compaction["firstKeptEntryId"]);
  const kept = firstKept === -1 ? [] : path.slice(firstKept, boundary);
  const summary = compactionMessage(String(compaction["summary"] ?? ""), timeOf(compaction));
  return [summary, ...settled([...kept, ...path.slice(boundary + 1)].flatMap(messagesOf))];
}

/** Calls at the end of a path that never got a result: the process died while they ran, or before. */
export function openCalls(path: readonly AnyEntry[]): ToolCall[] {
  const open = new Map<string, ToolCall>();
  for (const message of path.flatMap(messagesOf)) {
    if (message.role === "toolResult") open.delete(message.toolCallId);
    else open.clear();
    if (message.role === "assistant") for (const call of callsOf(message)) open.set(call.id, call);
  }
  return [...open.values()];
}

/** The result that an open call gets when its session is resumed. */
export function interruptedResult(call: ToolCall, timestampMs: number): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: [{ type: "text", text: "interrupted: the program stopped before this call ended; it may have had effects" }],
    details: {},
    isError: true,
    timestamp: timestampMs,
  };
}

/** What the entries of a session say about it: the newest name of all, the newest model and level on the path. */
export function settingsOf(entries: readonly AnyEntry[], path: readonly AnyEntry[]): { name?: string; model?: { provider: string; modelId: string }; thinkingLevel?: string } {
  const name = entries.findLast(({ type }) => type === "session_info")?.["name"];
  const model = path.findLast(({ type }) => type === "model_change");
  const level = path.findLast(({ type }) => type === "thinking_level_change")?.["thinkingLevel"];
  return {
    ...(typeof name === "string" && name !== "" ? { name } : {}),
    ...(model === undefined ? {} : { model: { provider: String(model["provider"]), modelId: String(model["modelId"]) } }),
    ...(typeof level === "string" ? { thinkingLevel: level } : {}),
  };
}

/** The message that an entry brings into the context, if any. */
export function messagesOf(entry: AnyEntry): AgentMessage[] {
  const timestamp = timeOf(entry);
  if (entry["excludeFromContext"] === true) return [];
  switch (entry.type) {
    case "message":
      return readMessage(entry["message"], timestamp);
    case "custom_message": {
      const { customType, content, display, details } = entry;
      return readMessage({ role: "custom", customType, content, display: display === true, ...(details === undefined ? {} : { details }), timestamp }, timestamp);
    }
    case "branch_summary":
      return readMessage({ role: "branchSummary", summary: entry["summary"], fromId: entry["fromId"], timestamp }, timestamp);
    default:
      return [];
  }
}

function isVerbatimCompaction(entry: AnyEntry): boolean {
  const details = entry["details"];
  return entry.type === "compaction" && isRecord(details) && details["strategy"] === "verbatim-lines";
}

function settled(messages: readonly AgentMessage[]): AgentMessage[] {
  const result: AgentMessage[] = [];
  const open = new Map<string, ToolCall>();
  let lastMs = 0;
  const closeOpen = (): void => {
    for (const call of open.values()) result.push(interruptedResult(call, lastMs));
    open.clear();
  };
  for (const [index, message] of messages.entries()) {
    if (message.role === "toolResult") {
      if (open.delete(message.toolCallId)) result.push(message);
    } else {
      closeOpen();
      const sent = message.role === "assistant" ? sentForm(message, messages[index + 1]) : message;
      if (sent !== undefined) result.push(sent);
      if (message.role === "assistant" && sent !== undefined) for (const call of callsOf(message)) open.set(call.id, call);
    }
    lastMs = message.timestamp;
  }
  closeOpen();
  return result;
}

/** A failed or cut attempt that another answer follows at once was tried again: the answer took its place. */
export function isReplaced(message: AgentMessage, next: AgentMessage | undefined): boolean {
  return message.role === "assistant" && next?.role === "assistant" && (message.stopReason === "error" || message.stopReason === "length");
}

/** An assistant message as it is sent; undefined when nothing of it is. */
function sentForm(message: AssistantMessage, next: AgentMessage | undefined): AssistantMessage | undefined {
  const { stopReason } = message;
  if (isReplaced(message, next)) return undefined;
  if (stopReason !== "error" && stopReason !== "aborted") return message;
  const content = message.content.filter((block) => block.type !== "toolCall");
  return content.length === 0 ? undefined : { ...message, content };
}

function callsOf(message: AssistantMessage): ToolCall[] {
  if (message.stopReason === "error" || message.stopReason === "aborted") return [];
  return message.content.filter((block): block is ToolCall => block.type === "toolCall");
}

/** Reads a message from anywhere: what is missing is filled in, what can't be understood is left out of the context. */
function readMessage(raw: unknown, timestamp: number): AgentMessage[] {
  if (!isRecord(raw) || raw["excludeFromContext"] === true) return [];
  if (AgentMessage.safeParse(raw).success) return [raw as unknown as AgentMessage];
  const filled: Record<string, unknown> = { ...defaultsByRole[String(raw["role"])], timestamp, ...raw };
  if (filled["role"] === "assistant") {
    const usage = isRecord(filled["usage"]) ? filled["usage"] : {};
    const number = (name: string) => (typeof usage[name] === "number" ? Math.max(0, Math.round(usage[name])) : 0);
    filled["usage"] = usageOf({ input: number("input"), output: number("output"), cacheRead: number("cacheRead") });
    if (Array.isArray(filled["content"])) filled["content"] = filled["content"].filter((block) => isRecord(block) && ["text", "thinking", "toolCall"].includes(String(block["type"])));
  }
  const parsed = AgentMessage.safeParse(filled);
  return parsed.success ? [parsed.data] : [];
}

const defaultsByRole: Readonly<Record<string, Record<string, unknown>>> = {
  assistant: { api: "", provider: "", model: "", stopReason: "stop" },
  toolResult: { toolName: "", isError: false },
  bashExecution: { cancelled: false, truncated: false },
  custom: { display: false },
};

function timeOf(entry: AnyEntry): number {
  return Date.parse(entry.timestamp) || 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
