import { expect, test } from "bun:test";
import { compactionMessage } from "../../../src/agent/compaction/boundary.ts";
import { type AgentMessage, type AssistantMessage, contentText, type ToolCall, usageOf } from "../../../src/core/message.ts";
import { contextOf, interruptedResult, openCalls, pathOf, settingsOf } from "../../../src/session/context.ts";
import type { AnyEntry } from "../../../src/session/entry.ts";

const at = "1970-01-01T00:00:00.007Z";
const call = (id: string): ToolCall => ({ type: "toolCall", id, name: "fs.list", arguments: { path: id } });
const user = (text: string): AgentMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 7 });
const result = (toolCallId: string): AgentMessage => ({ role: "toolResult", toolCallId, toolName: "fs.list", content: [{ type: "text", text: `result ${toolCallId}` }], isError: false, timestamp: 7 });

function assistant(text: string, stopReason: AssistantMessage["stopReason"], ...calls: ToolCall[]): AssistantMessage {
  return { role: "assistant", content: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...calls], api: "scripted", provider: "scripted", model: "m", usage: usageOf({}), stopReason, timestamp: 7 };
}

/** A chain of entries `0`, `1`, …: messages, or bodies of other types. */
function chain(...bodies: (AgentMessage | { type: string; [field: string]: unknown })[]): AnyEntry[] {
  return bodies.map((body, index) => ({
    ...("role" in body ? { type: "message", message: body } : body),
    id: String(index),
    parentId: index === 0 ? null : String(index - 1),
    timestamp: at,
  })) as AnyEntry[];
}

/** One short line a message. */
function sketch(messages: readonly AgentMessage[]): string[] {
  return messages.map((message) => {
    if (message.role === "toolResult") return `result ${message.toolCallId}${message.isError ? " error" : ""}`;
    if (message.role === "branchSummary") return `branch ${message.summary}`;
    if (message.role === "bashExecution") return `bash ${message.command}`;
    const calls = message.role === "assistant" ? message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])) : [];
    const text = contentText(message.content).trim();
    return [message.role, ...(text === "" ? [] : [text]), ...calls].join(" ");
  });
}

const verbatim = { strategy: "verbatim-lines", promptVersion: 3 };

test("a path leads from the root to the leaf, by default the last entry", () => {
  const entries = chain(user("a"), user("b"), user("c"));
  const branch: AnyEntry = { ...entries[2], id: "x", parentId: "0", type: "message", timestamp: at, message: user("d") };
  expect(sketch(contextOf(pathOf([...entries, branch])))).toEqual(["user a", "user d"]);
  expect(sketch(contextOf(pathOf([...entries, branch], "2")))).toEqual(["user a", "user b", "user c"]);
  expect(pathOf([])).toEqual([]);
  const loop = chain(user("a"), user("b")).map((entry) => ({ ...entry, parentId: entry.id === "0" ? "1" : "0" }));
  expect(pathOf(loop).map(({ id }) => id)).toEqual(["0", "1"]);
});

test("a long conversation is read in linear time", () => {
  const long = chain(...Array.from({ length: 20_000 }, (_, index) => user(String(index))));
  expect(contextOf(pathOf(long)).length).toBe(20_000);
});

test("the newest verbatim compaction stands for what is before its first kept entry", () => {
  const compaction = (firstKeptEntryId: string | null, summary: string, details: unknown = verbatim) => ({ type: "compaction", summary, firstKeptEntryId, tokensBefore: 1, details });
  const before = [user("a"), assistant("b", "stop"), user("c"), assistant("d", "stop")];
  const sentence = contentText(compactionMessage("", 7).content).trim();
  expect(sketch(contextOf(chain(...before, compaction("2", "S"), user("e"))))).toEqual([`custom ${sentence}\nS`, "user c", "assistant d", "user e"]);
  expect(sketch(contextOf(chain(...before, compaction(null, "S"), user("e"))))).toEqual([`custom ${sentence}\nS`, "user e"]);
  expect(sketch(contextOf(chain(...before, compaction("0", "old"), compaction("3", "new"))))).toEqual([`custom ${sentence}\nnew`, "assistant d"]);
  expect(sketch(contextOf(chain(...before, compaction("2", "other kind", {}), user("e"))))).toEqual(["user a", "assistant b", "user c", "assistant d", "user e"]);
  expect(contextOf(chain(compaction(null, "S")))).toEqual([compactionMessage("S", 7)]);
});

test("every call has one result behind it, and only calls have results", () => {
  expect(sketch(contextOf(chain(user("a"), assistant("", "toolUse", call("A"), call("B")), result("B"), result("B"), result("Z"), user("b"))))).toEqual([
    "user a",
    "assistant A B",
    "result B",
    "result A error",
    "user b",
  ]);
  const cut = chain(user("a"), assistant("", "length", call("A")), result("A"), assistant("b", "stop"));
  expect(sketch(contextOf(cut))).toEqual(["user a", "assistant A", "result A", "assistant b"]);
});

