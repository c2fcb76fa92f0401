// A text engine that thinks before it writes an action: what becomes of it, and how many tokens it is given.
import { expect, test } from "bun:test";
import { Conversation } from "../../../src/agent/conversation.ts";
import { generate } from "../../../src/agent/generate.ts";
import { thinkingTokens } from "../../../src/cli/turn-settings.ts";
import type { ActionEvent, TextEngine, TextEvent, TextRequest } from "../../../src/core/engine.ts";
import { ThinkingLevel, usageOf } from "../../../src/core/message.ts";

const info = { id: "m", name: "m", api: "x", provider: "x", baseUrl: "", reasoning: true, input: ["text" as const], contextWindow: 4096, maxTokens: 4096 };

async function play(events: readonly TextEvent[], thinkingTokensMax: number, signal = new AbortController().signal): Promise<{ told: ActionEvent[]; sent: TextRequest[]; raw: string | undefined }> {
  const sent: TextRequest[] = [];
  const engine: TextEngine = {
    kind: "text",
    info: () => info,
    open: async () => {},
    async *complete(request) {
      sent.push(request);
      yield* events;
    },
    close: async () => {},
  };
  const offer = { tools: [], forbidden: new Map(), options: {}, mayReply: true };
  const generation = generate({ engine, conversation: new Conversation(), system: { text: () => "S", action: "", guide: "" }, offer, sampling: { temperature: 0, maxTokens: 100 }, thinking: "medium", thinkingTokensMax, parallelMax: 1, forbidEmpty: false, signal });
  const told = await Array.fromAsync(generation.events);
  return { told, sent, raw: generation.rawText() };
}

const accepted = { type: "prompt_accepted", promptTokens: 3, cachedTokens: 0, slotId: -1 } as const;
const ended = { type: "ended", stop: "end", usage: usageOf({ input: 3, output: 9, reasoning: 4 }) } as const;

test("thinking is a block of its own before the reply, and no part of what the model is shown again", async () => {
  const { told, sent, raw } = await play([accepted, { type: "thinking", text: "h" }, { type: "thinking", text: "m" }, { type: "text", text: '{"goal":"answer","tool":"reply","args":{"te' }, { type: "text", text: 'xt":"Hi"}}' }, ended], 40);
  expect(told).toEqual([
    accepted,
    { type: "thinking_start", index: 0 },
    { type: "thinking_delta", index: 0, delta: "h" },
    { type: "thinking_delta", index: 0, delta: "m" },
    { type: "thinking_end", index: 0 },
    { type: "text_start", index: 1, terminal: "reply" },
    { type: "text_delta", index: 1, delta: "Hi" },
    { type: "text_end", index: 1 },
    ended,
  ]);
  expect(raw).toBe('{"goal":"answer","tool":"reply","args":{"text":"Hi"}}');
  expect(sent[0]?.thinkingTokensMax).toBe(40);
});

test("an abort inside a thought closes its block", async () => {
  const aborted = { ...ended, stop: "aborted" } as const;
  expect((await play([accepted, { type: "thinking", text: "h" }, aborted], 40, AbortSignal.abort())).told.slice(1)).toEqual([{ type: "thinking_start", index: 0 }, { type: "thinking_delta", index: 0, delta: "h" }, { type: "thinking_end", index: 0 }, aborted]);
});

test("without a budget nothing is asked for", async () => {
  const { sent } = await play([accepted, { type: "text", text: '{"tool":"reply","args":{"text":"Hi"}}' }, ended], 0);
  expect(sent[0]).not.toHaveProperty("thinkingTokensMax");
});

test("the budget holds at medium: less below, twice above; `on` and `off` override the level", () => {
  const budget = (thinking: "auto" | "on" | "off"): number[] => ThinkingLevel.options.map((level) => thinkingTokens(level, { thinking, reasoningBudgetTokens: 1500 }));
  expect(ThinkingLevel.options).toEqual(["off", "minimal", "low", "medium", "high", "xhigh", "max"]);
  expect(budget("auto")).toEqual([0, 375, 750, 1500, 3000, 3000, 3000]);
  expect(budget("on")).toEqual([1500, 375, 750, 1500, 3000, 3000, 3000]);
  expect(budget("off")).toEqual([0, 0, 0, 0, 0, 0, 0]);
});
