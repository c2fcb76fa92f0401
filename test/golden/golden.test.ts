// Whole transcripts of the JSON wire: each case is run, held against the order that the contract demands, the checkers, and
// the recorded transcript. `UPDATE_GOLDEN=1` records anew; the orders and checkers still decide.
import { describe, expect, test } from "bun:test";
import { checkJsonIndependently } from "../support/independent-checker.ts";
import { textAt } from "../support/json-checker/values.ts";
import { checkJsonStream, describeBreaches } from "../support/json-checker.ts";
import { jsonWireShape } from "../support/wire-schema.ts";
import { expand, type GoldenCase, loadCases, playCase, record, recorded, recordedEvents } from "./golden-case.ts";
import { describeOrder, followsOrder } from "./order.ts";

const cases = loadCases();
const updates = process.env["UPDATE_GOLDEN"] === "1";

describe("json", () => {
  for (const golden of cases) test(golden.title, () => run(golden));
});

async function run(golden: GoldenCase): Promise<void> {
  const played = await playCase(golden);
  const { stdout, exitCode } = played.result;
  expect(exitCode, played.stderr).toBe(golden.exitCode);
  expect(followsOrder(played.tokens, golden.order), `wanted: ${golden.order}\nfound:  ${describeOrder(played.tokens)}\n${played.stderr}`).toBe(true);
  expect(describeBreaches(checkJsonStream(stdout, { exitCode: golden.exitCode, shape: await jsonWireShape() }))).toBe("");
  expect(checkJsonIndependently([{ stdout, exitCode: golden.exitCode }])?.[0] ?? []).toEqual([]);
  expect(played.files).toEqual(expand(golden.filesAfter ?? golden.files));
  if (updates) record(golden, played);
  expect(played.transcript).toBe(recorded(golden, "stdout.jsonl") ?? "(nothing recorded)");
  expect(played.stderr).toBe(recorded(golden, "stderr.txt") ?? "(nothing recorded)");
}

/** Event types of this wire that no golden case can show, with the reason. */
const shownElsewhere: { [type: string]: string } = {};

test("each event type of the wire occurs in some case", async () => {
  const shown = new Set(cases.flatMap(recordedEvents).map((event) => textAt(event, "type")));
  const { types } = await jsonWireShape();
  expect(types.filter((type) => !shown.has(type) && !(type in shownElsewhere))).toEqual([]);
});
