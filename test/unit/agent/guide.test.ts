// What the guide of a turn tells the model and keeps from it, with the real tools in a real folder and a planned kind of work.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Conversation } from "../../../src/agent/conversation.ts";
import { Guide } from "../../../src/agent/guide.ts";
import { offeredArguments, offeredVariants } from "../../../src/agent/offer.ts";
import type { TextEngine } from "../../../src/core/engine.ts";
import { usageOf, type AssistantMessage, type ToolCall, type ToolResultMessage, type UserMessage } from "../../../src/core/message.ts";
import { builtinTools } from "../../../src/tools/index.ts";
import { workspaceView } from "../../../src/tools/workspace-view.ts";
import { fixture, type Fixture } from "../tools/fixture.ts";

const info = { id: "m", name: "m", api: "in-process", provider: "llama", baseUrl: "", reasoning: false, input: ["text" as const], contextWindow: 4096, maxTokens: 4096 };

function planning(answer: string): TextEngine {
  return {
    kind: "text",
    info: () => info,
    answersApart: () => true,
    open: async () => {},
    async *complete() {
      yield { type: "text", text: answer };
      yield { type: "ended", stop: "end", usage: usageOf({}) };
    },
    close: async () => {},
  };
}

function bench(at: Fixture, text: string, plan: string, engine = planning(plan)) {
  const request: UserMessage = { role: "user", content: [{ type: "text", text }], timestamp: 0 };
  const conversation = new Conversation([request]);
  const guide = new Guide({ engine, tools: builtinTools(at.options), conversation, view: workspaceView(at.workspace, at.options.home), loop: { repeatsMax: 3 }, signal: new AbortController().signal, spend: () => {} });
  let count = 0;
  /** A step that makes this call, as the loop does. @returns what is told beside its result, or why it was not made */
  const step = async (name: string, args: Record<string, unknown>): Promise<string | undefined> => {
    const call: ToolCall = { type: "toolCall", id: `c${++count}`, name, arguments: args };
    const veto = await guide.veto(call);
    const { details = {}, isError, text: told } = veto === undefined ? await at.call(name, args) : { isError: true, text: veto };
    const message: AssistantMessage = { role: "assistant", content: [call], api: "", provider: "", model: "", usage: usageOf({}), stopReason: "toolUse", timestamp: 0 };
    const result: ToolResultMessage = { role: "toolResult", toolCallId: call.id, toolName: name, content: [{ type: "text", text: told }], details, isError, timestamp: 0 };
    const notes = await guide.record([call], [result]);
    conversation.add(message);
    conversation.add(result, notes.get(result));
    return veto ?? notes.get(result);
  };
  return { conversation, guide, request, step, offer: () => guide.offer(false) };
}

test("a special tool is told of once, as soon as there is something that it could work on", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.ini"), "x=1\n");
  const { conversation, offer, request, step } = bench(at, "Set x to 2.", "change: set");
  await offer();
  expect(conversation.note(request)).toBe("");
  await step("fs.read", { path: "a.ini" });
  await offer();
  const result = conversation.messages.at(-1);
  expect(result && conversation.note(result)).toBe('Tools for this:\nfs.set {"path":string,"key":string,"value":string} - Give a setting of a JSON, INI or TOML file a value, or add it; key is like server.port.\nfs.unset {"path":string,"key":string} - Take a setting out of a JSON, INI or TOML file.');
  await step("fs.set", { path: "a.ini", key: "x", value: "2" });
  await offer();
  expect(conversation.messages.map((message) => conversation.note(message)).filter((note) => note.includes("Tools for this")).length).toBe(1);
});

test("what a request wants made and is not there is told beside a change, and nothing is claimed before", async () => {
  using at = fixture();
  mkdirSync(join(at.workspace, "notes"));
  const { offer, step } = bench(at, 'Make notes/2026 and put "a line of x.txt" into notes/2026/plan.md.', "change: create");
  await offer();
  expect(await step("fs.write", { path: "notes/plan.md", content: "a" })).toBe("(not there yet: notes/2026, notes/2026/plan.md)");
  expect((await offer()).mayClaim).toBe(false);
  expect(await step("fs.write", { path: "notes/2026/plan.md", content: "a" })).toBe("");
  expect((await offer()).mayClaim).toBe(true);
});

