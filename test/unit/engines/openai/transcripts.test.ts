// What each provider's documented stream becomes; and what becomes of streams that break.
import { describe, expect, test } from "bun:test";
import { usageOf } from "../../../../src/core/message.ts";
import type { Answer } from "../../../support/fault-server.ts";
import { play, request, run, saying, secret, tools, transcript } from "./support.ts";

const list = { call: "fs.list", arguments: { path: "." }, raw: '{"path":"."}' };

describe("transcripts", () => {
  test("OpenAI: two calls, cached and reasoning tokens", async () => {
    await using played = await play([transcript("openai-two-calls")]);
    expect(await run(played)).toEqual({
      blocks: [
        { call: "fs.read", id: "call_a", arguments: { path: "é.txt" }, raw: '{"path":"é.txt"}' },
        { ...list, id: "call_b" },
      ],
      last: { type: "ended", stop: "end", rawStopReason: "tool_calls", usage: usageOf({ input: 20, cacheRead: 100, output: 31, reasoning: 9 }) },
    });
  });

  test("vLLM: reasoning, text, a call", async () => {
    await using played = await play([transcript("vllm-reasoning")]);
    expect(await run(played)).toEqual({
      blocks: [{ thinking: "I look first." }, { text: "Looking." }, { ...list, id: "chatcmpl-tool-9f", raw: '{"path": "."}' }],
      last: { type: "ended", stop: "end", rawStopReason: "tool_calls", usage: usageOf({ input: 50, output: 20 }) },
    });
  });

  test("Ollama: whole calls of one index", async () => {
    await using played = await play([transcript("ollama-calls")]);
    expect(await run(played)).toEqual({
      blocks: [{ thinking: "hm" }, { ...list, id: "call_x1" }, { call: "fs.read", id: "call_x2", arguments: { path: "a" }, raw: '{"path":"a"}' }],
      last: { type: "ended", stop: "end", rawStopReason: "tool_calls", usage: usageOf({ input: 40, output: 12 }) },
    });
  });

  test("LM Studio: an answer without usage is estimated", async () => {
    await using played = await play([transcript("lm-studio-reply")]);
    const { blocks, last } = await run(played);
    expect(blocks).toEqual([{ text: "Grüße 🙂" }]);
    if (last?.type !== "ended") throw new Error("it did not end");
    const characters = JSON.stringify(played.bodies()[0]?.["messages"]).length + JSON.stringify(played.bodies()[0]?.["tools"]).length;
    expect(last.usage).toEqual(usageOf({ input: Math.ceil(characters / 4), output: 2, estimated: true }));
  });

  test("LM Studio: an error inside the stream", async () => {
    await using played = await play([transcript("lm-studio-error")]);
    const { blocks, last } = await run(played);
    expect(blocks).toEqual([{ text: "Hel" }]);
    expect(last).toMatchObject({ type: "failed", failure: { kind: "server", category: "transport", message: `${played.server.url} broke off: The model has crashed without additional information.` } });
  });

  test("llama-server: a call in pieces, exact usage", async () => {
    await using played = await play([transcript("llama-server-call")]);
    expect(await run(played)).toEqual({
      blocks: [{ ...list, id: "Vb4c1d" }],
      last: { type: "ended", stop: "end", rawStopReason: "tool_calls", usage: usageOf({ input: 1, cacheRead: 30, output: 8 }) },
    });
  });

  const read = { call: "fs.read", arguments: { path: "a" }, raw: '{"path":"a"}' };
  const others: { name: string; file: string; blocks: object[]; last: object }[] = [
    {
      name: "OpenAI: two calls whose pieces come in turns",
      file: "openai-interleaved-calls",
      blocks: [{ text: "Both." }, { call: "fs.read", id: "call_a", arguments: { path: "aé" }, raw: '{"path":"a\\u00e9"}' }, { ...list, id: "call_b" }],
      last: { rawStopReason: "tool_calls", usage: usageOf({ input: 80, output: 20 }) },
    },
    {
      name: "llama-server: thoughts, two calls in pieces, cached tokens",
      file: "llama-server-thinking-calls",
      blocks: [{ thinking: "Two looks." }, { ...list, id: "nW3kq9" }, { ...read, id: "b7RtY2" }],
      last: { rawStopReason: "tool_calls", usage: usageOf({ input: 4, cacheRead: 60, output: 24 }) },
    },
    {
      name: "vLLM: two calls, `reasoning`, finish_reason stop",
      file: "vllm-parallel-calls",
      blocks: [{ thinking: "Hm." }, { ...list, id: "chatcmpl-tool-1a", raw: '{"path": "."}' }, { ...read, id: "chatcmpl-tool-2b", raw: '{"path": "a"}' }],
      last: { rawStopReason: "stop", usage: usageOf({ input: 70, output: 20 }) },
    },
    {
      name: "LM Studio: ids of digits, empty texts and names beside pieces",
      file: "lm-studio-calls",
      blocks: [{ ...list, id: "365174485" }, { ...read, id: "365174486" }],
      last: { rawStopReason: "tool_calls", usage: usageOf({ input: 90, output: 30 }) },
    },
  ];
  for (const { blocks, file, last, name } of others) {
    test(name, async () => {
      await using played = await play([transcript(file)]);
      expect(await run(played)).toEqual({ blocks, last: { type: "ended", stop: "end", ...last } } as Awaited<ReturnType<typeof run>>);
    });
  }

  test("Ollama: two calls of one tool and one index, finish_reason stop, no usage", async () => {
    await using played = await play([transcript("ollama-stop-calls")]);
    const { blocks, last } = await run(played);
    expect(blocks).toEqual([{ ...list, id: "call_k1" }, { call: "fs.list", id: "call_k2", arguments: { path: "src" }, raw: '{"path":"src"}' }]);
    expect(last).toMatchObject({ type: "ended", stop: "end", rawStopReason: "stop", usage: { estimated: true } });
  });

  test("calls without id, index, finish_reason and usage", async () => {
    await using played = await play([transcript("bare-calls")]);
    const { blocks, last } = await run(played);
    expect(blocks).toEqual([list, { call: "fs.read", arguments: { path: "a" }, raw: '{"path":"a"}' }]);
    expect(last).toMatchObject({ type: "ended", stop: "end", usage: { estimated: true } });
  });

  test("every transcript says that it is hand-written", async () => {
    for await (const path of new Bun.Glob("*.sse").scan({ cwd: `${import.meta.dir}/transcripts`, absolute: true })) {
      expect(await Bun.file(path).text()).toStartWith(": Hand-written");
    }
  });
});

