// Turns on the sidecar's wire, one test a statement (sidecar.md 13): whole orders, numbers, ceilings, failures.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import type { ScriptItem } from "../../../support/scripted.ts";
import { checkSeen, hostInProcess, listOf, type SidecarHost } from "../../../support/sidecar-host.ts";

const list: ScriptItem = { call: "fs.list", args: { path: "." } };
const read = (path: string): ScriptItem => ({ call: "fs.read", args: { path } });
const reply = (text: string): ScriptItem => ({ call: "reply", args: { text } });
/** In process there is no executable that could confine itself. */
const unconfined = { agent: { approvalLevel: 5 }, tools: { shell: { sandbox: "off" } } };
const quick = { llm: { retry: { baseDelayMs: 1 } }, agent: { providerWait: { enabled: false } } };

async function endsWell(host: SidecarHost): Promise<void> {
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
}

const deltasOf = (host: SidecarHost): string => host.frames.map(({ payload, type }) => (type === "assistant_delta" ? String(payload?.["text"]) : "")).join("");
const head = ["user_message", "turn_started"];
const replied = ["tool_call_started(reply)", "tool_call_result(reply,ok)", "assistant_reply"];

test("S-28 a plain reply: the exact order of 5.4, and deltas that sum up to it", async () => {
  using host = hostInProcess();
  await host.start([[{ thinking: "hm, well", chunk: 4 }, { text: "Hello, you", chunk: 5 }]]);
  const answer = await host.turn();
  expect(host.order(answer.correlationId ?? "")).toEqual([
    ...head,
    "step_started",
    "llm_request",
    "reasoning_delta",
    "reasoning_delta",
    "assistant_delta",
    "assistant_delta",
    "llm_response",
    ...replied,
    "step_finished",
    "turn_finished(reply)",
    "R(reply)",
  ]);
  expect(answer.payload).toMatchObject({ reason: "reply", turnCount: 1, stepCount: 1, turnIndex: 0 });
  expect((await host.event("assistant_reply")).payload?.["text"]).toBe("Hello, you");
  expect(deltasOf(host)).toBe("Hello, you");
  await endsWell(host);
});

test("S-29 every event of a turn carries the id of its request, also a number", async () => {
  using host = hostInProcess();
  await host.start([[list], [{ text: "ok" }]]);
  host.send("send_message", { sessionId: host.sessionId, text: "go" }, 7);
  await host.response(7);
  const started = host.frames.findIndex(({ type }) => type === "user_message");
  const ended = host.frames.findIndex(({ type }) => type === "turn_finished");
  expect(host.frames.slice(started, ended + 1).every(({ correlationId }) => correlationId === 7)).toBe(true);
  await endsWell(host);
});

test("S-30 two messages at once run one after the other and are answered in order", async () => {
  using host = hostInProcess();
  await host.start([[{ delayMs: 20 }, { text: "one" }], [{ text: "two" }]]);
  const [first = "", second = ""] = host.sendAll([["send_message", { sessionId: host.sessionId, text: "a" }], ["send_message", { sessionId: host.sessionId, text: "b" }]]);
  await host.response(second);
  const at = (id: string | number, fits: (type: string | undefined, kind: string) => boolean): number => host.frames.findIndex(({ correlationId, kind, type }) => correlationId === id && fits(type, kind));
  expect(at(first, (type) => type === "turn_finished")).toBeLessThan(at(first, (_, kind) => kind === "response"));
  expect(at(first, (_, kind) => kind === "response")).toBeLessThan(at(second, (type) => type === "user_message"));
  await endsWell(host);
});

test("S-31 an unknown session, a blank or a missing text are refused", async () => {
  using host = hostInProcess();
  await host.start([]);
  expect((await host.ask("send_message", { sessionId: "s-1", text: "x" })).error).toEqual({ message: "no active session with id s-1", code: "handler_failed" });
  for (const text of [" \n", undefined]) expect((await host.ask("send_message", { sessionId: host.sessionId, text })).error?.field).toBe("text");
  await endsWell(host);
});