test("a name that stays away is told three times, and keeps no reply back after that", async () => {
  using at = fixture();
  const { offer, step } = bench(at, "Write a.txt.", "change: create");
  const told: unknown[] = [];
  for (const path of ["b", "c", "d", "e"]) {
    await offer();
    told.push(await step("fs.write", { path, content: "x" }));
  }
  expect([told, (await offer()).mayClaim]).toEqual([[...Array.from({ length: 3 }, () => "(not there yet: a.txt)"), ""], true]);
});

test("a file that would lose most of its lines is written anew only at the second try; one made in the turn at the first", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f.txt"), "a\nb\nc\n");
  const { offer, step } = bench(at, "Add d to f.txt.", "change: create");
  await offer();
  await step("fs.read", { path: "f.txt" });
  expect(await step("fs.write", { path: "f.txt", content: "a\nb\nc\nd\n" })).toBe("");
  await step("fs.write", { path: "new.txt", content: "1\n2\n3\n" });
  expect(await step("fs.write", { path: "new.txt", content: "x\n" })).toBe("");

  const other = bench(at, "Add e to f.txt.", "change: create");
  await other.offer();
  await other.step("fs.read", { path: "f.txt" });
  expect(await other.step("fs.write", { path: "f.txt", content: "e\n" })).toStartWith("nothing was written: 4 of the 4 lines that f.txt has would be gone.");
  expect(await other.step("fs.write", { path: "f.txt", content: "e\n" })).toBe("");
});

test("a call that is hardly meant is told once how to write what may be", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.jpg"), "a");
  mkdirSync(join(at.workspace, "old"));
  const { offer, step } = bench(at, "Put the pictures into a folder photos.", "change: move");
  await offer();
  expect(await step("fs.move", { from: "a.jpg", to: "photos" })).toBe('nothing was moved: a file photos would be made. Into a folder of that name write "to":"photos/a.jpg"; for the name photos write the same again');
  expect(await step("fs.move", { from: "a.jpg", to: "photos" })).toBe("");
  expect(await step("fs.move", { from: "a.jpg", to: "old" })).toBe("");
});

test("a command that prints what the model wrote itself answers no question", async () => {
  using at = fixture();
  const { offer, step } = bench(at, "What happens when the queue is full?", "answer: run");
  await offer();
  expect(await step("shell.run", { command: "echo 'it fails'" })).toStartWith("nothing was run: it would print what you wrote yourself");
  expect(await step("shell.run", { command: "echo $HOME" })).toBe("");
  const asked = bench(at, "What does echo hi print?", "answer: run");
  await asked.offer();
  expect(await asked.step("shell.run", { command: "echo hi" })).toBe("");
});

test("after a change that the request speaks of, one that it does not speak of is refused once, and only a reply is left", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.json"), "{}");
  const { offer, step } = bench(at, "Set the language to de and turn the sound off in a.json.", "change: set");
  await offer();
  await step("fs.read", { path: "a.json" });
  const told: unknown[] = [];
  for (const key of ["ui.language", "soundOn", "volume"]) told.push(await step("fs.set", { path: "a.json", key, value: "x" }));
  expect(told).toEqual(["", "", "nothing more was changed: the request says nothing of volume. Tell the user what you did before that"]);
  expect((await offer()).tools.length).toBe(0);
  expect(await step("fs.set", { path: "a.json", key: "volume", value: "x" })).toBe("");

  writeFileSync(join(at.workspace, "g.md"), "# Cabin\nDogs may come in.\n## Way\n");
  const wrong = bench(at, "Remove the line about the dog.", "change: cut");
  await wrong.offer();
  await wrong.step("fs.read", { path: "g.md" });
  expect(await wrong.step("fs.cut", { path: "g.md", which: "one", line: "## Way" })).toBe("nothing was changed: the request says nothing of this line. It speaks of what stands here: Dogs may come in.");
  expect(await wrong.step("fs.cut", { path: "g.md", which: "one", line: "## Way" })).toBe("");

  const lines = bench(at, "Take all lines with # out of f.conf.", "change: cut");
  writeFileSync(join(at.workspace, "f.conf"), "# one\nx = 1\n# two\n");
  await lines.offer();
  await lines.step("fs.read", { path: "f.conf" });
  expect([await lines.step("fs.cut", { path: "f.conf", which: "one", line: "# one" }), await lines.step("fs.cut", { path: "f.conf", which: "one", line: "# two" }), await lines.step("fs.cut", { path: "f.conf", which: "one", line: "x = 1" })]).toEqual(["", "", "nothing more was changed: the request says nothing of x = 1. Tell the user what you did before that"]);
});

