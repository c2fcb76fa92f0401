// Turns of the executable in which something goes wrong: failures, attempts given up, calls repeated without end (sidecar.md 5.9, 5.10, 6, 11; S-40 to S-44).
import { expect, test } from "bun:test";
import { endsWell, list, ok, opening, payloadsOf, replied, stateOf, turnsOf, write } from "../support/sidecar-calls.ts";
import { checkSeen, hostOfExecutable } from "../support/sidecar-host.ts";

const quick = { llm: { retry: { maxRetries: 2, baseDelayMs: 1 } }, agent: { providerWait: { enabled: false } } };
const head = opening.slice(0, 3);

test.each(["transport", "model", "tool"] as const)("S-40 a model that fails with %s each time: step errors, the last without a retry, session_failed, and a response that is ok", async (category) => {
  using host = hostOfExecutable({ config: quick });
  await host.start([...Array.from({ length: category === "transport" ? 3 : 1 }, () => [{ text: "half", chunk: 9 }, { error: "broken", category }]), [{ text: "fine" }]]);
  const response = await host.turn();
  const again = category === "transport" ? Array.from({ length: 2 }, () => ["llm_request", "assistant_delta", "error(step_error:transport,true)", "assistant_reset"]).flat() : [];
  expect(host.order(response.correlationId ?? "")).toEqual([...head, ...again, "llm_request", "assistant_delta", `error(step_error:${category},false)`, "step_finished", "session_failed", "turn_finished(failed)", "R(failed)"]);
  expect([response.ok, response.payload?.["error"]]).toEqual([true, { message: "broken", category }]);
  expect(payloadsOf(host, "session_failed")).toEqual([{ sessionId: host.sessionId, error: "broken", category }]);
  for (const { message, stack } of payloadsOf(host, "error")) expect([message, typeof stack === "string" && stack !== ""]).toEqual(["broken", true]);
  expect(await stateOf(host)).toMatchObject({ status: "failed", lastError: "broken" });
  expect((await turnsOf(host)).at(-1)).toMatchObject({ kind: "assistant_reply", text: "[the turn failed: broken]" });
  expect((await host.turn()).payload).toMatchObject({ reason: "reply", turnIndex: 1 });
  await endsWell(host);
});

test("S-41 one transport error is one error that is tried again, then a normal turn", async () => {
  using host = hostOfExecutable({ config: quick });
  await host.start([[{ error: "gone", category: "transport" }], [{ text: "back", chunk: 9 }]]);
  const response = await host.turn();
  expect(host.order(response.correlationId ?? "")).toEqual([...head, "llm_request", "error(step_error:transport,true)", "llm_request", "assistant_delta", "llm_response", ...replied, "step_finished", "turn_finished(reply)", "R(reply)"]);
  expect(payloadsOf(host, "llm_request").map(({ attempt, stepIndex }) => [stepIndex, attempt])).toEqual([[0, 1], [0, 2]]);
  expect(payloadsOf(host, "llm_response").map(({ attempt }) => attempt)).toEqual([2]);
  expect(await stateOf(host)).toMatchObject({ status: "pending", lastError: null });
  await endsWell(host);
});

test("S-42 an attempt given up after deltas is reset, and the deltas behind it sum up to the reply", async () => {
  using host = hostOfExecutable({ config: quick });
  await host.start([[{ text: "wro", chunk: 9 }, { error: "gone", category: "transport" }], [{ text: "cut", chunk: 9 }, { stop: "length" }], [{ text: "right so", chunk: 3 }]]);
  const response = await host.turn();
  expect(host.order(response.correlationId ?? "").slice(2)).toEqual([
    "step_started", "llm_request", "assistant_delta", "error(step_error:transport,true)", "assistant_reset", "llm_request", "assistant_delta", "llm_response", "error(step_error:model,true)", "assistant_reset",
    "llm_request", "assistant_delta", "assistant_delta", "assistant_delta", "llm_response", ...replied, "step_finished", "turn_finished(reply)", "R(reply)",
  ]);
  const last = host.frames.findLastIndex(({ type }) => type === "assistant_reset");
  expect(host.frames.slice(last).map(({ payload, type }) => (type === "assistant_delta" ? String(payload?.["text"]) : "")).join("")).toBe("right so");
  expect(payloadsOf(host, "assistant_reply").map(({ text }) => text)).toEqual(["right so"]);
  await endsWell(host);
});

test("S-43 the same call with the same result again and again: a warning, vetoes, then a forced reply", async () => {
  using host = hostOfExecutable();
  await host.start(Array.from({ length: 20 }, () => [list]));
  const response = await host.turn();
  expect(payloadsOf(host, "loop_detected").map(({ count, level, tool }) => [tool, level, count])).toEqual([["fs.list", "warn", 3], ["fs.list", "veto", 5], ["fs.list", "veto", 6], ["fs.list", "veto", 7], ["fs.list", "stop", 3]]);
  expect(payloadsOf(host, "tool_call_result").map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok", "error", "error", "error"]);
  expect(host.order(response.correlationId ?? "").slice(-5)).toEqual(["step_finished", "assistant_delta", "assistant_reply", "turn_finished(reply,loop_breaker)", "R(reply)"]);
  expect(response.payload).toMatchObject({ reason: "reply", stepCount: 7 });
  expect(await stateOf(host)).toMatchObject({ status: "pending", lastError: null });
  await endsWell(host);
});

test("S-44 every attempt has its llm_request and llm_response, and tokensUsed counts both", async () => {
  using host = hostOfExecutable({ config: quick });
  const usage = (input: number, output: number, cacheRead: number) => ({ usage: { input, output, cacheRead } });
  await host.start([[usage(7, 3, 0), list], [usage(4, 2, 1), { text: "cut" }, { stop: "length" }], [usage(10, 5, 20), { text: "ok" }], [write("a")], ok], { approvalLevel: 2 });
  const response = await host.turn();
  expect(payloadsOf(host, "llm_request").map(({ attempt, cacheReused, slotId, stepIndex }) => [stepIndex, attempt, slotId, typeof cacheReused])).toEqual([[0, 1, -1, "boolean"], [1, 1, -1, "boolean"], [1, 2, -1, "boolean"]]);
  expect(payloadsOf(host, "llm_response").map(({ attempt, cachedTokens, completionTokens, promptTokens, stepIndex, stop }) => [stepIndex, attempt, promptTokens, cachedTokens, completionTokens, stop])).toEqual([[0, 1, 7, 0, 3, "tool_calls"], [1, 1, 5, 1, 2, "length"], [1, 2, 30, 20, 5, "end"]]);
  expect(payloadsOf(host, "step_finished").map(({ tokensUsed }) => tokensUsed)).toEqual([10, 42]);
  expect(response.payload?.["usage"]).toEqual({ promptTokens: 42, completionTokens: 10, cachedTokens: 21 });
  // Estimated where the model says nothing of it.
  await host.turn();
  expect(payloadsOf(host, "step_finished").slice(2).map(({ tokensUsed }) => Number(tokensUsed) > 0)).toEqual([true, true]);
  await endsWell(host);
});

test("the checkers take all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