test("S-32 a model that only calls tools makes 25 steps when maxSteps is omitted", async () => {
  using host = hostInProcess({ config: { agent: { loop: { wanderWarnAt: 99, wanderStopAt: 99, vetoAt: 99 } } } });
  await host.start(Array.from({ length: 30 }, (_, index) => [read(`missing-${index}`)]));
  const answer = await host.turn();
  expect(answer.payload).toMatchObject({ reason: "max_steps", stepCount: 25 });
  expect((await host.event("assistant_reply")).payload?.["text"]).toStartWith("(paused: ");
  expect(host.order(answer.correlationId ?? "").slice(-5)).toEqual(["assistant_delta", "assistant_reply", "session_completed(max_steps)", "turn_finished(max_steps,step_ceiling)", "R(max_steps)"]);
  expect((await host.ask("get_session", { sessionId: host.sessionId })).payload).toMatchObject({ status: "stalled", lastError: "task_stopped:step_ceiling: 25 steps without reply" });
  await endsWell(host);
});

test("S-33 maxSteps 30 makes 30 steps, 1 offers only reply and finish, anything but a whole number from 1 is refused, null counts as omitted", async () => {
  using host = hostInProcess({ files: { "a.txt": "a" }, config: { agent: { loop: { wanderWarnAt: 99, wanderStopAt: 99, vetoAt: 99 } } } });
  await host.start([...Array.from({ length: 30 }, (_, index) => [list, read(`missing-${index}`)]), [{ expect: { tools: [] } }, list], [{ text: "ok" }]]);
  expect((await host.turn("a", { maxSteps: 30 })).payload).toMatchObject({ reason: "max_steps", stepCount: 30 });
  const answer = await host.turn("b", { maxSteps: 1 });
  expect(answer.payload).toMatchObject({ reason: "max_steps", stepCount: 31 });
  expect(host.order(answer.correlationId ?? "")).toContain("tool_call_result(fs.list,error)");
  for (const maxSteps of [0, -1, 1.5, "3"]) expect((await host.turn("c", { maxSteps })).error?.field).toBe("maxSteps");
  expect((await host.turn("d", { maxSteps: null })).payload?.["reason"]).toBe("reply");
  await endsWell(host);
});

test("S-34 a reply on the last permitted step is a reply, without a word of a pause", async () => {
  using host = hostInProcess();
  await host.start([[list], [{ text: "done" }]]);
  expect((await host.turn("a", { maxSteps: 2 })).payload?.["reason"]).toBe("reply");
  expect((await host.event("assistant_reply")).payload?.["text"]).toBe("done");
  await endsWell(host);
});

test("S-35 finish completes the session without a reply, and it can still be used", async () => {
  using host = hostInProcess();
  await host.start([[{ call: "finish", args: { summary: "all done" } }], [{ text: "again" }], [list, { call: "finish", args: { summary: "late" } }]]);
  const answer = await host.turn();
  expect(host.order(answer.correlationId ?? "")).toEqual([
    ...head,
    "step_started",
    "llm_request",
    "llm_response",
    "tool_call_started(finish)",
    "tool_call_result(finish,ok)",
    "step_finished",
    "session_completed(finish)",
    "turn_finished(finish)",
    "R(finish)",
  ]);
  expect((await host.ask("get_session", { sessionId: host.sessionId })).payload?.["status"]).toBe("completed");
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  const mixed = await host.turn();
  expect(host.order(mixed.correlationId ?? "").slice(5, 9)).toEqual(["tool_call_started(fs.list)", "tool_call_started(finish)", "tool_call_result(fs.list,ok)", "tool_call_result(finish,ok)"]);
  expect(mixed.payload?.["reason"]).toBe("finish");
  await endsWell(host);
});

test("S-36 batch fields stand exactly where a step has several calls; all starts come before any result", async () => {
  using host = hostInProcess({ files: { "a.txt": "a" } });
  await host.start([[list], [list, read("a.txt"), read("missing")], [{ text: "ok" }]]);
  const answer = await host.turn();
  const calls = host.frames.filter(({ type }) => type === "tool_call_started" || type === "tool_call_result");
  expect(calls.every(({ payload }) => payload?.["stepIndex"] === -1 && typeof payload["toolCallId"] === "string")).toBe(true);
  const places = (type: string, step: number): unknown[] => calls.filter((frame) => frame.type === type && frame.payload?.["step"] === step).map(({ payload }) => [payload?.["batchIndex"], payload?.["batchSize"]]);
  expect(places("tool_call_started", 0)).toEqual([[undefined, undefined]]);
  expect(places("tool_call_started", 1)).toEqual([[0, 3], [1, 3], [2, 3]]);
  const order = host.order(answer.correlationId ?? "");
  expect(order.slice(0, -6).filter((token) => token.startsWith("tool_call_")).map((token) => token.split("(")[0]).slice(2)).toEqual([...Array.from({ length: 3 }, () => "tool_call_started"), ...Array.from({ length: 3 }, () => "tool_call_result")]);
  await endsWell(host);
});