test("a test that tells what is right is not changed to make it pass, unless it is insisted on", async () => {
  using at = fixture();
  for (const name of ["stats.py", "test_stats.py"]) writeFileSync(join(at.workspace, name), "x = 1\n");
  const { offer, step } = bench(at, "test_stats.py fails, fix stats.py.", "change: run, edit");
  expect((await offer()).tools.some(({ class: kind }) => kind === "write")).toBe(false);
  await step("fs.read", { path: "test_stats.py" });
  expect((await offer()).options.names?.files).toEqual(["stats.py"]);
  await step("fs.read", { path: "stats.py" });
  expect((await offer()).tools.some(({ name }) => name === "fs.edit")).toBe(true);
  const args = { path: "test_stats.py", oldText: "x = 1", newText: "x = 2" };
  expect([await step("fs.edit", args), await step("fs.edit", args)]).toEqual(["nothing was changed: test_stats.py is the test, and it tells what is right. Change stats.py", ""]);
});

test("a new file has a name that the request wants; only what makes files for it does where nothing new is asked for", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "todo.md"), "- a\n");
  const paths = async (text: string, plan: string, tool: string): Promise<unknown> => {
    const { offer, step } = bench(at, text, plan);
    await offer();
    await step("fs.read", { path: "todo.md" });
    const { options, tools } = await offer();
    const spec = tools.find(({ name }) => name === tool);
    return spec && offeredArguments(spec, options)?.properties["path"];
  };
  expect(await paths("Write what is done into done.md.", "change: create", "fs.write")).toEqual({ enum: ["done.md"] });
  expect(await paths("Write done.md into a new folder old.", "change: create", "fs.write")).toEqual({ enum: ["done.md", "Write/done.md", "into/done.md", "a/done.md", "new/done.md", "folder/done.md", "old/done.md"] });
  expect(await paths("Add b to my list.", "change: append", "fs.append")).toMatchObject({ enum: ["todo.md"] });
  expect(await paths("Add b to my list, and make one for Bob.", "change: append, create", "fs.append")).toMatchObject({ type: "string" });
  expect(await paths("Add b to todo.md and more.md.", "change: append", "fs.append")).toMatchObject({ enum: expect.arrayContaining(["todo.md", "more.md"]) });
});

test("what the request wants replaced and several files hold is replaced in all of them, unless it names a file", async () => {
  using at = fixture();
  for (const name of ["a.py", "b.py"]) writeFileSync(join(at.workspace, name), "old_name = 1\n");
  const offered = async (text: string): Promise<unknown> => {
    const { offer } = bench(at, text, "change: replace");
    const { options, tools } = await offer();
    const spec = tools.find(({ name }) => name === "fs.replace");
    return spec && offeredVariants(spec, options).map(({ properties }) => [properties["path"], properties["oldText"]]);
  };
  expect(await offered("Rename old_name to new_name in all files.")).toEqual([[{ enum: ["."] }, { enum: ["old_name"] }]]);
  expect(await offered("Rename old_name to new_name in a.py.")).toEqual([]);
});

