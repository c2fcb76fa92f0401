// What a step offers: the tools for the planned work, and no reply while a file that was asked about was not looked at.
import { expect, test } from "bun:test";
import { z } from "zod";
import { LoopGuard } from "../../../src/agent/loop-guard.ts";
import { stepOffer } from "../../../src/agent/step-offer.ts";
import type { Work } from "../../../src/agent/work-plan.ts";
import type { AgentMessage, ToolCall, ToolResultMessage } from "../../../src/core/message.ts";
import type { Tool, WorkspaceView } from "../../../src/core/tool.ts";
import type { WorkKind } from "../../../src/core/work.ts";

const tool = (name: string, kind: Partial<Tool>): Tool => ({ name, description: name, class: "read", schema: z.strictObject({ path: z.string().meta({ existing: "file" }) }), needs: async () => [], run: async () => ({ content: [] }), ...kind });
const tools = [tool("fs.read", {}), tool("table.compute", { serves: ["compute"], isSpecial: true }), tool("fs.write", { class: "write", serves: ["create"] }), tool("fs.edit", { class: "write", serves: ["edit"] }), tool("fs.sort", { class: "write", serves: ["sort"], isSpecial: true }), tool("shell.run", { class: "shell", serves: ["run"] })];
const view: WorkspaceView = { names: async () => ({ files: ["a.txt", "sub/b.txt"], folders: [".", "sub"] }), lines: async () => undefined, text: async () => undefined };
const work = (isChange: boolean, ...kinds: WorkKind[]): Work => ({ isChange, kinds: new Set(kinds) });
const user = (text: string): AgentMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 0 });

function step(guard: LoopGuard, name: string, args: Record<string, unknown>, isError = false): void {
  const call: ToolCall = { type: "toolCall", id: `${name}-${guard.steps}`, name, arguments: args };
  const result: ToolResultMessage = { role: "toolResult", toolCallId: call.id, toolName: name, content: [{ type: "text", text: `${guard.steps}` }], isError, timestamp: 0 };
  guard.record([call], [result]);
}

const guardOf = (): LoopGuard => new LoopGuard(tools, { repeatsMax: 3 });
const namesFor = async (guard: LoopGuard, planned: Work | undefined): Promise<string> => (await stepOffer({ tools, guard, messages: [user("go")], view, existing: await view.names(), work: planned })).tools.map(({ name }) => name).join(" ");

test.each([
  ["a question takes no tool away", work(false, "compute"), "fs.read table.compute fs.write fs.edit shell.run"],
  ["a change has the tools for it and those that read", work(true, "edit"), "fs.read fs.edit"],
  ["several kinds add up", work(true, "create", "run"), "fs.read fs.write shell.run"],
  ["a special tool for it is among them", work(true, "sort"), "fs.read fs.sort"],
  ["a change that no tool is for is made with any", work(true, "copy"), "fs.read fs.write fs.edit shell.run"],
  ["without a plan nothing special is offered", undefined, "fs.read fs.write fs.edit shell.run"],
] as const)("%s", async (_name, planned, names) => {
  expect(await namesFor(guardOf(), planned)).toBe(names);
});

test("two steps in a row that bring nothing make way for the other tools", async () => {
  const guard = guardOf();
  step(guard, "fs.edit", { path: "a.txt" }, true);
  expect(await namesFor(guard, work(true, "edit", "sort"))).toBe("fs.read fs.sort");
  step(guard, "fs.sort", { path: "a.txt" }, true);
  expect(await namesFor(guard, work(true, "edit"))).toBe("fs.read fs.write fs.edit shell.run");
});

test("there is no reply before each file that the request names was looked at, for as many steps as it names files", async () => {
  const mayReply = async (guard: LoopGuard, text: string, planned = work(false, "read")): Promise<boolean> => (await stepOffer({ tools, guard, messages: [user(text)], view, existing: await view.names(), work: planned })).mayReply;
  const guard = guardOf();
  const text = "Compare a.txt and b.txt.";
  expect([await mayReply(guard, text), await mayReply(guard, "Compare them."), await mayReply(guard, "Is there a c.txt?"), await mayReply(guard, text, work(false, "talk"))]).toEqual([false, true, true, true]);
  step(guard, "fs.read", { path: "a.txt" });
  expect(await mayReply(guard, text)).toBe(false);
  step(guard, "fs.read", { path: "sub/b.txt" });
  expect(await mayReply(guard, text)).toBe(true);
  const other = guardOf();
  for (const path of ["x", "y", "z"]) step(other, "fs.read", { path });
  expect(await mayReply(other, text)).toBe(true);
});
