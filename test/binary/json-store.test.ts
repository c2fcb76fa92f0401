// The store under a JSON stream: killed at any moment, damaged imports, a full disk, several processes (cases E01 to E05).
import { describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { runAtomic } from "../support/atomic.ts";
import { checked, expectEnd, expectOrder, finished, isDelta, isType, makePlace, runJson, startJson } from "../support/json-run.ts";
import type { JsonObject } from "../support/json-checker/values.ts";
import type { ScriptItem } from "../support/scripted.ts";
import { exported, idOf, sessions } from "../support/stored-sessions.ts";
import { until } from "../support/until.ts";

const say = (text: string, ...before: ScriptItem[]): ScriptItem[][] => [[...before, { text }]];

const long = process.env["ATOMIC_TEST_LONG"] === "1";
const moments = long ? 50 : 12;
/** Bytes between two cuts of an import. */
const cutStep = long ? 1 : 37;

test("E01 kill -9 at moments all over a busy turn: the database is sound, the session goes on, printed messages are stored", async () => {
  using place = makePlace();
  const steps = Array.from({ length: 30 }, (_, index): ScriptItem[] => [{ text: "a step" }, { delayMs: 4 }, { call: "fs.write", args: { path: `${index}.txt`, content: `${index}` } }]);
  const model = place.script(steps);
  let resumed = 0;
  for (let round = 0; round < moments; round++) {
    using running = startJson(place, ["--model", model, "go"]);
    // Now and then before anything is stored.
    await running.waitFor(isType(round % 4 === 0 ? "session" : "message_end"));
    await Bun.sleep((round * 144) / moments);
    running.signal("SIGKILL");
    const killed = await running.result();
    const whole = killed.text.split("\n").slice(0, -1).map((line) => JSON.parse(line) as JsonObject);
    const printed = whole.filter(({ type }) => type === "message_end").map(({ message }) => message);
    using database = new Database(join(place.home.state, "sessions.sqlite"));
    expect(database.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    if (printed.length === 0) continue;
    const stored = (await exported(place, String(whole[0]?.["id"]))).filter(({ type }) => type === "message").map(({ message }) => message);
    expect(stored.slice(0, printed.length)).toEqual(printed);
    expectEnd(await runJson(place, ["--session", String(whole[0]?.["id"]), "--model", place.script(say("on")), "go on"]), "ok", 0);
    if (killed.signal === "SIGKILL") resumed++;
  }
  expect(resumed).toBeGreaterThanOrEqual(moments / 2);
}, moments * 5000);

describe("E01 and E02 an import of damaged lines", () => {
  test("cut all over the last two records (at every byte in a long run): whole records are kept, one warning with the line, and the export is valid", async () => {
    using place = makePlace();
    const run = await runJson(place, ["--model", place.script(say("ok")), "hi"]);
    const text = (await sessions(place, ["export", idOf(run)])).text;
    const bytes = Buffer.from(text);
    const lastTwo = text.split("\n").slice(-3).join("\n").length;
    using other = makePlace();
    for (let cut = bytes.length - lastTwo; cut < bytes.length; cut += cutStep) {
      const { exitCode, stderr, text: id } = await sessions(other, ["import", "-"], bytes.subarray(0, cut));
      const whole = bytes.subarray(0, cut).toString().split("\n");
      expect([cut, exitCode, stderr.split("line ").length - 1]).toEqual([cut, 0, whole.at(-1) === "" || isJson(whole.at(-1)) ? 0 : 1]);
      expect(isJson((await sessions(other, ["export", id.trim()])).text.split("\n").at(0))).toBe(true);
    }
  }, long ? 300_000 : 60_000);

  test("512 NUL bytes in the middle: records on both sides are kept, one warning with line and offset", async () => {
    using place = makePlace();
    using other = makePlace();
    const run = await runJson(place, ["--model", place.script(say("ok")), "hi"]);
    const lines = (await sessions(place, ["export", idOf(run)])).text.split("\n");
    const damaged = Buffer.concat([Buffer.from(`${lines[0]}\n${lines[1]}\n`), Buffer.alloc(512), Buffer.from(`${lines.slice(2).join("\n")}`)]);
    const { exitCode, stderr, text } = await sessions(other, ["import", "-"], damaged);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/line 3, byte offset \d+/);
    expect((await exported(other, text.trim())).map(({ type }) => type)).toEqual(["session", "model_change", "message", "message"]);
  });
});

describe("E03 a disk that is full", () => {
  const big = "f".repeat(400_000);

  test.skipIf(process.platform !== "linux" || process.getuid?.() !== 0)("the stream is whole, errorKind storage, stderr names the path; what was acknowledged is there afterwards", async () => {
    using place = makePlace();
    const small = place.home.folder.at("small");
    mkdirSync(small);
    const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small]);
    if (mounted.exitCode !== 0) throw new Error(`this test needs to mount a file system of 1 MB: ${mounted.stderr.toString()}`);
    try {
      const model = place.script([[{ text: big, chunk: 100_000 }], [{ text: big, chunk: 100_000 }], [{ text: big, chunk: 100_000 }]]);
      const run = await runJson(place, ["--updates", "delta", "--model", model, "one", "two", "three"], { env: { ATOMIC_AGENT_STATE_DIR: small } });
      expectEnd(run, "error", 1);
      const failed = run.messages("assistant").filter(({ errorKind }) => errorKind === "storage");
      expect(failed.length).toBeGreaterThan(0);
      expect(run.result.stderr).toContain(join(small, "sessions.sqlite"));
      expect(run.result.stderr.match(/no space is left/g)).toHaveLength(1);
      const stopped = run.messages().findIndex(({ errorKind }) => errorKind === "storage");
      const kept = run.messages().slice(0, stopped);
      using database = new Database(join(small, "sessions.sqlite"));
      expect(database.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
      const stored = await runAtomic(["sessions", "export", idOf(run)], { env: { ATOMIC_AGENT_STATE_DIR: small }, home: place.home });
      const messages = stored.events().filter(({ type }) => type === "message").map(({ message }) => message);
      expect(messages.slice(0, kept.length)).toEqual(kept);
      Bun.spawnSync(["mount", "-o", "remount,size=16m", small]);
      const again = await runJson(place, ["--session", idOf(run), "--model", place.script(say("on")), "go on"], { env: { ATOMIC_AGENT_STATE_DIR: small } });
      expectEnd(again, "ok", 0);
    } finally {
      Bun.spawnSync(["umount", "-l", small]);
    }
  }, 30_000);

  test("a store that can't be written in the middle of a run: order 6.20 after the tool results, errorKind storage", async () => {
    using place = makePlace();
    const model = place.script([[{ call: "shell.run", args: { command: ": > up; while [ ! -e go ]; do sleep 0.02; done" } }], [{ text: "never" }]]);
    using running = startJson(place, ["--model", model, "work"]);
    await until("the command runs", () => existsSync(place.workspace.at("up")));
    // Nothing of the next row fits: the file may not grow by a page.
    using database = new Database(join(place.home.state, "sessions.sqlite"));
    database.run("CREATE TRIGGER full BEFORE INSERT ON entries BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END");
    place.workspace.write({ go: "" });
    const run = await finished(running);
    expectOrder(run, "H AS TS ms(u) me(u) ms(a) mu(toolcall_start) mu(toolcall_delta)* mu(toolcall_end) me(a,toolUse) xs(A) xu(A)* xe(A) ms(t,A) me(t,A) TE[A] TS ms(a,error) me(a,error) TE[] AE{u,a,t,a} Z{error}");
    expectEnd(run, "error", 1);
    expect(run.messages("assistant").at(-1)).toMatchObject({ errorKind: "storage", content: [], usage: { totalTokens: 0 } });
    expect(run.result.stderr).toContain("sessions.sqlite");
  });
});

