// What a server is sent, and what is left out once it has refused it.
import { describe, expect, test } from "bun:test";
import { usageOf, type AgentMessage, type AssistantMessage } from "../../../../src/core/message.ts";
import { wireNames } from "../../../../src/engines/openai/request.ts";
import type { Answer } from "../../../support/fault-server.ts";
import { play, request, run, saying, tools, transcript } from "./support.ts";

const done = saying({ content: "Done." });

function assistant(content: AssistantMessage["content"], stopReason: AssistantMessage["stopReason"] = "toolUse"): AssistantMessage {
  return { role: "assistant", content, api: "x", provider: "x", model: "x", usage: usageOf({}), stopReason, timestamp: 2 };
}

const call = (id: string, name: string, path: string) => ({ type: "toolCall" as const, id, name, arguments: { path } });
const result = (id: string, name: string, text: string, isError = false): AgentMessage => ({ role: "toolResult", toolCallId: id, toolName: name, content: [{ type: "text", text }], isError, timestamp: 3 });
const user = (text: string): AgentMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });

const conversation: AgentMessage[] = [
  user("look"),
  assistant([{ type: "thinking", thinking: "hm" }, { type: "text", text: "I look." }, call("call-with-a-long-id-1", "fs.list", "."), call("b", "fs.read", "a")]),
  result("call-with-a-long-id-1", "fs.list", "a\nb"),
  result("b", "fs.read", "no such file", true),
  assistant([{ type: "text", text: "broken" }], "error"),
  user("and now?"),
];

describe("the request", () => {
  test("in full: names, ids, tools, what the options add", async () => {
    await using played = await play([done], { supportsParallelTools: false, maxOutputTokens: 60, extraBody: { top_k: 20 }, headers: { "x-team": "blue-77" } });
    await run(played, request({ seed: 3, messages: conversation }));
    expect(played.bodies()).toEqual([
      {
        model: "m",
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "look" },
          {
            role: "assistant",
            content: "I look.",
            tool_calls: [
              { id: "c00000001", type: "function", function: { name: "fs_list", arguments: '{"path":"."}' } },
              { id: "c00000002", type: "function", function: { name: "fs_read", arguments: '{"path":"a"}' } },
            ],
          },
          { role: "tool", tool_call_id: "c00000001", content: "a\nb" },
          { role: "tool", tool_call_id: "c00000002", content: "Error: no such file" },
          { role: "user", content: "and now?" },
        ],
        stream: true,
        stream_options: { include_usage: true },
        temperature: 0,
        seed: 3,
        max_tokens: 60,
        tools: [
          { type: "function", function: { name: "fs_list", description: "Lists a folder.", parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"], additionalProperties: false } } },
          {
            type: "function",
            function: {
              name: "fs_read",
              description: "Reads a file.",
              parameters: { type: "object", properties: { path: { type: "string" }, limit: { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER } }, required: ["path"], additionalProperties: false },
            },
          },
        ],
        parallel_tool_calls: false,
        top_k: 20,
      },
    ] as unknown as Record<string, unknown>[]);
    const sent = played.server.requests.at(-1);
    expect({ path: sent?.path, authorization: sent?.headers["authorization"], team: sent?.headers["x-team"] }).toEqual({ path: "/v1/chat/completions", authorization: "Bearer sk-a71c0d55e8", team: "blue-77" });
  });

  test("a result whose call is gone becomes a user's text", async () => {
    await using played = await play([done]);
    await run(played, request({ messages: [result("gone", "fs.list", "a"), user("go on")] }));
    expect(played.bodies()[0]?.["messages"]).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Result of fs.list:\na\n\ngo on" },
    ]);
  });

  test("images only where the server says that it takes them", async () => {
    const image = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };
    const messages: AgentMessage[] = [{ role: "user", content: [{ type: "text", text: "what?" }, image], timestamp: 1 }];
    await using blind = await play([done]);
    await run(blind, request({ messages }));
    expect(blind.bodies()[0]?.["messages"]).toMatchObject([{}, { role: "user", content: "what?\n[image]" }]);
    await using seeing = await play([done], {}, { status: 200, body: { data: [{ id: "m", architecture: { input_modalities: ["text", "image"] } }] } });
    await run(seeing, request({ messages }));
    expect(seeing.bodies()[0]?.["messages"]).toMatchObject([{}, { content: [{ type: "text", text: "what?" }, { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }] }]);
    expect(seeing.engine.info().input).toEqual(["text", "image"]);
  });

  test("two tools never share a name", () => {
    expect([...wireNames(["a.b", "a_b", "a-b", "ä b"])]).toEqual([["a.b", "a_b"], ["a_b", "a_b_2"], ["a-b", "a-b"], ["ä b", "__b"]]);
  });
});

