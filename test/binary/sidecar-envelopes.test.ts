// Envelopes of requests to the executable: types, ids, payloads, refusals, and answers at once (sidecar.md 2, 3, 5.14; S-10 to S-17).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import type { HostRequestType } from "../../src/wire/sidecar/schema.ts";
import { runAtomic } from "../support/atomic.ts";
import { endsWell, hang, list, ok, payloadsOf, shell, within } from "../support/sidecar-calls.ts";
import { checkSeen, type Frame, framesOf, hostOfExecutable, type SidecarHost } from "../support/sidecar-host.ts";

/** What a host gets for these frames, stdin closed right behind them. */
async function answers(frames: readonly unknown[]): Promise<Frame[]> {
  const { text, exitCode } = await runAtomic(["sidecar"], { stdin: frames.map((frame) => `${JSON.stringify(frame)}\n`).join("") });
  expect(exitCode).toBe(0);
  return framesOf(text).slice(1);
}

/** The error event that has to be the next frame behind a hard failure. */
async function expectRefusal(host: SidecarHost, refused: Frame, field?: string): Promise<void> {
  await host.frame(() => host.frames.length > host.frames.indexOf(refused) + 1, "the error behind a failed response");
  expect([refused.kind, refused.ok, refused.payload, refused.error?.code, refused.error?.field]).toEqual(["response", false, {}, "handler_failed", field]);
  const next = host.frames[host.frames.indexOf(refused) + 1];
  expect([next?.kind, next?.type, next?.correlationId, next?.payload?.["code"], next?.payload?.["message"]]).toEqual(["event", "error", refused.correlationId, "handler_failed", refused.error?.message]);
  expect(String(next?.payload?.["stack"])).not.toBe("");
}

test("S-10 F12 an unknown type is unknown_request with the type in its message, run_step too, and no error event comes", async () => {
  const types = ["nope", "run_step", "Ping", "", "constructor", "__proto__", "toString", 7, null, { a: 1 }];
  const frames = await answers([...types.map((type, id) => ({ kind: "request", id, type })), { kind: "request", id: "none" }]);
  const said = ["nope", "run_step", "Ping", "", "constructor", "__proto__", "toString", "7", "null", "[object Object]", "undefined"];
  expect(frames.map(({ correlationId, error, kind, ok: isOk, payload }) => [kind, correlationId, isOk, payload, error])).toEqual(
    said.map((type, index) => ["response", index === said.length - 1 ? "none" : index, false, {}, { message: `no handler for request type: ${type}`, code: "unknown_request" }]),
  );
});

test("S-11 F12 a request without an id is not executed: a failed response without one, then its error; a number is echoed as that number", async () => {
  const frames = await answers([{ kind: "request", type: "ping" }, ...[null, "", true, {}, [], [1]].map((id) => ({ kind: "request", id, type: "shutdown" })), ...[7, -1.5, 0].map((id) => ({ kind: "request", id, type: "ping" }))]);
  const refused = Array.from({ length: 7 }, () => [["response", "", "handler_failed", "id"], ["event", undefined, "handler_failed", undefined]]).flat();
  expect(frames.slice(0, 14).map(({ correlationId, error, kind, payload }) => [kind, correlationId, error?.code ?? payload?.["code"], error?.field])).toEqual(refused);
  for (let at = 0; at < 14; at += 2) expect([frames[at]?.ok, frames[at + 1]?.payload?.["message"]]).toEqual([false, frames[at]?.error?.message]);
  expect(frames.slice(14).map(({ correlationId, ok: isOk }) => [correlationId, isOk])).toEqual([[7, true], [-1.5, true], [0, true]]);
});

test("S-12 an id that waits for its answer is refused as a duplicate and the first still answers; once answered it works again", async () => {
  using host = hostOfExecutable();
  await host.start([[{ delayMs: 400 }, { text: "ok" }]]);
  const turn = host.send("send_message", { sessionId: host.sessionId, text: "x" }, "same");
  await host.event("llm_request");
  host.send("ping", {}, "same");
  const refused = await host.response("same");
  expect(refused.error).toEqual({ message: "duplicate request id", code: "handler_failed" });
  await expectRefusal(host, refused);
  const answer = await host.frame(({ correlationId, kind, ok: isOk }) => correlationId === turn && kind === "response" && isOk === true, "the turn's answer");
  expect(answer.payload).toMatchObject({ reason: "reply", turnCount: 1 });
  host.send("ping", {}, "same");
  await host.frame(({ correlationId, payload }) => correlationId === "same" && payload?.["version"] === "0.1.0", "the last ping");
  // A text and a number are two ids.
  const [text, number] = [host.send("ping", {}, "7"), host.send("ping", {}, 7)];
  expect([(await host.response(text)).ok, (await host.response(number)).ok]).toEqual([true, true]);
  await endsWell(host);
});

