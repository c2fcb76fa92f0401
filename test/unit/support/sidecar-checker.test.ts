// The checker of the sidecar's stream finds what is wrong: every frame that is left out, said twice or moved in a real stream.
import { beforeAll, describe, expect, test } from "bun:test";
import { checkSidecarIndependently } from "../../support/independent-checker.ts";
import { checkSidecarStream, type SidecarStream } from "../../support/sidecar-checker.ts";
import { freeTypes } from "../../support/sidecar-checker/lives.ts";
import type { ScriptItem } from "../../support/scripted.ts";
import { checkSeen, type Frame, hostInProcess } from "../../support/sidecar-host.ts";

const steps: ScriptItem[][] = [
  [{ text: "a note", chunk: 9 }, { call: "fs.list", args: {} }, { call: "fs.write", args: { path: "a", content: "x" } }],
  [{ text: "wrong", chunk: 9 }, { error: "gone", category: "transport" }],
  [{ text: "right", chunk: 9 }],
  [{ text: "half", chunk: 9 }, { hang: true }],
  [{ call: "finish", args: { summary: "done" } }],
];
let stream: SidecarStream;
let frames: Frame[];

beforeAll(async () => {
  using host = hostInProcess({ config: { llm: { retry: { baseDelayMs: 1 } } } });
  await host.start(steps);
  const turn = host.message();
  const asked = await host.event("approval_request");
  await host.ask("steer_message", { sessionId: host.sessionId, text: "and b" });
  await host.ask("approval_response", { approvalId: asked.payload?.["approvalId"], approved: false, reason: "no" });
  await host.response(turn);
  const [second] = [host.message("again"), host.message("queued")];
  await host.event("assistant_delta", { text: "half" });
  await host.ask("cancel", { sessionId: host.sessionId });
  await host.response(second);
  await host.turn("finish it");
  await host.ask("set_model", { model: "none" });
  await host.ask("run_step");
  host.keep();
  expect(checkSeen()).toEqual([]);
  await host.end();
  frames = [...host.frames];
  stream = { requests: host.requests.map(({ line }) => `${line}\n`).join(""), frames: "" };
});

const breachesOf = (changed: readonly Frame[]): string[] => checkSidecarStream({ ...stream, frames: changed.map((frame) => `${JSON.stringify(frame)}\n`).join("") });
const shown = (frame: Frame | undefined): string => `${frame?.type ?? "response"} ${JSON.stringify(frame?.payload).slice(0, 100)}`;
const isFree = (frame: Frame | undefined): boolean => freeTypes.has(frame?.type ?? "");

describe("a stream of the sidecar", () => {
  test("is right as it is", () => {
    expect(breachesOf(frames)).toEqual([]);
  });

  test("is right with a tool that is younger than the independent checker", () => {
    const younger = frames.map((frame) => `${JSON.stringify(frame).replaceAll('"fs.list"', '"fs.count"')}\n`).join("");
    expect(younger).toContain('"tool":"fs.count"');
    expect(checkSidecarIndependently([{ ...stream, frames: younger }]) ?? [[]]).toEqual([[]]);
  });

  test("without one of its frames is wrong", () => {
    const kept = frames.filter((frame, at) => !isFree(frame) && breachesOf(frames.toSpliced(at, 1)).length === 0);
    // What a cancelled turn had said stands nowhere else.
    expect(kept.map(({ payload, type }) => [type, payload?.["text"]])).toEqual([["assistant_delta", "half"]]);
  });

  test("with one of its frames twice is wrong", () => {
    expect(frames.filter((frame, at) => breachesOf(frames.toSpliced(at, 0, frame)).length === 0).map(shown)).toEqual([]);
  });

  test("with two frames of one request exchanged is wrong", () => {
    const pairs = frames.flatMap((frame, at) => {
      const next = frames[at + 1];
      const same = next !== undefined && frame.correlationId === next.correlationId && frame.type !== next.type && !isFree(frame) && !isFree(next);
      return same && breachesOf(frames.with(at, next).with(at + 1, frame)).length === 0 ? [`${shown(frame)} / ${shown(next)}`] : [];
    });
    expect(pairs).toEqual([]);
  });

  test.each<[string, (frame: Frame) => Frame["payload"] | undefined]>([
    ["a text that the deltas don't hold", ({ payload, type }) => (type === "assistant_reply" ? { ...payload, text: "other" } : undefined)],
    ["a step's number", ({ payload, type }) => (type === "step_started" ? { ...payload, stepIndex: 7 } : undefined)],
    ["a turn's number", ({ payload, type }) => (type === "turn_finished" ? { ...payload, turnIndex: 7 } : undefined)],
    ["the steps of a turn", ({ payload, type }) => (type === "turn_finished" ? { ...payload, stepCount: 7 } : undefined)],
    ["a count of the answer", ({ payload }) => (payload?.["turnCount"] === 1 ? { ...payload, turnCount: 9 } : undefined)],
    ["tokens of a step", ({ payload, type }) => (type === "step_finished" && Number(payload?.["tokensUsed"]) > 0 ? { ...payload, tokensUsed: 0 } : undefined)],
    ["an attempt", ({ payload, type }) => (type === "llm_response" ? { ...payload, attempt: 7 } : undefined)],
    ["the call of a result", ({ payload, type }) => (type === "tool_call_result" ? { ...payload, toolCallId: "x" } : undefined)],
    ["a place in a batch", ({ payload, type }) => (type === "tool_call_started" && payload?.["batchSize"] !== undefined ? { ...payload, batchIndex: 5 } : undefined)],
    ["the words of a denial", ({ payload, type }) => (type === "tool_call_result" && payload?.["tool"] === "fs.write" ? { ...payload, summary: "no" } : undefined)],
    ["a steer's text", ({ payload, type }) => (type === "steer_applied" ? { ...payload, text: "other" } : undefined)],
    ["another session's name", ({ payload, type }) => (type === "user_message" ? { ...payload, sessionId: "s-other" } : undefined)],
    ["a category of a failure", ({ payload, type }) => (type === "session_failed" ? { ...payload, category: "model" } : undefined)],
    ["a null", ({ payload, type }) => (type === "step_started" ? { ...payload, extra: null } : undefined)],
    ["a reserved type", ({ payload, type }) => (type === "log" ? payload : undefined)],
  ])("with %s changed is wrong", (what, change) => {
    const at = frames.findIndex((frame) => change(frame) !== undefined);
    const frame = frames[at] as Frame;
    const payload = change(frame) ?? null;
    expect(breachesOf(frames.with(at, { ...frame, payload, ...(what === "a reserved type" ? { type: "trace" } : {}) }))).not.toEqual([]);
  });
});
