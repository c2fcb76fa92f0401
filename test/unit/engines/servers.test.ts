// `llm.toolTransport`: which form a provider is asked in.
import { expect, test } from "bun:test";
import { z } from "zod";
import { providerEngine, type ProviderSettings, type ServerSettings } from "../../../src/engines/servers.ts";
import { says, startChatServer } from "../../support/chat-server.ts";

const localModels = { url: "http://127.0.0.1:9", apiKey: undefined, healthTimeoutMs: 1000, requestTimeoutMs: 5000, firstTokenTimeoutMs: 5000, streamTotalTimeoutMs: 5000 };
const tool = { name: "fs.read", description: "Reads.", schema: z.object({ path: z.string() }), class: "read" as const };

async function asked(toolTransport: ServerSettings["llm"]["toolTransport"], provider: Partial<ProviderSettings>): Promise<{ kind: string; keys: string[] }> {
  await using server = await startChatServer([says({ text: ["hi"] })]);
  const engine = await providerEngine({ id: "here", kind: "openai-compatible", url: server.url, ...provider }, "m", { localModels, llm: { idleTimeoutMs: 5000, toolTransport } }, { variable: () => undefined, log: () => {} });
  if (engine.kind !== "action") return { kind: engine.kind, keys: [] };
  const message = { role: "user" as const, content: "hi", timestamp: 1 };
  for await (const event of engine.act({ purpose: "step", system: "s", messages: [message], tools: [tool], thinking: "off", temperature: 0, maxTokens: 64, signal: new AbortController().signal })) void event;
  return { kind: engine.kind, keys: ["tools", "response_format"].filter((key) => key in (server.chats()[0] ?? {})) };
}

test("auto: the server's own tool calls, unless the provider is said to have none; a llama-server is bound by a grammar", async () => {
  expect(await asked("auto", {})).toEqual({ kind: "action", keys: ["tools"] });
  expect(await asked("auto", { supportsTools: false })).toEqual({ kind: "action", keys: ["response_format"] });
  expect((await asked("auto", { kind: "llama-server" })).kind).toBe("text");
});

test("grammar: never the server's own tool calls", async () => {
  expect(await asked("grammar", { supportsTools: true })).toEqual({ kind: "action", keys: ["response_format"] });
  expect((await asked("grammar", { kind: "llama-server" })).kind).toBe("text");
});

test("native_tools: always the server's own tool calls first, of a llama-server too", async () => {
  expect(await asked("native_tools", { supportsTools: false })).toEqual({ kind: "action", keys: ["tools"] });
  expect(await asked("native_tools", { kind: "llama-server" })).toEqual({ kind: "action", keys: ["tools"] });
});
