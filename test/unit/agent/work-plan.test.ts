// When the question about the kinds of work is asked, and what its answer binds.
import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { actionGrammar } from "../../../src/agent/action.ts";
import { Conversation } from "../../../src/agent/conversation.ts";
import { moreExamples } from "../../../src/agent/more-examples.ts";
import { WorkPlan } from "../../../src/agent/work-plan.ts";
import type { TextEngine, TextRequest } from "../../../src/core/engine.ts";
import { usageOf, type Usage, type UserMessage } from "../../../src/core/message.ts";
import { apartContextSize } from "../../../src/engines/llama/opening.ts";
import type { ToolSpec } from "../../../src/core/tool.ts";
import { accepts, parseGbnf } from "../../support/gbnf.ts";

const read: ToolSpec = { name: "fs.read", description: "", class: "read", schema: z.strictObject({ path: z.string() }) };
const write: ToolSpec = { name: "fs.write", description: "", class: "write", serves: ["create"], schema: z.strictObject({ path: z.string() }) };
const sort: ToolSpec = { name: "fs.sort", description: "Sort.", class: "write", serves: ["sort"], isSpecial: true, schema: z.strictObject({ path: z.string().meta({ existing: "file" }) }) };
const user = (text: string): UserMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 0 });

function bench(answers: readonly string[], { tools = [read, write, sort], apart = true } = {}) {
  const requests: TextRequest[] = [];
  const spent: Usage[] = [];
  const left = [...answers];
  const engine: TextEngine = {
    kind: "text",
    info: () => ({ id: "m", name: "m", api: "in-process", provider: "llama", baseUrl: "", reasoning: false, input: ["text"], contextWindow: 4096, maxTokens: 4096 }),
    answersApart: () => apart,
    open: async () => {},
    async *complete(request) {
      requests.push(request);
      const text = left.shift();
      if (text === undefined) yield { type: "failed", failure: { kind: "engine", category: "model", message: "no answer" }, usage: usageOf({}) };
      else {
        yield { type: "text", text };
        yield { type: "ended", stop: "end", usage: usageOf({ input: 10, output: 1 }) };
      }
    },
    close: async () => {},
  };
  const plan = new WorkPlan({ engine, tools, signal: new AbortController().signal, spend: (usage) => spent.push(usage) });
  const conversation = new Conversation();
  /** Takes a message; says what is planned then. */
  const take = async (message: UserMessage) => {
    if (!conversation.messages.includes(message)) conversation.add(message);
    await plan.take(conversation);
    return { isChange: plan.work?.isChange, kinds: [...(plan.work?.kinds ?? [])] };
  };
  return { take, requests, spent };
}

describe("the question", () => {
  test("is asked once a message, with nothing of the conversation, and its tokens are counted", async () => {
    const { requests, spent, take } = bench(["answer: read"]);
    const message = user("What is in a.txt?");
    expect(await take(message)).toEqual({ isChange: false, kinds: ["read"] });
    expect(await take(message)).toEqual({ isChange: false, kinds: ["read"] });
    expect(requests.map(({ chat, purpose, temperature }) => [chat.at(-1)?.text, purpose, temperature])).toEqual([["What is in a.txt?", "plan", 0]]);
    expect(spent.map(({ totalTokens }) => totalTokens)).toEqual([11]);
  });
  test("kinds add up in a turn, and a change stays one", async () => {
    const { requests, take } = bench(["answer: read", "change: delete", "answer: talk"]);
    const seen = [await take(user("What is it?")), await take(user("Delete it.")), await take(user("Thanks."))];
    expect(seen.map(({ isChange, kinds }) => [isChange, kinds.join(" ")])).toEqual([[false, "read"], [true, "read delete"], [true, "read delete talk"]]);
    expect(requests.length).toBe(3);
  });
  test("a long request is shortened, both ends kept", async () => {
    const { requests, take } = bench(["answer: talk"]);
    await take(user(`begin ${"x".repeat(5000)} end`));
    const asked = requests[0]?.chat.at(-1)?.text ?? "";
    expect([asked.length < 1300, asked.startsWith("begin "), asked.endsWith(" end")]).toEqual([true, true, true]);
  });
  test.each([
    ["no tool is for a kind of work", { tools: [read] }],
    ["the conversation would have to be read again", { apart: false }],
  ])("is not asked where %s", async (_name, options) => {
    const { requests, take } = bench(["change: delete"], options);
    expect([(await take(user("Delete it."))).isChange, requests.length]).toEqual([undefined, 0]);
  });
  test.each([[[]], [[""]], [["change: "]], [["change: pain"]]])("an answer that is none binds nothing: %p", async (answers: string[]) => {
    expect((await bench(answers).take(user("Delete it."))).isChange).toBeUndefined();
  });
});

describe("the grammar of a change", () => {
  const allows = (text: string, options: { isChange?: boolean; mayClaim?: boolean }): boolean => accepts(parseGbnf(actionGrammar({ tools: [read, write], parallelMax: 1, ...options })), text);
  const call = (goal: string, tool: string): string => `{"goal":"${goal}","tool":"${tool}","args":{"path":"a"}}`;
  const reply = (goal: string): string => `{"goal":"${goal}","tool":"reply","args":{"text":"Done."}}`;

  test("every action has that goal", () => {
    expect([call("change", "fs.read"), call("change", "fs.write"), reply("change")].map((text) => allows(text, { isChange: true }))).toEqual([true, true, true]);
    expect([call("answer", "fs.read"), reply("answer")].map((text) => allows(text, { isChange: true }))).toEqual([false, false]);
  });
  test("there is no reply before there is something to report", () => {
    expect([reply("change"), reply("answer"), call("change", "fs.read")].map((text) => allows(text, { isChange: true, mayClaim: false }))).toEqual([false, false, true]);
    expect([reply("change"), reply("answer")].map((text) => allows(text, { mayClaim: false }))).toEqual([false, true]);
  });
});

test("the question and a long request fit into the context that it is asked in", async () => {
  const { requests, take } = bench(["answer: read"]);
  const longest = moreExamples.map(([request]) => request).toSorted((a, b) => b.length - a.length).slice(0, 3);
  await take(user(`${longest.join(" ")} `.repeat(20)));
  expect(requests[0]?.chat.filter(({ text }) => longest.includes(text)).length).toBe(3);
  expect(requests[0]?.varying).toBe(7);
  const characters = requests[0]?.chat.reduce((sum, { text }) => sum + text.length + turnMarksChars, 0) ?? Infinity;
  expect(characters / charsPerToken).toBeLessThan(apartContextSize);
});

/** Measured with Qwen2.5's tokens: 4.7 a token; less for safety. */
const charsPerToken = 4;
const turnMarksChars = 30;
