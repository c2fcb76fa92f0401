// Steering, cancelling and the end of a session on the sidecar's wire, one test a statement (sidecar.md 13).
import { expect, test } from "bun:test";
import type { ScriptItem } from "../../../support/scripted.ts";
import { checkSeen, hostInProcess, listOf, type SidecarHost } from "../../../support/sidecar-host.ts";

const list: ScriptItem = { call: "fs.list", args: { path: "." } };
const write: ScriptItem = { call: "fs.write", args: { path: "a.txt", content: "x" } };
const hang: ScriptItem[] = [{ text: "half a", chunk: 9 }, { hang: true }];
const closing = ["step_finished", "session_failed", "turn_finished(cancelled)", "R(cancelled)"];

async function endsWell(host: SidecarHost): Promise<void> {
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
}

test("S-45 steering in step 0 is applied in step 1; in the last step it comes back undelivered before the answer", async () => {
  using host = hostInProcess();
  await host.start([[{ delayMs: 60 }, list], [{ expect: { contains: "look at b" } }, { text: "x" }, { delayMs: 60 }]]);
  const turn = host.message();
  await host.event("llm_request");
  expect((await host.ask("steer_message", { sessionId: host.sessionId, text: "  look at b \n" })).payload).toEqual({ steered: true });
  await host.event("assistant_delta");
  await host.ask("steer_message", { sessionId: host.sessionId, text: "too late" });
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  const order = host.order(turn);
  expect(order.slice(order.indexOf("steer_applied") - 1, order.indexOf("steer_applied") + 2)).toEqual(["step_started", "steer_applied", "llm_request"]);
  expect((await host.event("steer_applied")).payload).toMatchObject({ text: "look at b", stepIndex: 1 });
  expect(order.slice(-3)).toEqual(["turn_finished(reply)", "steer_undelivered", "R(reply)"]);
  await endsWell(host);
});

test("S-46 steering is refused when idle, for another id, blank, and as the 17th; taken while an approval is open, and applied in order", async () => {
  using host = hostInProcess();
  await host.start([[write], [{ text: "ok" }]]);
  const steer = async (text: string, sessionId = host.sessionId): Promise<unknown> => (await host.ask("steer_message", { sessionId, text })).payload?.["steered"];
  expect(await steer("early")).toBe(false);
  const turn = host.message();
  const asked = await host.event("approval_request");
  expect([await steer("x", "s-other"), await steer(" \t")]).toEqual([false, false]);
  const taken: unknown[] = [];
  for (let index = 0; index < 17; index++) taken.push(await steer(`number ${index}`));
  expect(taken).toEqual([...Array.from({ length: 16 }, () => true), false]);
  await host.ask("approval_response", { approvalId: asked.payload?.["approvalId"], approved: true });
  await host.response(turn);
  expect(host.frames.filter(({ type }) => type === "steer_applied").map(({ payload }) => payload?.["text"])).toEqual(Array.from({ length: 16 }, (_, index) => `number ${index}`));
  await endsWell(host);
});

test("S-47 cancel in inference, in a wait, in an approval and in a tool: the answer first, then the closing frames; the next message works", async () => {
  using host = hostInProcess({ config: { tools: { shell: { sandbox: "off" } }, llm: { retry: { maxRetries: 1, baseDelayMs: 60_000 } } } });
  await host.start([hang, [{ error: "gone", category: "transport" }], [write, list], [{ call: "shell.run", args: { command: "sleep 60" } }], [{ text: "still here" }]]);
  const orders: string[][] = [];
  for (const phase of ["assistant_delta", "error", "approval_request", "tool"]) {
    const before = host.frames.length;
    const turn = host.message(phase);
    const isPhase = (index: number, type: string | undefined): boolean => index >= before && type === (phase === "tool" ? "approval_request" : phase);
    await host.frame((frame) => isPhase(host.frames.indexOf(frame), frame.type), phase);
    if (phase === "tool") {
      const asked = host.frames.findLast(({ type }) => type === "approval_request");
      await host.ask("approval_response", { approvalId: asked?.payload?.["approvalId"], approved: true });
    }
    const startedAt = performance.now();
    const cancelled = await host.ask("cancel", { sessionId: host.sessionId });
    expect(cancelled.payload).toEqual({ cancelled: true, wasRunning: true, queued: 0 });
    await host.response(turn);
    expect(performance.now() - startedAt).toBeLessThan(2000);
    orders.push(host.order(turn).slice(4));
  }
  expect(orders).toEqual([
    ["assistant_delta", "error(step_error:cancelled,false)", ...closing],
    ["error(step_error:transport,true)", "error(step_error:cancelled,false)", ...closing],
    [
      "llm_response",
      "tool_call_started(fs.write)",
      "tool_call_started(fs.list)",
      "approval_request(fs.write)",
      "approval_withdrawn(cancelled)",
      "tool_call_result(fs.write,error)",
      "tool_call_result(fs.list,error)",
      "error(step_error:cancelled,false)",
      ...closing,
    ],
    ["llm_response", "tool_call_started(shell.run)", "approval_request(shell.run)", "tool_call_result(shell.run,error)", "error(step_error:cancelled,false)", ...closing],
  ]);
  const summaries = host.frames.filter(({ type }) => type === "tool_call_result").map(({ payload }) => String(payload?.["summary"]));
  expect(summaries.filter((summary) => !summary.startsWith("cancelled"))).toEqual([]);
  const { payload } = await host.ask("get_session", { sessionId: host.sessionId });
  expect(payload).toMatchObject({ status: "cancelled", lastError: null, turnCount: 4, stepCount: 4 });
  expect(listOf<{ stopped?: boolean; text?: string }>(payload, "turns").find(({ stopped }) => stopped)?.text).toBe("half a");
  expect((await host.turn()).payload).toMatchObject({ reason: "reply", turnIndex: 4 });
  await endsWell(host);
});

