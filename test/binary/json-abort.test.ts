// Ends that come from outside (json-mode.md 6.9 to 6.17, 9.5): the abort command, signals, a parent that dies.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { configureServer, says, startChatServer } from "../support/chat-server.ts";
import type { Answer } from "../support/fault-server.ts";
import { checked, expectEnd, expectOrder, finished, isDelta, isType, makePlace, runJson, startJson, textOf } from "../support/json-run.ts";
import { executablePath, type RunningAtomic } from "../support/atomic.ts";
import { at } from "../support/json-checker/values.ts";
import type { ScriptItem } from "../support/scripted.ts";
import { until } from "../support/until.ts";

const start = "H AS TS ms(u) me(u)";
const slow: ScriptItem = { repeat: 200, items: [{ text: "a", chunk: 1 }, { delayMs: 100 }] };

/** One text block that grows by a character each 100 ms, for 20 s. */
async function withSlowAnswer(args: readonly string[], use: (running: RunningAtomic) => Promise<void>): Promise<void> {
  await using server = await startChatServer([{ ...says({ text: Array.from({ length: 200 }, () => "a") }), delayMs: 100 } as Answer]);
  using place = makePlace();
  configureServer(place, server);
  using running = startJson(place, ["--model", "here/m", ...args]);
  await use(running);
}

const sleeper = (marker: string): ScriptItem => ({ call: "shell.run", args: { command: `echo $$ > ${marker}; sleep 100` } });

/** Milliseconds from now to the end of the process. */
async function endsWithin<T>(work: () => Promise<T>): Promise<{ value: T; durationMs: number }> {
  const startedAt = performance.now();
  return { value: await work(), durationMs: performance.now() - startedAt };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A process that nobody has waited for yet is gone all the same.
    return process.platform !== "linux" || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

describe("J-23", () => {
  test("J-23 an abort line in the retry wait: order 6.12 within 500 ms", async () => {
    using place = makePlace();
    using running = startJson(place, ["--model", place.script([[{ error: "away", category: "transport" }], [{ text: "x" }]]), "--stdin-commands", "go"], { interactive: true });
    await running.waitFor(isType("auto_retry_start"));
    running.send({ type: "abort" });
    const { value: run, durationMs } = await endsWithin(() => running.result());
    expect(durationMs).toBeLessThan(500);
    const stream = await checked(run);
    expectOrder(stream, `${start} ms(a,error) me(a,error) TE[] AE{u,a} rs{1} re{false} Z{aborted}`);
    expectEnd(stream, "aborted", 1);
  });

  test("J-23 before the first byte: order 6.9; while a retried call runs: 6.13; both skip later prompts", async () => {
    using place = makePlace();
    using early = startJson(place, ["--model", place.script([[{ hang: true }]]), "--stdin-commands", "one", "two"], { interactive: true });
    await early.waitFor(isType("message_end"));
    early.send({ type: "abort" });
    const first = await finished(early);
    expectOrder(first, `${start} ms(a,aborted) me(a,aborted) TE[] AE{u,a} Z{aborted}`);
    place.configure({ llm: { retry: { baseDelayMs: 1 } } });
    using retried = startJson(place, ["--model", place.script([[{ error: "away", category: "transport" }], [{ text: "ab" }, { hang: true }]]), "--stdin-commands", "one", "two"], { interactive: true });
    await retried.waitFor(isDelta);
    retried.send({ type: "abort" });
    const second = await finished(retried);
    expectOrder(second, `${start} ms(a,error) me(a,error) TE[] AE{u,a} rs{1} AS TS ms(a) mu(text_start) mu(text_delta)+ mu(text_end)? me(a,aborted) TE[] AE{a} re{false} Z{aborted}`);
    for (const run of [first, second]) expectEnd(run, "aborted", 1);
  });
});

describe("J-24", () => {
  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
    test(`J-24 ${signal} while streaming: order 6.10, exit ${code} within 2 s`, async () => {
      await withSlowAnswer(["go", "later"], async (running) => {
        await running.waitFor(isDelta);
        running.signal(signal);
        const { value, durationMs } = await endsWithin(() => running.result());
        expect(durationMs).toBeLessThan(2000);
        const run = await checked(value);
        expectOrder(run, `${start} ms(a) mu(text_start) mu(text_delta)+ mu(text_end) me(a,aborted) TE[] AE{u,a} Z{aborted}`);
        expectEnd(run, "aborted", code);
        expect(String(run.messages("assistant")[0]?.["errorMessage"])).toContain(signal);
        expect(textOf(run.messages("assistant")[0])).toMatch(/^a+$/);
      });
    });
  }

  test("J-24 a second SIGINT ends the process at once, also while a command resists", async () => {
    using place = makePlace();
    using running = startJson(place, ["--model", place.script([[{ call: "shell.run", args: { command: "trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done" } }]]), "go"]);
    await until("the command runs", () => existsSync(place.workspace.at("pid")) && place.workspace.read("pid") !== "");
    const pid = Number(place.workspace.read("pid"));
    running.signal("SIGINT");
    await Bun.sleep(30);
    running.signal("SIGINT");
    const { value, durationMs } = await endsWithin(() => running.result());
    expect([value.exitCode, durationMs < 300]).toEqual([130, true]);
    const lines = value.text.split("\n");
    for (const line of lines.slice(0, -1)) JSON.parse(line);
    await until("the command is gone", () => !isAlive(pid));
  });

  test("S02 two signals within 100 ms, of any kinds: the first decides the status", async () => {
    using place = makePlace();
    using running = startJson(place, ["--model", place.script([[slow]]), "go"]);
    await running.waitFor(isDelta);
    running.signal("SIGTERM");
    running.signal("SIGINT");
    const { exitCode } = await running.result();
    expect([143, 130]).toContain(exitCode ?? -1);
  });

  test("S02 SIGSTOP for a while and SIGCONT: the run goes on to its end", async () => {
    using place = makePlace();
    using running = startJson(place, ["--model", place.script([[{ text: "a" }, { delayMs: 300 }, { text: "b" }]]), "go"]);
    await running.waitFor(isDelta);
    running.signal("SIGSTOP");
    await Bun.sleep(1000);
    running.signal("SIGCONT");
    const run = await finished(running);
    expectEnd(run, "ok", 0);
    expect(textOf(run.messages("assistant")[0])).toBe("ab");
  });
});

