// A file written anew apart from the conversation: how it is asked for, what of the answer is taken, and which file comes next.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Conversation } from "../../../src/agent/conversation.ts";
import { generate } from "../../../src/agent/generate.ts";
import { changedText, type Rewrite, rewriteChat, rewriteGrammar, rewritten } from "../../../src/agent/rewrite.ts";
import { systemText } from "../../../src/agent/prompt.ts";
import { replyOnly } from "../../../src/agent/step-offer.ts";
import type { ActionEvent, TextEngine, TextRequest } from "../../../src/core/engine.ts";
import { usageOf } from "../../../src/core/message.ts";
import { accepts, parseGbnf } from "../../support/gbnf.ts";
import { fixture } from "../tools/fixture.ts";
import { bench, info } from "./guide-bench.ts";

const rewrite = (content: string, more: Partial<Rewrite> = {}): Rewrite => ({ tool: "fs.write", path: "a.txt", content, beside: [], request: "Say hello.", mayShrink: false, tries: 0, triesMax: 1, ...more });
const fenced = (text: string, fence = "```"): string => `${fence}\n${text}${fence}`;

test("the file, those beside it, the request and what failed are told", () => {
  const [, user] = rewriteChat(rewrite("x\r\ny", { beside: [{ path: "b.txt", content: "z\n" }], failure: `${"long ".repeat(500)}AssertionError` }));
  expect(user?.text).toStartWith("b.txt:\n```\nz\n```\n\na.txt:\n```\nx\ny\n```\n\nSay hello.\n\nNow it ends with:\n");
  expect(user?.text).toEndWith("long AssertionError\n\nWrite the whole new a.txt.");
  expect(user?.text.length).toBeLessThan(800);
});

test.each([
  ["text", "a\n", fenced("b\n\n  c `d`\n"), true],
  ["a language behind the fence", "a\n", "```python\nx\n```", true],
  ["nothing", "a\n", fenced(""), true],
  ["an open block", "a\n", "```\nb\n", false],
  ["words before the block", "a\n", `Here:\n${fenced("b\n")}`, false],
  ["words behind it", "a\n", `${fenced("b\n")}\nDone.`, false],
  ["a fence inside of a text without any", "a\n", fenced("```\nb\n```\n"), false],
  ["fences inside of a text that has some", "```sh\nls\n```\n", fenced("```sh\nls -l\n```\n", "````"), true],
])("the grammar takes one block: %s", (_name, content, answer, isTaken) => {
  expect(accepts(parseGbnf(rewriteGrammar(rewrite(content))), answer)).toBe(isTaken);
});

test.each([
  ["a block that says what it holds", "a\n", "# A\n\n```sh\nls\n```\n\nb\n", true],
  ["one without", "a\n", "# A\n```\nls\n```\n", false],
  ["one that is open", "a\n", "```sh\nls\n", false],
  ["where the file has such blocks", "```sh\nls\n```\n", "```sh\nls -l\n```\n", true],
])("a text of Markdown may hold blocks: %s", (_name, content, text, isTaken) => {
  const one = rewrite(content, { path: "a.md" });
  expect(accepts(parseGbnf(rewriteGrammar(one)), fenced(text))).toBe(isTaken);
  if (isTaken) expect(rewritten(one, fenced(text))).toBe(text);
});

test("of Markdown with other blocks the fence is longer", () => {
  for (const content of ["```\nls\n```\n", "````md\n```sh\nls\n```\n````\n"]) expect(rewriteGrammar(rewrite(content, { path: "a.md" }))).toStartWith('root ::= "````');
});

test.each([
  ["a changed line", "a\nb\n", "a\nc\n", "a\nc\n"],
  ["CRLF stays", "a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n"],
  ["a byte order mark stays", "\uFEFFa\n", "b\n", "\uFEFFb\n"],
  ["an open end stays open", "a\nb", "a\nc\n", "a\nc"],
  ["blanks behind lines that stay", "a  \nb\n", "a\nc\n", "a  \nc\n"],
])("the new text has the style of the old one: %s", (_name, before, text, after) => {
  expect(rewritten(rewrite(before), fenced(text))).toBe(after);
});

