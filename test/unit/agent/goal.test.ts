// When the question about a request's goal is asked, and what its answer binds.
import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { actionGrammar } from "../../../src/agent/action.ts";
import { Goal } from "../../../src/agent/goal.ts";
import type { TextEngine, TextRequest } from "../../../src/core/engine.ts";
import { usageOf, type Usage, type UserMessage } from "../../../src/core/message.ts";
import type { ToolSpec } from "../../../src/core/tool.ts";
import { accepts, parseGbnf } from "../../support/gbnf.ts";

const read: ToolSpec = { name: "fs.read", description: "", class: "read", schema: z.strictObject({ path: z.string() }) };
const write: ToolSpec = { name: "fs.write", description: "", class: "write", schema: z.strictObject({ path: z.string() }) };
const user = (text: string): UserMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 0 });

function bench(answers: readonly string[], { tools = [read, write], apart = true } = {}) {
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
  const goal = new Goal({ engine, tools, signal: new AbortController().signal, spend: (usage) => spent.push(usage) });
  return { goal, requests, spent };
}

describe("the question", () => {
  test("is asked once a message, with nothing of the conversation, and its tokens are counted", async () => {
    const { goal, requests, spent } = bench(["answer"]);
    const message = user("What is in a.txt?");
    expect([await goal.isChange(message), await goal.isChange(message)]).toEqual([false, false]);
    expect(requests.map(({ chat, purpose, temperature }) => [chat.at(-1)?.text, purpose, temperature])).toEqual([["What is in a.txt?", "goal", 0]]);
    expect(spent.map(({ totalTokens }) => totalTokens)).toEqual([11]);
  });
  test("a change stays one for the turn, a question does not", async () => {
    const { goal, requests } = bench(["answer", "change"]);
    const seen = [await goal.isChange(user("What is it?")), await goal.isChange(user("Delete it.")), await goal.isChange(user("Thanks."))];
    expect([seen, requests.length]).toEqual([[false, true, true], 2]);
  });
  test("a long request is shortened, both ends kept", async () => {
    const { goal, requests } = bench(["answer"]);
    await goal.isChange(user(`begin ${"x".repeat(5000)} end`));
    const asked = requests[0]?.chat.at(-1)?.text ?? "";
    expect([asked.length < 1300, asked.startsWith("begin "), asked.endsWith(" end")]).toEqual([true, true, true]);
  });
  test.each([
    ["no tool changes anything", { tools: [read] }],
    ["the conversation would have to be read again", { apart: false }],
  ])("is not asked where %s", async (_name, options) => {
    const { goal, requests } = bench(["change"], options);
    expect([await goal.isChange(user("Delete it.")), requests.length]).toEqual([false, 0]);
  });
  test("an answer that doesn't come binds nothing", async () => {
    expect(await bench([]).goal.isChange(user("Delete it."))).toBe(false);
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
