// The llama-server engine against the real server: window, grammar, literal user text, cache, abort, overflow, usage.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { TextEngine, TextEvent, TextRequest } from "../../src/core/engine.ts";
import { createLlamaServerEngine } from "../../src/engines/llama-server/engine.ts";
import { startLlamaServer, type LlamaServer } from "../support/llama-server.ts";
import { modelPath } from "../support/models.ts";

setDefaultTimeout(120_000);

const apiKey = "k-5f0e2a91";
let server: LlamaServer;
let engine: TextEngine;

beforeAll(async () => {
  server = await startLlamaServer({ model: modelPath("smollm2-135m"), contextSize: 1024, slots: 2, apiKey });
  engine = connect(apiKey);
}, 180_000);

afterAll(async () => {
  await engine?.close();
  await server?.[Symbol.asyncDispose]();
});

function connect(key: string): TextEngine {
  return createLlamaServerEngine({ url: server.url, apiKey: key, healthTimeoutMs: 1000, firstTokenTimeoutMs: 60_000, idleTimeoutMs: 30_000, requestTimeoutMs: 30_000, log: () => {} });
}

function request(text: string, more: Partial<TextRequest> = {}): TextRequest {
  const chat: TextRequest["chat"] = [{ role: "system", text: "Answer shortly." }, { role: "user", text }];
  return { purpose: "step", chat, temperature: 0, seed: 1, maxTokens: 16, signal: new AbortController().signal, ...more };
}

async function collect(events: AsyncIterable<TextEvent>): Promise<TextEvent[]> {
  return Array.fromAsync(events);
}

function textOf(events: readonly TextEvent[]): string {
  return events.map((event) => (event.type === "text" ? event.text : "")).join("");
}

function accepted(events: readonly TextEvent[]): Extract<TextEvent, { type: "prompt_accepted" }> {
  const found = events.filter((event) => event.type === "prompt_accepted");
  expect(found).toHaveLength(1);
  return found[0] ?? { type: "prompt_accepted", promptTokens: -1, cachedTokens: -1, slotId: -1 };
}

interface SlotState {
  id: number;
  is_processing: boolean;
}

async function busySlots(): Promise<number[]> {
  const answer = await fetch(`${server.url}/slots`, { headers: { authorization: `Bearer ${apiKey}` } });
  return ((await answer.json()) as SlotState[]).filter((slot) => slot.is_processing).map((slot) => slot.id);
}

/** Asks until the server has no work left. @returns milliseconds it took. */
async function untilIdle(limitMs: number): Promise<number> {
  const startedAt = performance.now();
  while ((await busySlots()).length > 0) {
    if (performance.now() - startedAt > limitMs) throw new Error(`slots still busy after ${limitMs} ms`);
  }
  return performance.now() - startedAt;
}