test.each([
  ["the same text", rewrite("a\n"), fenced("a\n")],
  ["the same but for blanks behind", rewrite("a \n"), fenced("a\n")],
  ["a block that was cut", rewrite("a\nb\n"), "```\na\nc\n"],
  ["most of the file left out", rewrite("a\nb\nc\nd\n"), fenced("x\n")],
  ["nothing, even where lines go", rewrite("a\nb\n", { mayShrink: true }), fenced("")],
])("an answer of no use: %s", (_name, one, answer) => {
  expect(rewritten(one, answer)).toBeUndefined();
});

test("most lines may go where lines are to be taken out", () => {
  expect(rewritten(rewrite("a\nb\nc\nd\n", { mayShrink: true }), fenced("a\n"))).toBe("a\n");
});

test("the model is told the lines that went and came", () => {
  expect(changedText(rewrite("a\nb\nc\n"), "a\nB\nc\nd\n")).toBe("(changed in a.txt:\n- b\n+ B\n+ d)");
  expect(changedText(rewrite(""), Array.from({ length: 20 }, (_, index) => `${index}\n`).join(""))).toEndWith("+ 11\nand 8 more lines)");
});

async function generated(answers: readonly string[], one: Rewrite): Promise<{ events: ActionEvent[]; requests: TextRequest[]; raw: string | undefined }> {
  const requests: TextRequest[] = [];
  const left = [...answers];
  const engine: TextEngine = {
    kind: "text",
    info: () => info,
    answersApart: () => true,
    open: async () => {},
    async *complete(request) {
      requests.push(request);
      yield { type: "prompt_accepted", promptTokens: 9, cachedTokens: 4, slotId: -1 };
      yield { type: "text", text: left.shift() ?? "" };
      yield { type: "ended", stop: "end", usage: usageOf({ input: 5, output: 2 }) };
    },
    close: async () => {},
  };
  const generation = generate({ engine, conversation: new Conversation(), system: systemText({ tools: [], additions: [] }), offer: { ...replyOnly, rewrite: one }, sampling: { temperature: 0, seed: 7, maxTokens: 100 }, thinking: "off", parallelMax: 1, forbidEmpty: false, signal: new AbortController().signal });
  const events: ActionEvent[] = [];
  for await (const event of generation.events) events.push(event);
  return { events, requests, raw: generation.rawText() };
}

test("an answer becomes a call that writes the file, and is told shorter in later prompts", async () => {
  const text = `${"line\n".repeat(200)}end\n`;
  const { events, raw } = await generated([fenced(text)], rewrite("line\n"));
  const args = { path: "a.txt", content: text };
  expect(events.map(({ type }) => type)).toEqual(["prompt_accepted", "call_start", "call_delta", "call_end", "ended"]);
  expect(events[3]).toEqual({ type: "call_end", index: 0, arguments: args });
  expect(events[2]).toMatchObject({ delta: JSON.stringify(args) });
  expect(raw?.length).toBeLessThan(700);
  expect(JSON.parse(raw ?? "")).toMatchObject({ goal: "change", tool: "fs.write", args: { path: "a.txt" } });
});

test("of what is to be mended further answers are sampled in other ways; at last the step goes on as any other", async () => {
  const { events, requests } = await generated([fenced("a\n"), fenced("a\n"), '{"goal":"answer","tool":"reply","args":{"text":"no"}}'], rewrite("a\n", { tries: 1, triesMax: 2 }));
  expect(requests.map(({ purpose, seed, temperature }) => [purpose, temperature, seed])).toEqual([["plan", 0.8, 8], ["plan", 0.8, 9], ["step", 0, 7]]);
  expect(events.filter(({ type }) => type === "prompt_accepted").length).toBe(1);
  expect(events.at(-1)).toMatchObject({ type: "ended", usage: { input: 15, output: 6 } });
});

