// `--stdin-commands` (json-mode.md 9.4): steering, follow-ups, bad lines, and what is left at the end.
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { expectEnd, expectOrder, finished, isDelta, isType, type JsonRun, makePlace, startJson, textOf } from "../support/json-run.ts";
import { at, type JsonObject, listAt } from "../support/json-checker/values.ts";
import type { ScriptItem } from "../support/scripted.ts";
import { until } from "../support/until.ts";

const call = "mu(toolcall_start) mu(toolcall_delta)* mu(toolcall_end)";
const answer = "mu(text_start) mu(text_delta)+ mu(text_end)";
/** A command that runs until the file `go` is there. */
const waiting: ScriptItem = { call: "shell.run", args: { command: "while [ ! -e go ]; do sleep 0.02; done; echo done" } };
const queues = (run: JsonRun): string[] => run.all("queue_update").map(({ steering, followUp }) => `${listAt({ steering }, "steering").join()}|${listAt({ followUp }, "followUp").join()}`);
const isQueue = (steering: number, followUp = 0) => (event: JsonObject): boolean => event["type"] === "queue_update" && listAt(event, "steering").length === steering && listAt(event, "followUp").length === followUp;

test("J-28 a steer line while a tool runs: order 6.21, the tool is not cut", async () => {
  using place = makePlace();
  const model = place.script([[waiting], [{ expect: { contains: "hurry", lastRole: "user" } }, { text: "fine" }]]);
  using running = startJson(place, ["--model", model, "--stdin-commands", "work"], { interactive: true });
  await running.waitFor(isType("tool_execution_start"));
  running.send({ type: "steer", text: "hurry" });
  await running.waitFor(isQueue(1));
  place.workspace.write({ go: "" });
  const run = await finished(running);
  expectOrder(run, `H AS TS ms(u) me(u) ms(a) ${call} me(a,toolUse) xs(A) q{1,0} xu(A)* xe(A) ms(t,A) me(t,A) TE[A] TS q{0,0} ms(u) me(u) ms(a) ${answer} me(a,stop) TE[] AE{u,a,t,u,a} Z{ok}`);
  expect(textOf(run.messages("toolResult")[0])).toContain("done");
  expect(run.messages("user").map(textOf)).toEqual(["work", "hurry"]);
});

test("J-29 a follow_up line while streaming: order 6.23, one agent_end with user, assistant, user, assistant", async () => {
  using place = makePlace();
  const model = place.script([[{ text: "one" }, { delayMs: 400 }], [{ text: "two" }]]);
  using running = startJson(place, ["--model", model, "--stdin-commands", "first"], { interactive: true });
  await running.waitFor(isDelta);
  running.send({ type: "follow_up", text: "second" });
  const run = await finished(running);
  expectOrder(run, `H AS TS ms(u) me(u) ms(a) mu(text_start) mu(text_delta)+ mu(text_end)? q{0,1} me(a,stop) TE[] TS q{0,0} ms(u) me(u) ms(a) ${answer} me(a,stop) TE[] AE{u,a,u,a} Z{ok}`);
  expect(run.all("agent_end")).toHaveLength(1);
});

test("J-30 two steer lines with a malformed line between them: queues [a], [a,b], [b], []; stderr names the bad line", async () => {
  using place = makePlace();
  const model = place.script([[waiting], [{ call: "fs.list", args: {} }], [{ text: "fine" }]]);
  using running = startJson(place, ["--model", model, "--stdin-commands", "work"], { interactive: true });
  await running.waitFor(isType("tool_execution_start"));
  running.write('{"type":"steer","text":"a"}\n{"type":"steer","te\n{"type":"steer","text":"b"}\n');
  await running.waitFor(isQueue(2));
  place.workspace.write({ go: "" });
  const run = await finished(running);
  expect(queues(run)).toEqual(["a|", "a,b|", "b|", "|"]);
  expect(run.messages("user").map(textOf)).toEqual(["work", "a", "b"]);
  expect(run.result.stderr.trimEnd().split("\n")).toHaveLength(1);
  expectEnd(run, "ok", 0);
});

test("steering while the first model call runs is taken before a later prompt", async () => {
  using place = makePlace();
  using running = startJson(place, ["--model", place.script([[{ delayMs: 300 }, { text: "one" }], [{ text: "two" }], [{ text: "three" }], [{ text: "four" }]]), "--stdin-commands", "first", "second"], { interactive: true });
  await running.waitFor(isType("message_end"));
  running.send({ type: "steer", text: "s1" });
  running.send({ type: "steer", text: "s2" });
  const run = await finished(running);
  expect(queues(run)).toEqual(["s1|", "s1,s2|", "s2|", "|"]);
  expect(run.messages("user").map(textOf)).toEqual(["first", "s1", "s2", "second"]);
  expectEnd(run, "ok", 0);
  expect("undelivered" in run.settled).toBe(false);
});

