// The llama-server engine against a server that answers well or badly; test/model has the real one.
import { describe, expect, test } from "bun:test";
import type { TextEvent } from "../../../../src/core/engine.ts";
import { AgentError } from "../../../../src/core/error.ts";
import type { LlamaServerOptions } from "../../../../src/engines/llama-server/engine.ts";
import { refusedUrl, type Answer } from "../../../support/fault-server.ts";
import { completionsOf, connect, end, piece, props, request, secret, serve } from "./support.ts";

const prompt = "<|user|>hi<|go|>";

describe("a good answer", () => {
  test("the whole exchange", async () => {
    await using server = await serve({ completion: { events: [{ ...piece("", 0), prompt_progress: { total: 17, cache: 4, processed: 17 } }, piece("Hé", 1), piece("🙂", 2), end], chunkBytes: 3 } });
    const engine = connect(`${server.url}/v1/`);
    const events = await Array.fromAsync(engine.complete(request({ seed: 7, grammar: "root ::= .+" })));
    expect(events).toEqual([
      { type: "prompt_accepted", promptTokens: 17, cachedTokens: 4, slotId: 1 },
      { type: "progress", stage: "prompt", progress: 1 },
      { type: "text", text: "Hé" },
      { type: "text", text: "🙂" },
      { type: "ended", stop: "end", rawStopReason: "eos", usage: { input: 13, output: 3, cacheRead: 4, cacheWrite: 0, totalTokens: 20, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } } },
    ]);
    expect(completionsOf(server)).toEqual([
      { prompt: [1, ...[...prompt].map((character) => character.codePointAt(0))], stream: true, cache_prompt: true, return_progress: true, id_slot: 1, n_predict: 50, temperature: 0, seed: 7, grammar: "root ::= .+" } as unknown as Record<string, unknown>,
    ]);
    expect(engine.info()).toEqual({ id: "tiny.gguf", name: "tiny.gguf", api: "llama-server", provider: "llama-server", baseUrl: server.url, reasoning: false, input: ["text"], contextWindow: 100, maxTokens: 100 });
    expect(server.requests.every(({ headers }) => headers["authorization"] === `Bearer ${secret}`)).toBe(true);
    await engine.close();
  });

  test("texts of users are tokenised apart and without special tokens, once", async () => {
    await using server = await serve({ completion: { events: [end] } });
    const engine = connect(server.url);
    await Array.fromAsync(engine.complete(request()));
    await Array.fromAsync(engine.complete(request()));
    const asked = server.requests.filter(({ path }) => path === "/tokenize").map(({ json }) => json);
    expect(asked).toEqual([
      { content: "", parse_special: false, add_special: true },
      { content: "<|user|>", parse_special: true, add_special: false },
      { content: "hi", parse_special: false, add_special: false },
      { content: "<|go|>", parse_special: true, add_special: false },
    ]);
    await engine.close();
  });

  test("never more tokens than the window has left", async () => {
    await using server = await serve({ completion: { events: [{ ...end, stop_type: "limit" }] } });
    const engine = connect(server.url);
    const events = await Array.fromAsync(engine.complete(request({ maxTokens: 5000 })));
    expect(completionsOf(server)[0]).toMatchObject({ n_predict: 100 - 17 });
    expect(events.at(-1)).toMatchObject({ type: "ended", stop: "length" });
    await engine.close();
  });

  test("an older server without progress, slots and timings", async () => {
    await using server = await serve({ slots: { status: 501, body: { error: { message: "disabled" } } }, completion: { events: [{ content: "a" }, { content: "", stop: true, stopped_eos: true }] } });
    const engine = connect(server.url);
    const events = await Array.fromAsync(engine.complete(request()));
    expect(events.slice(0, 2)).toEqual([
      { type: "prompt_accepted", promptTokens: 17, cachedTokens: 0, slotId: 0 },
      { type: "text", text: "a" },
    ]);
    expect(events.at(-1)).toMatchObject({ type: "ended", stop: "end", usage: { input: 17, output: 1 } });
    await engine.close();
  });

  test("a model without a template gets a plain one and one warning", async () => {
    const { chat_template: _, ...bare } = props;
    const wide = { ...bare, default_generation_settings: { n_ctx: 1000 } };
    await using server = await serve({ props: { status: 200, body: wide }, completion: { events: [end] } });
    const warnings: string[] = [];
    const engine = connect(server.url, { log: (level, message) => warnings.push(`${level}: ${message}`) });
    await Array.fromAsync(engine.complete(request({ grammar: "root ::= .+" })));
    await Array.fromAsync(engine.complete(request({ grammar: "root ::= .+" })));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toStartWith("warn: the model has no chat template");
    expect(completionsOf(server).map((body) => body["grammar"])).toEqual(["root ::= .+", "root ::= .+"]);
    await engine.close();
  });

  test("a retry after an empty answer may not be empty", async () => {
    await using server = await serve({ completion: { events: [end] } });
    const engine = connect(server.url);
    await Array.fromAsync(engine.complete(request({ forbidEmpty: true })));
    expect(completionsOf(server)[0]?.["grammar"]).toBe("root ::= .+\n");
    await engine.close();
  });
});

