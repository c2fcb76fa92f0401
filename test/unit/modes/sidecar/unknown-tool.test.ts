// Calls that name no tool, on the sidecar's wire (sidecar.md 5.10, 6, 11).
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { checkSeen, hostInProcess, listOf } from "../../../support/sidecar-host.ts";
import type { ScriptItem } from "../../../support/scripted.ts";

const unknown: ScriptItem = { call: "fs.raed", args: { path: "a" } };

test("6 a call that names no tool is a failed attempt of category grammar; the next one is told what there is", async () => {
  using host = hostInProcess({ files: { a: "content" } });
  const told: ScriptItem = { expect: { lastRole: "toolResult", contains: "did you mean fs.read?" } };
  await host.start([[{ text: "I look." }, unknown], [told, { text: "done" }]]);
  const id = host.message();
  expect((await host.response(id)).payload).toMatchObject({ reason: "reply", stepCount: 1 });
  expect(host.order(id)).toEqual([
    "user_message",
    "turn_started",
    "step_started",
    "llm_request",
    "assistant_delta",
    "assistant_delta",
    "llm_response",
    "error(step_error:grammar,true)",
    "assistant_reset",
    "llm_request",
    "assistant_delta",
    "llm_response",
    "tool_call_started(reply)",
    "tool_call_result(reply,ok)",
    "assistant_reply",
    "step_finished",
    "turn_finished(reply)",
    "R(reply)",
  ]);
  const state = (await host.ask("get_session", { sessionId: host.sessionId })).payload;
  expect(listOf<{ kind: string }>(state, "turns").map(({ kind }) => kind)).toEqual(["user", "assistant_tool_call", "assistant_reply", "tool_result", "assistant_reply"]);
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("6 nothing of a message with such a call runs", async () => {
  using host = hostInProcess();
  await host.start([[{ call: "fs.write", args: { path: "made", content: "x" } }, unknown], [{ expect: { contains: "not run: another call of this message names no tool" } }, { text: "done" }]], { approvalLevel: 2 });
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  expect(existsSync(join(host.workingDir, "made"))).toBe(false);
  expect(host.frames.some(({ type, payload }) => type === "tool_call_started" && payload?.["tool"] === "fs.write")).toBe(false);
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("11 one repair a step: the second such call in it ends the turn, and the session stays usable", async () => {
  using host = hostInProcess();
  await host.start([[unknown], [unknown], [{ text: "here again" }]]);
  expect((await host.turn()).payload).toMatchObject({ reason: "failed", error: { category: "grammar" } });
  expect(host.frames.filter(({ type }) => type === "error").map(({ payload }) => payload?.["willRetry"])).toEqual([true, false]);
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("11 on the last permitted step such a call is no call either", async () => {
  using host = hostInProcess();
  await host.start([[unknown], [{ text: "done" }]]);
  expect((await host.turn("go", { maxSteps: 1 })).payload?.["reason"]).toBe("reply");
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("the independent checker takes all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
