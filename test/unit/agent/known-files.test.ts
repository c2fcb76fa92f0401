// Which calls make a file known: those that show or make it, not those that only tell something of it.
import { expect, test } from "bun:test";
import { isKnown } from "../../../src/agent/known-files.ts";
import type { AgentMessage } from "../../../src/core/message.ts";
import { usageOf } from "../../../src/core/message.ts";
import { fixture } from "../tools/fixture.ts";

function made(name: string, args: Record<string, unknown>, isError = false): AgentMessage[] {
  return [
    { role: "assistant", content: [{ type: "toolCall", id: "1", name, arguments: args }], api: "", provider: "", model: "", usage: usageOf({}), stopReason: "toolUse", timestamp: 0 },
    { role: "toolResult", toolCallId: "1", toolName: name, content: [], isError, timestamp: 0 },
  ];
}

test("a file is known once it was read or written, not when it was only counted or a call failed", () => {
  using at = fixture();
  const tools = ["fs.read", "fs.write", "fs.count", "table.compute"].map(at.tool);
  const known = (messages: AgentMessage[]): boolean => isKnown("a.csv", messages, tools);
  expect(known(made("fs.read", { path: "a.csv" }))).toBe(true);
  expect(known(made("fs.write", { path: "a.csv", content: "" }))).toBe(true);
  expect(known(made("fs.read", { path: "b.csv" }))).toBe(false);
  expect(known(made("fs.read", { path: "a.csv" }, true))).toBe(false);
  expect(known(made("fs.count", { path: "a.csv" }))).toBe(false);
  expect(known(made("table.compute", { path: "a.csv", operation: "count" }))).toBe(false);
});
