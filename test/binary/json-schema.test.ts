// What the executable says of its own wire, and that the checkers of these tests refuse what is wrong (J-61).
import { describe, expect, test } from "bun:test";
import Ajv2020 from "ajv/dist/2020.js";
import { runAtomic } from "../support/atomic.ts";
import { checkJsonIndependently } from "../support/independent-checker.ts";
import { checkJsonStream } from "../support/json-checker.ts";
import type { JsonObject } from "../support/json-checker/values.ts";
import { makePlace, runJson } from "../support/json-run.ts";
import { jsonWireShape } from "../support/wire-schema.ts";

const encode = (events: readonly JsonObject[]): Uint8Array => Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(""));

/** A stream with thinking, a note, two calls, a retry and an answer. */
async function richStream(): Promise<JsonObject[]> {
  using place = makePlace({ "a.txt": "one\n" });
  place.configure({ llm: { retry: { baseDelayMs: 1 } } });
  const calls = [{ thinking: "hm" }, { text: "note" }, { call: "fs.read", args: { path: "a.txt" } }, { call: "shell.run", args: { command: "echo a" } }];
  const run = await runJson(place, ["--model", place.script([calls, [{ error: "away", category: "transport" }], [{ text: "done" }]]), "go"]);
  return run.events;
}

describe("J06 and R13", () => {
  test("`atomic schema` is a JSON Schema with both wires and the configuration; each part alone too", async () => {
    const whole = JSON.parse((await runAtomic(["schema"])).text) as { $schema: string; $defs: Record<string, unknown> };
    expect(whole.$schema).toContain("2020-12");
    expect(Object.keys(whole.$defs)).toEqual(expect.arrayContaining(["json", "sidecar", "config"]));
    for (const part of ["json", "sidecar", "config"]) {
      const { text, exitCode } = await runAtomic(["schema", part]);
      expect([part, exitCode]).toEqual([part, 0]);
      expect(() => new Ajv2020({ strict: false, validateFormats: false }).compile(JSON.parse(text) as object)).not.toThrow();
    }
    const { exitCode, stdout, stderr } = await runAtomic(["schema", "jsno"]);
    expect([exitCode, stdout.length, stderr.includes("json")]).toEqual([2, 0, true]);
  });

  test("recorded lines validate, also with a field that a later version adds; a type that it adds is ignored by the checker", async () => {
    const events = await richStream();
    const grown = events.flatMap((event) => (event["type"] === "agent_start" ? [{ ...event, x_field: 1 }, { type: "x_future", value: 1 }] : [event]));
    expect(checkJsonStream(encode(grown), { exitCode: 0 })).toEqual([]);
    const shape = await jsonWireShape();
    expect(shape(events.map((event, index) => ({ number: index + 1, event: { ...event, x_field: 1 }, text: "" })) as never)).toEqual([]);
  });
});

describe("J-61", () => {
  test("J-61 a good stream passes, and each way to break it is found by both checkers", async () => {
    const events = await richStream();
    const indexOf = (type: string): number => events.findIndex((event) => event["type"] === type);
    const without = (index: number): JsonObject[] => events.toSpliced(index, 1);
    const swapped = (index: number): JsonObject[] => events.toSpliced(index, 2, events[index + 1] ?? {}, events[index] ?? {});
    const broken: [string, JsonObject[]][] = [
      ["no header", without(0)],
      ["no end", events.slice(0, -1)],
      ["two ends", [...events, events.at(-1) ?? {}]],
      ["no turn_end", without(indexOf("turn_end"))],
      ["no tool_execution_end", without(indexOf("tool_execution_end"))],
      ["no auto_retry_end", without(indexOf("auto_retry_end"))],
      ["an end before its start", swapped(indexOf("tool_execution_start"))],
      ["a null", events.map((event, index) => (index === indexOf("auto_retry_start") ? { ...event, finalError: null } : event))],
      ["another status", events.map((event) => (event["type"] === "agent_settled" ? { ...event, exitCode: 1 } : event))],
    ];
    const shape = await jsonWireShape();
    expect(checkJsonStream(encode(events), { exitCode: 0, shape })).toEqual([]);
    expect(checkJsonIndependently([{ stdout: encode(events), exitCode: 0 }]) ?? [[]]).toEqual([[]]);
    const missed = broken.filter(([, stream]) => checkJsonStream(encode(stream), { exitCode: 0, shape }).length === 0).map(([name]) => name);
    expect(missed).toEqual([]);
    const independent = checkJsonIndependently(broken.map(([, stream]) => ({ stdout: encode(stream), exitCode: 0 }))) ?? broken.map(() => ["not present"]);
    expect(broken.filter((_, index) => independent[index]?.length === 0).map(([name]) => name)).toEqual([]);
  });
});
