// Sessions on the sidecar's wire: starting, changing, resuming, looking at them, models (sidecar.md 13).
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { relative, resolve } from "node:path";
import { openStore } from "../../../../src/session/store.ts";
import type { ScriptItem } from "../../../support/scripted.ts";
import { checkSeen, hostInProcess, listOf, type SidecarHost } from "../../../support/sidecar-host.ts";

const list: ScriptItem = { call: "fs.list", args: { path: "." } };
const hang: ScriptItem[] = [{ text: "half" }, { hang: true }];

async function endsWell(host: SidecarHost): Promise<void> {
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
}

test("S-18 start_session tells session_started, then answers with the same id", async () => {
  using host = hostInProcess();
  const answer = await host.ask("start_session", { workingDir: host.workingDir, model: host.script([]), metadata: { title: "T", host: { a: null } } });
  const [started, response] = host.frames.slice(-2);
  expect(String(answer.payload?.["sessionId"])).toMatch(/^s-[0-9a-f]{8}-[0-9a-f]{4}-7/);
  expect([started?.type, started?.payload]).toEqual(["session_started", { sessionId: answer.payload?.["sessionId"], workingDir: host.workingDir }]);
  expect(response).toEqual(answer);
  const state = (await host.ask("get_session", answer.payload)).payload;
  expect(state).toMatchObject({ status: "pending", metadata: { title: "T", host: { a: null } }, turns: [], turnCount: 0, stepCount: 0, lastError: null, approvalLevel: 1 });
  expect((await host.ask("list_sessions")).payload).toMatchObject({ sessions: [{ title: "T", status: "pending" }] });
  await endsWell(host);
});

test("S-19 a bad start leaves the old session alone; a relative folder becomes absolute; a missing one is fine", async () => {
  using host = hostInProcess();
  await host.start([[{ text: "alive" }]]);
  expect((await host.ask("start_session", {})).error?.field).toBe("workingDir");
  expect((await host.ask("start_session", { workingDir: host.workingDir, model: "no-such-model" })).error?.message).toBe("unknown model: no-such-model");
  expect((await host.ask("start_session", { workingDir: host.workingDir, model: `scripted:${host.folder.at("none.json")}` })).error?.message).toStartWith("unknown model: scripted:");
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  await host.start([[list], [{ text: "ok" }]], { workingDir: relative(process.cwd(), host.folder.at("not/there")) });
  const missing = host.folder.at("not/there");
  expect((await host.event("session_started", { workingDir: missing })).payload?.["workingDir"]).toBe(resolve(missing));
  expect((await host.event("log", { level: "warn" })).payload?.["message"]).toContain(missing);
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  await endsWell(host);
});

test("S-20 start_session in a turn closes it first, and names the old session never again", async () => {
  using host = hostInProcess();
  await host.start([[{ call: "fs.write", args: { path: "a", content: "1" } }]]);
  const [turn, queued] = [host.message("a"), host.message("b")];
  await host.event("approval_request");
  const old = host.sessionId;
  await host.start([[{ text: "new" }]]);
  expect(host.order(turn).slice(7)).toEqual(["approval_withdrawn(session_disposed)", "tool_call_result(fs.write,error)", "error(step_error:cancelled,false)", "step_finished", "session_failed", "turn_finished(cancelled)", "R(cancelled)"]);
  expect(host.order(queued)).toEqual(["R(cancelled,unstarted)"]);
  const started = host.frames.findLastIndex(({ type }) => type === "session_started");
  expect(host.frames.findLastIndex(({ payload }) => payload?.["sessionId"] === old)).toBeLessThan(started);
  expect((await host.turn()).payload).toMatchObject({ reason: "reply", turnIndex: 0 });
  expect((await host.ask("get_session", { sessionId: old })).payload).toMatchObject({ id: old, status: "cancelled", lastError: null });
  await endsWell(host);
});

test("S-21 E05 two starts in one write: two ids, the second is active", async () => {
  using host = hostInProcess();
  const payload = { workingDir: host.workingDir, model: host.script([[{ text: "served" }]]) };
  const [first = "", second = ""] = host.sendAll([["start_session", payload], ["start_session", payload]]);
  const ids = [(await host.response(first)).payload?.["sessionId"], (await host.response(second)).payload?.["sessionId"]];
  expect(new Set(ids).size).toBe(2);
  expect((await host.ask("send_message", { sessionId: ids[0], text: "x" })).ok).toBe(false);
  expect((await host.ask("send_message", { sessionId: ids[1], text: "x" })).payload?.["reason"]).toBe("reply");
  await endsWell(host);
});

