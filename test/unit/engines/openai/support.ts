// A compatible server that plays transcripts, and what one generation made of them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { ActionEvent, ActionRequest } from "../../../../src/core/engine.ts";
import type { ToolSpec } from "../../../../src/core/tool.ts";
import { createOpenAiEngine, type OpenAiEngine, type OpenAiOptions } from "../../../../src/engines/openai/engine.ts";
import { startFaultServer, type Answer, type FaultServer } from "../../../support/fault-server.ts";

export const secret = "sk-a71c0d55e8";

/** The bytes of a transcript as a whole HTTP answer. */
export function transcript(name: string): Answer {
  const body = readFileSync(join(import.meta.dir, "transcripts", `${name}.sse`), "utf8");
  return { raw: `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n${body}` };
}

/** A streamed answer of these deltas and its end. */
export function saying(...deltas: object[]): Answer {
  return { events: [...deltas.map((delta) => ({ choices: [{ index: 0, delta }] })), { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }, "[DONE]"] };
}

export interface Played extends AsyncDisposable {
  engine: OpenAiEngine;
  server: FaultServer;
  /** Bodies of the chat requests. */
  bodies(): Record<string, unknown>[];
}

/** @param answers of the chat requests in order, the last one repeats. */
export async function play(answers: readonly [Answer, ...Answer[]], options: Partial<OpenAiOptions> = {}, models: Answer = { status: 404, body: {} }): Promise<Played> {
  let asked = 0;
  const server = await startFaultServer((request) => {
    if (!request.path.endsWith("/chat/completions")) return models;
    return answers[asked++] ?? answers.at(-1) ?? answers[0];
  });
  const engine = createOpenAiEngine({ id: "cluster", url: `${server.url}/v1`, apiKey: secret, model: "m", idleTimeoutMs: 2000, requestTimeoutMs: 5000, log: () => {}, ...options });
  return {
    engine,
    server,
    bodies: () => server.requests.filter(({ path }) => path === "/v1/chat/completions").map(({ json }) => json as Record<string, unknown>),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

export const tools: ToolSpec[] = [
  { name: "fs.list", description: "Lists a folder.", schema: z.strictObject({ path: z.string() }), class: "read" },
  { name: "fs.read", description: "Reads a file.", schema: z.strictObject({ path: z.string(), limit: z.int().optional() }), class: "read" },
];

export function request(more: Partial<ActionRequest> = {}): ActionRequest {
  return {
    purpose: "step",
    system: "Be brief.",
    guide: "Tools: in words.",
    messages: [{ role: "user", content: [{ type: "text", text: "hi" }], timestamp: 1 }],
    tools,
    thinking: "off",
    temperature: 0,
    maxTokens: 100,
    signal: new AbortController().signal,
    ...more,
  };
}

export interface Summary {
  blocks: ({ text: string } | { thinking: string } | { call: string; id?: string; arguments?: Record<string, unknown>; raw: string })[];
  last: ActionEvent | undefined;
}

/** What the events add up to; throws when a block is used before it opens or closed twice. */
export async function run({ engine }: Played, sent: ActionRequest = request()): Promise<Summary> {
  const blocks: Summary["blocks"] = [];
  const closed = new Set<number>();
  let last: ActionEvent | undefined;
  for await (const event of engine.act(sent)) {
    if (last?.type === "ended" || last?.type === "failed") throw new Error("an event after the end");
    last = event;
    if (!("index" in event)) continue;
    const { index } = event;
    if (event.type.endsWith("_start") ? index !== blocks.length : !(index in blocks) || closed.has(index)) throw new Error(`${event.type} of block ${index}`);
    if (event.type.endsWith("_end")) closed.add(index);
    const block = blocks[index] ?? { text: "" };
    if (event.type === "text_start") blocks.push({ text: "" });
    else if (event.type === "thinking_start") blocks.push({ thinking: "" });
    else if (event.type === "call_start") blocks.push({ call: event.name, ...(event.id ? { id: event.id } : {}), raw: "" });
    else if (event.type === "text_delta" && "text" in block) block.text += event.delta;
    else if (event.type === "thinking_delta" && "thinking" in block) block.thinking += event.delta;
    else if (event.type === "call_delta" && "call" in block) block.raw += event.delta;
    else if (event.type === "call_end" && "call" in block) block.arguments = event.arguments;
  }
  return { blocks, last };
}