describe("opening", () => {
  test("waits while the server loads its model", async () => {
    const loading: Answer = { status: 503, body: { error: { code: 503, message: "Loading model", type: "unavailable_error" } } };
    await using server = await serve({ health: (index) => (index === 0 ? loading : { status: 200, body: {} }), completion: { events: [end] } });
    const told: number[] = [];
    const engine = connect(server.url);
    await engine.open(new AbortController().signal, (progress) => told.push(progress));
    expect(told).toEqual([0]);
    expect(engine.info().contextWindow).toBe(100);
    await engine.close();
  });

  test("no server: engine_unavailable, and a generation fails as network", async () => {
    const url = await refusedUrl();
    const engine = connect(url);
    const opening = engine.open(new AbortController().signal, () => {});
    await expect(opening).rejects.toMatchObject({ code: "engine_unavailable" });
    await expect(opening).rejects.toBeInstanceOf(AgentError);
    expect(await Array.fromAsync(engine.complete(request()))).toMatchObject([{ type: "failed", failure: { kind: "network", category: "transport" } }]);
  });

  test("a server that does not answer /health in time", async () => {
    await using server = await serve({ health: { stall: true }, completion: { events: [end] } });
    await expect(connect(server.url, { healthTimeoutMs: 50 }).open(new AbortController().signal, () => {})).rejects.toMatchObject({ code: "engine_unavailable" });
  });

  test("one who gives up does not take the other along", async () => {
    await using server = await serve({ health: (index) => (index === 0 ? { stall: true } : { status: 200, body: "" }), completion: { events: [end] } });
    const engine = connect(server.url);
    const controller = new AbortController();
    const first = engine.open(controller.signal, () => {}).catch((error: unknown) => error);
    await server.received(1);
    const second = Array.fromAsync(engine.complete(request()));
    controller.abort();
    expect(await first).toMatchObject({ code: "aborted" });
    expect((await second).at(-1)).toMatchObject({ type: "ended", stop: "end" });
    await engine.close();
  });

  test("aborted while it opens", async () => {
    await using server = await serve({ health: { stall: true }, completion: { events: [end] } });
    const controller = new AbortController();
    const opening = connect(server.url).open(controller.signal, () => {});
    await server.received(1);
    controller.abort();
    await expect(opening).rejects.toMatchObject({ code: "aborted" });
  });
});

