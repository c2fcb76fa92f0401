// Guesses from a draft, with real weights: they change neither what is told nor what is counted, and a cancel between them loses nothing.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TextEvent, TextRequest } from "../../src/core/engine.ts";
import { createLlamaEngine } from "../../src/engines/llama/engine.ts";
import { openLlamaLibrary } from "../../src/engines/llama/library.ts";
import { modelPath } from "../support/models.ts";

const scratch = mkdtempSync(join(tmpdir(), "drafts-"));
const log = (): void => {};
const engine = createLlamaEngine({ modelPath: modelPath("smollm2-135m"), modelId: "m", openLibrary: () => openLlamaLibrary({ engineDir: scratch, log }), threads: 0, contextSize: 4096, gpuLayers: "auto", log });

afterAll(async () => {
  await engine.close();
  rmSync(scratch, { recursive: true, force: true });
});

const lines = ["apples: 12", "pears: 7", "plums: 30", "cherries: 45"].join("\n");

interface Answer {
  text: string;
  last: TextEvent | undefined;
}

async function answer(more: Partial<TextRequest> = {}, onText = (): void => {}): Promise<Answer> {
  const grammar = `root ::= ${JSON.stringify(`${lines}\n`)} [a-z]+ "."`;
  const seen: Answer = { text: "", last: undefined };
  for await (const event of engine.complete({ purpose: "plan", chat: [{ role: "user", text: `Repeat this:\n${lines}` }], temperature: 0, maxTokens: 40, grammar, signal: new AbortController().signal, ...more })) {
    seen.last = event;
    if (event.type !== "text") continue;
    seen.text += event.text;
    onText();
  }
  return seen;
}

test.each([["all of it", lines], ["one word wrong", lines.replace("pears", "grapes")], ["something else", "nothing of it"], ["an empty one", ""]])("%s", async (_name, draft) => {
  const plain = await answer();
  const drafted = await answer({ draft });
  expect(plain.text).toStartWith(lines);
  expect(drafted.text).toBe(plain.text);
  if (plain.last?.type !== "ended" || drafted.last?.type !== "ended") throw new Error("no end");
  expect(drafted.last.usage.output).toBe(plain.last.usage.output);
}, 60_000);

test("cancelled between guesses, it goes on with the next", async () => {
  const abort = new AbortController();
  const { last } = await answer({ draft: lines, signal: abort.signal }, () => abort.abort());
  expect(last).toMatchObject({ type: "ended", stop: "aborted" });
  expect((await answer({ draft: lines })).text).toStartWith(lines);
}, 60_000);
