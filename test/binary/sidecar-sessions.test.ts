// Sessions of the executable: started, changed, resumed, looked at (sidecar.md 3.3, 3.6, 5.2, 5.3, 8; S-18 to S-27).
import { expect, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { relative } from "node:path";
import { closing, endsWell, list, ok, payloadsOf, question, read, stateOf, turnsOf, within, write } from "../support/sidecar-calls.ts";
import { checkSeen, hostOfExecutable, listOf } from "../support/sidecar-host.ts";

const idOf = /^s-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("S-18 start_session tells session_started and answers with the same id, s- and a UUID", async () => {
  using host = hostOfExecutable();
  const answer = await host.ask("start_session", { workingDir: host.workingDir, model: host.script([]), metadata: { title: "T", host: { a: null } } });
  const sessionId = String(answer.payload?.["sessionId"]);
  expect(sessionId).toMatch(idOf);
  expect(answer.payload).toEqual({ sessionId });
  expect(host.order(answer.correlationId ?? "")).toEqual(["session_started", "R()"]);
  expect(payloadsOf(host, "session_started")).toEqual([{ sessionId, workingDir: host.workingDir }]);
  host.sessionId = sessionId;
  expect(await stateOf(host)).toMatchObject({ id: sessionId, status: "pending", metadata: { title: "T", host: { a: null } }, turns: [], turnCount: 0, stepCount: 0, lastError: null, approvalLevel: 1, loadedTools: [], worldSnapshot: null });
  expect((await host.ask("list_sessions")).payload).toMatchObject({ sessions: [{ id: sessionId, title: "T", status: "pending" }] });
  await endsWell(host);
});

test("S-19 a start without a folder, or for what is not there, leaves the old session alone; a relative folder becomes absolute; a missing one is fine", async () => {
  using host = hostOfExecutable();
  await host.start([[{ text: "alive" }], [{ text: "still" }]]);
  const old = host.sessionId;
  expect((await host.ask("start_session", {})).error).toMatchObject({ code: "handler_failed", field: "workingDir" });
  expect((await host.turn()).payload).toMatchObject({ reason: "reply", turnIndex: 0 });
  const { workingDir } = host;
  const refusals = [
    [{ workingDir, model: "no-such-model" }, "unknown model: no-such-model"],
    [{ workingDir, model: `scripted:${host.folder.at("none.json")}` }, `unknown model: scripted:${host.folder.at("none.json")}`],
    [{ workingDir, resumeSessionId: "s-none" }, "unknown session id: s-none"],
  ] as const;
  for (const [payload, message] of refusals) expect((await host.ask("start_session", payload)).error?.message).toStartWith(message);
  expect((await host.turn()).payload).toMatchObject({ reason: "reply", turnIndex: 1 });
  expect(payloadsOf(host, "session_started").map(({ sessionId }) => sessionId)).toEqual([old]);
  // Relative to the folder that the process was started in.
  const missing = host.folder.at("not/there");
  await host.start([[list], ok], { workingDir: relative(host.workingDir, missing) });
  expect(payloadsOf(host, "session_started").at(-1)?.["workingDir"]).toBe(missing);
  expect(payloadsOf(host, "log").filter(({ level }) => level === "warn").map(({ message }) => String(message).includes(missing))).toEqual([true]);
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  expect((await host.event("tool_call_result", { tool: "fs.list" })).payload?.["status"]).toBe("error");
  expect(existsSync(missing)).toBe(false);
  await endsWell(host);
});

test("S-20 start_session in a turn with messages queued: order 5.3, every old response before the new session_started, the old id never again", async () => {
  using host = hostOfExecutable();
  await host.start([[write("a")]]);
  const [turn, second, third] = [host.message("a"), host.message("b"), host.message("c")];
  await question(host, 0);
  const old = host.sessionId;
  await host.start([[{ text: "new" }]]);
  expect(host.order(turn).slice(6)).toEqual(["approval_request(fs.write)", "approval_withdrawn(session_disposed)", "tool_call_result(fs.write,error)", "error(step_error:cancelled,false)", ...closing]);
  expect([host.order(second), host.order(third)]).toEqual([["R(cancelled,unstarted)"], ["R(cancelled,unstarted)"]]);
  const started = host.frames.findLastIndex(({ type }) => type === "session_started");
  const answered = [turn, second, third].map((id) => host.frames.findIndex(({ correlationId, kind }) => kind === "response" && correlationId === id));
  expect([...answered, started]).toEqual([...answered, started].toSorted((a, b) => a - b));
  expect(host.frames.findLastIndex(({ payload }) => payload?.["sessionId"] === old)).toBeLessThan(started);
  expect((await host.turn()).payload).toMatchObject({ reason: "reply", turnIndex: 0 });
  expect((await host.ask("get_session", { sessionId: old })).payload).toMatchObject({ id: old, status: "cancelled", lastError: null });
  expect(existsSync(host.folder.at("workspace/a"))).toBe(false);
  await endsWell(host);
});

test("S-21 E05 two starts in one write: two responses, two ids, the second is active", async () => {
  using host = hostOfExecutable();
  const payload = { workingDir: host.workingDir, model: host.script([[{ text: "served" }]]) };
  const asked = host.sendAll([["start_session", payload], ["start_session", payload]]);
  const ids: unknown[] = [];
  for (const id of asked) ids.push((await host.response(id)).payload?.["sessionId"]);
  expect(ids.map((id) => idOf.test(String(id)))).toEqual([true, true]);
  expect(new Set(ids).size).toBe(2);
  expect(host.frames.filter(({ kind, type }) => type === "session_started" || (kind === "response" && type === undefined)).map(({ correlationId, type }) => [correlationId, type])).toEqual([[asked[0], "session_started"], [asked[0], undefined], [asked[1], "session_started"], [asked[1], undefined]]);
  expect((await host.ask("send_message", { sessionId: ids[0], text: "x" })).error?.message).toBe(`no active session with id ${String(ids[0])}`);
  expect((await host.ask("send_message", { sessionId: ids[1], text: "x" })).payload?.["reason"]).toBe("reply");
  await endsWell(host);
});

test("S-22 a resumed session goes on in the same and in the next process: history in the prompt, turns and counters; an unknown one is refused and the old one lives", async () => {
  using host = hostOfExecutable();
  await host.start([[list], [{ text: "remember the blue key" }], [{ text: "alive" }]], { metadata: { a: 1 } });
  await host.turn("first words");
  const id = host.sessionId;
  expect((await host.ask("start_session", { workingDir: host.workingDir, resumeSessionId: "s-nothing" })).error).toEqual({ message: "unknown session id: s-nothing", code: "handler_failed" });
  expect((await host.turn("there?")).payload).toMatchObject({ reason: "reply", turnIndex: 1 });
  const created = (await stateOf(host))?.["createdAt"];
  const answer = await host.ask("start_session", { workingDir: host.workingDir, resumeSessionId: id, model: host.script([[{ expect: { contains: "remember the blue key" } }, { expect: { contains: "first words" } }, { text: "ok" }]]) });
  expect(answer.payload).toEqual({ sessionId: id, resumed: true });
  expect(payloadsOf(host, "session_started").at(-1)).toEqual({ sessionId: id, workingDir: host.workingDir, resumed: true });
  expect((await host.turn()).payload).toMatchObject({ reason: "reply", turnIndex: 2, turnCount: 3, stepCount: 4 });
  await endsWell(host);

  using next = hostOfExecutable({ folder: host.folder });
  const other = next.folder.at("other");
  mkdirSync(other);
  // Both forms of an id are taken.
  await next.start([[{ expect: { contains: "blue key" } }, { text: "ok" }]], { resumeSessionId: id.slice(2), workingDir: other, metadata: { b: 2 } });
  expect((await next.turn()).payload).toMatchObject({ reason: "reply", turnIndex: 3, turnCount: 4, stepCount: 5 });
  expect(await stateOf(next)).toMatchObject({ id, workingDir: other, metadata: { b: 2 }, createdAt: created, turnCount: 4, stepCount: 5 });
  expect((await turnsOf(next)).filter(({ kind }) => kind === "user").map(({ text }) => text)).toEqual(["first words", "there?", "go", "go"]);
  await endsWell(next);
});

test("S-23 an engine that can't serve is told once inside start_session and costs it at most a second; the hint names real settings only", async () => {
  // An address without a machine, a port where nobody listens, and no model at all.
  for (const [mode, url] of [["external", "http://192.0.2.1:9"], ["external", "http://127.0.0.1:9"], ["managed", undefined]] as const) {
    using host = hostOfExecutable({ config: { localModels: { mode, ...(url === undefined ? {} : { url }) } }, env: { ATOMIC_AGENT_LLAMA_URL: "http://127.0.0.1:8" } });
    await host.ask("ping");
    let answer = await host.ask("start_session", { workingDir: host.workingDir, model: host.script([]) });
    await within(1250, async () => {
      const startedAt = performance.now();
      answer = await host.ask("start_session", { workingDir: host.workingDir });
      return performance.now() - startedAt;
    });
    expect(host.order(answer.correlationId ?? "")).toEqual(["llm_unavailable", "session_started", "R()"]);
    const payload = payloadsOf(host, "llm_unavailable").at(-1);
    expect([payload?.["mode"], url === undefined || payload?.["url"] === url]).toEqual([mode, true]);
    const hint = String(payload?.["hint"]);
    expect(hint).not.toContain("ATOMIC_AGENT_LLAMA_URL");
    for (const setting of mode === "external" ? ["localModels.url"] : ["localModels.managed.modelId", "atomic models"]) expect(hint).toContain(setting);
    await endsWell(host);
    expect((await host.process.result()).stderr).toContain("ATOMIC_AGENT_LLAMA_URL");
  }
});

test("S-24 with a remote provider in use a local server that is down is not looked at", async () => {
  const config = { defaultProvider: "far", llm: { providers: [{ id: "far", kind: "openai-compatible", url: "http://127.0.0.1:9", defaultChatModel: "m" }] }, localModels: { mode: "external", url: "http://127.0.0.1:9" } };
  using host = hostOfExecutable({ config });
  const answer = await host.ask("start_session", { workingDir: host.workingDir });
  expect(host.order(answer.correlationId ?? "")).toEqual(["session_started", "R()"]);
  expect((await host.ask("ping")).payload).toMatchObject({ model: "m", engine: "openai-compatible" });
  // A scripted model is never probed either.
  const scripted = await host.ask("start_session", { workingDir: host.workingDir, model: host.script([]) });
  expect(host.order(scripted.correlationId ?? "")).toEqual(["session_started", "R()"]);
  await endsWell(host);
});

test("S-25 get_session: null before any session, then the active one, another stored one, and null for one that is unknown", async () => {
  using host = hostOfExecutable();
  const of = async (sessionId: string): Promise<unknown> => (await host.ask("get_session", { sessionId })).payload;
  expect(await of("s-x")).toBeNull();
  const first = await host.start([[{ text: "a" }]]);
  await host.turn();
  const live = await of(first);
  const second = await host.start([]);
  expect(await of(second)).toMatchObject({ id: second, status: "pending", turnCount: 0, approvalLevel: 1 });
  const stored = await of(first);
  expect(stored).toMatchObject({ id: first, status: "pending", turnCount: 1, stepCount: 1 });
  const turns = (state: unknown): unknown => (state as { turns: unknown }).turns;
  expect(turns(stored)).toEqual(turns(live));
  expect(await of("s-x")).toBeNull();
  await endsWell(host);
  using next = hostOfExecutable({ folder: host.folder });
  expect((await next.ask("get_session", { sessionId: first })).payload).toBeNull();
  await endsWell(next);
});

test("S-26 in the middle of a turn the state is running and holds every frame told so far", async () => {
  using host = hostOfExecutable({ files: { "a.txt": "one" } });
  await host.start([[list, read("a.txt")], [write("b")], [{ delayMs: 60_000 }]]);
  const turn = host.message("look");
  const asked = await question(host, 0);
  const state = await stateOf(host);
  expect(state).toMatchObject({ status: "awaiting_approval", turnCount: 1, stepCount: 2, pendingApprovals: [{ approvalId: asked["approvalId"], tool: "fs.write", category: "fs_write_workspace" }] });
  const shown = (turns: { kind: string; [name: string]: unknown }[]): string[] => turns.map(({ kind, tool }) => `${kind}${typeof tool === "string" ? ` ${tool}` : ""}`);
  expect(shown(listOf(state, "turns"))).toEqual(["user", "assistant_tool_call fs.list", "assistant_tool_call fs.read", "tool_result fs.list", "tool_result fs.read", "assistant_tool_call fs.write"]);
  expect((await host.ask("list_sessions")).payload).toMatchObject({ sessions: [{ status: "awaiting_approval", busy: true }] });
  await host.ask("approval_response", { approvalId: asked["approvalId"], approved: true });
  await host.event("llm_request", { stepIndex: 2 });
  const running = await stateOf(host);
  expect(running).toMatchObject({ status: "running", turnCount: 1, stepCount: 3, lastError: null, latestResult: { tool: "fs.write", status: "ok" } });
  expect("pendingApprovals" in (running ?? {})).toBe(false);
  expect(shown(listOf(running, "turns")).slice(5)).toEqual(["assistant_tool_call fs.write", "tool_result fs.write"]);
  await host.ask("cancel", { sessionId: host.sessionId });
  await host.response(turn);
  expect(await stateOf(host)).toMatchObject({ status: "cancelled", stepCount: 3, contextUsage: { contextWindow: 32768 } });
  await endsWell(host);
});

test("S-27 list_sessions with no session started: the stored ones, newest first, by folder, bounded", async () => {
  using host = hostOfExecutable();
  const places = [host.workingDir, host.folder.at("state"), host.workingDir];
  const ids: string[] = [];
  for (const workingDir of places) {
    ids.push(await host.start([[{ text: "a" }]], { workingDir, metadata: { title: `number ${ids.length}` } }));
    await host.turn();
  }
  await endsWell(host);
  using next = hostOfExecutable({ folder: host.folder });
  const listed = async (payload: unknown): Promise<{ [name: string]: unknown }[]> => listOf((await next.ask("list_sessions", payload)).payload, "sessions");
  const all = await listed({});
  expect(all.map(({ id }) => id)).toEqual(ids.toReversed());
  const times = all.map(({ updatedAt }) => Number(updatedAt));
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  expect(all.map(({ busy, lastError, status, stepCount, title, turnCount, workingDir }) => ({ busy, lastError, status, stepCount, title, turnCount, workingDir }))).toEqual(
    places.map((workingDir, index) => ({ busy: false, lastError: null, status: "pending", stepCount: 1, title: `number ${index}`, turnCount: 1, workingDir })).toReversed(),
  );
  expect((await listed({ workingDir: places[1] })).map(({ id }) => id)).toEqual([ids[1]]);
  expect((await listed({ limit: 2 })).map(({ id }) => id)).toEqual([ids[2], ids[1]]);
  expect([await listed({ workingDir: next.folder.path }), (await listed({ limit: null, workingDir: null })).length]).toEqual([[], 3]);
  await endsWell(next);
});

test("the checkers take all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