describe("a bad answer", () => {
  const cases: { name: string; completion: Answer; failure: object; options?: Partial<LlamaServerOptions> }[] = [
    { name: "400 over the context", completion: { status: 400, body: { error: { code: 400, type: "exceed_context_size_error", message: "request (5001 tokens) exceeds the available context size (2048 tokens)" } } }, failure: { kind: "overflow", category: "grammar" } },
    { name: "400 of the grammar", completion: { status: 400, body: { error: { message: "failed to parse grammar" } } }, failure: { kind: "bad_request", category: "grammar" } },
    { name: "401", completion: { status: 401, body: { error: { message: "Invalid API Key" } } }, failure: { kind: "auth", category: "transport" } },
    { name: "429", completion: { status: 429, headers: { "retry-after": "2" } }, failure: { kind: "rate_limit", category: "transport", retryAfterMs: 2000 } },
    { name: "503", completion: { status: 503, html: "<html>busy</html>" }, failure: { kind: "server", category: "transport" } },
    { name: "HTML", completion: { html: "<html>hello</html>" }, failure: { kind: "bad_request", category: "transport" } },
    { name: "cut in mid-token", completion: { events: [piece("abc", 1), piece("déf", 2)], cutAfterBytes: 110 }, failure: { kind: "server", category: "model" } },
    { name: "an error inside the stream", completion: { events: [piece("a", 1), { error: { code: 500, message: "slot failed", type: "server_error" } }] }, failure: { kind: "server", category: "transport" } },
    { name: "an event that is none", completion: { events: ["<html>"] }, failure: { kind: "server", category: "transport" } },
    { name: "silence before the first token", completion: { stall: true }, failure: { kind: "timeout", category: "transport" }, options: { firstTokenTimeoutMs: 60 } },
    { name: "silence between tokens", completion: { events: [piece("a", 1)], stallAtEnd: true }, failure: { kind: "timeout", category: "transport" }, options: { idleTimeoutMs: 60 } },
  ];
  for (const { completion, failure, name, options } of cases) {
    test(name, async () => {
      await using server = await serve({ completion });
      const engine = connect(server.url, options);
      const events = await Array.fromAsync(engine.complete(request()));
      expect(events.at(-1)).toMatchObject({ type: "failed", failure });
      expect(events.filter(({ type }) => type === "failed" || type === "ended")).toHaveLength(1);
      expect(JSON.stringify(events)).not.toContain(secret);
      await engine.close();
    });
  }

  test("the first token has its own time-out, also after progress was told", async () => {
    await using server = await serve({ completion: { events: [{ ...piece("", 0), prompt_progress: { total: 17, cache: 0, processed: 1 } }], stallAtEnd: true } });
    const engine = connect(server.url, { idleTimeoutMs: 1, firstTokenTimeoutMs: 120 });
    const events = await Array.fromAsync(engine.complete(request()));
    const last = events.at(-1);
    if (last?.type !== "failed") throw new Error("it did not fail");
    expect(last.failure.message).toEndWith("sent nothing for 120 ms");
    await engine.close();
  });

  test("a prompt that fills the window is not sent", async () => {
    await using server = await serve({ completion: { events: [end] } });
    const engine = connect(server.url);
    const events = await Array.fromAsync(engine.complete(request({ chat: [{ role: "user", text: "x".repeat(100) }] })));
    expect(events).toMatchObject([{ type: "failed", failure: { kind: "overflow", message: "the prompt has 115 tokens, the context window 100" } }]);
    expect(completionsOf(server)).toHaveLength(0);
    await engine.close();
  });
});

describe("abort", () => {
  async function abortAt(type: TextEvent["type"], completion: Answer): Promise<{ events: TextEvent[]; closed: string | undefined }> {
    await using server = await serve({ completion });
    const controller = new AbortController();
    const events: TextEvent[] = [];
    const engine = connect(server.url);
    for await (const event of engine.complete(request({ signal: controller.signal }))) {
      events.push(event);
      if (event.type === type) controller.abort();
    }
    await engine.close();
    return { events, closed: await server.requests.find(({ path }) => path === "/completion")?.closed };
  }

  test("while it writes: the connection is dropped, what came is counted", async () => {
    const { closed, events } = await abortAt("text", { events: [piece("a", 1)], stallAtEnd: true });
    expect(events.at(-1)).toMatchObject({ type: "ended", stop: "aborted", usage: { input: 17, output: 1 } });
    expect(closed).toBe("client");
  });

  test("while it reads the prompt", async () => {
    const { closed, events } = await abortAt("progress", { events: [{ ...piece("", 0), prompt_progress: { total: 17, cache: 0, processed: 1 } }], stallAtEnd: true });
    expect(events.at(-1)).toMatchObject({ type: "ended", stop: "aborted" });
    expect(closed).toBe("client");
  });

  test("before it begins", async () => {
    await using server = await serve({ completion: { events: [end] } });
    expect(await Array.fromAsync(connect(server.url).complete(request({ signal: AbortSignal.abort() })))).toMatchObject([{ type: "ended", stop: "aborted" }]);
    expect(server.requests).toHaveLength(0);
  });
});

describe("slots", () => {
  test("three engines, two slots: each its own, the third lets the server choose", async () => {
    await using server = await serve({ completion: { events: [end] } });
    const engines = [connect(server.url), connect(server.url), connect(server.url)];
    for (const engine of engines) await Array.fromAsync(engine.complete(request()));
    expect(completionsOf(server).map((body) => body["id_slot"])).toEqual([1, 0, -1]);
    await engines[1]?.close();
    await Array.fromAsync(connect(server.url).complete(request()));
    expect(completionsOf(server).at(-1)?.["id_slot"]).toBe(0);
  });
});