test("J-25 SIGTERM during shell.run `sleep 100`: order 6.11, no sleep 2 s later", async () => {
  using place = makePlace();
  using running = startJson(place, ["--model", place.script([[sleeper("first"), { call: "shell.run", args: { command: "echo never > never" } }]]), "go"]);
  await until("the command runs", () => existsSync(place.workspace.at("first")) && place.workspace.read("first") !== "");
  const pid = Number(place.workspace.read("first"));
  running.signal("SIGTERM");
  const run = await finished(running);
  const calls = "mu(toolcall_start) mu(toolcall_delta)* mu(toolcall_end)";
  expectOrder(run, `${start} ms(a) ${calls} ${calls} me(a,toolUse) xs(A) xs(B) xe(A,isError) xe(B,isError) ms(t,A) me(t,A) ms(t,B) me(t,B) TE[A,B] TS ms(a,aborted) me(a,aborted) TE[] AE{u,a,t,t,a} Z{aborted}`);
  expectEnd(run, "aborted", 143);
  expect([textOf(run.messages("toolResult")[1]), existsSync(place.workspace.at("never"))]).toEqual([expect.stringContaining("not run"), false]);
  const endedAt = performance.now();
  await until("the command is gone", () => !isAlive(pid));
  expect(performance.now() - endedAt).toBeLessThan(2000);
});

test("J04 SIGTERM in a slow answer: everything is closed in order, with the text so far and its own usage", async () => {
  await withSlowAnswer(["go"], async (running) => {
    for (let count = 0; count < 8; count++) await running.waitFor(isDelta);
    running.signal("SIGTERM");
    const run = await finished(running);
    expectOrder(run, `${start} ms(a) mu(text_start) mu(text_delta)+ mu(text_end) me(a,aborted) TE[] AE{u,a} Z{aborted}`);
    const [message] = run.messages("assistant");
    expect(textOf(message).length).toBeGreaterThanOrEqual(8);
    expect(at(message, "usage", "output")).toBe(Math.ceil(textOf(message).length / 4));
    expect(run.settled["usage"]).toEqual(message?.["usage"]);
    expectEnd(run, "aborted", 143);
  });
});

test("a signal before the run: whole stream or nothing, with the status of the signal", async () => {
  using place = makePlace();
  for (const delayMs of [0, 15, 40, 80]) {
    using running = startJson(place, ["--model", place.script([[{ hang: true }]]), "go"]);
    await Bun.sleep(delayMs);
    running.signal("SIGTERM");
    const result = await running.result();
    // Before the program has come so far as to listen, the system ends it.
    if (result.stdout.length === 0) expect(result.exitCode ?? result.signal).toBeOneOf([143, "SIGTERM"]);
    else expectEnd(await checked(result), "aborted", 143);
  }
});

