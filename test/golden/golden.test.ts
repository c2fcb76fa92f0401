// Whole transcripts of the JSON wire: each case is run, held against the order that the contract demands, the checkers, and
// the recorded transcript. `UPDATE_GOLDEN=1` records anew; the orders and checkers still decide.
import { describe, expect, test } from "bun:test";
import { checkJsonIndependently } from "../support/independent-checker.ts";
import { textAt } from "../support/json-checker/values.ts";
import { checkJsonStream, describeBreaches } from "../support/json-checker.ts";
import { jsonWireShape } from "../support/wire-schema.ts";
import { expand, type GoldenCase, loadCases, playCase, record, recorded, recordedEvents } from "./golden-case.ts";
import { canPlayInProcess, playInProcess } from "./in-process.ts";
import { describeOrder, followsOrder } from "./order.ts";

const cases = loadCases();
const updates = process.env["UPDATE_GOLDEN"] === "1";

/** Streams that this process has seen, for the independent checker. */
const seen: { title: string; stdout: Uint8Array; exitCode: number }[] = [];

describe("json", () => {
  for (const golden of cases) test(golden.title, () => run(golden));

  test("the independent checker takes all of them", () => {
    expect(seen.length).toBe(cases.length);
    const breaches = checkJsonIndependently(seen)?.flatMap((found, index) => found.map((breach) => `${seen[index]?.title}: ${breach}`));
    expect(breaches ?? []).toEqual([]);
  });
});

describe("json, in process", () => {
  const playable = cases.filter(canPlayInProcess);

  test("most cases can be played so", () => expect(playable.length).toBeGreaterThan(cases.length / 3));

  for (const golden of playable) {
    test(golden.title, async () => {
      const { exitCode, transcript } = await playInProcess(golden);
      expect(exitCode).toBe(golden.exitCode);
      expect(transcript).toBe(recorded(golden, "stdout.jsonl") ?? "(nothing recorded)");
    });
  }
});

async function run(golden: GoldenCase): Promise<void> {
  const played = await playCase(golden);
  const { stdout } = played.result;
  seen.push({ title: golden.title, stdout, exitCode: golden.exitCode });
  expect(played.result.exitCode, played.stderr).toBe(golden.exitCode);
  expect(followsOrder(played.tokens, golden.order), `wanted: ${golden.order}\nfound:  ${describeOrder(played.tokens)}\n${played.stderr}`).toBe(true);
  expect(describeBreaches(checkJsonStream(stdout, { exitCode: golden.exitCode, shape: await jsonWireShape() }))).toBe("");
  expect(played.files).toEqual(expand(golden.filesAfter ?? golden.files));
  if (updates) record(golden, played);
  expect(played.transcript).toBe(recorded(golden, "stdout.jsonl") ?? "(nothing recorded)");
  expect(played.stderr).toBe(recorded(golden, "stderr.txt") ?? "(nothing recorded)");
}

/** Types that the schema names and no case can show: this version never emits them, or only to a resumed session. */
const notShown = new Set([
  "model_changed",
  "thinking_level_changed",
  "session_info_changed",
]);

test("each event type that is emitted occurs in some case, and no other", async () => {
  const shown = new Set(cases.flatMap(recordedEvents).map((event) => textAt(event, "type")));
  const { types } = await jsonWireShape();
  expect(types.length).toBeGreaterThan(notShown.size);
  expect(types.filter((type) => shown.has(type) === notShown.has(type))).toEqual([]);
});