test.each([
  ["what a new file was made of is not changed into the same", "a\nb\n", ["plan", "step"]],
  ["one line may well be equal", "a\n", ["plan"]],
])("%s", async (_name, text, purposes: string[]) => {
  const { events, requests } = await generated([fenced(text), '{"goal":"answer","tool":"reply","args":{"text":"done"}}'], rewrite("a: b\n", { made: [text.trimEnd()] }));
  expect(requests.map(({ purpose }): string => purpose)).toEqual(purposes);
  expect(events.some(({ type }) => type === "call_start")).toBe(purposes.length === 1);
});

test("each named file is written anew once, with the others beside it; then there is only the reply", async () => {
  using at = fixture();
  for (const name of ["a.ini", "b.ini", "c.ini"]) writeFileSync(join(at.workspace, name), "x=1\n");
  const { offer, step } = bench(at, "Set x to 2 in a.ini and b.ini.", "change: set");
  expect((await offer()).rewrite).toBeUndefined();
  await step("fs.read", { path: "a.ini" });
  expect((await offer()).rewrite).toBeUndefined();
  await step("fs.read", { path: "b.ini" });
  expect((await offer()).rewrite).toMatchObject({ path: "a.ini", content: "x=1\n", beside: [{ path: "b.ini", content: "x=1\n" }], tries: 0 });
  expect(await step("fs.write", { path: "a.ini", content: "x=2\n" })).toBe("(changed in a.ini:\n- x=1\n+ x=2)");
  expect((await offer()).rewrite?.path).toBe("b.ini");
  await step("fs.write", { path: "b.ini", content: "x=2\n" });
  expect((await offer()).tools).toEqual([]);
  expect(readFileSync(join(at.workspace, "b.ini"), "utf8")).toBe("x=2\n");
});

test("where one of the named files is too long the step goes on after the others", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.ini"), "x=1\n");
  writeFileSync(join(at.workspace, "b.ini"), "x=1\n".repeat(1000));
  const { offer, step } = bench(at, "Set x to 2 in a.ini and b.ini.", "change: set");
  await offer();
  for (const path of ["a.ini", "b.ini"]) await step("fs.read", { path });
  expect((await offer()).rewrite?.path).toBe("a.ini");
  await step("fs.write", { path: "a.ini", content: "x=2\n" });
  for (let count = 0; count < 2; count += 1) {
    const { rewrite: one, tools } = await offer();
    expect([one, tools.some(({ name }) => name === "fs.edit")]).toEqual([undefined, true]);
  }
});

test("what the user says meanwhile is asked for as well", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.ini"), "x=1\ny=1\n");
  const { conversation, offer, step } = bench(at, "Set x to 2 in a.ini.", "change: set");
  await offer();
  await step("fs.read", { path: "a.ini" });
  await offer();
  await step("fs.write", { path: "a.ini", content: "x=2\ny=1\n" });
  conversation.add({ role: "user", content: [{ type: "text", text: "And y to 3 in a.ini." }], timestamp: 0 });
  expect((await offer()).rewrite).toMatchObject({ request: "And y to 3 in a.ini.", content: "x=2\ny=1\n" });
});

test("without the tool that writes whole files nothing is written anew", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.ini"), "x=1\n");
  const { offer, step } = bench(at, "Set x to 2 in a.ini.", "change: set", undefined, ["fs.read", "fs.edit"]);
  await offer();
  await step("fs.read", { path: "a.ini" });
  expect((await offer()).rewrite).toBeUndefined();
});

test("a file that the request does not name is written anew when it alone was read; one that is too long is not", async () => {
  for (const [content, path] of [["x=1\n", "a.ini"], ["x=1\n".repeat(1000), undefined]] as const) {
    using at = fixture();
    writeFileSync(join(at.workspace, "a.ini"), content);
    const { offer, step } = bench(at, "Set x to 2.", "change: set");
    await offer();
    await step("fs.read", { path: "a.ini" });
    expect((await offer()).rewrite?.path).toBe(path);
  }
});