test("S-22 a resumed session goes on with its history, turns and counters; an unknown one is refused and the old one lives", async () => {
  using host = hostInProcess();
  await host.start([[list], [{ text: "remember the blue key" }]], { metadata: { a: 1 } });
  await host.turn("first words");
  const id = host.sessionId;
  expect((await host.ask("start_session", { workingDir: host.workingDir, resumeSessionId: "s-nothing" })).error?.message).toBe("unknown session id: s-nothing");
  expect((await host.ask("cancel", { sessionId: id })).payload?.["cancelled"]).toBe(true);
  await host.start([[{ expect: { contains: "remember the blue key" } }, { expect: { contains: "first words" } }, { text: "ok" }]], { resumeSessionId: id });
  expect(host.sessionId).toBe(id);
  expect((await host.event("session_started", { resumed: true })).payload?.["sessionId"]).toBe(id);
  expect((await host.turn()).payload).toMatchObject({ reason: "reply", turnIndex: 1, turnCount: 2, stepCount: 3 });
  await endsWell(host);

  using next = hostInProcess({ folder: host.folder });
  const other = next.folder.at("other");
  mkdirSync(other);
  await next.start([[{ expect: { contains: "blue key" } }, { text: "ok" }]], { resumeSessionId: id.slice(2), workingDir: other, metadata: { b: 2 } });
  expect((await next.turn()).payload).toMatchObject({ turnIndex: 2, turnCount: 3, stepCount: 4 });
  expect((await next.ask("get_session", { sessionId: id })).payload).toMatchObject({ workingDir: other, metadata: { b: 2 } });
  await endsWell(next);
});

test("E04 a session that another owner has is refused by name of the process, and the old session lives", async () => {
  using host = hostInProcess();
  await host.start([[{ text: "alive" }]]);
  const store = openStore(host.folder.at("state/sessions.sqlite"));
  const taken = store.createSession({ cwd: host.workingDir });
  const { error } = await host.ask("start_session", { workingDir: host.workingDir, resumeSessionId: `s-${taken.id}` });
  expect(error).toEqual({ message: `session s-${taken.id} is in use by process ${process.pid}`, code: "handler_failed" });
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  store.close();
  await host.start([], { resumeSessionId: taken.id });
  await endsWell(host);
});

test("S-23 an engine that can't be reached is told once inside start_session, with real settings", async () => {
  for (const [mode, url] of [["external", "http://127.0.0.1:9"], ["managed", undefined]] as const) {
    using host = hostInProcess({ config: { localModels: { mode, ...(url === undefined ? {} : { url }) } }, env: { ATOMIC_AGENT_LLAMA_URL: "http://x" } });
    const startedAt = performance.now();
    const answer = await host.ask("start_session", { workingDir: host.workingDir });
    expect(performance.now() - startedAt).toBeLessThan(1500);
    expect(host.order(answer.correlationId ?? "")).toEqual(["llm_unavailable", "session_started", "R()"]);
    const payload = (await host.event("llm_unavailable")).payload;
    expect(payload?.["mode"]).toBe(mode);
    expect(String(payload?.["hint"])).toContain(mode === "external" ? "localModels.url" : "atomic models");
    host.sessionId = String(answer.payload?.["sessionId"]);
    if (mode === "managed") expect((await host.turn()).payload).toMatchObject({ reason: "failed", error: { category: "transport" } });
    await endsWell(host);
  }
});

test("S-24 with a remote provider in use nothing is probed", async () => {
  const config = { defaultProvider: "far", llm: { providers: [{ id: "far", kind: "openai-compatible", url: "http://127.0.0.1:9", defaultChatModel: "m" }] }, localModels: { mode: "external", url: "http://127.0.0.1:9" } };
  using host = hostInProcess({ config });
  const answer = await host.ask("start_session", { workingDir: host.workingDir });
  expect(host.order(answer.correlationId ?? "")).toEqual(["session_started", "R()"]);
  expect((await host.ask("ping")).payload).toMatchObject({ model: "m", engine: "openai-compatible" });
  expect((await host.ask("models_list")).payload?.["models"]).toContainEqual({ id: "far/m", engine: "openai-compatible", active: true, provider: "far" });
  await endsWell(host);
});

test("S-25 get_session: nothing before a session, then the active one, a stored one, none", async () => {
  using host = hostInProcess();
  expect((await host.ask("get_session", { sessionId: "s-x" })).payload).toBeNull();
  const first = await host.start([[{ text: "a" }]]);
  await host.turn();
  const second = await host.start([]);
  const of = async (sessionId: string): Promise<unknown> => (await host.ask("get_session", { sessionId })).payload?.["id"];
  expect([await of(second), await of(first)]).toEqual([second, first]);
  expect((await host.ask("get_session", { sessionId: "s-x" })).payload).toBeNull();
  await endsWell(host);
});