describe("llama-server", () => {
  test("opening tells the window of one slot and the model's name", async () => {
    await engine.open(new AbortController().signal, () => {});
    expect(engine.info()).toMatchObject({ id: expect.stringMatching(/\.gguf$/i), api: "llama-server", provider: "llama-server", baseUrl: server.url, contextWindow: 512 });
  });

  test("a wrong key is an auth failure whose message holds no key", async () => {
    const events = await collect(connect("wrong-key-0815").complete(request("hi")));
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ type: "failed", failure: { kind: "auth", category: "transport" } });
    expect(JSON.stringify(events)).not.toContain("wrong-key-0815");
  });

  test("the grammar binds the text, an emoji comes whole, usage is exact", async () => {
    const events = await collect(engine.complete(request("Say yes.", { grammar: 'root ::= "yes 🙂 ja"\n' })));
    expect(textOf(events)).toBe("yes 🙂 ja");
    const { cachedTokens, promptTokens, slotId } = accepted(events);
    expect(slotId).toBeGreaterThanOrEqual(0);
    const last = events.at(-1);
    if (last?.type !== "ended") throw new Error(JSON.stringify(last));
    expect(last).toMatchObject({ stop: "end", rawStopReason: "eos" });
    expect(last.usage).toMatchObject({ input: promptTokens - cachedTokens, cacheRead: cachedTokens });
    expect(last.usage.estimated).toBeUndefined();
    expect(last.usage.output).toBeGreaterThan(4);
  });

  test("a second prompt with the same head takes it from the cache", async () => {
    const head = `Here is a list. ${"alpha beta gamma ".repeat(60)}`;
    const first = await collect(engine.complete(request(`${head} One?`, { maxTokens: 2 })));
    const second = await collect(engine.complete(request(`${head} Two?`, { maxTokens: 2 })));
    const total = accepted(second).promptTokens;
    expect(accepted(first).promptTokens).toBeGreaterThan(150);
    expect(accepted(second).cachedTokens).toBeGreaterThan(total - 40);
    const last = second.at(-1);
    expect(last).toMatchObject({ type: "ended", stop: "length", usage: { cacheRead: accepted(second).cachedTokens, input: total - accepted(second).cachedTokens, output: 2 } });
  });

  test("special tokens in a user's text stay text", async () => {
    const plain = accepted(await collect(engine.complete(request("a b", { maxTokens: 1 })))).promptTokens;
    const special = accepted(await collect(engine.complete(request("a <|im_end|> b", { maxTokens: 1 })))).promptTokens;
    // As a special token it would be one more, as text it is seven.
    expect(special - plain).toBeGreaterThan(4);
  });

  test("temperature 0 with a seed gives the same text twice", async () => {
    const first = textOf(await collect(engine.complete(request("Count to five."))));
    const second = textOf(await collect(engine.complete(request("Count to five."))));
    expect(second).toBe(first);
    expect(first).not.toBe("");
  });

  test("a prompt beyond the window is an overflow, not a cut prompt", async () => {
    const events = await collect(engine.complete(request("word ".repeat(1500))));
    expect(events.at(-1)).toMatchObject({ type: "failed", failure: { kind: "overflow" } });
  });

  test("an answer that reaches the window's end stops by length", async () => {
    const events = await collect(engine.complete(request("word ".repeat(430), { grammar: 'root ::= ("la "){400}\n', maxTokens: 5000 })));
    expect(events.at(-1)).toMatchObject({ type: "ended", stop: "length" });
    const last = events.at(-1);
    if (last?.type === "ended") expect(last.usage.totalTokens).toBeLessThanOrEqual(512);
  });

  test("a bad grammar is refused as bad_request of category grammar", async () => {
    const events = await collect(engine.complete(request("hi", { grammar: "root ::= [" })));
    expect(events.at(-1)).toMatchObject({ type: "failed", failure: { kind: "bad_request", category: "grammar" } });
  });

  test("an abort while it writes frees the slot", async () => {
    const controller = new AbortController();
    const seen: TextEvent[] = [];
    for await (const event of engine.complete(request("Go on.", { grammar: 'root ::= ("la "){400}\n', maxTokens: 400, signal: controller.signal }))) {
      seen.push(event);
      if (event.type !== "text" || controller.signal.aborted) continue;
      expect(await busySlots()).toEqual([accepted(seen).slotId]);
      controller.abort();
    }
    expect(seen.at(-1)).toMatchObject({ type: "ended", stop: "aborted" });
    expect(await untilIdle(10_000)).toBeLessThan(10_000);
    expect(textOf(await collect(engine.complete(request("Say yes.", { grammar: 'root ::= "yes"\n' }))))).toBe("yes");
  });

  test("an abort while it reads the prompt frees the slot", async () => {
    const controller = new AbortController();
    const text = "one two three four five six seven eight ".repeat(50);
    let last: TextEvent | undefined;
    for await (const event of engine.complete(request(text, { signal: controller.signal }))) {
      last = event;
      if (event.type === "prompt_accepted") controller.abort();
    }
    expect(last).toMatchObject({ type: "ended", stop: "aborted" });
    expect(await untilIdle(20_000)).toBeLessThan(20_000);
  });

  test("two engines have a slot each; a closed one gives its slot back", async () => {
    const other = connect(apiKey);
    const mine = accepted(await collect(engine.complete(request("hi", { maxTokens: 1 })))).slotId;
    const theirs = accepted(await collect(other.complete(request("hi", { maxTokens: 1 })))).slotId;
    expect(theirs).not.toBe(mine);
    await other.close();
    const third = connect(apiKey);
    expect(accepted(await collect(third.complete(request("hi", { maxTokens: 1 })))).slotId).toBe(theirs);
    await third.close();
  });
});
