// Calls and their results in the JSON stream (json-mode.md 6.3 to 6.8 and section 10).
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { configureServer, offered, says, startChatServer } from "../support/chat-server.ts";
import { expectEnd, expectOrder, finished, isType, type JsonRun, makePlace, runJson, startJson, textOf } from "../support/json-run.ts";
import { at, type JsonObject, listAt } from "../support/json-checker/values.ts";
import type { ScriptItem } from "../support/scripted.ts";
import type { FileTree } from "../support/workspace.ts";

const call = (name: string, args: JsonObject): ScriptItem => ({ call: name, args });

/** Plays one message of calls, then an answer. */
async function playCalls(calls: ScriptItem[], { files = {}, args = [], contextWindow }: { files?: FileTree; args?: string[]; contextWindow?: number } = {}): Promise<JsonRun & { left: { [path: string]: string } }> {
  using place = makePlace(files);
  const steps = [calls, [{ text: "done" }]];
  const model = place.script({ steps, ...(contextWindow === undefined ? {} : { contextWindow }) });
  const run = await runJson(place, ["--model", model, ...args, "go"]);
  return { ...run, left: place.workspace.snapshot() };
}

const results = (run: JsonRun): JsonObject[] => run.messages("toolResult");
const ends = (run: JsonRun): JsonObject[] => run.all("tool_execution_end");
const start = "H AS TS ms(u) me(u) ms(a)";
const oneCall = "mu(toolcall_start) mu(toolcall_delta)* mu(toolcall_end)";
const answer = "TS ms(a) mu(text_start) mu(text_delta)+ mu(text_end) me(a,stop) TE[]";

test("J-9 one fs.list call: order 6.3, one result with the call's id", async () => {
  const run = await playCalls([call("fs.list", {})], { files: { "b.txt": "", "a/": "" } });
  expectOrder(run, `${start} ${oneCall} me(a,toolUse) xs(A) xu(A)* xe(A) ms(t,A) me(t,A) TE[A] ${answer} AE{u,a,t,a} Z{ok}`);
  const called = listAt(run.messages("assistant")[0], "content")[0];
  const [end] = run.all("turn_end");
  expect(listAt(end, "toolResults").map((result) => at(result, "toolCallId"))).toEqual([at(called, "id")]);
  expect(textOf(results(run)[0])).toBe("a/\nb.txt");
});

test("J-10 a slow fs.grep beside a fast fs.read: order 6.4, ends reversed, results in call order", async () => {
  const log = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`logs/${index}.log`, "nothing to see in this line\n".repeat(200_000)]));
  const run = await playCalls([call("fs.grep", { pattern: "(n|o)+thing to find$", path: "logs" }), call("fs.read", { path: "a.txt" })], { files: { ...log, "a.txt": "one\n" } });
  expectOrder(run, `${start} ${oneCall} ${oneCall} me(a,toolUse) xs(A) xs(B) (xu(A)|xu(B))* xe(B) xe(A) ms(t,A) me(t,A) ms(t,B) me(t,B) TE[A,B] ${answer} AE{u,a,t,t,a} Z{ok}`);
  expect(results(run).map((result) => result["toolName"])).toEqual(["fs.grep", "fs.read"]);
});

test("J-11 fs.write and fs.edit in one message: order 6.6, the edit sees what was written", async () => {
  const run = await playCalls([call("fs.write", { path: "a.txt", content: "one\n" }), call("fs.edit", { path: "a.txt", oldText: "one", newText: "two" })]);
  expectOrder(run, `${start} ${oneCall} ${oneCall} me(a,toolUse) xs(A) xs(B) xu(A)* xe(A) xu(B)* xe(B) ms(t,A) me(t,A) ms(t,B) me(t,B) TE[A,B] ${answer} AE{u,a,t,t,a} Z{ok}`);
  expect(run.left).toEqual({ "a.txt": "two\n" });
});