test("S-37 a reply beside work is a progress note, and so is plain text beside calls", async () => {
  using host = hostInProcess();
  await host.start([[reply("I look"), list], [{ text: "\n\n" }, { text: "more" }, { call: "fs.list", args: { path: "." , recursive: true } }], [{ text: "done" }]]);
  const answer = await host.turn();
  const notes = host.frames.filter(({ type }) => type === "assistant_reply").map(({ payload }) => [payload?.["text"], payload?.["progressNote"]]);
  expect(notes).toEqual([["I look", true], ["more", true], ["done", undefined]]);
  const order = host.order(answer.correlationId ?? "");
  const note = order.indexOf("assistant_reply(true)");
  expect(order.slice(note - 2, note + 2)).toEqual(["tool_call_result(fs.list,ok)", "tool_call_result(reply,ok)", "assistant_reply(true)", "step_finished"]);
  await endsWell(host);
});

test("S-39 reads overlap, writes don't; a failed command says its exit code and the turn goes on", async () => {
  using host = hostInProcess({ config: unconfined });
  await host.start([[{ call: "shell.run", args: { command: "exit 3" } }], [{ call: "fs.write", args: { path: "a", content: "1" } }, { call: "fs.write", args: { path: "a", content: "2" } }], [{ text: "ok" }]]);
  const answer = await host.turn();
  expect((await host.event("tool_call_result", { tool: "shell.run" })).payload).toMatchObject({ status: "error", exitCode: 3 });
  expect(answer.payload?.["reason"]).toBe("reply");
  await endsWell(host);
});

test("S-40 a model that always fails: step errors, session_failed, and an answer that is ok", async () => {
  using host = hostInProcess({ config: quick });
  await host.start([[{ text: "half" }, { error: "broken", category: "model" }], [{ text: "fine" }]]);
  const answer = await host.turn();
  expect(host.order(answer.correlationId ?? "")).toEqual([
    ...head,
    "step_started",
    "llm_request",
    "assistant_delta",
    "error(step_error:model,false)",
    "step_finished",
    "session_failed",
    "turn_finished(failed)",
    "R(failed)",
  ]);
  expect([answer.ok, answer.payload?.["error"]]).toEqual([true, { message: "broken", category: "model" }]);
  const state = (await host.ask("get_session", { sessionId: host.sessionId })).payload;
  expect(state).toMatchObject({ status: "failed", lastError: "broken" });
  expect(listOf<{ text: string }>(state, "turns").at(-1)?.text).toBe("[the turn failed: broken]");
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  await endsWell(host);
});

test("S-41 one transport error is one error that is tried again, then a normal turn", async () => {
  using host = hostInProcess({ config: quick });
  await host.start([[{ error: "gone", category: "transport" }], [{ text: "back" }]]);
  const answer = await host.turn();
  expect(host.order(answer.correlationId ?? "")).toEqual([...head, "step_started", "llm_request", "error(step_error:transport,true)", "llm_request", "assistant_delta", "llm_response", ...replied, "step_finished", "turn_finished(reply)", "R(reply)"]);
  expect(host.frames.filter(({ type }) => type === "llm_request").map(({ payload }) => payload?.["attempt"])).toEqual([1, 2]);
  await endsWell(host);
});

test("S-42 an attempt given up after deltas is reset, and the deltas after it are the reply", async () => {
  using host = hostInProcess({ config: quick });
  await host.start([[{ text: "wro", chunk: 9 }, { error: "gone", category: "transport" }], [{ text: "cut", chunk: 9 }, { stop: "length" }], [{ text: "right", chunk: 9 }]]);
  const answer = await host.turn();
  expect(host.order(answer.correlationId ?? "").slice(2, -4)).toEqual([
    "step_started",
    "llm_request",
    "assistant_delta",
    "error(step_error:transport,true)",
    "assistant_reset",
    "llm_request",
    "assistant_delta",
    "llm_response",
    "error(step_error:model,true)",
    "assistant_reset",
    "llm_request",
    "assistant_delta",
    "llm_response",
    ...replied.slice(0, 2),
  ]);
  expect((await host.event("assistant_reply")).payload?.["text"]).toBe("right");
  await endsWell(host);
});

