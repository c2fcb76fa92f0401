// When a change is made, as far as can be told.
import { expect, test } from "bun:test";
import { z } from "zod";
import { Doing } from "../../../src/agent/doing.ts";
import type { Work } from "../../../src/agent/work-plan.ts";
import type { ToolCall, ToolResultMessage } from "../../../src/core/message.ts";
import type { Tool, ToolClass } from "../../../src/core/tool.ts";
import type { WorkKind } from "../../../src/core/work.ts";

const tool = (name: string, kind: ToolClass, serves: WorkKind[]): Tool => ({ name, description: name, class: kind, serves, schema: z.strictObject({}), needs: async () => [], run: async () => ({ content: [] }) });
const tools = [tool("fs.read", "read", ["read"]), tool("fs.edit", "write", ["edit", "set"]), tool("fs.move", "write", ["move"]), tool("shell.run", "shell", ["run"])];
const change = (...kinds: WorkKind[]): Work => ({ isChange: true, kinds: new Set(kinds) });

/** After each call, whether the work is done, or files are left; `!` marks one that fails. */
function done(work: Work, named: readonly string[], calls: readonly (readonly [name: string, args: Record<string, unknown>])[], what: "isDone" | "isLeft" = "isDone"): boolean[] {
  const doing = new Doing(tools);
  return calls.map(([name, args], index) => {
    const call: ToolCall = { type: "toolCall", id: `c${index}`, name: name.replace("!", ""), arguments: args };
    const result: ToolResultMessage = { role: "toolResult", toolCallId: call.id, toolName: call.name, content: [], isError: name.endsWith("!"), timestamp: 0 };
    doing.record([call], [result]);
    return doing[what](work, named);
  });
}

test.each([
  ["a call for the one kind of work", change("edit"), [], [["fs.read", { path: "a" }], ["fs.edit!", { path: "a" }], ["fs.edit", { path: "a" }]], [false, false, true]],
  ["one for each kind", change("move", "edit"), [], [["fs.edit", { path: "a" }], ["fs.move", { from: "a", to: "b" }]], [false, true]],
  ["one in each file that is named", change("set"), ["a", "b \"c\""], [["fs.edit", { path: "a" }], ["fs.edit", { path: "b \"c\"" }]], [false, true]],
  ["what has to be found out first is not counted", change("compute", "edit"), [], [["fs.edit", { path: "a" }]], [true]],
  ["what is to be run is run", change("edit", "run"), [], [["fs.edit", { path: "a" }], ["shell.run", { command: "x" }]], [false, true]],
  ["never for a question", { isChange: false, kinds: new Set<WorkKind>(["read"]) }, [], [["fs.read", { path: "a" }]], [false]],
] as const)("%s", (_name, work, named, calls, expected) => {
  expect(done(work, named, calls)).toEqual([...expected]);
});

test.each([
  ["a file that is named and still is to go, once something else was done", change("edit", "move"), ["a", "b"], [["fs.read", { path: "a" }], ["fs.edit", { path: "a" }], ["fs.move", { from: "b", to: "c" }]], [false, true, false]],
  ["none where no file of that name is untouched", change("edit", "move"), ["a"], [["fs.edit", { path: "a" }]], [false]],
  ["none where nothing is to go", change("edit", "set"), ["a", "b"], [["fs.edit", { path: "a" }]], [false]],
] as const)("left is %s", (_name, work, named, calls, expected) => {
  expect(done(work, named, calls, "isLeft")).toEqual([...expected]);
});