describe("J-12", () => {
  test("J-12 an unknown tool: an error that names it and the nearest one, nothing ran, the run goes on", async () => {
    const run = await playCalls([call("fs.wirte", { path: "a.txt", content: "x" })]);
    expectOrder(run, `${start} ${oneCall} me(a,toolUse) xs(A) xe(A,isError) ms(t,A) me(t,A) TE[A] ${answer} AE{u,a,t,a} Z{ok}`);
    expect(textOf(results(run)[0])).toMatch(/fs\.wirte.*fs\.write/);
    expect([results(run)[0]?.["isError"], results(run)[0]?.["details"], run.left]).toEqual([true, {}, {}]);
  });

  test("J-12 an argument of the wrong type, a missing and an unknown one: each names its field", async () => {
    const rows = [[{ path: 5, content: "x" }, "path"], [{ path: "a.txt" }, "content"], [{ path: "a.txt", content: "x", mdoe: "append" }, "mdoe"]] as const;
    for (const [args, field] of rows) {
      const run = await playCalls([call("fs.write", args)]);
      expectEnd(run, "ok", 0);
      expect([ends(run)[0]?.["isError"], results(run)[0]?.["isError"]]).toEqual([true, true]);
      expect(textOf(results(run)[0])).toContain(field);
      expect(run.left).toEqual({});
    }
  });

  test("J-12 beside a good call: order 6.5, the good one runs", async () => {
    const run = await playCalls([call("fs.nothing", {}), call("fs.write", { path: "a.txt", content: "x" })]);
    expectOrder(run, `${start} ${oneCall} ${oneCall} me(a,toolUse) xs(A) xe(A,isError) xs(B) xu(B)* xe(B) ms(t,A) me(t,A) ms(t,B) me(t,B) TE[A,B] ${answer} AE{u,a,t,t,a} Z{ok}`);
    expect(run.left).toEqual({ "a.txt": "x" });
  });
});

test("J-13 `exit 3`: isError, details.exitCode 3 in the event and in the result", async () => {
  const run = await playCalls([call("shell.run", { command: "echo said; exit 3" })]);
  for (const result of [at(ends(run)[0], "result"), results(run)[0]]) {
    expect(at(result, "details", "exitCode")).toBe(3);
    expect(textOf(result)).toContain("said");
  }
  expect([ends(run)[0]?.["isError"], results(run)[0]?.["isError"], run.settled["outcome"]]).toEqual([true, true, "ok"]);
});

describe("J-14", () => {
  test("J-14 calls cut by the output cap: order 6.8, nothing runs", async () => {
    const run = await playCalls([call("fs.write", { path: "a.txt", content: "x" }), call("fs.write", { path: "b.txt", content: "x" }), { stop: "length" }]);
    const refused = (label: string): string => `xs(${label}) xe(${label},isError) ms(t,${label}) me(t,${label})`;
    expectOrder(run, `${start} ${oneCall} ${oneCall} me(a,length) ${refused("A")} ${refused("B")} TE[A,B] ${answer} AE{u,a,t,t,a} Z{ok}`);
    expect(run.left).toEqual({});
    expect(results(run).every((result) => result["isError"] === true && textOf(result).includes("not run"))).toBe(true);
  });

  test("J-14 arguments cut in the middle by a server: the call has what could be read, without `incomplete`, and does not run", async () => {
    await using server = await startChatServer([says({ calls: [{ name: "fs_write", args: '{"path":"a.txt","content":"half of i' }], finish: "length" }), says({ text: ["too long"] })]);
    using place = makePlace();
    configureServer(place, server);
    const run = await runJson(place, ["--model", "here/m", "go"]);
    expectOrder(run, `${start} ${oneCall} me(a,length) xs(A) xe(A,isError) ms(t,A) me(t,A) TE[A] ${answer} AE{u,a,t,a} Z{ok}`);
    const called = listAt(run.messages("assistant")[0], "content")[0] as JsonObject;
    expect([called["name"], "incomplete" in called, existsSync(place.workspace.at("a.txt"))]).toEqual(["fs.write", false, false]);
  });
});

