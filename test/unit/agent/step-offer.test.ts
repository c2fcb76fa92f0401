// What a step offers: the tools for the planned work, and no reply while a file that was asked about was not looked at.
import { expect, test } from "bun:test";
import { z } from "zod";
import { LoopGuard } from "../../../src/agent/loop-guard.ts";
import { offeredArguments } from "../../../src/agent/offer.ts";
import { stepOffer } from "../../../src/agent/step-offer.ts";
import type { Work } from "../../../src/agent/work-plan.ts";
import { usageOf, type AgentMessage, type ToolCall, type ToolResultMessage } from "../../../src/core/message.ts";
import type { Tool, WorkspaceView } from "../../../src/core/tool.ts";
import type { WorkKind } from "../../../src/core/work.ts";

const tool = (name: string, kind: Partial<Tool>): Tool => ({ name, description: name, class: "read", schema: z.strictObject({ path: z.string().meta({ existing: "file" }) }), needs: async () => [], run: async () => ({ content: [] }), ...kind });
const tools = [tool("fs.read", { serves: ["read"] }), tool("fs.find", { serves: ["find"] }), tool("table.compute", { serves: ["compute"], isSpecial: true }), tool("fs.write", { class: "write", serves: ["create"] }), tool("fs.edit", { class: "write", serves: ["edit"] }), tool("fs.sort", { class: "write", serves: ["sort"], isSpecial: true }), tool("shell.run", { class: "shell", serves: ["run"] })];
const view: WorkspaceView = { names: async () => ({ files: ["a.txt", "sub/b.txt"], folders: [".", "sub"] }), lines: async () => undefined, text: async () => undefined, exact: async () => undefined, columns: async () => undefined, settings: async () => undefined, shared: async () => [], told: async () => undefined, isForeign: async () => false };
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
  ["what a change has to find out is computed first", work(true, "compute", "edit"), "fs.read table.compute fs.edit"],
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

test("what a question wants run is run after two looks, and only then answered", async () => {
  const guard = guardOf();
  const after = async (text: string): Promise<string> => {
    const { mayReply, tools: offered } = await stepOffer({ tools, guard, messages: [user(text)], view, existing: await view.names(), work: work(false, "run") });
    return [...offered.map(({ name }) => name), ...(mayReply ? ["reply"] : [])].join(" ");
  };
  step(guard, "fs.find", { path: "1" });
  expect(await after("Count the lines with a command.")).toContain("fs.find");
  step(guard, "fs.find", { path: "2" });
  expect(await after("Count the lines with a command.")).toBe("shell.run");
  expect(await after("Who has the longest run?")).toContain("fs.find");
  step(guard, "shell.run", { command: "wc" });
  expect(await after("Count the lines with a command.")).toContain("reply");
});