test("S-13 a payload that is no object is refused by name; ping, skill_list and shutdown ignore theirs; absent and null are an empty one", async () => {
  using host = hostOfExecutable();
  for (const payload of [[], [1], "x", 7, true, false]) await expectRefusal(host, await host.ask("cancel", payload), "payload");
  for (const payload of [undefined, null, [], "x", 7, { extra: 1 }]) {
    expect([(await host.ask("ping", payload)).ok, (await host.ask("skill_list", payload)).payload]).toEqual([true, { skills: [] }]);
    expect([(await host.ask("list_sessions", payload === undefined ? undefined : null)).payload, (await host.ask("models_list", null)).ok]).toEqual([{ sessions: [] }, true]);
  }
  await expectRefusal(host, await host.ask("cancel"), "sessionId");
  expect((await host.ask("shutdown", [])).payload).toEqual({ ok: true });
  await endsWell(host);
});

test("S-14 behind each hard failure comes its error at once: equal message, a stack, the same id", async () => {
  using host = hostOfExecutable();
  const asked: [HostRequestType, unknown, string | undefined, string][] = [
    ["start_session", {}, "workingDir", "workingDir: "],
    ["start_session", { workingDir: host.workingDir, model: "none" }, undefined, "unknown model: none"],
    ["send_message", { sessionId: "s-1", text: "x" }, undefined, "no active session with id s-1"],
    ["skill_install", { sourcePath: "x" }, undefined, "no active session — call start_session first"],
    ["compact_session", { sessionId: "s-1" }, undefined, "no active session — call start_session first"],
    ["set_model", { model: "none" }, undefined, "unknown model: none"],
    ["cancel", [], "payload", "payload: "],
  ];
  // All in one write, so that anything could come in between.
  const ids = host.sendAll(asked.map(([type, payload]) => [type, payload]));
  for (const [index, id] of ids.entries()) {
    const refused = await host.response(id);
    await expectRefusal(host, refused, asked[index]?.[2]);
    expect(refused.error?.message).toStartWith(asked[index]?.[3] ?? "?");
  }
  await endsWell(host);
});

describe("fields", () => {
  const missing = Symbol("missing");
  const id = [1, null, missing, {}, []];
  const text = [...id, ""];
  /** Field by field what it must not hold; written off the contract, not off the schema. */
  const wrong: { [Type in HostRequestType]?: { [field: string]: unknown[] } } = {
    start_session: { workingDir: text, metadata: ["x", 1, [], true], resumeSessionId: [1, "", {}], approvalLevel: [0, 6, 1.5, "2", true], model: [1, "", {}] },
    send_message: { sessionId: id, text: [...text, " \n"], maxSteps: [0, -1, 1.5, "3", true, {}] },
    steer_message: { sessionId: id, text: id },
    cancel: { sessionId: id },
    approval_response: { approvalId: id, approved: ["false", 1, null, missing], reason: [1, {}, []], grant: ["always", 1, true] },
    get_session: { sessionId: id },
    skill_install: { sourcePath: text, force: ["true", 1, {}] },
    skill_uninstall: { name: text },
    compact_session: { sessionId: id },
    get_compaction: { sessionId: id },
    list_sessions: { limit: [0, 501, 1.5, "5", true], workingDir: [1, {}, []] },
    set_model: { model: text, sessionId: [1, {}, []] },
  };
  let host: SidecarHost;
  beforeAll(async () => {
    host = hostOfExecutable({ timeoutMs: 120_000 });
    await host.start([[{ text: "a" }]]);
    await host.turn();
  });
  afterAll(async () => {
    await endsWell(host);
    host[Symbol.dispose]();
  });
  const valid = (): { [Type in HostRequestType]?: { [field: string]: unknown } } => {
    const { sessionId } = host;
    return {
      start_session: { workingDir: host.workingDir }, send_message: { sessionId, text: "x" }, steer_message: { sessionId, text: "x" }, cancel: { sessionId }, approval_response: { approvalId: "x", approved: true },
      get_session: { sessionId }, skill_install: { sourcePath: "nowhere" }, skill_uninstall: { name: "nothing" }, compact_session: { sessionId }, get_compaction: { sessionId }, set_model: { model: "x" },
    };
  };
  const state = async (): Promise<unknown> => Promise.all((["get_session", "skill_list", "list_sessions", "models_list", "ping"] as const).map(async (type) => (await host.ask(type, { sessionId: host.sessionId })).payload));

  const cases = Object.entries(wrong).flatMap(([type, fields]) => Object.entries(fields).map(([field, values]) => [type as HostRequestType, field, values] as const));
  test.each(cases)("S-15 %s: a wrong %s is refused by name and changes nothing", async (type, field, values) => {
    const before = await state();
    for (const value of values) {
      const { [field]: _left, ...rest } = valid()[type] ?? {};
      const refused = await host.ask(type, value === missing ? rest : { ...rest, [field]: value });
        await expectRefusal(host, refused, field);
      expect(refused.error?.message).toContain(field);
    }
    expect(await state()).toEqual(before);
  });
});