describe("J-15", () => {
  const read = async (content: string): Promise<JsonObject> => {
    const run = await playCalls([call("fs.read", { path: "big.txt" })], { files: { "big.txt": content }, contextWindow: 200_000 });
    return results(run)[0] ?? {};
  };

  test("J-15 3000 lines: 2000 are kept, truncatedBy lines", async () => {
    const result = await read(Array.from({ length: 3000 }, (_, index) => `line ${index + 1}\n`).join(""));
    expect(at(result, "details", "truncation")).toMatchObject({ truncated: true, truncatedBy: "lines", totalLines: 3000, outputLines: 2000, maxLines: 2000, maxBytes: 51_200 });
    expect(textOf(result)).toContain("line 2000\n");
    expect(textOf(result)).not.toContain("line 2001");
  });

  test("J-15 200 KiB in one line: at most 51200 bytes, truncatedBy bytes, valid UTF-8", async () => {
    for (const result of [await read("ä€😀".repeat(23_000)), results(await playCalls([call("shell.run", { command: "cat big.txt" })], { files: { "big.txt": "ä€😀".repeat(23_000) }, contextWindow: 200_000 }))[0]]) {
      expect(at(result, "details", "truncation")).toMatchObject({ truncated: true, truncatedBy: "bytes" });
      const outputBytes = Number(at(result, "details", "truncation", "outputBytes"));
      expect(outputBytes).toBeGreaterThan(50_000);
      expect(outputBytes).toBeLessThanOrEqual(51_200);
      expect(textOf(result)).not.toContain("\ufffd");
    }
  });
});

test("J-16 with a window of 8192 a large file gives at most 8192 bytes", async () => {
  const run = await playCalls([call("fs.read", { path: "big.txt" })], { files: { "big.txt": "0123456789abcde\n".repeat(4000) }, contextWindow: 8192 });
  expect(at(results(run)[0], "details", "truncation")).toMatchObject({ truncatedBy: "bytes", maxBytes: 8192 });
  expect(Number(at(results(run)[0], "details", "truncation", "outputBytes"))).toBeLessThanOrEqual(8192);
});

test("J-17 a command that prints for 2 s: several updates, each extends the one before, at least 100 ms apart, none after the end", async () => {
  using place = makePlace();
  const model = place.script([[call("shell.run", { command: "for i in $(seq 1 100); do echo line $i; sleep 0.02; done" })], [{ text: "done" }]]);
  using running = startJson(place, ["--model", model, "go"]);
  const times: number[] = [];
  for (;;) {
    const event = await running.waitFor(({ type }) => type === "tool_execution_update" || type === "tool_execution_end");
    if (event["type"] === "tool_execution_end") break;
    times.push(performance.now());
  }
  const run = await finished(running);
  const shown = run.all("tool_execution_update").map((event) => textOf(event["partialResult"]));
  expect(shown.length).toBeGreaterThanOrEqual(5);
  for (const [index, text] of shown.slice(1).entries()) expect(text.startsWith(shown[index] ?? "")).toBe(true);
  // 2 s hold at most 20 updates that are 100 ms apart; the moments of reading may lie a little closer than those of writing.
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(100 * (times.length - 1) - 60);
  expectOrder(run, `${start} ${oneCall} me(a,toolUse) xs(A) xu(A)+ xe(A) ms(t,A) me(t,A) TE[A] ${answer} AE{u,a,t,a} Z{ok}`);
}, 20_000);

