// Steering and cancelling the executable in each phase (sidecar.md 3.5, 5.11, 5.12; S-45 to S-49).
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { running, sleeper } from "../support/processes.ts";
import { answer, closing, endsWell, hang, list, ok, payloadsOf, question, shell, stateOf, turnsOf, within, write } from "../support/sidecar-calls.ts";
import { checkSeen, hostOfExecutable, type SidecarHost } from "../support/sidecar-host.ts";
import { until } from "../support/until.ts";

const steer = async (host: SidecarHost, text: string, sessionId = host.sessionId): Promise<unknown> => (await host.ask("steer_message", { sessionId, text })).payload;

test("S-45 a steer in step 0 is applied in step 1 behind its step_started; one in the last step comes back between turn_finished and the response", async () => {
  using host = hostOfExecutable();
  await host.start([[{ delayMs: 300 }, list], [{ expect: { contains: "look at b" } }, { text: "x", chunk: 9 }, { delayMs: 300 }]]);
  const turn = host.message();
  await host.event("llm_request");
  expect(await steer(host, "  look at b \n")).toEqual({ steered: true });
  await host.event("assistant_delta");
  expect(await steer(host, "too late")).toEqual({ steered: true });
  expect(await steer(host, "later still")).toEqual({ steered: true });
  expect((await host.response(turn)).payload).toMatchObject({ reason: "reply", stepCount: 2 });
  const order = host.order(turn);
  const applied = order.indexOf("steer_applied");
  expect(order.slice(applied - 1, applied + 2)).toEqual(["step_started", "steer_applied", "llm_request"]);
  expect(payloadsOf(host, "steer_applied")).toEqual([{ sessionId: host.sessionId, text: "look at b", stepIndex: 1 }]);
  expect(order.slice(-4)).toEqual(["turn_finished(reply)", "steer_undelivered", "steer_undelivered", "R(reply)"]);
  expect(payloadsOf(host, "steer_undelivered").map(({ text }) => text)).toEqual(["too late", "later still"]);
  expect((await turnsOf(host)).filter(({ kind }) => kind === "user").map(({ steered, text }) => [text, steered])).toEqual([["go", undefined], ["look at b", true]]);
  await endsWell(host);
});

test("S-46 a steer is refused when idle, for another id, blank and as the 17th; while an approval is open it is taken, and applied in the next step in order", async () => {
  using host = hostOfExecutable();
  expect(await steer(host, "early", "s-x")).toEqual({ steered: false });
  await host.start([[write("a")], ok]);
  expect(await steer(host, "idle")).toEqual({ steered: false });
  const turn = host.message();
  await question(host, 0);
  expect([await steer(host, "x", "s-other"), await steer(host, ""), await steer(host, " \t\n")]).toEqual([{ steered: false }, { steered: false }, { steered: false }]);
  const taken: unknown[] = [];
  for (let index = 0; index < 17; index++) taken.push(await steer(host, `number ${index}`));
  expect(taken).toEqual([...Array.from({ length: 16 }, () => ({ steered: true })), { steered: false }]);
  expect(payloadsOf(host, "tool_call_result")).toEqual([]);
  await answer(host, 0, { approved: true });
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  expect(payloadsOf(host, "steer_applied").map(({ stepIndex, text }) => [stepIndex, text])).toEqual(Array.from({ length: 16 }, (_, index) => [1, `number ${index}`]));
  expect(await steer(host, "after")).toEqual({ steered: false });
  await endsWell(host);
});

const phases: { [phase: string]: { step: Parameters<SidecarHost["start"]>[0][number]; reached: (host: SidecarHost) => Promise<unknown>; order: string[] } } = {
  inference: { step: hang, reached: (host) => host.event("assistant_delta"), order: ["assistant_delta", "error(step_error:cancelled,false)", ...closing] },
  "the time before its first token": { step: [{ hang: true }], reached: (host) => host.event("llm_request"), order: ["error(step_error:cancelled,false)", ...closing] },
  "a wait for the provider": { step: [{ error: "gone", category: "transport" }], reached: (host) => host.event("error"), order: ["error(step_error:transport,true)", "error(step_error:cancelled,false)", ...closing] },
  "an approval": {
    step: [write("a.txt"), list],
    reached: (host) => question(host, 0),
    order: ["llm_response", "tool_call_started(fs.write)", "tool_call_started(fs.list)", "approval_request(fs.write)", "approval_withdrawn(cancelled)", "tool_call_result(fs.write,error)", "tool_call_result(fs.list,error)", "error(step_error:cancelled,false)", ...closing],
  },
  "a tool": {
    step: [shell("echo begun > begun; sleep 60")],
    reached: async (host) => (await answer(host, 0, { approved: true }), await until("the command runs", () => existsSync(host.folder.at("workspace/begun")))),
    order: ["llm_response", "tool_call_started(shell.run)", "approval_request(shell.run)", "tool_call_result(shell.run,error)", "error(step_error:cancelled,false)", ...closing],
  },
};

