// A model that thinks before it writes, in process and behind a llama-server: real weights under the template of a family
// that thinks. Must not judge what the model thinks.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TextEngine, TextEvent, TextRequest } from "../../src/core/engine.ts";
import { createLlamaEngine } from "../../src/engines/llama/engine.ts";
import { openLlamaLibrary } from "../../src/engines/llama/library.ts";
import { createLlamaServerEngine } from "../../src/engines/llama-server/engine.ts";
import { startLlamaServer, type LlamaServer } from "../support/llama-server.ts";
import { copyWithTemplate } from "../support/model-template.ts";
import { modelPath } from "../support/models.ts";

setDefaultTimeout(240_000);

/** Hand-written after what Qwen3's does: thinking is the model's own unless it is switched off. */
const template = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% if not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}";
const scratch = mkdtempSync(join(tmpdir(), "thinking-"));
const weights = join(scratch, "thinker.gguf");
let server: LlamaServer;
const engines: TextEngine[] = [];

beforeAll(async () => {
  copyWithTemplate(modelPath("smollm2-135m"), weights, template);
  server = await startLlamaServer({ model: weights, contextSize: 512 });
}, 240_000);

afterAll(async () => {
  for (const engine of engines) await engine.close();
  await server?.[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true, force: true });
});

function kept(engine: TextEngine): TextEngine {
  engines.push(engine);
  return engine;
}

const kinds: Record<string, () => TextEngine> = {
  "in process": () => kept(createLlamaEngine({ modelPath: weights, modelId: "thinker", openLibrary: () => openLlamaLibrary({ engineDir: join(scratch, "engine"), log: () => {} }), threads: 1, contextSize: 512, gpuLayers: 0, log: () => {} })),
  "llama-server": () => kept(createLlamaServerEngine({ url: server.url, healthTimeoutMs: 1000, firstTokenTimeoutMs: 120_000, idleTimeoutMs: 120_000, requestTimeoutMs: 120_000, log: () => {} })),
};

const answer = '{"goal":"answer","tool":"reply","args":{"text":"ok"}}';

function request(more: Partial<TextRequest> = {}): TextRequest {
  const chat: TextRequest["chat"] = [{ role: "user", text: "Name a colour." }];
  return { purpose: "step", chat, grammar: `root ::= ${JSON.stringify(answer)}\n`, temperature: 0, seed: 1, maxTokens: 100, signal: new AbortController().signal, ...more };
}

function said(events: readonly TextEvent[], type: "thinking" | "text"): string {
  return events.map((event) => (event.type === type ? event.text : "")).join("");
}

/** The order of the kinds of events, neighbours as one. */
function order(events: readonly TextEvent[]): string[] {
  return events.map(({ type }) => type).filter((type, index, all) => type !== "progress" && type !== all[index - 1]);
}

for (const [name, make] of Object.entries(kinds)) {
  describe(name, () => {
    const engine = { current: undefined as TextEngine | undefined };
    const use = (): TextEngine => (engine.current ??= make());

    test("thinks at most as long as it may, then writes what the grammar says", async () => {
      const events = await Array.fromAsync(use().complete(request({ thinkingTokensMax: 12 })));
      expect(order(events)).toEqual(["prompt_accepted", "thinking", "text", "ended"]);
      expect(said(events, "thinking").trim()).not.toBe("");
      expect(said(events, "thinking")).not.toContain("</think>");
      expect(said(events, "text")).toBe(answer);
      const last = events.at(-1);
      const accepted = events.find((event) => event.type === "prompt_accepted");
      if (last?.type !== "ended" || accepted?.type !== "prompt_accepted") throw new Error(JSON.stringify(events));
      const { input, cacheRead, output, reasoning = 0 } = last.usage;
      expect(last.stop).toBe("end");
      expect(input + cacheRead).toBe(accepted.promptTokens);
      // What it thought, and at most the six tokens or so of the closing mark.
      expect(reasoning).toBeGreaterThan(1);
      expect(reasoning).toBeLessThanOrEqual(12 + 8);
      expect(output).toBeGreaterThan(reasoning);
      expect(use().info().reasoning).toBe(true);
    });

    test("not asked to, it writes at once", async () => {
      const events = await Array.fromAsync(use().complete(request()));
      expect(order(events)).toEqual(["prompt_accepted", "text", "ended"]);
      expect(said(events, "text")).toBe(answer);
    });

    test("the same seed, the same thought", async () => {
      const thoughts = [];
      for (let run = 0; run < 2; run += 1) thoughts.push(said(await Array.fromAsync(use().complete(request({ thinkingTokensMax: 8 }))), "thinking"));
      expect(thoughts[1]).toBe(thoughts[0] ?? "?");
    });

    test("an abort inside the thought is the end of it, and the engine serves on", async () => {
      const controller = new AbortController();
      const events: TextEvent[] = [];
      for await (const event of use().complete(request({ thinkingTokensMax: 50, signal: controller.signal }))) {
        events.push(event);
        if (event.type === "thinking") controller.abort();
      }
      expect(order(events)).toEqual(["prompt_accepted", "thinking", "ended"]);
      expect(events.at(-1)).toMatchObject({ stop: "aborted" });
      expect(said(await Array.fromAsync(use().complete(request())), "text")).toBe(answer);
    });
  });
}