test("what goes to the end of a list is written as an item of it, unless it is insisted on", async () => {
  using at = fixture();
  const told = async (content: string, text: string): Promise<unknown[]> => {
    writeFileSync(join(at.workspace, "l.md"), content);
    const { offer, step } = bench(at, "Add it to l.md.", "change: append");
    await offer();
    await step("fs.read", { path: "l.md" });
    return [await step("fs.append", { path: "l.md", text }), await step("fs.append", { path: "l.md", text })];
  };
  const objection = (written: string): string => `nothing was added: l.md ends with a list. To go on with it write ${JSON.stringify(written)}; for a text of its own write the same again`;
  expect(await told("1. a\n2. b\n\n", "\nc")).toEqual([objection("3. c"), ""]);
  expect(await told("# L\n- [x] a\n", "c\n")).toEqual([objection("- [ ] c"), ""]);
  for (const [content, text] of [["- a\n", "- b"], ["a\n", "b"], ["- a\n", "\n## New"], ["- a\n", "b\nc"]] as const) expect((await told(content, text))[0]).toBe("");
});

test("after a change one that would change nothing leaves only the reply", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f.txt"), "a\n");
  const { offer, step } = bench(at, "Write a in capitals.", "change: edit");
  await offer();
  await step("fs.read", { path: "f.txt" });
  await step("fs.edit", { path: "f.txt", oldText: "a", newText: "a" });
  expect((await offer()).tools.length > 0).toBe(true);
  await step("fs.edit", { path: "f.txt", oldText: "a", newText: "A" });
  await step("fs.edit", { path: "f.txt", oldText: "A", newText: "A" });
  expect((await offer()).tools.length).toBe(0);
});

test("what would have lost most of a file is offered again only when nothing else leads on", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f.py"), "a\nb\nc\n");
  const { offer, step } = bench(at, "Implement b in f.py.", "change: create, edit");
  const writes = async (): Promise<boolean> => (await offer()).tools.some(({ name }) => name === "fs.write");
  await offer();
  await step("fs.read", { path: "f.py" });
  const before = await writes();
  await step("fs.write", { path: "f.py", content: "d\n" });
  const after = await writes();
  await step("fs.read", { path: "none" });
  expect([before, after, await writes()]).toEqual([true, false, true]);
});

test("of a file of blank lines there is nothing to quote", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f.md"), "\n\n");
  const { offer, step } = bench(at, "Remove the last line of f.md.", "change: cut");
  await offer();
  await step("fs.read", { path: "f.md" });
  const { options, tools } = await offer();
  expect(tools.filter(({ quotes }) => quotes).map((spec) => offeredVariants(spec, options).length)).toEqual([0, 0]);
});

test("a setting is emptied only at the second try", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.json"), '{"debug":true}');
  const { offer, step } = bench(at, "Remove debug from a.json.", "change: set");
  await offer();
  await step("fs.read", { path: "a.json" });
  const args = { path: "a.json", key: "debug", value: "" };
  expect([await step("fs.set", args), await step("fs.set", args)]).toEqual(['nothing was set: to take debug out use fs.unset {"path":"a.json","key":"debug"}; for an empty value write the same again', ""]);
});

test("the same change of a file is made once in a turn; who tries it again has nothing left but to reply", async () => {
  using at = fixture();
  const { offer, step } = bench(at, "Add a line.", "change: append");
  await offer();
  expect([await step("fs.append", { path: "f", text: "x" }), (await offer()).tools.length > 0]).toEqual(["", true]);
  expect([await step("fs.append", { path: "f", text: "x" }), (await offer()).tools.length]).toEqual(["you made this change already. When all is done, tell the user what you did", 0]);
  expect([await step("fs.append", { path: "f", text: "y" }), (await offer()).tools.length > 0]).toEqual(["", true]);
});

test("it goes on where something that it should make is not there", async () => {
  using at = fixture();
  const { offer, step } = bench(at, "Write a.txt.", "change: create");
  for (let round = 0; round < 2; round += 1) {
    await offer();
    await step("fs.append", { path: "f", text: "x" });
  }
  expect((await offer()).tools.length > 0).toBe(true);
});

test("a first request that needs no tool gets none, unless it names a file", async () => {
  using at = fixture();
  const toolsFor = async (text: string): Promise<number> => (await bench(at, text, "answer: talk").offer()).tools.length;
  expect([await toolsFor("Thanks!"), (await toolsFor("Thanks for a.txt!")) > 0]).toEqual([0, true]);
});

