import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { limits } from "../../../src/core/limits.ts";
import type { AgentMessage, ToolResultMessage } from "../../../src/core/message.ts";
import { approvalEntry, approvalsOf, knownFactsOf, readOf } from "../../../src/session/turn-facts.ts";

const result = (text: string, details: object, others: Partial<ToolResultMessage> = {}): ToolResultMessage => ({ role: "toolResult", toolCallId: "c", toolName: "fs.read", content: [{ type: "text", text }], details, isError: false, timestamp: 1, ...others });
const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

test("a read says which lines it showed, whatever stands behind them", () => {
  const note = "\n[lines 2-3 of 9; continue with offset 4]";
  expect(readOf(result(`b\nc${note}`, { path: "/w/f", totalLines: 9 }), { path: "f", offset: 2, limit: 2 })).toEqual({ path: "/w/f", contentHash: hash("b\nc"), startLine: 2, endLine: 3, numbered: false });
  expect(readOf(result("a\nb\n", { path: "/w/f", totalLines: 2 }), { path: "f" })).toMatchObject({ contentHash: hash("a\nb"), startLine: 1, endLine: 2 });
  expect(readOf(result("a\nb\nc", { path: "/w/f", totalLines: 70, truncation: { outputLines: 2 } }), { path: "f" })).toMatchObject({ contentHash: hash("a\nb"), endLine: 2 });
  expect(readOf(result("(empty file)", { path: "/w/f", totalLines: 0 }), { path: "f" })).toMatchObject({ contentHash: hash(""), startLine: 1, endLine: 0 });
});

test("nothing else is a read", () => {
  expect(readOf(result("no", {}, { isError: true }), { path: "f" })).toBeUndefined();
  expect(readOf(result("x", { path: "/w/f", mimeType: "image/png" }), { path: "f" })).toBeUndefined();
  expect(readOf(result("x", { path: "/w/f", totalLines: 1 }, { toolName: "fs.write" }), {})).toBeUndefined();
  expect(readOf(result("x", undefined as unknown as object), undefined)).toBeUndefined();
});

test("answers are found by their call, in order", () => {
  const entries = [
    { ...approvalEntry({ toolCallId: "a", verdict: "denied", category: "shell" }), id: "1", parentId: null, timestamp: "2026-01-01T00:00:00.001Z" },
    { type: "message", id: "2", parentId: "1", timestamp: "2026-01-01T00:00:00.002Z" },
    { ...approvalEntry({ toolCallId: "a", verdict: "approved", category: "other" }), id: "3", parentId: "2", timestamp: "nonsense" },
  ];
  const first = Date.parse("2026-01-01T00:00:00.001Z");
  expect([...approvalsOf(entries)]).toEqual([["a", [{ verdict: "denied", category: "shell", at: first }, { verdict: "approved", category: "other", at: 0 }]]]);
});

test("facts are what user and model marked to be kept, the newest of them", () => {
  const user = (text: string): AgentMessage => ({ role: "user", content: text, timestamp: 1 });
  expect(knownFactsOf([user("before\n<keepContext>\nThe port is 7431.\nIt is not 80.\n</keepContext>\nafter"), user("<KEEPCONTEXT>\nopen to the end"), user("a line with <keepContext> in it\nno fact")])).toEqual([
    { text: "The port is 7431.\nIt is not 80.", source: "user" },
    { text: "open to the end", source: "user" },
  ]);
  expect(knownFactsOf([result("<keepContext>\nin a file\n</keepContext>", {})])).toEqual([]);
  const many = Array.from({ length: limits.knownFactsMax + 5 }, (_, index) => user(`<keepContext>\n${index}\n</keepContext>`));
  const facts = knownFactsOf(many);
  expect([facts.length, facts[0]?.text, facts.at(-1)?.text]).toEqual([limits.knownFactsMax, "5", String(limits.knownFactsMax + 4)]);
});
