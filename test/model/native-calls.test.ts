// A native tool call of a real server: streamed in pieces by llama-server's own parser and its grammar of the template's tag.
import { expect, setDefaultTimeout, test } from "bun:test";
import { z } from "zod";
import type { ActionEvent } from "../../src/core/engine.ts";
import { createOpenAiEngine } from "../../src/engines/openai/engine.ts";
import { startLlamaServer } from "../support/llama-server.ts";
import { modelPath } from "../support/models.ts";

setDefaultTimeout(240_000);

/** The model's `<tool_call>`. Left alone, so small a model writes its calls as plain JSON, which no server takes for one. */
const tagToken = 151_657;

test("a native call has the server's id, our name, and arguments that add up", async () => {
  await using server = await startLlamaServer({ model: modelPath("qwen2.5-coder-0.5b"), contextSize: 1024 });
  const engine = createOpenAiEngine({ id: "local", url: server.url, idleTimeoutMs: 120_000, requestTimeoutMs: 120_000, supportsParallelTools: false, extraBody: { logit_bias: [[tagToken, 24]] }, log: () => {} });
  const tools = [{ name: "fs.read", description: "Reads a file.", schema: z.strictObject({ path: z.enum(["notes.txt", "other.txt"]) }), class: "read" as const }];
  const content = [{ type: "text" as const, text: "What does notes.txt say? Read it with fs_read." }];
  const events: ActionEvent[] = await Array.fromAsync(
    engine.act({ purpose: "step", system: "You do jobs in a folder with tools.", guide: "", messages: [{ role: "user", content, timestamp: 1 }], tools, thinking: "off", temperature: 0, seed: 1, maxTokens: 60, signal: new AbortController().signal }),
  );
  const [call] = events.filter((event) => event.type === "call_start");
  expect(call).toMatchObject({ name: "fs.read", id: expect.stringMatching(/^\w{9,}$/) });
  const [end] = events.filter((event) => event.type === "call_end");
  const pieces = events.flatMap((event) => (event.type === "call_delta" ? [event.delta] : []));
  expect(pieces.length).toBeGreaterThan(1);
  expect(JSON.parse(pieces.join(""))).toEqual(end?.arguments ?? {});
  expect(tools[0]?.schema.safeParse(end?.arguments).success).toBe(true);
  expect(events.at(-1)).toMatchObject({ type: "ended", stop: "end", rawStopReason: "tool_calls" });
  await engine.close();
});