describe("what the server tells of itself", () => {
  const cases: { name: string; models: object; window: number }[] = [
    { name: "vLLM", models: { data: [{ id: "other", max_model_len: 1 }, { id: "m", owned_by: "vllm", max_model_len: 8192 }] }, window: 8192 },
    { name: "llama-server", models: { data: [{ id: "x.gguf", owned_by: "llamacpp", meta: { n_ctx: 2048, n_ctx_train: 8192 } }] }, window: 2048 },
    { name: "OpenRouter", models: { data: [{ id: "m", context_length: 131072 }] }, window: 131072 },
    { name: "nothing", models: { data: [{ id: "m" }] }, window: 32768 },
    { name: "nonsense", models: { models: 3 }, window: 32768 },
  ];
  for (const { models, name, window } of cases) {
    test(name, async () => {
      await using played = await play([done], {}, { status: 200, body: models });
      await run(played);
      expect(played.engine.info()).toMatchObject({ contextWindow: window, baseUrl: played.server.url, provider: "cluster", api: "openai-completions" });
    });
  }

  test("without a model's name the first one is used; with none there is a failure that says so", async () => {
    const nameless = { model: undefined } as unknown as { model: string };
    await using first = await play([done], nameless, { status: 200, body: { data: [{ id: "one" }, { id: "two" }] } });
    await run(first);
    expect(first.bodies()[0]?.["model"]).toBe("one");
    await using none = await play([done], nameless, { status: 200, body: { data: [] } });
    expect((await run(none)).last).toMatchObject({ type: "failed", failure: { kind: "model_missing" } });
    expect(none.bodies()).toHaveLength(0);
  });

  test("a server that is silent about its models is asked for them once, one that is away again", async () => {
    await using silent = await play([done], { idleTimeoutMs: 80 }, { stall: true });
    await run(silent);
    await run(silent);
    expect(silent.server.requests.map(({ path }) => path)).toEqual(["/v1/models", "/v1/chat/completions", "/v1/chat/completions"]);
    await using away = await play([done], {}, { status: 503, body: {} });
    await run(away);
    await run(away);
    expect(away.server.requests.filter(({ path }) => path === "/v1/models")).toHaveLength(2);
  });

  test("it is asked once", async () => {
    await using played = await play([done], {}, { status: 200, body: { data: [{ id: "m" }] } });
    await run(played);
    await run(played);
    expect(played.server.requests.map(({ path }) => path)).toEqual(["/v1/models", "/v1/chat/completions", "/v1/chat/completions"]);
  });
});

const rolesOf = ({ messages }: Record<string, unknown>): string[] => (messages as { role: string }[]).map(({ role }) => role);