test("J-18 a server that knows no dots is sent fs_list, the stream says fs.list", async () => {
  await using server = await startChatServer([says({ calls: [{ name: "fs_list", args: "{}" }] }), says({ text: ["two ", "files"] })]);
  using place = makePlace({ "a.txt": "", "b.txt": "" });
  configureServer(place, server);
  const run = await runJson(place, ["--model", "here/m", "go"]);
  expectOrder(run, `${start} ${oneCall} me(a,toolUse) xs(A) xu(A)* xe(A) ms(t,A) me(t,A) TE[A] ${answer} AE{u,a,t,a} Z{ok}`);
  expect([...new Set(run.result.text.match(/fs[._]list/g))]).toEqual(["fs.list"]);
  const [first, second] = server.chats();
  expect(offered(first)).toContain("fs_list");
  expect(JSON.stringify(second)).not.toContain("fs.list\"");
  expect(listAt(second, "messages").some((message) => at(listAt(message, "tool_calls")[0], "function", "name") === "fs_list")).toBe(true);
});

test("J-54 a write beside the workspace is denied at level 2 and made at level 5", async () => {
  for (const [level, isWritten] of [["2", false], ["5", true]] as const) {
    using outer = makePlace({ "inner/": "" });
    const model = outer.script([[call("fs.write", { path: "../x", content: "x" })], [{ text: "done" }]]);
    const run = await runJson(outer, ["--model", model, "--approval-level", level, "go"], { cwd: outer.workspace.at("inner") });
    expectEnd(run, "ok", 0);
    expect([results(run)[0]?.["isError"], existsSync(outer.workspace.at("x"))]).toEqual([!isWritten, isWritten]);
    if (!isWritten) expect(results(run)[0]?.["details"]).toMatchObject({ denied: true, category: expect.any(String), level: expect.any(Number) });
  }
});

describe("J-58", () => {
  test("J-58 `--tools fs.read`: the request offers no other tool", async () => {
    await using server = await startChatServer([says({ text: ["done"] })]);
    using place = makePlace();
    configureServer(place, server);
    expectEnd(await runJson(place, ["--model", "here/m", "--tools", "fs.read", "go"]), "ok", 0);
    expect(offered(server.chats()[0]).filter((name) => name !== "reply" && name !== "finish")).toEqual(["fs_read"]);
    const scripted = place.script([[{ expect: { tools: ["fs.read", "fs.list"] } }, { text: "done" }]]);
    expectEnd(await runJson(place, ["--model", scripted, "--tools", "fs.*", "--exclude-tools", "fs.f*,fs.g*,fs.w*,fs.e*,fs.t*,fs.m*,fs.c*,fs.append,fs.replace,fs.insert,fs.s*,fs.u*", "go"]), "ok", 0);
    expectEnd(await runJson(place, ["--model", place.script([[{ expect: { tools: [] } }, { text: "done" }]]), "--tools", "", "go"]), "ok", 0);
  });

  test("J-58 `--tools` with an unknown name: exit 2, stdout empty, the nearest one named", async () => {
    using place = makePlace();
    using running = startJson(place, ["--model", place.script([[{ text: "x" }]]), "--tools", "fs.raed", "go"]);
    const { exitCode, stdout, stderr } = await running.result();
    expect([exitCode, stdout.length]).toEqual([2, 0]);
    expect(stderr).toMatch(/fs\.raed.*fs\.read/);
  });
});

test("a 17th call of one message gets an error result", async () => {
  const run = await playCalls(Array.from({ length: 17 }, () => call("fs.list", {})));
  expect(results(run).map((result) => result["isError"])).toEqual([...Array.from({ length: 16 }, () => false), true]);
});

test("a running tool is told of before it ends", async () => {
  using place = makePlace();
  using running = startJson(place, ["--model", place.script([[call("shell.run", { command: "echo a; sleep 0.5" })], [{ text: "done" }]]), "go"]);
  await running.waitFor(isType("tool_execution_start"));
  await running.waitFor(isType("tool_execution_update"));
  expectEnd(await finished(running), "ok", 0);
});