describe("E04 two processes and one session", () => {
  test("the second is refused, naming the owner; a killed owner is taken over at once; the clock plays no part", async () => {
    using place = makePlace();
    const first = await runJson(place, ["--model", place.script(say("a")), "x"]);
    using owner = startJson(place, ["--continue", "--model", place.script([[{ text: "b" }, { hang: true }]]), "y"]);
    await owner.waitFor(isDelta);
    const { exitCode, stdout, stderr } = await runAtomic(["json", "--session", idOf(first), "--model", place.script(say("c")), "z"], { home: place.home, cwd: place.workspace.path });
    expect([exitCode, stdout.length]).toEqual([1, 0]);
    expect(stderr).toContain(`process ${owner.pid}`);
    owner.signal("SIGKILL");
    await owner.result();
    expectEnd(await runJson(place, ["--session", idOf(first), "--model", place.script(say("d")), "z"]), "ok", 0);
    using database = new Database(join(place.home.state, "sessions.sqlite"));
    // An owner from tomorrow, whose process id somebody else has now.
    database.run("UPDATE owners SET pid = ?", [process.pid]);
    expectEnd(await runJson(place, ["--session", idOf(first), "--model", place.script(say("e")), "z"]), "ok", 0);
  });
});

test("E05 four runs at once on one state directory: all exit 0, no word of a lock", async () => {
  using place = makePlace();
  const steps = Array.from({ length: 10 }, (_, index): ScriptItem[] => [{ call: "fs.write", args: { path: `${index}.txt`, content: `${index}` } }]);
  const model = place.script([...steps, [{ text: "done" }]]);
  const running = Array.from({ length: 4 }, () => startJson(place, ["--model", model, "go"]));
  const runs = await Promise.all(running.map((one) => one.result()));
  for (const one of running) one[Symbol.dispose]();
  for (const result of runs) {
    expectEnd(await checked(result), "ok", 0);
    expect(result.stderr).toBe("");
  }
  expect((await sessions(place, ["list"])).text.trimEnd().split("\n")).toHaveLength(4);
});

function isJson(text: string | undefined): boolean {
  try {
    JSON.parse(text ?? "");
    return true;
  } catch {
    return false;
  }
}
