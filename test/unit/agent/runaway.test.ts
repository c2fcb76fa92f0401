import { describe, expect, test } from "bun:test";
import { Conversation } from "../../../src/agent/conversation.ts";
import { generate } from "../../../src/agent/generate.ts";
import { RunawayGuard } from "../../../src/agent/runaway.ts";
import type { ActionEvent, TextEngine, TextEvent, TextRequest } from "../../../src/core/engine.ts";
import { usageOf } from "../../../src/core/message.ts";

/** How many characters pass before the guard speaks; undefined when it never does. */
function heardAfter(text: string): number | undefined {
  const guard = new RunawayGuard();
  for (let at = 0; at < text.length; at += 4) if (guard.push(text.slice(at, at + 4))) return at + 4;
  return undefined;
}

describe("a text that repeats itself", () => {
  test("is noticed, whatever came before it", () => {
    const before = Array.from({ length: 300 }, (_, index) => `line ${index * 7919} `).join("");
    for (const stretch of ["l", "ab", "They are often used in remote areas to guide ships safely into port. ", "x".repeat(90) + "y".repeat(90)]) {
      const heard = heardAfter(before + stretch.repeat(2000));
      expect(heard).toBeGreaterThan(before.length);
      expect(heard).toBeLessThan(before.length + Math.max(1000, stretch.length * 6) + 200);
    }
  });

  test("is not a list, a table or a short run of dashes", () => {
    const table = Array.from({ length: 200 }, (_, index) => `| row ${index} | 0 | 0 | 0 |\n`).join("");
    for (const text of [table, `${"-".repeat(900)} end`, "ha ".repeat(300), Array.from({ length: 400 }, (_, index) => `${index}. Dog\n`).join("")]) expect(heardAfter(text)).toBeUndefined();
  });
});

test("a generation that repeats itself is cut as one that reached its limit", async () => {
  const info = { id: "m", name: "m", api: "x", provider: "x", baseUrl: "", reasoning: false, input: ["text" as const], contextWindow: 8192, maxTokens: 8192 };
  async function* endless({ signal }: TextRequest): AsyncGenerator<TextEvent, void, void> {
    yield { type: "text", text: '{"goal":"answer","tool":"reply","args":{"text":"' };
    for (let output = 1; ; output += 1) {
      if (signal.aborted) return yield { type: "ended", stop: "aborted", usage: usageOf({ output }) };
      yield { type: "text", text: "and so on " };
    }
  }
  const engine: TextEngine = { kind: "text", info: () => info, open: async () => {}, complete: endless, close: async () => {} };
  const offer = { tools: [], forbidden: new Map(), options: {}, mayReply: true };
  const { events } = generate({ engine, conversation: new Conversation(), system: { text: () => "", action: "", guide: "" }, offer, sampling: { temperature: 0, maxTokens: 8192 }, thinking: "off", parallelMax: 1, forbidEmpty: false, signal: new AbortController().signal });
  const seen: ActionEvent[] = [];
  for await (const event of events) seen.push(event);
  expect(seen.at(-2)).toEqual({ type: "text_end", index: 0 });
  expect(seen.at(-1)).toMatchObject({ type: "ended", stop: "length" });
  expect(seen.length).toBeLessThan(200);
});
