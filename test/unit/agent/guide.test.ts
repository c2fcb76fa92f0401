// What the guide of a turn tells the model and keeps from it, with the real tools in a real folder and a planned kind of work.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { offeredArguments, offeredVariants } from "../../../src/agent/offer.ts";
import type { TextEngine } from "../../../src/core/engine.ts";
import { builtinTools } from "../../../src/tools/index.ts";
import { fixture } from "../tools/fixture.ts";
import { bench, info, planning } from "./guide-bench.ts";

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

test("a change of a file that is not there changes no other one, unless the name is one of something else", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "bill.txt"), "rent\nuses jquery.js\n");
  const classes = async (text: string, plan: string): Promise<string> => [...new Set((await bench(at, text, plan).offer()).tools.map((tool) => tool.class))].join(" ");
  expect(await classes("Translate letter.txt into German.", "change: edit")).toBe("read");
  expect(await classes("Translate bil.txt into German.", "change: edit")).toBe("read write");
  expect(await classes("Replace jquery.js by react.js.", "change: replace")).toBe("read write");
  expect(await classes("Write letter.txt.", "change: create")).toBe("read write");
});

test("what the user says meanwhile counts: a file that is there may be changed then", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "bill.txt"), "rent\n");
  const { conversation, offer } = bench(at, "Translate letter.txt into German.", "change: edit");
  const before = (await offer()).tools.some((tool) => tool.class === "write");
  conversation.add({ role: "user", content: [{ type: "text", text: "I meant bill.txt." }], timestamp: 1 });
  expect([before, (await offer()).tools.some((tool) => tool.class === "write")]).toEqual([false, true]);
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

test("what everybody knows is not looked for: the model is told when no file speaks of it", async () => {
  const told = async (text: string, plan: string): Promise<string> => {
    using at = fixture();
    writeFileSync(join(at.workspace, "a.txt"), "paint\n");
    const { conversation, offer, request } = bench(at, text, plan);
    await offer();
    const { mayReply, tools } = await offer();
    return `${conversation.note(request)}${mayReply && tools.length === 0 ? " reply" : ""}`;
  };
  expect([await told("Which river is the longest?", "answer: search"), await told("Which river is the longest?", "answer: read"), await told("Which river is in a.txt?", "answer: read"), await told("Which paint?", "answer: read"), await told("Which folders are there?", "answer: list")]).toEqual(["(No file here speaks of this.) reply", "(No file here speaks of this.)", "", "", ""]);
});

test("a change of files of one kind quotes no others", async () => {
  using at = fixture();
  for (const name of ["a.js", "b.txt"]) writeFileSync(join(at.workspace, name), "(c) 2020\n");
  const { offer, step } = bench(at, "Make it 2021 in all .js files.", "change: replace");
  await offer();
  for (const path of ["a.js", "b.txt"]) await step("fs.read", { path });
  expect((await offer()).options.seen).toEqual(["a.js"]);
});

test("a name in a long file is searched before that is changed, and what the search shows may be", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.py"), Array.from({ length: 800 }, (_, index) => `step_${index} = ${index}\n`).join(""));
  const { offer, step } = bench(at, "Set step_311 in a.py to 5.", "change: edit");
  expect((await offer()).tools.map(({ name }) => name)).toEqual(["fs.grep"]);
  await step("fs.grep", { pattern: "step_311" });
  const next = await offer();
  expect([next.options.seen, next.tools.some(({ name }) => name === "fs.edit")]).toEqual([["a.py"], true]);
  expect(await step("fs.edit", { path: "a.py", oldText: "step_311 = 311", newText: "step_311 = 5" })).not.toContain("have not read it");
});

test("files like the one that was moved are told, where the request names none", async () => {
  const told = async (request: string, from: string): Promise<string | undefined> => {
    using at = fixture();
    for (const name of ["test_a.py", "test_b.py", "a.py"]) writeFileSync(join(at.workspace, name), "x = 1\n");
    const { offer, step } = bench(at, request, "change: move");
    await offer();
    return await step("fs.move", { from, to: `new/${from}` });
  };
  expect([await told("put the two test files into new", "test_a.py"), await told("put test_a.py into new", "test_a.py"), await told("put the two test files into new", "a.py")]).toEqual(["(still there: test_b.py)", "", ""]);
});

test("what was written in the turn is not changed back", async () => {
  using at = fixture();
  for (const name of ["a.js", "b.js"]) writeFileSync(join(at.workspace, name), "// (c) 2024 K\n");
  const { offer, step } = bench(at, "Make the year 2026 instead of 2024 in all .js files.", "change: replace");
  await offer();
  for (const path of ["a.js", "b.js"]) await step("fs.read", { path });
  for (const path of ["a.js", "b.js"]) expect(await step("fs.replace", { path, oldText: "(c) 2024", newText: "(c) 2026" })).toBe("");
  expect(await step("fs.replace", { path: "a.js", oldText: "(c) 2026 K", newText: "(c) 2024" })).toBe("nothing more was changed: you wrote this in a.js yourself. When all is done, tell the user what you did");
  expect((await offer()).tools).toEqual([]);
  expect(await step("fs.edit", { path: "b.js", oldText: "// (c) 2026 K", newText: "// x" })).toContain("you wrote this in b.js yourself");
});

test("what still stands there is told beside a change", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.py"), "row = 1\nprint(row)\nrows = 2\n");
  const { offer, step } = bench(at, "Rename the variable row to line in a.py.", "change: replace");
  await offer();
  await step("fs.read", { path: "a.py" });
  expect(await step("fs.edit", { path: "a.py", oldText: "row = 1", newText: "line = 1" })).toBe("(still in a.py: row)");
  expect(await step("fs.replace", { path: "a.py", oldText: "row", newText: "line" })).toBe("");
});