test("S-43 the same call with the same result again and again: a warning, refusals, a reply of the product's own", async () => {
  using host = hostInProcess();
  await host.start(Array.from({ length: 20 }, () => [list]));
  const answer = await host.turn();
  const levels = host.frames.filter(({ type }) => type === "loop_detected").map(({ payload }) => [payload?.["level"], payload?.["count"]]);
  expect(levels).toEqual([["warn", 3], ["veto", 5], ["veto", 6], ["veto", 7], ["stop", 3]]);
  expect(host.order(answer.correlationId ?? "").slice(-5)).toEqual(["step_finished", "assistant_delta", "assistant_reply", "turn_finished(reply,loop_breaker)", "R(reply)"]);
  await endsWell(host);
});

test("S-44 every attempt has its request and its response, and tokensUsed counts them", async () => {
  using host = hostInProcess();
  await host.start([[list], [{ usage: { input: 10, output: 5, cacheRead: 20 } }, { text: "ok" }]]);
  const answer = await host.turn();
  expect(host.frames.filter(({ type }) => type === "llm_request").length).toBe(2);
  expect(host.frames.findLast(({ type }) => type === "llm_response")?.payload).toMatchObject({ promptTokens: 30, completionTokens: 5, cachedTokens: 20, stop: "end" });
  expect(host.frames.filter(({ type }) => type === "step_finished").map(({ payload }) => Number(payload?.["tokensUsed"]) > 0)).toEqual([true, true]);
  expect(host.frames.findLast(({ type }) => type === "step_finished")?.payload?.["tokensUsed"]).toBe(35);
  expect(answer.payload?.["usage"]).toMatchObject({ cachedTokens: 20 });
  await endsWell(host);
});

test("C1 a second reply in one step is a tool error; the deltas belong to the first", async () => {
  using host = hostInProcess();
  await host.start([[reply("first"), reply("second")]]);
  const answer = await host.turn();
  expect(host.order(answer.correlationId ?? "").slice(-7)).toEqual(["tool_call_started(reply)", "tool_call_result(reply,ok)", "assistant_reply", "tool_call_result(reply,error)", "step_finished", "turn_finished(reply)", "R(reply)"]);
  expect(deltasOf(host)).toBe("first");
  await endsWell(host);
});

test("11 an unread provider parks the step, and its return is told before the next request", async () => {
  using host = hostInProcess({ config: { llm: { retry: { maxRetries: 0 } }, agent: { providerWait: { maxWaitMs: 30 } } } });
  await host.start([[{ error: "gone", category: "transport" }], [{ text: "back" }]]);
  const answer = await host.turn();
  expect(host.order(answer.correlationId ?? "").slice(3, 8)).toEqual(["llm_request", "error(step_error:transport,true)", "provider_waiting", "provider_recovered", "llm_request"]);
  expect((await host.event("provider_waiting")).payload).toMatchObject({ retryInMs: 30, waitedMs: 0, maxWaitMs: 30 });
  expect(answer.payload?.["reason"]).toBe("reply");
  await endsWell(host);
});

test("11 a leg in which nothing went well ends the turn below its ceiling", async () => {
  using host = hostInProcess({ config: { agent: { maxSteps: 2, loop: { wanderStopAt: 99, wanderWarnAt: 99 } } } });
  await host.start(Array.from({ length: 6 }, (_, index) => [read(`missing-${index}`)]));
  const answer = await host.turn("go", { maxSteps: 6 });
  expect(host.order(answer.correlationId ?? "").at(-2)).toBe("turn_finished(max_steps,no_progress)");
  expect(answer.payload?.["stepCount"]).toBe(2);
  await endsWell(host);
});

test("nothing of a session's files is left in the temporary folder", async () => {
  using host = hostInProcess({ config: unconfined });
  await host.start([[{ call: "shell.run", args: { command: 'echo "$TMPDIR"' } }], [{ text: "ok" }]]);
  await host.turn();
  const folder = String((await host.event("tool_call_result", { tool: "shell.run" })).payload?.["summary"]).trim();
  await endsWell(host);
  expect(existsSync(folder)).toBe(false);
});

test("the independent checker takes all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
