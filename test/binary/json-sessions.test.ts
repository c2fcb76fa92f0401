// Sessions of the JSON stream (json-mode.md sections 2 and 11): resumed, killed, exported, forked.
import { describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { runAtomic } from "../support/atomic.ts";
import { expectEnd, expectOrder, makePlace, runJson, startJson, textOf } from "../support/json-run.ts";
import { at, type JsonObject, listAt } from "../support/json-checker/values.ts";
import type { ScriptItem } from "../support/scripted.ts";
import { exported, idOf, sessions } from "../support/stored-sessions.ts";
import { until } from "../support/until.ts";

const oneRun = "AS TS ms(u) me(u) ms(a) mu(text_start) mu(text_delta)+ mu(text_end) me(a,stop) TE[] AE{u,a}";
const say = (text: string, ...before: ScriptItem[]): ScriptItem[][] => [[...before, { text }]];

describe("J-55", () => {
  test("J-55 `--continue`: same id and time, resumed, the name as session_info_changed, old messages only in the request", async () => {
    using place = makePlace();
    const first = await runJson(place, ["--model", place.script(say("I will remember the blue door.")), "remember the door"]);
    expect("resumed" in (first.events[0] ?? {})).toBe(false);
    await sessions(place, ["name", idOf(first), "Doors"]);
    const model = place.script(say("It was blue.", { expect: { contains: "blue door" } }, { expect: { contains: "remember the door" } }));
    const second = await runJson(place, ["--continue", "--model", model, "which one?"]);
    expect(second.events[0]).toMatchObject({ id: idOf(first), timestamp: first.events[0]?.["timestamp"], resumed: true });
    expect(second.events[1]).toEqual({ type: "session_info_changed", name: "Doors" });
    expectOrder(second, `H session_info_changed model_changed ${oneRun} Z{ok}`);
    expect(JSON.stringify(second.events.slice(1))).not.toContain("remember the door");
    expectEnd(second, "ok", 0);
    const times = [...first.messages(), ...second.messages()].map(({ timestamp }) => Number(timestamp));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test("J-55 by a unique prefix of the id; an ambiguous one: exit 2; `--continue` without a session makes a new one", async () => {
    using place = makePlace();
    const fresh = await runJson(place, ["--continue", "--model", place.script(say("a")), "x"]);
    expect("resumed" in (fresh.events[0] ?? {})).toBe(false);
    const again = await runJson(place, ["--session", idOf(fresh).slice(0, 30), "--model", place.script(say("b")), "y"]);
    expect(idOf(again)).toBe(idOf(fresh));
    await runJson(place, ["--model", place.script(say("c")), "z"]);
    const { exitCode, stdout, stderr } = await runAtomic(["json", "--session", idOf(fresh).slice(0, 3), "--model", place.script(say("d")), "y"], { home: place.home });
    expect([exitCode, stdout.length, stderr.includes("several sessions")]).toEqual([2, 0, true]);
  });
});

describe("model and level of a resumed session", () => {
  test("without flags the model comes back (`restore`), and the level that was chosen", async () => {
    using place = makePlace();
    const model = place.script(say("a"));
    const first = await runJson(place, ["--model", model, "--thinking", "high", "x"]);
    expectOrder(first, `H ${oneRun} Z{ok}`);
    const second = await runJson(place, ["--continue", "y"]);
    expectOrder(second, `H model_changed thinking_level_changed ${oneRun} Z{ok}`);
    expect(second.events[0]).toMatchObject({ provider: "scripted", model });
    expect(second.events[1]).toMatchObject({
      type: "model_changed",
      model: { id: model, name: "scripted", api: "scripted", provider: "scripted", baseUrl: "", reasoning: true, input: ["text", "image"], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 32_768, maxTokens: 32_768 },
      source: "restore",
    });
    expect(second.events[2]).toEqual({ type: "thinking_level_changed", level: "high" });
  });

  test("`--model` overrides it (`set`, with the one before), is kept, and naming the same one is no change", async () => {
    using place = makePlace();
    const [one, two] = [place.script(say("a")), place.script(say("b"))];
    await runJson(place, ["--model", one, "x"]);
    const changed = await runJson(place, ["--continue", "--model", two, "y"]);
    expect(changed.events[1]).toMatchObject({ type: "model_changed", model: { id: two }, previousModel: { id: one }, source: "set" });
    const same = await runJson(place, ["--continue", "--model", two, "y"]);
    expectOrder(same, `H ${oneRun} Z{ok}`);
    const kept = await runJson(place, ["--continue", "y"]);
    expect(kept.events[1]).toMatchObject({ type: "model_changed", model: { id: two }, source: "restore" });
    const entries = await exported(place, idOf(kept));
    expect(entries.filter(({ type }) => type === "model_change").map(({ modelId }) => modelId)).toEqual([one, two]);
  });

  test("a model that is gone is warned of, and the flag's is taken", async () => {
    using place = makePlace({ "gone.json": JSON.stringify({ steps: say("a") }), "here.json": JSON.stringify({ steps: say("b") }) });
    await runJson(place, ["--model", "scripted:gone.json", "x"]);
    place.workspace.write({ "gone.json": "no script" });
    const run = await runJson(place, ["--continue", "--model", "scripted:here.json", "y"]);
    expect(run.events[1]).toMatchObject({ type: "model_changed", model: { id: "scripted:here.json" }, source: "set" });
    expect(run.result.stderr).toContain("gone.json");
  });
});

test("J-56 kill -9 during a tool, then --continue: every printed message_end is there, the open call has an error result", async () => {
  using place = makePlace();
  const model = place.script([[{ text: "I will wait." }, { call: "shell.run", args: { command: "echo up > up; sleep 100" } }]]);
  using running = startJson(place, ["--model", model, "go"]);
  await until("the command runs", () => existsSync(place.workspace.at("up")));
  running.signal("SIGKILL");
  const killed = await running.result();
  const printed = killed.events().filter(({ type }) => type === "message_end").map(({ message }) => message as JsonObject);
  expect(printed.map(({ role }) => role)).toEqual(["user", "assistant"]);
  const id = String(killed.events()[0]?.["id"]);
  const stored = (await exported(place, id)).filter(({ type }) => type === "message").map(({ message }) => message as JsonObject);
  expect(stored.slice(0, 2)).toEqual(printed);
  const run = await runJson(place, ["--continue", "--model", place.script(say("again", { expect: { lastRole: "user", contains: "interrupted" } })), "what happened?"]);
  expectEnd(run, "ok", 0);
  expect(run.messages("toolResult")).toEqual([]);
  const results = (await exported(place, id)).map(({ message }) => message as JsonObject | undefined).filter((message) => message?.["role"] === "toolResult");
  expect(results).toMatchObject([{ toolCallId: at(listAt(printed[1], "content")[1], "id"), isError: true }]);
});

describe("J-57", () => {
  test("J-57 export, import, export: the same lines", async () => {
    using place = makePlace({ "a.txt": "one\n" });
    using other = makePlace();
    const run = await runJson(place, ["--model", place.script([[{ thinking: "hm" }, { call: "fs.read", args: { path: "a.txt" } }], [{ text: "one\u2028two" }]]), "read"]);
    const { text } = await sessions(place, ["export", idOf(run)]);
    expect(text.split("\n").slice(0, -1).map((line) => (JSON.parse(line) as JsonObject)["type"])).toEqual(["session", "model_change", "message", "message", "message", "message"]);
    const back = await sessions(other, ["import", "-"], text);
    expect([back.exitCode, back.text]).toEqual([0, `${idOf(run)}\n`]);
    expect((await sessions(other, ["export", idOf(run)])).text).toBe(text);
  });

  test("J-57 a half last line: a warning; versions 1 and 2: version 3 with a chained tree", async () => {
    using place = makePlace();
    const message = (role: string, text: string): JsonObject => ({ role, content: [{ type: "text", text }], timestamp: 1_700_000_000_000 });
    const header = (version?: number): JsonObject => ({ type: "session", ...(version === undefined ? {} : { version }), id: "0199aaaa-0000-7000-8000-000000000001", timestamp: "2026-01-02T03:04:05.678Z", cwd: "/somewhere" });
    const lines = (...objects: JsonObject[]): string => objects.map((object) => `${JSON.stringify(object)}\n`).join("");
    const first = lines(header(), { type: "message", timestamp: "2026-01-02T03:04:06.000Z", message: message("user", "hi") }, { type: "message", timestamp: "2026-01-02T03:04:07.000Z", message: message("user", "there") });
    const one = await sessions(place, ["import", "-"], `${first}{"type":"message","mess`);
    expect(one.exitCode).toBe(0);
    expect(one.stderr).toContain("line 4");
    const entries = await exported(place, one.text.trim());
    expect(entries[0]).toMatchObject({ type: "session", version: 3 });
    expect(entries.slice(1).map(({ parentId }) => parentId)).toEqual([null, entries[1]?.["id"]]);
    const second = lines({ ...header(2), id: "0199aaaa-0000-7000-8000-000000000002" }, { type: "message", id: "aaaaaaaa", parentId: null, timestamp: "2026-01-02T03:04:06.000Z", message: { role: "hookMessage", customType: "note", content: "x", display: true, timestamp: 1 } });
    const two = await sessions(place, ["import", "-"], second);
    expect(at((await exported(place, two.text.trim()))[1], "message", "role")).toBe("custom");
  });

  test("J-57 without a header line: exit 1, nothing stored", async () => {
    using place = makePlace();
    const { exitCode, text } = await sessions(place, ["import", "-"], '{"type":"message","message":{}}\n');
    expect([exitCode, text, (await sessions(place, ["list"])).text]).toEqual([1, "", ""]);
  });
});

test("J-58 `--no-session`: a header with an id, nothing added to the store", async () => {
  using place = makePlace();
  await runJson(place, ["--model", place.script(say("a")), "x"]);
  const before = (await sessions(place, ["list"])).text;
  const run = await runJson(place, ["--no-session", "--model", place.script(say("b")), "y"]);
  expect(idOf(run)).toMatch(/^[0-9a-f-]{36}$/);
  expect((await sessions(place, ["list"])).text).toBe(before);
  expect((await sessions(place, ["export", idOf(run)])).exitCode).toBe(2);
});

test("a fork names its parent in the header", async () => {
  using place = makePlace();
  const run = await runJson(place, ["--model", place.script(say("a")), "x"]);
  const text = (await sessions(place, ["export", idOf(run)])).text;
  await runJson(place, ["--continue", "--model", place.script(say("b")), "y"]);
  writeFileSync(place.workspace.at("old.jsonl"), text);
  const id = (await sessions(place, ["import", "old.jsonl"])).text.trim();
  expect(id).not.toBe(idOf(run));
  const forked = await runJson(place, ["--session", id, "--model", place.script(say("c", { expect: { contains: "x" } })), "z"]);
  expect(forked.events[0]).toMatchObject({ id, parentSession: idOf(run), resumed: true });
  expect(textOf(forked.messages("user")[0])).toBe("z");
});
