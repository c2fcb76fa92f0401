// Builds right event streams of the JSON wire by hand, to be broken by the tests of the checker.
import type { JsonObject } from "../../support/json-checker/values.ts";

export const zeroUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
export const someUsage = { ...zeroUsage, input: 7, output: 3, totalTokens: 10 };

export const header: JsonObject = {
  type: "session",
  version: 3,
  id: "01890a5d-ac96-774b-bcce-b302099a8057",
  timestamp: "2026-01-02T03:04:05.678Z",
  cwd: "/workspace",
  agentVersion: "0.1.0",
  sandbox: "none",
};

export function settled(outcome = "ok", exitCode = 0, more: JsonObject = {}): JsonObject {
  return { type: "agent_settled", outcome, exitCode, usage: someUsage, durationMs: 12, ...more };
}

export function pair(message: JsonObject): JsonObject[] {
  return [{ type: "message_start", message }, { type: "message_end", message }];
}

export function user(text: string): JsonObject {
  return { role: "user", content: [{ type: "text", text }], timestamp: 1000 };
}

export function assistant(content: JsonObject[], stopReason: string, more: JsonObject = {}): JsonObject {
  return { role: "assistant", content, api: "scripted", provider: "scripted", model: "script", usage: someUsage, stopReason, timestamp: 1000, ...more };
}

export const failed = (errorKind: string): JsonObject => ({ ...assistant([], "error"), usage: zeroUsage, errorMessage: "it failed", errorKind });
export const aborted: JsonObject = { ...assistant([], "aborted"), usage: zeroUsage, errorMessage: "aborted" };

export function call(id: string, name = "fs.list", args: JsonObject = { path: "." }): JsonObject {
  return { type: "toolCall", id, name, arguments: args };
}

/** An assistant message as it grows, each block in two deltas, with snapshots. */
export function grow(message: JsonObject): JsonObject[] {
  const pending = (content: unknown[]): JsonObject => ({ ...message, content, usage: zeroUsage, stopReason: "pending" });
  const clean = Object.fromEntries(Object.entries(pending([])).filter(([key]) => !["errorMessage", "errorKind", "terminal"].includes(key)));
  const events: JsonObject[] = [{ type: "message_start", message: clean }];
  const done: unknown[] = [];
  for (const [contentIndex, block] of (message["content"] as JsonObject[]).entries()) {
    const update = (change: JsonObject, now: unknown): void => {
      events.push({ type: "message_update", message: { ...clean, content: [...done, now] }, assistantMessageEvent: change });
    };
    if (block["type"] === "toolCall") {
      const empty = { ...block, arguments: {} };
      update({ type: "toolcall_start", contentIndex, id: block["id"], toolName: block["name"] }, empty);
      update({ type: "toolcall_delta", contentIndex, delta: "{" }, empty);
      update({ type: "toolcall_delta", contentIndex, delta: JSON.stringify(block["arguments"]).slice(1) }, block);
      update({ type: "toolcall_end", contentIndex, toolCall: block }, block);
    } else {
      const kind = block["type"] as "text" | "thinking";
      const text = String(block[kind]);
      update({ type: `${kind}_start`, contentIndex }, { type: kind, [kind]: "" });
      update({ type: `${kind}_delta`, contentIndex, delta: text.slice(0, 2) }, { type: kind, [kind]: text.slice(0, 2) });
      update({ type: `${kind}_delta`, contentIndex, delta: text.slice(2) }, block);
      update({ type: `${kind}_end`, contentIndex, content: text }, block);
    }
    done.push(block);
  }
  events.push({ type: "message_end", message });
  return events;
}

export function toolResult(of: JsonObject, text: string, isError = false): JsonObject {
  return { role: "toolResult", toolCallId: of["id"], toolName: of["name"], content: [{ type: "text", text }], details: isError ? {} : { path: "/workspace", entries: 1 }, isError, timestamp: 1000 };
}

export function toolStart(of: JsonObject): JsonObject {
  return { type: "tool_execution_start", toolCallId: of["id"], toolName: of["name"], args: of["arguments"] };
}

export function toolUpdate(of: JsonObject, text: string): JsonObject {
  return { type: "tool_execution_update", toolCallId: of["id"], toolName: of["name"], args: of["arguments"], partialResult: { content: [{ type: "text", text }] } };
}

export function toolEnd(result: JsonObject): JsonObject {
  return { type: "tool_execution_end", toolCallId: result["toolCallId"], toolName: result["toolName"], result: { content: result["content"], details: result["details"] }, isError: result["isError"] };
}

export function turn(before: JsonObject[], grown: JsonObject[], tools: JsonObject[] = [], afterAnswer: JsonObject[] = []): JsonObject[] {
  const results = tools.filter((event) => event["type"] === "message_end").map((event) => event["message"]);
  return [{ type: "turn_start" }, ...before, ...grown, ...afterAnswer, ...tools, { type: "turn_end", message: grown.at(-1)?.["message"], toolResults: results }];
}

export function run(...turns: JsonObject[][]): JsonObject[] {
  const events = turns.flat();
  const messages = events.filter((event) => event["type"] === "message_end").map((event) => event["message"]);
  return [{ type: "agent_start" }, ...events, { type: "agent_end", messages }];
}

export const retryStart = (attempt: number): JsonObject => ({ type: "auto_retry_start", attempt, maxAttempts: 3, delayMs: 2000, errorMessage: "it failed" });
export const retryEnd = (success: boolean, attempt: number): JsonObject => ({ type: "auto_retry_end", success, attempt, ...(success ? {} : { finalError: "it failed" }) });

export const compactionResult = {
  compactedText: "(filtered 20 lines)\nkept",
  firstKeptEntryId: null,
  tokensBefore: 5000,
  stats: { linesBefore: 21, linesDeleted: 20, linesKept: 1, rangeCount: 1, tokensBefore: 4000, tokensAfter: 1000, percentReduction: 75 },
  parameters: { compression_ratio: 0.5, preserve_recent: 2, query: "the latest user request" },
  promptVersion: 3,
  rung: "planned",
  planner: "model",
};

export function compaction(reason: string, willRetry: boolean, more: JsonObject = { result: compactionResult }, midTurn = false): JsonObject[] {
  const inside = midTurn ? { midTurn: true } : {};
  const { result, ...rest } = more;
  return [
    { type: "compaction_start", reason, ...inside },
    { type: "compaction_end", reason, ...(result === undefined ? {} : { result }), aborted: false, willRetry, ...rest, ...inside },
  ];
}

export const queue = (steering: string[], followUp: string[] = []): JsonObject => ({ type: "queue_update", steering, followUp });

export function encode(events: readonly JsonObject[]): Uint8Array {
  return Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
}