test("what nothing on this computer tells is only replied to, and that is said", async () => {
  using at = fixture();
  const { conversation, offer, request } = bench(at, "Is it raining?", "answer: unknown");
  expect([(await offer()).tools.length, conversation.note(request)]).toEqual([0, "(Nothing on this computer tells that: say that you can't know it.)"]);
  await offer();
  expect(conversation.note(request).match(/Nothing/g)?.length).toBe(1);
});

test("what a question names and the shown file does not have is told, until a file has it; of a change nothing is", async () => {
  using at = fixture();
  for (const [name, text] of [["a.py", "def area(r):\n"], ["b.py", "def Volume(r):\n"]] as const) writeFileSync(join(at.workspace, name), text);
  const { offer, step } = bench(at, "What does the function volume return, and area()?", "answer: read");
  await offer();
  expect([await step("fs.read", { path: "a.py" }), await step("fs.read", { path: "b.py" }), await step("fs.read", { path: "a.py" })]).toEqual(["(a.py has no volume)", "", expect.not.stringContaining("has no")]);
  const change = bench(at, "Add a function volume to a.py.", "change: append");
  await change.offer();
  expect(await change.step("fs.read", { path: "a.py" })).toBe("");
});

test("a command that takes a name of the workspace for one at the top of the disk is not run, unless the request means that", async () => {
  using at = fixture();
  mkdirSync(join(at.workspace, "var/log"), { recursive: true });
  const first = async (text: string, command: string): Promise<string | undefined> => {
    const { offer, step } = bench(at, text, "answer: run");
    await offer();
    return step("shell.run", { command });
  };
  expect(await first("Count what is in var.", "ls /var && ls ./var /variable a/var")).toBe("nothing was run: /var is at the top of the disk, and what is here is called var. Write: ls var && ls ./var /variable a/var");
  expect(await first("Count what is in /var.", "cat /var")).not.toContain("nothing was run");
  mkdirSync(join(at.workspace, "bin"));
  expect(await first("Count what is in var.", "/bin/echo var /var/none")).not.toContain("nothing was run");
  expect(await first("Count what is in var.", "ls /var/log/")).toContain("Write: ls var/log/");
  expect(await first("Count what is in var.", "cat var/log ~/var /usr/var")).not.toContain("nothing was run");
});

test("a very small model replies to the first look that fits, unless that speaks of another file, and once a change is made", async () => {
  using at = fixture();
  for (const [name, text] of [["a.txt", "Next: read b.txt.\n"], ["b.txt", "The code is 7.\n"], ["c.ini", "x = 1\n"]] as const) writeFileSync(join(at.workspace, name), text);
  const small = (plan: string): TextEngine => ({ ...planning(plan), traits: () => ({ parameters: 5e8 }) });
  const { offer, step } = bench(at, "Read a.txt and follow it. What is the code?", "", small("answer: read"));
  await offer();
  await step("fs.read", { path: "a.txt" });
  expect((await offer()).tools.length > 0).toBe(true);
  await step("fs.read", { path: "b.txt" });
  expect((await offer()).tools.length).toBe(0);
  const change = bench(at, "Set x in c.ini to 2.", "", small("change: set"));
  await change.offer();
  await change.step("fs.read", { path: "c.ini" });
  expect((await change.offer()).tools.map(({ name }) => name)).toEqual(["fs.edit", "fs.set", "fs.unset"]);
  await change.step("fs.set", { path: "c.ini", key: "x", value: "2" });
  expect((await change.offer()).tools.length).toBe(0);
});

test("an engine that no grammar binds is told and refused nothing of this", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f.txt"), "a\nb\nc\n");
  const engine = { kind: "action" as const, info: () => info, open: async () => {}, act: async function* () {}, close: async () => {} };
  const { offer, step } = bench(at, "Write g.txt.", "", engine as never);
  expect((await offer()).tools.length).toBe(builtinTools(at.options).length);
  expect([await step("fs.write", { path: "f.txt", content: "x" }), await step("fs.append", { path: "f.txt", text: "y" }), await step("fs.append", { path: "f.txt", text: "y" })]).toEqual(["", "", ""]);
});
