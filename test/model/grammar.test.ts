// Grammars in the engine that really binds a model: llama.cpp reads each of them and takes what the sampler writes, and what a
// hot 135M model writes to its end parses and is valid. ATOMIC_TEST_SEED repeats a run.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020";
import { ActionDecoder } from "../../src/agent/action.ts";
import { GrammarRules } from "../../src/agent/gbnf.ts";
import { schemaRule } from "../../src/agent/grammar.ts";
import { jsonForm } from "../../src/agent/action-form.ts";
import { systemText } from "../../src/agent/prompt.ts";
import { createLlamaEngine } from "../../src/engines/llama/engine.ts";
import { openLlamaLibrary } from "../../src/engines/llama/library.ts";
import { isExact, randomSchema } from "../fuzz/grammar-schemas.ts";
import { sessionSteps } from "../fuzz/grammar-session.ts";
import { parseGbnf, sample, seededRandom } from "../support/gbnf.ts";
import { modelPath } from "../support/models.ts";

const isLong = process.env["ATOMIC_TEST_LONG"] === "1";
const firstSeed = Number(process.env["ATOMIC_TEST_SEED"] ?? (isLong ? Date.now() % 2 ** 31 : 6));
const schemaCount = isLong ? 5000 : 100;
const generations = isLong ? 300 : 6;
const limitMs = isLong ? 1_800_000 : 240_000;
const temperature = 1.5;
const folder = mkdtempSync(join(tmpdir(), "grammar-"));
const openLibrary = () => openLlamaLibrary({ engineDir: join(folder, "engine"), log: () => {} });
const engine = createLlamaEngine({ modelPath: modelPath("smollm2-135m"), modelId: "smollm2-135m", openLibrary, threads: 0, contextSize: 2048, gpuLayers: "auto", log: () => {} });
const ajv = new Ajv2020({ strict: false, logger: false, validateFormats: false });
const tally = { read: 0, taken: 0, values: 0, calls: 0, replies: 0, cut: 0 };

afterAll(async () => {
  process.stderr.write(`grammars from seed ${firstSeed}: ${JSON.stringify(tally)}\n`);
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

test(`llama.cpp reads the grammars of ${schemaCount} random schemas and of sessions, and takes every sampled text`, async () => {
  const library = await openLibrary();
  try {
    const check = async (text: string, seed: number, random: () => number): Promise<void> => {
      const grammar = await library.createGrammar({ grammar: text });
      // Internal to the binding, and the only way to ask the engine itself without a model.
      const testText: unknown = Reflect.get(grammar, "_testText");
      if (typeof testText !== "function") throw new Error("the binding can't test a text any more");
      tally.read += 1;
      const parsed = parseGbnf(text);
      for (let round = 0; round < 3; round += 1) {
        const written = sample(parsed, random);
        expect({ seed, written, taken: testText.call(grammar, written) }).toEqual({ seed, written, taken: true });
        tally.taken += 1;
      }
    };
    for (let seed = firstSeed; seed < firstSeed + schemaCount; seed += 1) {
      const random = seededRandom(seed);
      await check(grammarOf(randomSchema(random)), seed, random);
    }
    for (let seed = firstSeed; seed < firstSeed + schemaCount / 50; seed += 1) for await (const { grammar, random, take } of sessionSteps(seed)) {
      await check(grammar, seed, random);
      take([]);
    }
  } finally {
    await library.dispose();
  }
}, limitMs);

test(`values by a hot model from seed ${firstSeed}: valid when they ended by themselves`, async () => {
  for (let seed = firstSeed; tally.values + tally.cut < generations; seed += 1) {
    const schema = randomSchema(seededRandom(seed));
    // Small ones come to their end.
    if (!isExact(schema) || grammarOf(schema).length > 1500) continue;
    const text = await written(grammarOf(schema), `Write a value that fits ${JSON.stringify(schema).slice(0, 300)}.`, seed, 96);
    if (text === undefined) continue;
    tally.values += 1;
    const validate = ajv.compile(schema);
    if (!validate(JSON.parse(text))) throw new Error(`seed ${seed}: ${text} is no value of ${JSON.stringify(schema)}: ${ajv.errorsText(validate.errors)}`);
  }
  expect(tally.values).toBeGreaterThan(0);
}, limitMs);

test(`actions of the real tools by a hot model from seed ${firstSeed}: read back, valid, of what exists`, async () => {
  let made = 0;
  for (let seed = firstSeed; made < generations; seed += 1) for await (const { allowed, grammar, take, tools } of sessionSteps(seed)) {
    if (made++ >= generations) break;
    const system = systemText({ tools: tools.slice(0, 4), additions: [] }).text(jsonForm);
    const text = await written(grammar, `${system}\nDo something useful with the files.`, seed + made, 120);
    const decoder = new ActionDecoder();
    const events = text === undefined ? [] : decoder.push(text);
    if (text !== undefined) expect({ text, complete: decoder.end().complete }).toEqual({ text, complete: true });
    const names = new Map(events.flatMap((event) => (event.type === "call_start" ? [[event.index, event.name] as const] : [])));
    const calls = events.flatMap((event) => (event.type === "call_end" ? [{ name: names.get(event.index) ?? "", args: event.arguments }] : []));
    for (const { args, name } of calls) {
      tally.calls += 1;
      const issues = tools.find((tool) => tool.name === name)?.schema.safeParse(args).error?.issues;
      expect({ seed, text, issues, fault: allowed(name, args) }).toEqual({ seed, text, issues: undefined, fault: undefined });
    }
    if (calls.length === 0 && text !== undefined) tally.replies += 1;
    take(calls);
  }
  expect(tally.calls).toBeGreaterThan(0);
}, limitMs);

function grammarOf(schema: ReturnType<typeof randomSchema>): string {
  const rules = new GrammarRules();
  const name = schemaRule(rules, schema, "value");
  return `root ::= ${name}\n${rules}`;
}

/** undefined when it did not end by itself. @throws when the engine fails, as with a grammar that leaves no token */
async function written(grammar: string, prompt: string, seed: number, maxTokens: number): Promise<string | undefined> {
  let text = "";
  for await (const event of engine.complete({ purpose: "step", chat: [{ role: "user", text: prompt }], grammar, temperature, seed, maxTokens, signal: new AbortController().signal })) {
    if (event.type === "text") text += event.text;
    if (event.type === "failed") throw new Error(`seed ${seed}: ${event.failure.message}\n${grammar.slice(0, 2000)}`);
    if (event.type === "ended" && event.stop !== "end") {
      tally.cut += 1;
      return undefined;
    }
  }
  return text;
}