test("S-16 fields that nobody knows are ignored: in the envelope, in every payload, also under the names of prototypes", async () => {
  using host = hostOfExecutable();
  const raw = (type: string, payload: string): Promise<Frame> => {
    const id = `raw-${host.requests.length}`;
    const line = `{"extra":[{"a":null}],"ok":true,"error":{},"__proto__":{"kind":"event"},"constructor":1,"kind":"request","id":"${id}","type":"${type}","payload":${payload}}`;
    host.requests.push({ id, type, line });
    host.transport.write(`${line}\n`);
    return host.response(id);
  };
  const more = `"extra":{"b":[1]},"__proto__":{"maxSteps":"x","resumeSessionId":1},"constructor":{},"toString":1`;
  expect((await raw("ping", `{${more}}`)).ok).toBe(true);
  const model = host.script([[list], ok, ok]);
  const started = await raw("start_session", `{${more},"workingDir":${JSON.stringify(host.workingDir)},"model":${JSON.stringify(model)}}`);
  const sessionId = JSON.stringify(started.payload?.["sessionId"]);
  const asked: [HostRequestType, string][] = [["send_message", `"text":"x"`], ["steer_message", `"text":"x"`], ["cancel", ""], ["get_session", ""], ["skill_list", ""], ["compact_session", ""], ["get_compaction", ""], ["list_sessions", ""], ["models_list", ""]];
  for (const [type, fields] of asked) expect([type, (await raw(type, `{"sessionId":${sessionId}${fields === "" ? "" : `,${fields}`},${more}}`)).ok]).toEqual([type, true]);
  expect((await raw("approval_response", `{"approvalId":"x","approved":true,${more}}`)).payload).toEqual({ resolved: false });
  expect((await raw("skill_uninstall", `{"name":"x",${more}}`)).payload).toEqual({ removed: false });
  expect((await raw("set_model", `{"model":${JSON.stringify(model)},${more}}`)).payload).toMatchObject({ appliesFrom: "now" });
  await endsWell(host);
});

test("S-17 ping tells who answers and loads nothing; while the model writes and while a tool runs it is answered within 250 ms", async () => {
  using host = hostOfExecutable({ config: { agent: { approvalLevel: 5 } } });
  const told = (await host.ask("ping")).payload;
  expect(told).toMatchObject({ ok: true, version: "0.1.0", stateDir: host.folder.at("state"), protocol: { name: "atomic-agent-sidecar", revision: 1 } });
  expect(told?.["capabilities"]).toEqual(expect.arrayContaining(["approval_withdrawn", "approval_grants", "assistant_reset", "compaction", "event_correlation", "list_sessions", "models", "resume_session", "step_index"]));
  expect(["model" in (told ?? {}), "engine" in (told ?? {})]).toEqual([false, false]);
  expect(["sessions.sqlite", "engine", "models"].filter((name) => existsSync(host.folder.at(`state/${name}`)))).toEqual([]);
  await host.start([[shell("sleep 2")], [{ repeat: 400, items: [{ text: "a word " }, { delayMs: 5 }] }]]);
  const turn = host.message();
  for (const phase of ["tool_call_started", "assistant_delta"]) {
    await host.event(phase);
    await within(250, async () => {
      const startedAt = performance.now();
      expect((await host.ask("ping")).payload).toMatchObject({ ok: true, version: "0.1.0", engine: "scripted" });
      return performance.now() - startedAt;
    });
    expect(payloadsOf(host, phase === "tool_call_started" ? "tool_call_result" : "assistant_reply")).toEqual([]);
  }
  await host.ask("cancel", { sessionId: host.sessionId });
  expect((await host.response(turn)).payload?.["reason"]).toBe("cancelled");
  await endsWell(host);
});

test("S-17 requests that need no waiting and arrive together are answered in the order of arrival, in a turn as well", async () => {
  using host = hostOfExecutable();
  await host.start([hang]);
  const turn = host.message();
  await host.event("assistant_delta");
  const { sessionId } = host;
  const asked: [HostRequestType, unknown][] = Array.from({ length: 5 }, () => [["skill_list", {}], ["ping", {}], ["get_session", { sessionId }], ["steer_message", { sessionId, text: " " }], ["cancel", { sessionId: "s-other" }], ["approval_response", { approvalId: "x", approved: true }]] as [HostRequestType, unknown][]).flat();
  const ids = host.sendAll(asked);
  await host.response(ids.at(-1) ?? "");
  expect(host.frames.filter(({ correlationId, kind }) => kind === "response" && ids.includes(correlationId ?? "")).map(({ correlationId }) => correlationId)).toEqual(ids);
  await host.ask("cancel", { sessionId });
  await host.response(turn);
  await endsWell(host);
});

test("the checkers take all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