test("6.17 an abort between two prompts: the second has no events", async () => {
  using place = makePlace();
  using running = startJson(place, ["--model", place.script([[{ text: "a" }], [{ text: "b" }, { hang: true }]]), "--stdin-commands", "one", "two", "three"], { interactive: true });
  await running.waitFor(isType("agent_end"));
  running.send({ type: "abort" });
  const run = await finished(running);
  expect(run.all("agent_start").length).toBeLessThanOrEqual(2);
  expectEnd(run, "aborted", 1);
});

test("a signal wins over an abort command that came first", async () => {
  using place = makePlace();
  using running = startJson(place, ["--model", place.script([[{ call: "shell.run", args: { command: "trap '' TERM; : > up; while :; do sleep 0.05; done" } }]]), "--stdin-commands", "go"], { interactive: true });
  await until("the command runs", () => existsSync(place.workspace.at("up")));
  running.send({ type: "abort" });
  await Bun.sleep(50);
  running.signal("SIGINT");
  expectEnd(await finished(running), "aborted", 130);
});

async function orphan(place: ReturnType<typeof makePlace>, model: string, prefix: string): Promise<{ pid: number; output: string }> {
  const output = place.home.folder.at("orphan.jsonl");
  const line = `${prefix} "$ATOMIC" json --model "$MODEL" go > "$OUT" 2> "$OUT.err" < /dev/null & echo $!; exec sleep 100`;
  const parent = Bun.spawn(["bash", "-c", line], {
    cwd: place.workspace.path,
    env: { PATH: process.env["PATH"], HOME: place.home.path, ATOMIC_AGENT_STATE_DIR: place.home.state, ATOMIC: executablePath(), MODEL: model, OUT: output },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const reader = parent.stdout.getReader();
  const { value } = await reader.read();
  await until("it streams", () => existsSync(output) && readFileSync(output, "utf8").includes("text_delta"));
  parent.kill("SIGKILL");
  await parent.exited;
  return { pid: Number(new TextDecoder().decode(value)), output };
}

test("a parent that dies: as SIGHUP within 2 s; under nohup the run goes on", async () => {
  using place = makePlace();
  const lost = await orphan(place, place.script([[slow]]), "");
  const diedAt = performance.now();
  await until("it ends", () => !isAlive(lost.pid));
  expect(performance.now() - diedAt).toBeLessThan(2000);
  const lines = readFileSync(lost.output, "utf8").trimEnd().split("\n");
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ type: "agent_settled", outcome: "aborted", exitCode: 129 });
  const kept = await orphan(place, place.script([[{ text: "abcd" }, { delayMs: 1500 }, { text: "efgh" }]]), "nohup");
  await until("it ends", () => !isAlive(kept.pid));
  const all = readFileSync(kept.output, "utf8").trimEnd().split("\n");
  expect(JSON.parse(all.at(-1) ?? "")).toMatchObject({ type: "agent_settled", outcome: "ok", exitCode: 0 });
}, 30_000);

test("texts that an abort drops are in `undelivered`, after a queue_update that shows both queues empty (C1)", async () => {
  using place = makePlace();
  using running: RunningAtomic = startJson(place, ["--model", place.script([[{ text: "a" }, { hang: true }]]), "--stdin-commands", "go"], { interactive: true });
  await running.waitFor(isDelta);
  running.send({ type: "steer", text: "s1" });
  running.send({ type: "follow_up", text: "f1" });
  await running.waitFor((event) => event["type"] === "queue_update" && JSON.stringify(event["followUp"]) === '["f1"]');
  running.send({ type: "abort" });
  const run = await finished(running);
  expect(run.all("queue_update").at(-1)).toMatchObject({ steering: [], followUp: [] });
  expect(run.settled["undelivered"]).toEqual({ steering: ["s1"], followUp: ["f1"] });
  expectEnd(run, "aborted", 1);
});

test("a timeout closes a running command too, with exit 1", async () => {
  using place = makePlace();
  const run = await runJson(place, ["--timeout", "1", "--model", place.script([[sleeper("pid")]]), "go"]);
  expectEnd(run, "timeout", 1);
  const pid = Number(place.workspace.read("pid"));
  await until("the command is gone", () => !isAlive(pid));
});