describe("other answers", () => {
  test("a server that does not stream", async () => {
    const message = { role: "assistant", content: "Hello", tool_calls: [{ id: "c1", type: "function", function: { name: "fs_list", arguments: '{"path":"."}' } }] };
    await using played = await play([{ status: 200, body: { choices: [{ index: 0, message, finish_reason: "tool_calls" }], usage: { prompt_tokens: 5, completion_tokens: 4 } } }]);
    const { blocks, last } = await run(played);
    expect(blocks).toEqual([{ text: "Hello" }, { ...list, id: "c1" }]);
    expect(last).toMatchObject({ usage: usageOf({ input: 5, output: 4 }) });
  });

  test("content in parts", async () => {
    await using played = await play([saying({ content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] }, { content: [{ type: "text", text: "Yes." }] })]);
    expect((await run(played)).blocks).toEqual([{ thinking: "hm" }, { text: "Yes." }]);
  });

  test("UTF-8 cut at every byte", async () => {
    await using played = await play([{ ...(saying({ content: "né 漢🙂" }) as { events: object[] }), chunkBytes: 1 }]);
    expect((await run(played)).blocks).toEqual([{ text: "né 漢🙂" }]);
  });

  test("arguments that are no JSON become an argument that no tool takes", async () => {
    await using played = await play([saying({ tool_calls: [{ index: 0, id: "c", function: { name: "fs_list", arguments: '{"path": oops' } }] })]);
    expect((await run(played)).blocks).toMatchObject([{ call: "fs.list", arguments: { unreadable_json: '{"path": oops' } }]);
  });

  test("an answer that was complete before the connection stalled", async () => {
    await using played = await play([{ events: [{ choices: [{ delta: { content: "Yes." }, finish_reason: "stop" }] }], stallAtEnd: true }], { idleTimeoutMs: 60 });
    expect(await run(played)).toMatchObject({ blocks: [{ text: "Yes." }], last: { type: "ended", stop: "end" } });
  });

  test("a call without arguments has none", async () => {
    await using played = await play([saying({ tool_calls: [{ index: 0, id: "c", function: { name: "fs_list" } }] })]);
    expect((await run(played)).blocks).toMatchObject([{ call: "fs.list", arguments: {} }]);
  });

  test("the output limit leaves a call open", async () => {
    await using played = await play([{ events: [{ choices: [{ delta: { tool_calls: [{ index: 0, id: "c", function: { name: "fs_list", arguments: '{"pa' } }] } }] }, { choices: [{ delta: {}, finish_reason: "length" }] }, "[DONE]"] }]);
    const { blocks, last } = await run(played);
    expect(blocks).toEqual([{ call: "fs.list", id: "c", raw: '{"pa' }]);
    expect(last).toMatchObject({ type: "ended", stop: "length" });
  });

  test("calls as plain text", async () => {
    await using played = await play([saying({ content: "<tool_" }, { content: 'call>{"name":"fs_list","arguments":{"path":"."}}</tool_call>' })]);
    expect((await run(played)).blocks).toEqual([list]);
  });

  test("a reply in the form of our system text", async () => {
    await using played = await play([saying({ content: '{"tool":"reply","args":{"text":"Hel' }, { content: 'lo"}}' })]);
    expect((await run(played)).blocks).toEqual([{ call: "reply", arguments: { text: "Hello" }, raw: '{"text":"Hello"}' }]);
  });

  test("only thinking: asked once more in a form that leaves only an action", async () => {
    const call = '{"tool":"fs.list","args":{"path":"."}}';
    await using played = await play([saying({ content: '<think>maybe <tool_call>{"name":"fs.read","arguments":{"path":"a"}}</tool_call></think>' }), saying({ content: call })]);
    const { blocks, last } = await run(played);
    expect(blocks).toEqual([{ thinking: 'maybe <tool_call>{"name":"fs.read","arguments":{"path":"a"}}</tool_call>' }, list]);
    expect(last).toMatchObject({ type: "ended", stop: "end" });
    expect(played.bodies().map((body) => ["tools" in body, "response_format" in body])).toEqual([[true, false], [false, true]]);
  });
});