describe("refusals", () => {
  const refusal = (message: string, status = 400): Answer => ({ status, body: { error: { message } } });
  const cases: { name: string; answer: Answer; gone: string; instead?: string }[] = [
    { name: "stream_options", answer: refusal("Unrecognized request argument supplied: stream_options"), gone: "stream_options" },
    { name: "max_tokens", answer: refusal("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."), gone: "max_tokens", instead: "max_completion_tokens" },
    { name: "temperature", answer: refusal("Unsupported value: 'temperature' does not support 0 with this model."), gone: "temperature" },
    { name: "tools, Ollama", answer: refusal("registry.ollama.ai/library/gemma3:1b does not support tools"), gone: "tools", instead: "response_format" },
    { name: "tools, vLLM", answer: refusal('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'), gone: "tools", instead: "response_format" },
    { name: "tools, llama-server", answer: refusal("tools param requires --jinja flag", 500), gone: "tools", instead: "response_format" },
  ];
  for (const { answer, gone, instead, name } of cases) {
    test(name, async () => {
      await using played = await play([answer, done]);
      expect(await run(played)).toMatchObject({ blocks: [{ text: "Done." }], last: { type: "ended" } });
      await run(played);
      const has = (key: string) => played.bodies().map((body) => key in body);
      expect(has(gone)).toEqual([true, false, false]);
      if (instead !== undefined) expect(has(instead)).toEqual([false, true, true]);
    });
  }

  test("a template without a system role gets the text in front of the user's", async () => {
    await using played = await play([refusal("System role not supported"), done]);
    await run(played);
    expect(played.bodies()[1]?.["messages"]).toEqual([{ role: "user", content: "Be brief.\n\nhi" }]);
  });

  const alternating: [string, string][] = [
    ["that demands alternation", "Conversation roles must alternate user/assistant/user/assistant/..."],
    ["that knows two roles", "Only user and assistant roles are supported!"],
  ];
  for (const [name, message] of alternating) {
    test(`a template ${name} gets calls and results as an alternating chat`, async () => {
      await using played = await play([refusal(message), refusal(message), done]);
      expect(await run(played, request({ messages: conversation }))).toMatchObject({ last: { type: "ended" } });
      const bodies = played.bodies();
      expect(bodies).toHaveLength(3);
      expect(bodies.map(rolesOf)[2]).toEqual(["user", "assistant", "user"]);
      expect(bodies.map((body) => "tools" in body)).toEqual([true, true, false]);
    });
  }

  test("a template without a role for results keeps its system message", async () => {
    await using played = await play([refusal("Unexpected message role: tool"), done]);
    await run(played, request({ messages: conversation }));
    expect(played.bodies().map(rolesOf)[1]).toEqual(["system", "user", "assistant", "user"]);
  });

  test("neither tools nor schemas: calls in words, past calls as text", async () => {
    await using played = await play([refusal("m does not support tools"), refusal("response_format is not supported"), saying({ content: 'fs_list(path=".")' })]);
    const { blocks } = await run(played, request({ messages: conversation }));
    expect(blocks).toEqual([{ call: "fs.list", arguments: { path: "." }, raw: '{"path":"."}' }]);
    const last = played.bodies().at(-1) ?? {};
    expect(["tools" in last, "response_format" in last]).toEqual([false, false]);
    expect(last["messages"]).toEqual([
      { role: "system", content: "Be brief.\n\nTools: in words." },
      { role: "user", content: "look" },
      { role: "assistant", content: '{"goal":"answer","tool":"fs.list","args":{"path":"."}}\n{"goal":"answer","tool":"fs.read","args":{"path":"a"}}' },
      { role: "user", content: "Result of fs.list:\na\nb\n\nfs.read failed: no such file\n\nand now?" },
    ]);
  });

  test("supportsTools false begins with a schema that holds every tool and the reply", async () => {
    await using played = await play([saying({ content: '{"goal":"answer","tool":"reply","args":{"text":"Hi"}}' })], { supportsTools: false });
    expect((await run(played)).blocks).toEqual([{ call: "reply", arguments: { text: "Hi" }, raw: '{"text":"Hi"}' }]);
    const format = played.bodies()[0]?.["response_format"] as { json_schema: { schema: { anyOf: { properties: { goal: { enum: string[] }; tool: { enum: string[] } } }[] } } };
    expect(format.json_schema.schema.anyOf.map(({ properties }) => properties.tool.enum[0])).toEqual(["reply", "fs.list", "fs.read"]);
    expect(format.json_schema.schema.anyOf.map(({ properties }) => Object.keys(properties).join())).toEqual(["goal,tool,args", "goal,tool,args", "goal,tool,args"]);
  });

  test("the guide is sent exactly where calls are text, and the engine says so", async () => {
    await using played = await play([refusal("m does not support tools"), done]);
    expect(played.engine.needsGuide?.()).toBe(false);
    await run(played, request({ messages: [user("hi")] }));
    expect(played.engine.needsGuide?.()).toBe(true);
    // Nothing is offered any more: nothing needs to be explained.
    await run(played, request({ tools: [] }));
    expect(played.bodies().map(({ messages }) => (messages as { content: string }[])[0]?.content)).toEqual(["Be brief.", "Be brief.\n\nTools: in words.", "Be brief."]);
  });

  test("supportsTools true is not given up", async () => {
    await using played = await play([refusal("m does not support tools")], { supportsTools: true });
    expect((await run(played)).last).toMatchObject({ type: "failed", failure: { kind: "bad_request" } });
    expect(played.bodies()).toHaveLength(1);
  });

  test("a refusal that names nothing known is the failure", async () => {
    await using played = await play([refusal("nope")]);
    expect((await run(played)).last).toMatchObject({ type: "failed", failure: { kind: "bad_request", message: `${played.server.url} answered 400: nope` } });
    expect(played.bodies()).toHaveLength(1);
  });

  test("a server that refuses for ever is asked a bounded number of times", async () => {
    await using played = await play([refusal("stream_options, temperature, seed, max_completion_tokens, system role not supported, no tools, response_format")]);
    expect((await run(played, request({ seed: 1 }))).last).toMatchObject({ type: "failed" });
    expect(played.bodies().length).toBeLessThanOrEqual(9);
  });
});

describe("an output schema", () => {
  const outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

  test("goes to the server beside native tools", async () => {
    await using played = await play([saying({ content: '{"n":4}' })]);
    expect((await run(played, request({ outputSchema }))).blocks).toEqual([{ text: '{"n":4}' }]);
    expect(played.bodies()[0]?.["response_format"]).toEqual({ type: "json_schema", json_schema: { name: "output", strict: true, schema: outputSchema } });
  });

  test("is the reply's form in an action", async () => {
    await using played = await play([saying({ content: '{"tool":"reply","args":{"n":4}}' })], { supportsTools: false });
    expect((await run(played, request({ outputSchema }))).blocks).toEqual([{ text: '{"n":4}' }]);
  });
});

test("a plain transcript still reads after a refusal", async () => {
  await using played = await play([{ status: 400, body: { error: "unknown field stream_options" } }, transcript("openai-two-calls")]);
  expect((await run(played, request({ tools }))).blocks).toHaveLength(2);
});