describe("lines that are no command", () => {
  const bad: [string, string | Uint8Array][] = [
    ["no JSON", "nothing\n"],
    ["no object", "[1]\n"],
    ["an unknown type", '{"type":"dance"}\n'],
    ["a field of the wrong type", '{"type":"steer","text":5}\n'],
    ["a missing field", '{"type":"follow_up"}\n'],
    ["bytes that are no UTF-8", new Uint8Array([0x7b, 0xff, 0x7d, 0x0a])],
  ];
  test("each is told in one line on stderr, nothing on stdout, and the run goes on", async () => {
    using place = makePlace();
    using running = startJson(place, ["--model", place.script([[{ text: "a" }, { delayMs: 1000 }, { text: "b" }]]), "--stdin-commands", "go"], { interactive: true });
    await running.waitFor(isDelta);
    for (const [, line] of bad) running.write(line);
    const run = await finished(running);
    expect(run.all("queue_update")).toEqual([]);
    expect(run.result.stderr.trimEnd().split("\n")).toHaveLength(bad.length);
    expectEnd(run, "ok", 0);
  });

  test("a BOM, CRLF and blank lines are tolerated; U+2028 splits no line", async () => {
    using place = makePlace();
    using running = startJson(place, ["--model", place.script([[{ text: "a" }, { delayMs: 500 }], [{ text: "b" }]]), "--stdin-commands", "go"], { interactive: true });
    await running.waitFor(isDelta);
    running.write('\ufeff\r\n\n{"type":"follow_up","text":"x\u2028y"}\r\n\n');
    const run = await finished(running);
    expect(run.messages("user").map(textOf)).toEqual(["go", "x\u2028y"]);
    expect(run.result.stderr).toBe("");
  });

  test("a line of more than 16 MiB is skipped, the one behind it is heard", async () => {
    using place = makePlace();
    using running = startJson(place, ["--model", place.script([[waiting], [{ text: "a" }]]), "--stdin-commands", "go"], { interactive: true });
    await running.waitFor(isType("tool_execution_start"));
    running.write(`{"type":"steer","text":"${"x".repeat(17 * 1024 * 1024)}"}\n{"type":"steer","text":"heard"}\n`);
    await running.waitFor(isQueue(1));
    place.workspace.write({ go: "" });
    const run = await finished(running);
    expect(run.messages("user").map(textOf)).toEqual(["go", "heard"]);
    expect(run.result.stderr).toContain("16 MiB");
  });

  test("the end of stdin means nothing", async () => {
    using place = makePlace();
    using running = startJson(place, ["--model", place.script([[{ text: "a" }, { delayMs: 300 }, { text: "b" }]]), "--stdin-commands", "go"], { interactive: true });
    running.end();
    expectEnd(await finished(running), "ok", 0);
  });
});

test("queued texts survive a retry and the border to the next prompt", async () => {
  using place = makePlace();
  place.configure({ llm: { retry: { baseDelayMs: 400, maxRetries: 1 } } });
  const model = place.script([[{ error: "away", category: "transport" }], [{ error: "away", category: "transport" }], [{ text: "second" }], [{ text: "third" }]]);
  using running = startJson(place, ["--model", model, "--stdin-commands", "first", "next"], { interactive: true });
  await running.waitFor(isType("auto_retry_start"));
  running.send({ type: "follow_up", text: "later" });
  const run = await finished(running);
  expect(run.messages("user").map(textOf)).toEqual(["first", "next", "later"]);
  expectEnd(run, "error", 1);
  expect("undelivered" in run.settled).toBe(false);
});

test("what was never delivered is told at the end", async () => {
  using place = makePlace();
  const model = place.script([[{ text: "a" }, { delayMs: 300 }, { error: "broken", category: "model" }]]);
  using running = startJson(place, ["--model", model, "--stdin-commands", "go"], { interactive: true });
  await running.waitFor(isDelta);
  running.send({ type: "follow_up", text: "f1" });
  running.send({ type: "follow_up", text: "f2" });
  const run = await finished(running);
  expect(run.settled["undelivered"]).toEqual({ steering: [], followUp: ["f1", "f2"] });
  expectEnd(run, "error", 1);
});

test("commands never reach a tool's stdin", async () => {
  using place = makePlace();
  const model = place.script([[{ call: "shell.run", args: { command: "echo up > up; cat > got; echo end" } }], [{ text: "fine" }]]);
  using running = startJson(place, ["--model", model, "--stdin-commands", "go"], { interactive: true });
  await until("the command runs", () => existsSync(place.workspace.at("up")));
  running.send({ type: "follow_up", text: "x" });
  running.end();
  const run = await finished(running);
  expect(place.workspace.read("got")).toBe("");
  expect(at(run.messages("toolResult")[0], "isError")).toBe(false);
});
