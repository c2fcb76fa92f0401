// What a loop guard keeps from being made again, and for how long.
import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { LoopGuard } from "../../../src/agent/loop-guard.ts";
import type { ToolCall, ToolResultMessage } from "../../../src/core/message.ts";
import type { ToolSpec } from "../../../src/core/tool.ts";

const read: ToolSpec = { name: "read", description: "", class: "read", schema: z.strictObject({ path: z.string().meta({ existing: "file" }) }) };
const write: ToolSpec = { name: "write", description: "", class: "write", schema: z.strictObject({ path: z.string() }) };
const offer = { names: { files: ["a", "b"], folders: [] } };

function bench() {
  const guard = new LoopGuard([read, write], { repeatsMax: 3 });
  let count = 0;
  const step = (name: string, path: string, isError = false): Map<ToolResultMessage, string> => {
    const id = `c${++count}`;
    const call: ToolCall = { type: "toolCall", id, name, arguments: { path } };
    const result: ToolResultMessage = { role: "toolResult", toolCallId: id, toolName: name, content: [{ type: "text", text: `what ${path} holds` }], isError, timestamp: 0 };
    return guard.record([call], [result]);
  };
  const forbidden = (): unknown[] => (guard.forbidden(offer).get("read") ?? []).map((pattern) => pattern.get("path"));
  return { guard, step, forbidden };
}

test("what a result covers is not looked at by itself, until something changed", () => {
  const { guard, step, forbidden } = bench();
  const call: ToolCall = { type: "toolCall", id: "c", name: "read", arguments: { path: "." } };
  guard.record([call], [{ role: "toolResult", toolCallId: "c", toolName: "read", content: [], details: { covers: [{ path: "a" }, { path: "b" }] }, isError: false, timestamp: 0 }]);
  expect(forbidden()).toEqual([".", "a", "b"]);
  step("write", "c");
  expect(forbidden()).toEqual([]);
});

describe("after a compaction", () => {
  test("the next step goes on, the one after it may look again", () => {
    const { guard, step, forbidden } = bench();
    step("read", "a");
    guard.forget();
    expect(forbidden()).toEqual(["a"]);
    step("read", "b");
    expect(forbidden()).toEqual(["b"]);
    guard.forget();
    expect(forbidden()).toEqual(["a", "b"]);
    step("write", "c");
    guard.forget();
    expect(forbidden()).toEqual([]);
  });
  test("a result that is seen again is no repetition", () => {
    const { guard, step } = bench();
    step("read", "a");
    expect(step("read", "a").size).toBe(1);
    guard.forget();
    expect(step("read", "a").size).toBe(0);
  });
});

test("after a failure another tool is tried first, unless it said how to do better", () => {
  const { guard, step } = bench();
  step("write", "a", true);
  expect([...guard.fruitless]).toEqual(["write"]);
  const call: ToolCall = { type: "toolCall", id: "x", name: "write", arguments: { path: "b" } };
  guard.record([call], [{ role: "toolResult", toolCallId: "x", toolName: "write", content: [{ type: "text", text: "write c" }], details: { advice: "c" }, isError: true, timestamp: 0 }]);
  expect([...guard.fruitless]).toEqual([]);
});

describe("a change to report", () => {
  test("there is none before something was changed", () => {
    const { guard, step } = bench();
    step("write", "a", true);
    expect(guard.hasNothingToReport).toBe(true);
    step("write", "a");
    expect(guard.hasNothingToReport).toBe(false);
  });
  test("what was written again as it was is no other change", () => {
    const { guard, step } = bench();
    step("write", "a");
    step("write", "a");
    expect([...guard.excluded]).toEqual(["write"]);
  });
  test("after some steps in vain it may be given up", () => {
    const { guard, step } = bench();
    for (const path of ["a", "b", "c", "d"]) step("read", path);
    expect(guard.hasNothingToReport).toBe(false);
  });
});