test("there is no reply before each file that the request names was looked at, for one step more than it names files", async () => {
  const mayReply = async (guard: LoopGuard, text: string, planned = work(false, "read")): Promise<boolean> => (await stepOffer({ tools, guard, messages: [user(text)], view, existing: await view.names(), work: planned })).mayReply;
  const guard = guardOf();
  const text = "Compare a.txt and b.txt.";
  expect([await mayReply(guard, text), await mayReply(guard, "Compare them."), await mayReply(guard, "Is there a c.txt?"), await mayReply(guard, text, work(false, "talk"))]).toEqual([false, true, true, true]);
  step(guard, "fs.read", { path: "a.txt" });
  expect(await mayReply(guard, text)).toBe(false);
  step(guard, "fs.read", { path: "sub/b.txt" });
  expect(await mayReply(guard, text)).toBe(true);
  const other = guardOf();
  for (const path of ["w", "x", "y", "z"]) step(other, "fs.read", { path });
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

test("asked what there is the first look is at all that there is, unless a folder is spoken of", async () => {
  const all = [...tools, tool("fs.list", { serves: ["list"], schema: z.strictObject({ path: z.string().meta({ existing: "folder" }) }) })];
  const places = async (text: string): Promise<unknown> => {
    const { options } = await stepOffer({ tools: all, guard: guardOf(), messages: [user(text)], view, existing: { files: ["a.txt", "notes/b.txt"], folders: [".", "notes"] }, work: work(false, "list") });
    return offeredArguments(all.at(-1) as Tool, options)?.properties["path"];
  };
  const among = (...folders: string[]): unknown => ({ type: "string", enum: folders });
  expect([await places("Are there empty files?"), await places("What is in notes?"), await places("Which note is the longest?")]).toEqual([among("."), among("notes"), among(".", "notes")]);
});

test("a question that is one for sure can change nothing", async () => {
  const names = async (text: string): Promise<string> => {
    const guard = guardOf();
    step(guard, "fs.read", { path: "a.txt" });
    return (await stepOffer({ tools, guard, messages: [user(text)], view, existing: await view.names(), work: work(false, "read") })).tools.map(({ name }) => name).join(" ");
  };
  expect([await names("What does it cost?"), await names("Hello. Is it there?"), await names("Tell me what it costs.")]).toEqual(["fs.read fs.find shell.run", "fs.read fs.find shell.run", "fs.read fs.find fs.write fs.edit shell.run"]);
});

test("the first look of a question that names a folder is at this folder as a whole", async () => {
  const all = [...tools, tool("fs.count", { serves: ["count"], schema: z.strictObject({ path: z.string().meta({ existing: "any" }) }) })];
  const existing = { files: ["a.txt", "sub/b.txt", "sub/c.txt"], folders: [".", "sub"] };
  const places = async (guard: LoopGuard, text: string): Promise<unknown> => {
    const { options } = await stepOffer({ tools: all, guard, messages: [user(text)], view, existing, work: work(false, "count") });
    return offeredArguments(all.at(-1) as Tool, options)?.properties["path"];
  };
  const guard = guardOf();
  expect([await places(guard, "How many lines are in sub/?"), await places(guard, "How many lines has sub/b.txt?"), await places(guard, "How many lines are there?")]).toEqual([{ type: "string", enum: ["sub"] }, { type: "string", enum: ["sub/b.txt", ".", "sub"] }, { type: "string", enum: ["a.txt", "sub/b.txt", "sub/c.txt", ".", "sub"] }]);
  step(guard, "fs.find", { pattern: "*" });
  expect(await places(guard, "How many lines are in sub/?")).toEqual({ type: "string", enum: ["a.txt", "sub/b.txt", "sub/c.txt", ".", "sub"] });
});

test("what a question is about that names no file is read up; where it is to be searched for, once a search found nothing", async () => {
  const names = async (guard: LoopGuard, planned: Work, unnamed: string[]): Promise<unknown> => (await stepOffer({ tools, guard, messages: [user("When is it?")], view, existing: await view.names(), work: planned, unnamed })).options.names?.files;
  const guard = guardOf();
  expect([await names(guard, work(false, "read"), ["sub/b.txt"]), await names(guard, work(false, "read"), []), await names(guard, work(false, "search"), ["sub/b.txt"])]).toEqual([["sub/b.txt"], ["a.txt", "sub/b.txt"], ["a.txt", "sub/b.txt"]]);
  step(guard, "fs.find", { pattern: "it" });
  expect(await names(guard, work(false, "search"), ["sub/b.txt"])).toEqual(["sub/b.txt"]);
});

test("a question about a file that is not there is answered without reading another one, and at any time", async () => {
  const guard = guardOf();
  step(guard, "fs.find", { pattern: "c.txt" }, true);
  const offer = await offerOf(guard, "What does c.txt say?", work(false, "read"), ["c.txt"]);
  expect([offer.mayReply, offer.tools.map(({ name }) => name).includes("fs.read")]).toEqual([true, false]);
});

test("while files are left to be moved or deleted only changes are offered, until it is stuck", async () => {
  const guard = guardOf();
  step(guard, "fs.write", { path: "c.txt" });
  const offer = async () => stepOffer({ tools, guard, messages: [user("Write c.txt and sort a.txt.")], view, existing: await view.names(), work: work(true, "create", "sort"), isLeft: true });
  expect([(await offer()).mayReply, (await offer()).tools.map(({ name }) => name).join(" ")]).toEqual([false, "fs.write fs.sort"]);
  for (const path of ["a", "b", "c"]) step(guard, "fs.edit", { path }, true);
  expect((await offer()).mayReply).toBe(true);
});

test("a change claims nothing while what it should make is not there", async () => {
  const guard = guardOf();
  for (const path of ["a", "b"]) step(guard, "fs.write", { path });
  expect([(await offerOf(guard, "Write c.txt.", work(true, "create"), ["c.txt"])).mayClaim, (await offerOf(guard, "Write c.txt.", work(true, "create"))).mayClaim]).toEqual([false, true]);
});

test("a long file is searched for what a question asks about, before it is read", async () => {
  const all = [...tools, tool("fs.grep", { serves: ["search"], schema: z.strictObject({ pattern: z.string() }) })];
  const names = async (text: string, long: string[]): Promise<string> => (await stepOffer({ tools: all, guard: guardOf(), messages: [user(text)], view, existing: { files: ["a.txt", "sub/b.txt"], folders: ["."], long }, work: work(false, "read") })).tools.map(({ name }) => name).join(" ");
  expect([await names("What is MAX_SIZE in a.txt?", ["a.txt"]), await names("Which error is in a.txt?", ["a.txt"]), await names("What is MAX_SIZE in a.txt?", []), await names("Sum up a.txt.", ["a.txt"])]).toEqual(["fs.grep", "fs.grep", "fs.read", "fs.read"]);
});

test("what is to be run is run before the reply: for a question, and for a change that begins with it", async () => {
  const mayReply = async (guard: LoopGuard, planned: Work): Promise<boolean> => (await offerOf(guard, "run it", planned)).mayReply;
  const guard = guardOf();
  expect((await offerOf(guard, "what happens when it is full?", work(false, "run"))).mayReply).toBe(true);
  expect([await mayReply(guard, work(false, "run")), await mayReply(guard, work(true, "run", "edit")), await mayReply(guard, work(true, "create", "run"))]).toEqual([false, false, false]);
  expect((await offerOf(guard, "go", work(true, "create", "run"))).mayReply).toBe(true);
  step(guard, "shell.run", { command: "x" }, true);
  expect(await mayReply(guard, work(false, "run"))).toBe(true);
  step(guard, "fs.edit", { path: "a.txt" });
  expect(await mayReply(guard, work(true, "run", "edit"))).toBe(false);
});

test("what a change should make is made before anything that is there is changed", async () => {
  const names = async (missing: readonly string[]): Promise<string> => (await offerOf(guardOf(), "Put it into c.txt and sort a.txt.", work(true, "create", "sort"), missing)).tools.map(({ name }) => name).join(" ");
  expect([await names(["c.txt"]), await names([])]).toEqual(["fs.read fs.find fs.write", "fs.read fs.find fs.write fs.sort"]);
});

test("a column is one of the files that are named or were seen, and any where one of these can't be looked into", async () => {
  const tables: Record<string, string[]> = { "a.txt": ["city", "sum"], "sub/b.txt": ["sum", "date"] };
  const columns = async (text: string, guard = guardOf(), known = tables): Promise<unknown> => (await stepOffer({ tools, guard, messages: [user(text)], view: { ...view, columns: async (path) => known[path] }, existing: await view.names(), work: work(true, "sort") })).options.names?.columns;
  expect([await columns("Sort a.txt."), await columns("Sort a.txt and b.txt."), await columns("Sort it."), await columns("Sort a.txt and b.txt.", guardOf(), { "a.txt": ["x"] })]).toEqual([["city", "sum"], ["city", "sum", "date"], [], []]);
});

test("a change is not replied to while what it should make is not there, until it is stuck", async () => {
  const guard = guardOf();
  const reply = async (missing: readonly string[]): Promise<boolean> => (await offerOf(guard, "Write c.txt.", work(true, "create"), missing)).mayReply;
  expect([await reply(["c.txt"]), await reply([])]).toEqual([false, true]);
  for (const path of ["a", "b"]) step(guard, "fs.write", { path }, true);
  expect(await reply(["c.txt"])).toBe(true);
});

test("what is enough leaves nothing but the reply, unless a named file was not looked at", async () => {
  const offered = async (text: string): Promise<number> => (await stepOffer({ tools, guard: guardOf(), messages: [user(text)], view, existing: await view.names(), work: work(false, "read"), isEnough: true })).tools.length;
  expect([await offered("What do they say?"), (await offered("What does a.txt say?")) > 0]).toEqual([0, true]);
});

test("a very small model changes the files that are named, and looks at nothing else once it has seen them", async () => {
  const quoting = tools.map((one) => (one.name === "fs.edit" ? tool("fs.edit", { class: "write", serves: ["edit", "replace"], quotes: { file: "path", text: "oldText" } }) : one));
  const read = (path: string): AgentMessage[] => [
    { role: "assistant", content: [{ type: "toolCall", id: path, name: "fs.read", arguments: { path } }], api: "", provider: "", model: "", usage: usageOf({}), stopReason: "toolUse", timestamp: 0 },
    { role: "toolResult", toolCallId: path, toolName: "fs.read", content: [], isError: false, timestamp: 0 },
  ];
  const offerFor = async (isVerySmall: boolean, text: string, ...kinds: WorkKind[]) => {
    const { options, tools: offered } = await stepOffer({ tools: quoting, guard: guardOf(), messages: [user(text), ...read("a.txt"), ...read("sub/b.txt")], view, existing: await view.names(), work: work(true, ...kinds), isVerySmall });
    return [offered.map(({ name }) => name).join(" "), options.seen?.join(" ")];
  };
  expect(await offerFor(true, "Replace x in a.txt.", "replace")).toEqual(["fs.edit", "a.txt"]);
  expect(await offerFor(true, "Correct x.", "edit")).toEqual(["fs.read fs.find fs.edit", "a.txt sub/b.txt"]);
  expect(await offerFor(true, "Run a.txt and mend it.", "run", "edit")).toEqual(["shell.run", "a.txt sub/b.txt"]);
  expect(await offerFor(false, "Replace x in a.txt.", "replace")).toEqual(["fs.read fs.find fs.edit", "a.txt sub/b.txt"]);
});