test.each(Object.keys(phases))("S-47 cancel in %s: its answer first, then the closing frames of 5.11 within two seconds; the next message works", async (phase) => {
  const { order, reached, step } = phases[phase] as (typeof phases)[string];
  await within(2000, async () => {
    using host = hostOfExecutable({ config: { llm: { retry: { maxRetries: 1, baseDelayMs: 60_000 } } } });
    await host.start([step, [{ text: "still here" }]]);
    const turn = host.message(phase);
    await reached(host);
    const startedAt = performance.now();
    const cancelled = await host.ask("cancel", { sessionId: host.sessionId });
    expect(cancelled.payload).toEqual({ cancelled: true, wasRunning: true, queued: 0 });
    expect(host.frames.slice(0, host.frames.indexOf(cancelled)).some(({ type }) => type === "session_failed" || type === "approval_withdrawn")).toBe(false);
    expect((await host.response(turn)).payload).toMatchObject({ reason: "cancelled", turnIndex: 0 });
    const durationMs = performance.now() - startedAt;
    expect(host.order(turn).slice(4)).toEqual(order);
    expect(payloadsOf(host, "tool_call_result").map(({ summary }) => String(summary)).filter((summary) => !summary.startsWith("cancelled"))).toEqual([]);
    expect(payloadsOf(host, "session_failed").map(({ category }) => category)).toEqual(["cancelled"]);
    expect(await stateOf(host)).toMatchObject({ status: "cancelled", lastError: null, turnCount: 1, stepCount: 1 });
    expect((await turnsOf(host)).filter(({ stopped }) => stopped === true).map(({ text }) => text)).toEqual(phase === "inference" ? ["half"] : []);
    expect((await host.turn()).payload).toMatchObject({ reason: "reply", turnIndex: 1 });
    await endsWell(host);
    return durationMs;
  });
});

test("S-48 cancel with two queued: each is answered in order without events; idle it is true, for another id false and no error", async () => {
  using host = hostOfExecutable();
  expect((await host.ask("cancel", { sessionId: "s-x" })).payload).toEqual({ cancelled: false });
  await host.start([hang, ok]);
  const cancel = async (sessionId = host.sessionId): Promise<unknown> => (await host.ask("cancel", { sessionId })).payload;
  expect(await cancel()).toEqual({ cancelled: true, wasRunning: false, queued: 0 });
  const ids = [host.message("a"), host.message("b"), host.message("c")];
  await host.event("assistant_delta");
  const other = await host.ask("cancel", { sessionId: "s-other" });
  expect([other.ok, other.payload]).toEqual([true, { cancelled: false }]);
  expect(await cancel()).toEqual({ cancelled: true, wasRunning: true, queued: 2 });
  await host.response(ids[2] ?? "");
  expect(ids.slice(1).map((id) => host.order(id))).toEqual([["R(cancelled,unstarted)"], ["R(cancelled,unstarted)"]]);
  expect((await host.response(ids[1] ?? "")).payload).toEqual({ reason: "cancelled", turnCount: 1, stepCount: 1, started: false });
  expect(host.frames.filter(({ correlationId, kind }) => kind === "response" && ids.includes(correlationId ?? "")).map(({ correlationId }) => correlationId)).toEqual(ids);
  expect((await host.turn()).payload).toMatchObject({ reason: "reply", turnIndex: 1 });
  await endsWell(host);
});

test("S01 cancel in the same write as the message, and twice", async () => {
  using host = hostOfExecutable();
  await host.start([[{ text: "never said" }, { hang: true }], ok]);
  const { sessionId } = host;
  const [sent = ""] = host.sendAll([["send_message", { sessionId, text: "a" }], ["cancel", { sessionId }], ["cancel", { sessionId }]]);
  expect((await host.response(sent)).payload?.["reason"]).toBe("cancelled");
  const turn = host.message("b");
  await host.event("llm_request");
  await Promise.all([host.ask("cancel", { sessionId }), host.ask("cancel", { sessionId })]);
  expect((await host.response(turn)).payload?.["reason"]).toBe("cancelled");
  expect((await host.turn("c")).payload?.["reason"]).toBe("reply");
  await endsWell(host);
});

test.skipIf(process.platform !== "linux")("S-49 cancel while a tool runs a tree of processes: all of it is gone when the turn is answered, also what left its group", async () => {
  const { tree, word } = sleeper();
  using host = hostOfExecutable({ config: { agent: { approvalLevel: 5 } } });
  await host.start([[shell(tree)], ok]);
  const turn = host.message();
  await until("the whole tree runs", () => running(word) >= 3);
  await host.ask("cancel", { sessionId: host.sessionId });
  expect((await host.response(turn)).payload?.["reason"]).toBe("cancelled");
  expect(running(word)).toBe(0);
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  await endsWell(host);
});

test("the checkers take all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