test("what other tools do exactly is left to them", async () => {
  for (const plan of ["change: sort", "change: move, edit", "change: compute, append", "answer: read"]) {
    using at = fixture();
    writeFileSync(join(at.workspace, "a.txt"), "b\na\n");
    const { offer, step } = bench(at, "Sort a.txt.", plan);
    await offer();
    await step("fs.read", { path: "a.txt" });
    expect([plan, (await offer()).rewrite]).toEqual([plan, undefined]);
  }
});

test("a section of Markdown goes in with the tool that knows sections; what was written whole is not added to at once", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.md"), "# A\n\n## B\n");
  const { offer, step } = bench(at, "Put a section C into a.md.", "change: insert");
  await offer();
  await step("fs.read", { path: "a.md" });
  expect((await offer()).rewrite).toBeUndefined();
  await step("fs.write", { path: "b.json", content: "{}" });
  expect(await step("fs.set", { path: "b.json", key: "section", value: "C" })).toBe("nothing more was changed: you wrote the whole of b.json in this turn. If it is as it is to be, tell the user what you did");
  expect(await step("fs.set", { path: "b.json", key: "section", value: "C" })).toBe("");
});

test("what is to be mended begins anew where it failed, from another failure where it went on, and ends as failed", async () => {
  using at = fixture();
  const start = "def f():\n    return 1\n";
  writeFileSync(join(at.workspace, "a.py"), start);
  writeFileSync(join(at.workspace, "test_a.py"), "from a import f\nassert f() == 3, f()\n");
  const { conversation, offer, step } = bench(at, "test_a.py fails, mend a.py.", "change: run, edit");
  await offer();
  for (const path of ["a.py", "test_a.py"]) await step("fs.read", { path });
  const fail = (told: string): Promise<string | undefined> => step("shell.run", { command: `echo '${told}'; : test_a.py; false` });
  const next = async (): Promise<unknown> => {
    const { rewrite: one } = await offer();
    return one && [one.content, one.tries, one.failure?.split("\n")[0]];
  };
  await fail("AssertionError: 1");
  expect((await offer()).rewrite).toMatchObject({ path: "a.py", content: start, beside: [{ path: "test_a.py" }], triesMax: 4 });
  await step("fs.write", { path: "a.py", content: "x\n" });
  await offer();
  await fail("SyntaxError: x");
  expect(await next()).toEqual([start, 4, "AssertionError: 1"]);
  await step("fs.write", { path: "a.py", content: "def f():\n    return 2\n" });
  await offer();
  await fail("AssertionError: 2");
  expect(await next()).toEqual(["def f():\n    return 2\n", 8, "AssertionError: 2"]);
  await step("fs.write", { path: "a.py", content: "def f():\n    return 4\n" });
  await offer();
  await fail("AssertionError: 4");
  await offer();
  await step("fs.write", { path: "a.py", content: "def f():\n    return 5\n" });
  await offer();
  await fail("AssertionError: 5");
  const last = await offer();
  const result = conversation.messages.at(-1);
  expect([last.tools, result && conversation.note(result)]).toEqual([[], "(It still fails: tell the user so.)"]);
});

test("which of several places is meant is asked first", async () => {
  const one: Rewrite = { tool: "fs.write", path: "plan.md", places: ["plan.md", "notes/plan.md"], beside: [], request: "Write plan.md into notes.", mayShrink: false, tries: 0, triesMax: 1 };
  const { events, requests } = await generated(["notes/plan.md", "```markdown\n# Plan\n```"], one);
  expect(requests.map(({ grammar }) => grammar?.slice(0, 40))).toEqual(['root ::= "plan.md" | "notes/plan.md"', rewriteGrammar(one).slice(0, 40)]);
  expect(events.find(({ type }) => type === "call_end")).toMatchObject({ arguments: { path: "notes/plan.md", content: "# Plan\n" } });
  expect(events.at(-1)).toMatchObject({ type: "ended", usage: { input: 10, output: 4 } });
});
