// Thinking behind a llama-server: one request for the thought, another for the answer.
import { describe, expect, test } from "bun:test";
import type { TextEvent } from "../../../../src/core/engine.ts";
import { usageOf } from "../../../../src/core/message.ts";
import { completionsOf, connect, end, piece, props, request, serve } from "./support.ts";

describe("thinking", () => {
  const thinks = { ...props, chat_template: "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|go|>{% if not enable_thinking %}<think></think>{% endif %}{% endif %}" };
  const textOf = (tokens: unknown): string => (tokens as number[]).map((token) => String.fromCodePoint(token)).join("").slice(1);

  test("one request up to the closing mark, another for the answer, one usage", async () => {
    const stopped = { ...end, stop_type: "word" };
    await using server = await serve({ props: { status: 200, body: thinks }, completion: (index) => ({ events: index === 0 ? [piece("h", 1), piece("m", 2), stopped] : [piece("yes", 1), { ...end, tokens_predicted: 1, timings: { cache_n: 30, prompt_n: 2, predicted_n: 1 } }] }) });
    const engine = connect(server.url);
    const events = await Array.fromAsync(engine.complete(request({ grammar: "root ::= .+", thinkingTokensMax: 20 })));
    const opened = "<|user|>hi<|go|><think>\n";
    expect(events).toEqual([
      { type: "prompt_accepted", promptTokens: 25, cachedTokens: 0, slotId: 1 },
      { type: "thinking", text: "h" },
      { type: "thinking", text: "m" },
      { type: "text", text: "yes" },
      // The thought with its mark is part of the output.
      { type: "ended", stop: "end", rawStopReason: "eos", usage: usageOf({ input: 13, cacheRead: 4, output: 14, reasoning: 13 }) },
    ]);
    const sent = completionsOf(server);
    expect(sent.map((body) => textOf(body["prompt"]))).toEqual([opened, `${opened}hm\n</think>\n\n`]);
    expect(sent.map(({ grammar, n_predict, stop, temperature }) => ({ grammar, n_predict, stop, temperature }) as object)).toEqual([
      { grammar: undefined, n_predict: 20, stop: ["</think>"], temperature: 0.6 },
      { grammar: "root ::= .+", n_predict: 37, stop: undefined, temperature: 0 },
    ]);
    expect(engine.info().reasoning).toBe(true);
    await engine.close();
  });

  test("takes at most half of the window that is left", async () => {
    await using server = await serve({ props: { status: 200, body: thinks }, completion: { events: [end] } });
    const engine = connect(server.url);
    await Array.fromAsync(engine.complete(request({ maxTokens: 5000, thinkingTokensMax: 1500 })));
    expect(completionsOf(server).map(({ n_predict }) => n_predict)).toEqual([37, 64]);
    await engine.close();
  });

  test("not asked for: one request, whose prompt keeps the model from it", async () => {
    await using server = await serve({ props: { status: 200, body: thinks }, completion: { events: [piece("a", 1), end] } });
    const engine = connect(server.url);
    await Array.fromAsync(engine.complete(request()));
    expect(completionsOf(server).map(({ prompt: sent }) => textOf(sent))).toEqual(["<|user|>hi<|go|><think></think>"]);
    await engine.close();
  });

  test("a failure or an abort inside the thought is the end", async () => {
    await using server = await serve({ props: { status: 200, body: thinks }, completion: { events: [piece("h", 1), { error: { message: "boom", type: "server_error" } }] } });
    const engine = connect(server.url);
    const failed = await Array.fromAsync(engine.complete(request({ thinkingTokensMax: 20 })));
    expect(failed.map(({ type }) => type)).toEqual(["prompt_accepted", "thinking", "failed"]);
    expect(completionsOf(server)).toHaveLength(1);
    await engine.close();
    await using stalling = await serve({ props: { status: 200, body: thinks }, completion: { events: [piece("h", 1)], stallAtEnd: true } });
    const other = connect(stalling.url);
    const controller = new AbortController();
    const seen: TextEvent[] = [];
    for await (const event of other.complete(request({ thinkingTokensMax: 20, signal: controller.signal }))) {
      seen.push(event);
      if (event.type === "thinking") controller.abort();
    }
    expect(seen.at(-1)).toMatchObject({ type: "ended", stop: "aborted" });
    expect(completionsOf(stalling)).toHaveLength(1);
    await other.close();
  });
});