test("calls of failed and aborted messages are left out with their results; what they said stays", () => {
  const entries = chain(user("a"), assistant("so far", "aborted", call("A")), result("A"), user("b"), assistant("", "error", call("B")), user("c"));
  expect(sketch(contextOf(entries))).toEqual(["user a", "assistant so far", "user b", "user c"]);
  expect(openCalls(entries)).toEqual([]);
});

test("an attempt that was tried again is left out, also with a compaction between", () => {
  expect(sketch(contextOf(chain(user("a"), assistant("half", "error"), assistant("whole", "stop"))))).toEqual(["user a", "assistant whole"]);
  const compacted = chain(user("a"), assistant("half", "length"), { type: "compaction", summary: "S", firstKeptEntryId: "0", details: verbatim }, assistant("whole", "stop"));
  expect(sketch(contextOf(compacted)).slice(1)).toEqual(["user a", "assistant whole"]);
  expect(sketch(contextOf(chain(user("a"), assistant("last", "error"), user("b"))))).toEqual(["user a", "assistant last", "user b"]);
  expect(sketch(contextOf(chain(user("a"), assistant("one", "stop"), assistant("two", "stop"))))).toEqual(["user a", "assistant one", "assistant two"]);
});

test("open calls are those at the end of the path", () => {
  const asked = [user("a"), assistant("", "toolUse", call("A"), call("B"))];
  expect(openCalls(chain(...asked, result("A"))).map(({ id }) => id)).toEqual(["B"]);
  expect(openCalls(chain(...asked, result("A"), { type: "session_info", name: "n" })).map(({ id }) => id)).toEqual(["B"]);
  expect(openCalls(chain(...asked, result("A"), result("B")))).toEqual([]);
  expect(openCalls(chain(...asked, user("b")))).toEqual([]);
  const repaired = chain(...asked, result("A"), interruptedResult(call("B"), 9));
  expect(openCalls(repaired)).toEqual([]);
  expect(sketch(contextOf(repaired))).toEqual(["user a", "assistant A B", "result A", "result B error"]);
});

test("other entries: what reaches the context and what does not", () => {
  const entries = chain(
    { type: "custom_message", customType: "hint", content: "shown", display: true },
    { type: "custom_message", customType: "hint", content: "hidden", display: true, excludeFromContext: true },
    { type: "branch_summary", fromId: "root", summary: "went elsewhere" },
    { type: "message", message: { role: "bashExecution", command: "ls", output: "", cancelled: false, truncated: false, timestamp: 7 } },
    { type: "message", message: { role: "bashExecution", command: "secret", output: "", cancelled: false, truncated: false, timestamp: 7, excludeFromContext: true } },
    { type: "message", message: { role: "compactionSummary", summary: "s", timestamp: 7 } },
    { type: "custom", customType: "state", data: { content: "x" } },
    { type: "session_summary", summary: "x" },
    { type: "x_future", message: user("x") },
  );
  expect(sketch(contextOf(entries))).toEqual(["custom shown", "branch went elsewhere", "bash ls"]);
});

test("foreign messages are filled in, and left out when nothing can be made of them", () => {
  const entries = chain(
    { type: "message", message: { role: "assistant", content: [{ type: "text", text: "old" }, { type: "audio" }], usage: { input: 3.4, output: 2 }, stopReason: "stop" } },
    { type: "message", message: { role: "user", content: "plain" } },
    { type: "message", message: { role: "user", content: 5 } },
    { type: "message", message: "text" },
    { type: "message" },
  );
  expect(contextOf(entries)).toEqual([
    { role: "assistant", content: [{ type: "text", text: "old" }], api: "", provider: "", model: "", usage: usageOf({ input: 3, output: 2 }), stopReason: "stop", timestamp: 7 },
    { role: "user", content: "plain", timestamp: 7 },
  ]);
});

test("the newest name counts wherever it stands, model and level only on the path", () => {
  const entries = chain(
    { type: "model_change", provider: "p", modelId: "a/b" },
    { type: "thinking_level_change", thinkingLevel: "low" },
    { type: "session_info", name: "one" },
  );
  const branch: AnyEntry[] = [
    { type: "thinking_level_change", id: "x", parentId: "0", timestamp: at, thinkingLevel: "high" },
    { type: "session_info", id: "y", parentId: "2", timestamp: at, name: "two" },
  ];
  const all = [...entries, ...branch];
  expect(settingsOf(all, pathOf(all))).toEqual({ name: "two", model: { provider: "p", modelId: "a/b" }, thinkingLevel: "low" });
  expect(settingsOf(all, pathOf(all, "x"))).toEqual({ name: "two", model: { provider: "p", modelId: "a/b" }, thinkingLevel: "high" });
  const cleared = [...all, { type: "session_info", id: "z", parentId: "y", timestamp: at } as AnyEntry];
  expect(settingsOf(cleared, pathOf(cleared)).name).toBeUndefined();
});