describe("failures", () => {
  const cases: { name: string; answer: Answer; failure: object; options?: { idleTimeoutMs: number } }[] = [
    { name: "401", answer: { status: 401, body: { error: { message: `Incorrect API key provided: ${secret}` } } }, failure: { kind: "auth", category: "transport" } },
    { name: "429 with a wait", answer: { status: 429, headers: { "retry-after": "5" }, body: { error: { message: "slow down" } } }, failure: { kind: "rate_limit", retryAfterMs: 5000 } },
    { name: "quota", answer: { status: 429, body: { error: { message: "You exceeded your current quota", code: "insufficient_quota" } } }, failure: { kind: "rate_limit", retryable: false } },
    { name: "503", answer: { status: 503, html: "<html>down</html>" }, failure: { kind: "server", category: "transport" } },
    { name: "HTML", answer: { html: "<html>hi</html>" }, failure: { kind: "bad_request", category: "transport" } },
    { name: "over the context", answer: { status: 400, body: { error: { message: "This model's maximum context length is 10 tokens.", code: "context_length_exceeded" } } }, failure: { kind: "overflow" } },
    { name: "over the context inside the stream", answer: { events: [{ error: { message: "This model's maximum context length is 10 tokens." } }] }, failure: { kind: "overflow" } },
    { name: "no model", answer: { status: 404, body: { error: { message: "The model `m` does not exist.", code: "model_not_found" } } }, failure: { kind: "model_missing" } },
    { name: "cut", answer: { ...(saying({ content: "abcdef" }) as { events: object[] }), cutAfterBytes: 60 }, failure: { kind: "server", category: "model" } },
    { name: "reset", answer: { reset: true }, failure: { kind: "network", category: "transport" } },
    { name: "stall", answer: { stall: true }, failure: { kind: "timeout", category: "transport" }, options: { idleTimeoutMs: 60 } },
    { name: "stall in the stream", answer: { events: [{ choices: [{ delta: { content: "a" } }] }], stallAtEnd: true }, failure: { kind: "timeout", category: "transport" }, options: { idleTimeoutMs: 60 } },
    { name: "withheld", answer: { events: [{ choices: [{ delta: {}, finish_reason: "content_filter" }] }, "[DONE]"] }, failure: { kind: "bad_request", category: "model", retryable: false } },
  ];
  for (const { answer, failure, name, options } of cases) {
    test(name, async () => {
      await using played = await play([answer], { headers: { "x-secret": secret }, ...options });
      const { last } = await run(played);
      expect(last).toMatchObject({ type: "failed", failure });
      expect(JSON.stringify(last)).not.toContain(secret);
      expect(played.bodies()).toHaveLength(1);
    });
  }

  test("abort drops the connection", async () => {
    await using played = await play([{ events: [{ choices: [{ delta: { content: "Hello" } }] }], stallAtEnd: true }]);
    const controller = new AbortController();
    const types: string[] = [];
    for await (const event of played.engine.act(request({ signal: controller.signal, tools }))) {
      types.push(event.type === "ended" ? `ended ${event.stop}` : event.type);
      if (event.type === "text_delta") controller.abort();
    }
    expect(types).toEqual(["prompt_accepted", "text_start", "text_delta", "ended aborted"]);
    expect(await played.server.requests.find(({ path }) => path.endsWith("completions"))?.closed).toBe("client");
  });
});
