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
const tools = [tool("fs.read", { serves: ["read"] }), tool("fs.find", { serves: ["find"] }), tool("table.compute", { serves: ["compute"], isSpecial: true }), tool("fs.write", { class: "write", serves: ["create"] }), tool("fs.edit", { class: "write", serves: ["edit"] }), tool("fs.sort", { class: "write", serves: ["sort"], isSpecial: true }), tool("shell.run", { class: "shell", serves: ["run"] })];
const view: WorkspaceView = { names: async () => ({ files: ["a.txt", "sub/b.txt"], folders: [".", "sub"] }), lines: async () => undefined, text: async () => undefined, columns: async () => undefined };
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
  ["the first look of a question is made with a tool for it", work(false, "compute"), "table.compute"],
  ["of one that no tool is for with any", work(false, "count"), "fs.read fs.find fs.write fs.edit shell.run"],
  ["so is one that needs none, if it is made at all", work(false, "talk"), "fs.read fs.find fs.write fs.edit shell.run"],
  ["a change has the tools for it and those that read", work(true, "edit"), "fs.read fs.find fs.edit"],
  ["several kinds add up", work(true, "create", "run"), "fs.read fs.find fs.write shell.run"],
  ["a special tool for it is among them", work(true, "sort"), "fs.read fs.find fs.sort"],
  ["a change that no tool is for is made with any", work(true, "copy"), "fs.read fs.find fs.write fs.edit shell.run"],
  ["without a plan nothing special is offered", undefined, "fs.read fs.find fs.write fs.edit shell.run"],
] as const)("%s", async (_name, planned, names) => {
  expect(await namesFor(guardOf(), planned)).toBe(names);
});

test("two steps in a row that bring nothing make way for the other tools", async () => {
  const guard = guardOf();
  step(guard, "fs.edit", { path: "a.txt" }, true);
  expect(await namesFor(guard, work(true, "edit", "sort"))).toBe("fs.read fs.find fs.sort");
  step(guard, "fs.sort", { path: "a.txt" }, true);
  expect(await namesFor(guard, work(true, "edit"))).toBe("fs.read fs.find fs.write fs.edit shell.run");
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

const offerOf = async (guard: LoopGuard, text: string, planned: Work, missing: readonly string[] = []) => stepOffer({ tools, guard, messages: [user(text)], view, existing: await view.names(), work: planned, missing });

test("the first look of a question that names files is at these, also where a name has blanks", async () => {
  const named = async (guard: LoopGuard, text: string, planned = work(false, "read")): Promise<unknown> => (await offerOf(guard, text, planned)).options.names?.files;
  const guard = guardOf();
  expect([await named(guard, "What does b.txt say?"), await named(guard, "What do they say?"), await named(guard, "Empty b.txt.", work(true, "edit"))]).toEqual([["sub/b.txt"], ["a.txt", "sub/b.txt"], ["a.txt", "sub/b.txt"]]);
  step(guard, "fs.read", { path: "sub/b.txt" });
  expect(await named(guard, "What does b.txt say?")).toEqual(["a.txt", "sub/b.txt"]);
});

test("a question about a file that is not there is answered without reading another one, and at any time", async () => {
  const guard = guardOf();
  step(guard, "fs.find", { pattern: "c.txt" }, true);
  const offer = await offerOf(guard, "What does c.txt say?", work(false, "read"), ["c.txt"]);
  expect([offer.mayReply, offer.tools.map(({ name }) => name).includes("fs.read")]).toEqual([true, false]);
});

test("a change claims nothing while what it should make is not there", async () => {
  const guard = guardOf();
  for (const path of ["a", "b"]) step(guard, "fs.write", { path });
  expect([(await offerOf(guard, "Write c.txt.", work(true, "create"), ["c.txt"])).mayClaim, (await offerOf(guard, "Write c.txt.", work(true, "create"))).mayClaim]).toEqual([false, true]);
});

test("what is to be run is run before the reply: for a question, and for a change that begins with it", async () => {
  const mayReply = async (guard: LoopGuard, planned: Work): Promise<boolean> => (await offerOf(guard, "go", planned)).mayReply;
  const guard = guardOf();
  expect([await mayReply(guard, work(false, "run")), await mayReply(guard, work(true, "run", "edit")), await mayReply(guard, work(true, "create", "run"))]).toEqual([false, false, true]);
  step(guard, "shell.run", { command: "x" }, true);
  expect(await mayReply(guard, work(false, "run"))).toBe(true);
  step(guard, "fs.edit", { path: "a.txt" });
  expect(await mayReply(guard, work(true, "run", "edit"))).toBe(false);
});
