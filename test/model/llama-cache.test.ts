// The type of the attention cache and flash attention, as they are set: what the context really got, and that a model still
// generates with it. Must not judge what the model says.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Llama } from "node-llama-cpp";
import { usageOf } from "../../src/core/message.ts";
import { generate } from "../../src/engines/llama/generating.ts";
import { openLlamaLibrary } from "../../src/engines/llama/library.ts";
import { type LlamaEngineOptions, openModel, planModel } from "../../src/engines/llama/opening.ts";
import { modelPath } from "../support/models.ts";

const folder = mkdtempSync(join(tmpdir(), "llama-cache-"));
let library: Promise<Llama> | undefined;
const openLibrary = (): Promise<Llama> => (library ??= openLlamaLibrary({ engineDir: join(folder, "engine"), log: () => {} }));
afterAll(async () => {
  await (await library)?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

/** The numbers of ggml's types. */
const typeF16 = 1;
const typeQ4_0 = 2;
const typeQ8_0 = 8;

type Settings = Pick<LlamaEngineOptions, "kvCacheType" | "flashAttention">;

function optionsFor(settings: Settings, warnings: string[] = []): LlamaEngineOptions {
  const log: LlamaEngineOptions["log"] = (level, message) => void (level === "warn" && message.includes("kvCacheType") && warnings.push(message));
  return { modelPath: modelPath("smollm2-135m"), modelId: "smollm2-135m", openLibrary, threads: 1, contextSize: 512, gpuLayers: 0, ...settings, log };
}

/** What the context got, and how many tokens were generated. */
async function tried(settings: Settings): Promise<{ key: number; value: number; flashAttention: unknown; tokens: number; warnings: string[] }> {
  const warnings: string[] = [];
  const options = optionsFor(settings, warnings);
  const { signal } = new AbortController();
  const open = await openModel(options, openLibrary, signal, () => {});
  try {
    const counts = { input: 0, output: 0, cacheRead: 0 };
    const prompt = { segments: [{ text: "The capital of France is", literal: true, role: "user" as const }] };
    let last: unknown;
    for await (const event of generate(open, prompt, { purpose: "step", chat: [], temperature: 0, maxTokens: 6, signal }, counts)) last = event;
    expect(last).toMatchObject({ type: "ended", usage: { input: usageOf({ ...counts }).input } });
    const { flashAttention, kvCacheKeyType: key, kvCacheValueType: value } = open.context;
    return { key, value, flashAttention, tokens: counts.output, warnings };
  } finally {
    await open.close();
  }
}

describe("localModels.managed.kvCacheType and flashAttention", () => {
  const cases: [Settings, { key: number; value: number; flashAttention: unknown }][] = [
    [{}, { key: typeF16, value: typeF16, flashAttention: "auto" }],
    [{ kvCacheType: "f16", flashAttention: "off" }, { key: typeF16, value: typeF16, flashAttention: false }],
    [{ kvCacheType: "auto", flashAttention: "on" }, { key: typeF16, value: typeF16, flashAttention: true }],
    [{ kvCacheType: "q8_0" }, { key: typeQ8_0, value: typeQ8_0, flashAttention: true }],
    [{ kvCacheType: "q4_0", flashAttention: "on" }, { key: typeQ4_0, value: typeQ4_0, flashAttention: true }],
  ];
  for (const [settings, got] of cases) {
    test(`${JSON.stringify(settings)} is what the context gets, and it generates`, async () => {
      const { tokens, ...seen } = await tried(settings);
      expect(seen).toEqual({ ...got, warnings: [] });
      expect(tokens).toBeGreaterThan(0);
    }, 60_000);
  }

  test("a packed cache without flash attention is refused with a word, and f16 taken", async () => {
    const warnings: string[] = [];
    expect(planModel(optionsFor({ kvCacheType: "q8_0", flashAttention: "off" }, warnings)).cacheType).toBe("f16");
    expect(warnings).toEqual([expect.stringContaining("localModels.managed.kvCacheType is q8_0")]);
  });
});
