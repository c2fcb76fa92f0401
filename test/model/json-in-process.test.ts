// The JSON stream over real weights in process: output schema, seed, thinking level, an abort while the model loads.
// Must not judge what the model says.
import { expect, test } from "bun:test";
import Ajv2020 from "ajv/dist/2020.js";
import { expectEnd, expectOrder, finished, type JsonRun, makePlace, type Place, runJson, startJson, textOf } from "../support/json-run.ts";
import { modelPath } from "../support/models.ts";
import type { FileTree } from "../support/workspace.ts";

const model = (): string[] => ["--model", modelPath("smollm2-135m")];
const schema = {
  type: "object",
  properties: { colour: { enum: ["red", "green", "blue"] }, count: { $ref: "#/$defs/count" }, note: { type: "string", maxLength: 12 } },
  required: ["colour", "count", "note"],
  additionalProperties: false,
  $defs: { count: { type: "integer", minimum: 1, maximum: 99 } },
};
const isValid = new Ajv2020({ strict: false }).compile(schema);

/** Two threads that wait for each other are slow where other tests keep the cores busy. */
function oneThread(files: FileTree): Place {
  const place = makePlace(files);
  place.configure({ localModels: { managed: { threads: 1 } } });
  return place;
}

/** Everything that the model writes depends on the seed alone. */
async function ask(place: Place, seed: number): Promise<JsonRun> {
  const run = await runJson(place, [...model(), "--tools", "", "--output-schema", "schema.json", "--seed", String(seed), "--temperature", "1.2", "Describe a box."], { timeoutMs: 120_000 });
  expectEnd(run, "ok", 0);
  return run;
}

const answerOf = (run: JsonRun): string => textOf(run.messages("assistant").at(-1));

test("J-51 the answer fits the schema; the same seed gives the same text, with and without a saved prompt state; another seed another one", async () => {
  using place = oneThread({ "schema.json": JSON.stringify(schema) });
  const runs = [await ask(place, 7), await ask(place, 7)];
  place.configure({ localModels: { managed: { threads: 1, promptState: { enabled: false } } } });
  runs.push(await ask(place, 7));
  for (const run of runs) {
    expectOrder(run, "H AS TS ms(u) me(u) ms(a) mu(text_start) mu(text_delta)+ mu(text_end) me(a,stop) TE[] AE{u,a} Z{ok}");
    const value: unknown = JSON.parse(answerOf(run));
    expect([isValid(value), isValid.errors]).toEqual([true, null]);
  }
  expect(new Set(runs.map(answerOf)).size).toBe(1);
  expect(answerOf(await ask(place, 8))).not.toBe(answerOf(runs[0] ?? (await ask(place, 7))));
}, 300_000);

test("J-59 `--thinking max` on a model without reasoning: thinking_level_changed off before agent_start", async () => {
  using place = oneThread({ "schema.json": '{"enum":[1]}' });
  const run = await runJson(place, [...model(), "--tools", "", "--output-schema", "schema.json", "--thinking", "max", "hi"], { timeoutMs: 120_000 });
  expectEnd(run, "ok", 0);
  expect(run.events.slice(1, 3)).toEqual([{ type: "thinking_level_changed", level: "off" }, { type: "agent_start" }]);
  expect(answerOf(run)).toBe("1");
}, 150_000);

test("a resumed session comes back to its model by name or path", async () => {
  using place = oneThread({ "schema.json": '{"enum":["a"]}' });
  const asked = ["--tools", "", "--output-schema", "schema.json"];
  await runJson(place, [...model(), ...asked, "hi"], { timeoutMs: 120_000 });
  const run = await runJson(place, [...asked, "--continue", "again"], { timeoutMs: 120_000 });
  expect(run.events[1]).toMatchObject({ type: "model_changed", model: { api: "in-process", provider: "llama", baseUrl: "", reasoning: false }, source: "restore" });
  expectEnd(run, "ok", 0);
}, 250_000);

test("J-23 and 6.9 an abort while the model loads: order 6.9, soon", async () => {
  using place = makePlace();
  using running = startJson(place, [...model(), "--stdin-commands", "hi"], { interactive: true, timeoutMs: 120_000 });
  await running.waitFor(({ type }) => type === "message_end");
  running.send({ type: "abort" });
  const run = await finished(running);
  expectOrder(run, "H AS TS ms(u) me(u) ms(a,aborted) me(a,aborted) TE[] AE{u,a} Z{aborted}");
  expectEnd(run, "aborted", 1);
}, 150_000);
