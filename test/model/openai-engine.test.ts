// The OpenAI-compatible engine against a real server of that kind, llama-server's own /v1.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { z } from "zod";
import type { ActionEvent, ActionRequest } from "../../src/core/engine.ts";
import type { ToolSpec } from "../../src/core/tool.ts";
import { createOpenAiEngine, type OpenAiEngine, type OpenAiOptions } from "../../src/engines/openai/engine.ts";
import { startLlamaServer, type LlamaServer } from "../support/llama-server.ts";
import { modelPath } from "../support/models.ts";

setDefaultTimeout(120_000);

let server: LlamaServer;

beforeAll(async () => {
  server = await startLlamaServer({ model: modelPath("smollm2-135m"), contextSize: 1024 });
}, 180_000);

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

function connect(more: Partial<OpenAiOptions> = {}): OpenAiEngine {
  return createOpenAiEngine({ id: "local", url: server.url, idleTimeoutMs: 60_000, requestTimeoutMs: 110_000, log: () => {}, ...more });
}

const tools: ToolSpec[] = [{ name: "fs.list", description: "Lists a folder.", schema: z.strictObject({ path: z.enum([".", "src"]) }), class: "read" }];

function request(more: Partial<ActionRequest> = {}): ActionRequest {
  return {
    purpose: "step",
    system: "You help with files.",
    messages: [{ role: "user", content: [{ type: "text", text: "List the folder." }], timestamp: 1 }],
    tools,
    thinking: "off",
    temperature: 0,
    seed: 1,
    maxTokens: 60,
    signal: new AbortController().signal,
    ...more,
  };
}

function callsOf(events: readonly ActionEvent[]): { name: string; arguments: Record<string, unknown> }[] {
  const names = events.flatMap((event) => (event.type === "call_start" ? [event.name] : []));
  const args = events.flatMap((event) => (event.type === "call_end" ? [event.arguments] : []));
  expect(args).toHaveLength(names.length);
  return names.map((name, index) => ({ name, arguments: args[index] ?? {} }));
}

describe("a real compatible server", () => {
  test("text streams, usage is the server's, model and window are found", async () => {
    const engine = connect();
    const events = await Array.fromAsync(engine.act(request({ tools: [], purpose: "compaction", maxTokens: 12 })));
    const last = events.at(-1);
    if (last?.type !== "ended") throw new Error(JSON.stringify(last));
    expect(events.filter((event) => event.type === "text_delta").length).toBeGreaterThan(2);
    expect(last.usage.estimated).toBeUndefined();
    expect(last.usage.input + last.usage.cacheRead).toBeGreaterThan(10);
    expect(last).toMatchObject({ stop: "length", rawStopReason: "length", usage: { output: 12 } });
    expect(engine.info().contextWindow).toBe(1024);
    expect(engine.info().id).toEndWith(".gguf");
  });

  test("without native tools the answer is one action under a schema", async () => {
    const events = await Array.fromAsync(connect({ supportsTools: false }).act(request()));
    const last = events.at(-1);
    if (last?.type === "ended" && last.stop === "length") {
      // Cut at the limit, but it can only have begun as an action.
      expect(events.find((event) => event.type === "call_start")).toBeDefined();
      return;
    }
    const calls = callsOf(events);
    expect(calls).toHaveLength(1);
    expect(["reply", "fs.list"]).toContain(calls[0]?.name ?? "");
  });

  test("a prompt beyond the window is an overflow", async () => {
    const long: ActionRequest["messages"] = [{ role: "user", content: [{ type: "text", text: "word ".repeat(3000) }], timestamp: 1 }];
    const events = await Array.fromAsync(connect().act(request({ messages: long })));
    expect(events.at(-1)).toMatchObject({ type: "failed", failure: { kind: "overflow" } });
  });

  test("an abort leaves no work behind", async () => {
    const controller = new AbortController();
    const engine = connect();
    let last: ActionEvent | undefined;
    for await (const event of engine.act(request({ tools: [], maxTokens: 800, signal: controller.signal }))) {
      last = event;
      if (event.type === "text_delta") controller.abort();
    }
    expect(last).toMatchObject({ type: "ended", stop: "aborted" });
    const startedAt = performance.now();
    for (;;) {
      const slots = (await (await fetch(`${server.url}/slots`)).json()) as { is_processing: boolean }[];
      if (!slots.some((slot) => slot.is_processing)) break;
      expect(performance.now() - startedAt).toBeLessThan(20_000);
    }
  });
});