test("S-26 in the middle of a turn the state is running, and holds what the frames told", async () => {
  using host = hostInProcess();
  await host.start([[list, { call: "fs.write", args: { path: "a", content: "1" } }], [{ text: "ok" }]]);
  const turn = host.message();
  const asked = await host.event("approval_request");
  const state = (await host.ask("get_session", { sessionId: host.sessionId })).payload;
  expect(state).toMatchObject({ status: "awaiting_approval", turnCount: 1, stepCount: 1, pendingApprovals: [{ approvalId: asked.payload?.["approvalId"], tool: "fs.write", category: "fs_write_workspace" }] });
  expect(listOf<{ kind: string; tool?: string }>(state, "turns").map(({ kind, tool }) => `${kind} ${tool ?? ""}`)).toEqual(["user ", "assistant_tool_call fs.list", "assistant_tool_call fs.write", "tool_result fs.list"]);
  expect((await host.ask("list_sessions")).payload).toMatchObject({ sessions: [{ status: "awaiting_approval", busy: true }] });
  await host.ask("approval_response", { approvalId: asked.payload?.["approvalId"], approved: false });
  await host.response(turn);
  expect((await host.ask("get_session", { sessionId: host.sessionId })).payload).toMatchObject({ status: "pending", contextUsage: { contextWindow: 32768 } });
  await endsWell(host);
});

test("S-27 list_sessions works without a session: newest first, by folder, bounded", async () => {
  using host = hostInProcess();
  const first = await host.start([[{ text: "a" }], [{ text: "b" }]]);
  const second = await host.start([[{ text: "a" }]], { workingDir: host.folder.at("state") });
  await host.start([], { resumeSessionId: first });
  await host.end();
  using next = hostInProcess({ folder: host.folder });
  const ids = async (payload: unknown): Promise<unknown> => listOf<{ id: string }>((await next.ask("list_sessions", payload)).payload, "sessions").map(({ id }) => id);
  const [newest, oldest] = (await ids({})) as string[];
  expect(new Set([newest, oldest])).toEqual(new Set([first, second]));
  expect(await ids({ workingDir: next.folder.at("state") })).toEqual([second]);
  expect(await ids({ limit: 1 })).toEqual([newest]);
  await endsWell(next);
});

test("S-64 set_model: unknown is refused; idle applies now, in a turn to the next step, without a session to the next one", async () => {
  using host = hostInProcess();
  expect((await host.ask("set_model", { model: "nothing" })).error?.message).toBe("unknown model: nothing");
  const early = host.script([[{ text: "early" }]]);
  expect((await host.ask("set_model", { model: early })).payload).toEqual({ model: early, engine: "scripted", appliesFrom: "next_session" });
  const answer = await host.ask("start_session", { workingDir: host.workingDir });
  host.sessionId = String(answer.payload?.["sessionId"]);
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  const slow = host.script([[{ delayMs: 100 }, list]]);
  expect((await host.ask("set_model", { model: slow })).payload?.["appliesFrom"]).toBe("now");
  const turn = host.message();
  await host.event("llm_request", { model: slow });
  const late = host.script([[{ text: "from the other" }]]);
  expect((await host.ask("set_model", { model: late, sessionId: host.sessionId })).payload?.["appliesFrom"]).toBe("next_step");
  expect((await host.ask("set_model", { model: late, sessionId: "s-x" })).error?.message).toBe("no active session with id s-x");
  await host.response(turn);
  expect((await host.event("assistant_reply", { text: "from the other" })).correlationId).toBe(turn);
  expect((await host.ask("ping")).payload).toMatchObject({ model: late, engine: "scripted" });
  await endsWell(host);
});

test("S-63 compaction: nothing to do when idle, busy in a turn; there is none to get", async () => {
  using host = hostInProcess();
  expect((await host.ask("compact_session", { sessionId: "s-x" })).error?.message).toBe("no active session — call start_session first");
  await host.start([[{ text: "a" }], hang]);
  expect((await host.ask("compact_session", { sessionId: "s-x" })).error?.message).toBe("no active session with id s-x");
  expect((await host.ask("get_compaction", { sessionId: host.sessionId })).payload).toBeNull();
  await host.turn();
  const idle = await host.ask("compact_session", { sessionId: host.sessionId });
  expect(idle.payload?.["status"]).toBe("noop");
  host.message();
  await host.event("turn_started", { turnIndex: 1 });
  expect((await host.ask("compact_session", { sessionId: host.sessionId })).payload).toEqual({ status: "busy", reason: "manual" });
  await endsWell(host);
});

test("the independent checker takes all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
