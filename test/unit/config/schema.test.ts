import Ajv from "ajv/dist/2020.js";
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { keyNamesByVariable, variableOf } from "../../../src/config/names.ts";
import { configJsonSchema, configSchema, defaultConfig, keysByName } from "../../../src/config/schema.ts";
import { configTable } from "../../../src/config/table.ts";

test("defaults fit their own schemas, and the quick ones are those of the whole schema", () => {
  for (const [name, key] of keysByName) if (key.default !== undefined) expect([name, key.schema.safeParse(key.default).data]).toEqual([name, key.default]);
  expect(configSchema().parse({}) as unknown).toEqual(JSON.parse(JSON.stringify(defaultConfig())));
});

test("changing one configuration's lists changes no default", () => {
  (defaultConfig().skills.disabled as string[]).push("x");
  expect(defaultConfig().skills.disabled).toEqual([]);
});

test("variables are the path in upper snake case, one each", () => {
  expect(["localModels.url", "agent.maxSteps", "localModels.download.hfEndpoint", "tracing.trace.maxBytesPerSession"].map(variableOf)).toEqual([
    "ATOMIC_AGENT_LOCAL_MODELS_URL",
    "ATOMIC_AGENT_AGENT_MAX_STEPS",
    "ATOMIC_AGENT_LOCAL_MODELS_DOWNLOAD_HF_ENDPOINT",
    "ATOMIC_AGENT_TRACING_TRACE_MAX_BYTES_PER_SESSION",
  ]);
  expect(keyNamesByVariable().size).toBe(keysByName.size);
});

test("the JSON Schema takes what the program takes", () => {
  const validate = new Ajv({ strict: true, validateFormats: false }).compile(configJsonSchema());
  const good = [{}, { agent: { maxSteps: 3, approvalLevel: 5 } }, { localModels: { mode: null, managed: { gpuLayers: 3 } } }, { llm: { providers: [{ id: "a", kind: "llama-server", url: "http://h" }] } }];
  const bad = [[], { agent: { maxSteps: "3" } }, { agent: 5 }, { agent: { approvalLevel: 6 } }, { localModels: { mode: "x" } }, { llm: { providers: [{ id: "a" }] } }];
  expect([...good, ...bad].map((value) => validate(value))).toEqual([...good.map(() => true), ...bad.map(() => false)]);
  expect(configJsonSchema()["$schema"]).toBe("https://json-schema.org/draft/2020-12/schema");
});

test("docs/configuration.md holds the table of all keys", () => {
  const page = readFileSync(join(import.meta.dir, "../../../docs/configuration.md"), "utf8");
  expect(page.slice(page.indexOf("| key |"), page.lastIndexOf("|") + 1)).toBe(configTable());
});
