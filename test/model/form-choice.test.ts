// A model of a family that nobody knows, with real weights: its form is found by a probe once, and known to the next process.
// Must not judge which form it is.
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formOf } from "../../src/agent/chosen-form.ts";
import { settleForm } from "../../src/agent/form-choice.ts";
import type { TextEngine } from "../../src/core/engine.ts";
import { createLlamaEngine } from "../../src/engines/llama/engine.ts";
import { openLlamaLibrary } from "../../src/engines/llama/library.ts";
import { copyWithTemplate } from "../support/model-template.ts";
import { modelPath } from "../support/models.ts";

setDefaultTimeout(240_000);

const scratch = mkdtempSync(join(tmpdir(), "form-choice-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const template = "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}[assistant] {% endif %}";

test("a probe finds the form, and a later process asks nothing", async () => {
  const weights = join(scratch, "unknown.gguf");
  const states = join(scratch, "states");
  copyWithTemplate(modelPath("smollm2-135m"), weights, template);
  const open = (): TextEngine => createLlamaEngine({ modelPath: weights, modelId: "unknown", openLibrary: () => openLlamaLibrary({ engineDir: join(scratch, "engine"), log: () => {} }), threads: 1, contextSize: 512, gpuLayers: 0, promptStates: { directory: states, bytesMax: 1e8 }, log: () => {} });
  const settled = async (): Promise<{ form: string; tokens: number }> => {
    const engine = open();
    let tokens = 0;
    await settleForm(engine, new AbortController().signal, ({ totalTokens }) => (tokens += totalTokens));
    const form = formOf(engine).name;
    await engine.close();
    return { form, tokens };
  };
  const first = await settled();
  expect(["json", "marker"]).toContain(first.form);
  expect(first.tokens).toBeGreaterThan(100);
  expect(readdirSync(states).filter((name) => name.endsWith(".action-form")).length).toBe(1);
  expect(await settled()).toEqual({ form: first.form, tokens: 0 });
});