test("S-48 cancel answers what is queued in order and without events; it is true when idle and false for another id", async () => {
  using host = hostInProcess();
  await host.start([hang, [{ text: "ok" }]]);
  expect((await host.ask("cancel", { sessionId: host.sessionId })).payload).toEqual({ cancelled: true, wasRunning: false, queued: 0 });
  const [first, second, third] = [host.message("a"), host.message("b"), host.message("c")];
  await host.event("assistant_delta");
  expect((await host.ask("cancel", { sessionId: "s-other" })).payload).toEqual({ cancelled: false });
  expect((await host.ask("cancel", { sessionId: host.sessionId })).payload).toEqual({ cancelled: true, wasRunning: true, queued: 2 });
  await host.response(third);
  expect([host.order(second), host.order(third)]).toEqual([["R(cancelled,unstarted)"], ["R(cancelled,unstarted)"]]);
  const answers = host.frames.filter(({ kind, correlationId }) => kind === "response" && [first, second, third].includes(correlationId ?? "")).map(({ correlationId }) => correlationId);
  expect(answers).toEqual([first, second, third]);
  expect((await host.turn()).payload).toMatchObject({ reason: "reply", turnIndex: 1 });
  await endsWell(host);
});

test("S01 cancel in the same write as the message, twice, and inside the arguments of a call", async () => {
  using host = hostInProcess();
  await host.start([[{ text: "never said" }, { hang: true }], [{ text: "ok" }]]);
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

test("S-66 shutdown when idle, and in a turn: closing frames, the answer of the turn, the answer of the shutdown", async () => {
  using host = hostInProcess();
  await host.start([hang, [write]]);
  const [turn, queued] = [host.message("a"), host.message("b")];
  await host.event("assistant_delta");
  const shutdown = host.send("shutdown");
  expect((await host.response(shutdown)).payload).toEqual({ ok: true });
  expect(host.order(turn).slice(-5)).toEqual(["error(step_error:cancelled,false)", ...closing]);
  const answers = host.frames.filter(({ kind, correlationId }) => kind === "response" && [turn, queued, shutdown].includes(correlationId ?? "")).map(({ correlationId }) => correlationId);
  expect(answers).toEqual([turn, queued, shutdown]);
  expect((await host.ask("shutdown")).payload).toEqual({ ok: true });
  expect((await host.ask("ping")).ok).toBe(true);
  expect((await host.ask("start_session", { workingDir: host.workingDir })).error?.message).toBe("shutting down");
  expect((await host.ask("send_message", { sessionId: host.sessionId, text: "x" })).error?.message).toStartWith("no active session with id ");
  expect((await host.ask("get_session", { sessionId: host.sessionId })).payload).toBeNull();
  await endsWell(host);
});

test("S-66 shutdown while an approval is open withdraws it for that reason", async () => {
  using host = hostInProcess();
  await host.start([[write]]);
  const turn = host.message();
  await host.event("approval_request");
  await host.ask("shutdown");
  expect(host.order(turn)).toContain("approval_withdrawn(shutdown)");
  await endsWell(host);
});

test("S-67 stdin closed in a turn: closing frames and exit 0 within two seconds; everything that was read is answered", async () => {
  using host = hostInProcess();
  await host.start([hang]);
  const turn = host.message();
  await host.event("assistant_delta");
  const asked = host.sendAll([["ping"], ["get_session", { sessionId: host.sessionId }], ["start_session", { workingDir: host.workingDir, model: host.script([]) }], ["models_list"], ["send_message", { sessionId: host.sessionId, text: "b" }]]);
  const startedAt = performance.now();
  await endsWell(host);
  expect(performance.now() - startedAt).toBeLessThan(2000);
  for (const id of [turn, ...asked]) expect(host.frames.filter(({ kind, correlationId }) => kind === "response" && correlationId === id).length).toBe(1);
});

test("S-32 a turn that is cancelled while it ends at the ceiling is cancelled, without another cause", async () => {
  const seen: unknown[] = [];
  for (const [at, count] of [["tool_call_result", 2], ["step_finished", 1], ["step_finished", 2], ["llm_response", 2]] as const) {
    for (const waits of [0, 1, 2, 4, 8]) {
      using host = hostInProcess();
      await host.start([[list], [list], [list]]);
      const asked = host.message("go", { maxSteps: 2 });
      while (host.frames.filter(({ type }) => type === at).length < count && !host.frames.some(({ correlationId, kind }) => kind === "response" && correlationId === asked)) await host.transport.changed();
      for (let wait = 0; wait < waits; wait += 1) await Promise.resolve();
      host.send("cancel", { sessionId: host.sessionId });
      await host.response(asked);
      const { payload } = await host.event("turn_finished");
      seen.push(`${String(payload?.["reason"])} ${String(payload?.["cause"])}`);
      await endsWell(host);
    }
  }
  expect([...new Set(seen)].toSorted()).toEqual(["cancelled undefined", "max_steps step_ceiling"]);
});

test("the independent checker takes all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
