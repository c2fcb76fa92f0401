// The sidecar's schemas: a sample of every event, request and response, and for each the nearest thing that is wrong.
import { describe, expect, test } from "bun:test";
import type { HostRequest as HostRequestTypeAtItsPath } from "../../../src/sidecar/sidecar-events.ts";
import {
  eventPayloads,
  HostRequest,
  HostRequestType,
  requestPayloads,
  responsePayloads,
  SidecarEvent,
  type SidecarEventPayloads,
  type SidecarEventType,
} from "../../../src/wire/sidecar/schema.ts";

const sessionId = "s-0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000";
const id = "0199aaaa-bbbb-4ccc-8ddd-eeeeffff0000";
const call = { sessionId, stepIndex: -1, tool: "fs.read" } as const;

/** Keys in the order of section 4, all optional ones there. */
const events: SidecarEventPayloads = {
  session_started: { sessionId, workingDir: "/w", resumed: true },
  turn_started: { sessionId, turnIndex: 0 },
  turn_finished: { sessionId, turnIndex: 0, reason: "max_steps", stepCount: 2, durationMs: 5, cause: "step_ceiling" },
  step_started: { sessionId, stepIndex: 0 },
  step_finished: { sessionId, stepIndex: 0, tokensUsed: 7, durationMs: 5 },
  session_completed: { sessionId, reason: "finish" },
  session_failed: { sessionId, error: "e", category: "transport" },
  user_message: { sessionId, text: "hi" },
  assistant_delta: { sessionId, text: "h" },
  assistant_reply: { sessionId, text: "hi", attachments: ["/a"], progressNote: true, stepIndex: 0 },
  assistant_reset: { sessionId, stepIndex: 0 },
  reasoning_delta: { sessionId, stepIndex: 0, text: "t" },
  tool_call_started: { ...call, args: { path: null }, batchIndex: 0, batchSize: 2, step: 0, toolCallId: "c" },
  tool_call_result: { ...call, status: "ok", summary: "s", truncated: true, batchIndex: 0, batchSize: 2, step: 0, toolCallId: "c", durationMs: 1, exitCode: -1 },
  steer_applied: { sessionId, text: "t", stepIndex: 1 },
  steer_undelivered: { sessionId, text: "t" },
  approval_request: { approvalId: "a", sessionId, tool: "fs.write", category: "other", reason: "r", preview: "p", affectedResources: ["/x"], toolCallId: "c", expiresAt: 1, commandHash: "h", grantable: false },
  approval_withdrawn: { approvalId: "a", sessionId, reason: "expired" },
  llm_request: { sessionId, slotId: -1, promptTokens: 3, cacheReused: false, stepIndex: 0, attempt: 0, model: "m" },
  llm_response: { sessionId, completionTokens: 3, durationMs: 1, stepIndex: 0, attempt: 0, promptTokens: 3, cachedTokens: 0, stop: "end" },
  llm_unavailable: { url: "u", error: null, mode: "external", hint: "h" },
  skill_registry_updated: { installed: [{ name: "n", source: "global" }] },
  log: { level: "warn", message: "m", context: { a: null } },
  metric: { name: "agent.tool.call", value: 1, tags: { a: "b" } },
  error: { message: "m", code: "step_error:model", stack: "s", willRetry: false },
  model_loading: { sessionId, stage: "weights", progress: 0.5 },
  provider_waiting: { sessionId, stepIndex: 0, retryInMs: 1, waitedMs: 0, maxWaitMs: 9 },
  provider_recovered: { sessionId, stepIndex: 0, waitedMs: 1 },
  loop_detected: { sessionId, stepIndex: 0, tool: "fs.read", count: 3, level: "warn" },
  compaction_started: { type: "compaction_started", sessionId, reason: "manual", tokensBefore: 5 },
  compaction_progress: { type: "compaction_progress", sessionId, chunk: 0, chunks: 1, completedChunks: 0, sourceTokens: 5 },
  compaction_completed: { type: "compaction_completed", sessionId, status: "noop", reason: "manual", message: "m", tokensBefore: 5, tokensAfter: 5, costUsd: 0, usage: {}, calls: 1 },
  compaction_failed: { type: "compaction_failed", sessionId, status: "cancelled", reason: "overflow" },
  pong: {},
  trace: {},
};

describe("events", () => {
  for (const [type, payload] of Object.entries(events) as [SidecarEventType, Record<string, unknown>][]) {
    test(type, () => {
      const frame = { kind: "event", id, type, correlationId: "1", payload };
      expect(JSON.stringify(SidecarEvent.parse(frame))).toBe(JSON.stringify(frame));
      for (const key of Object.keys(payload)) {
        const broken = { ...frame, payload: { ...payload, [key]: [{ not: "it" }] } };
        expect([key, SidecarEvent.safeParse(broken).success]).toEqual([key, false]);
      }
    });
  }

  test("the table is complete", () => expect(Object.keys(events).toSorted()).toEqual(Object.keys(eventPayloads).toSorted()));
});

describe("requests", () => {
  const samples: { [Type in HostRequestType]: [valid: unknown[], invalid: unknown[]] } = {
    ping: [[undefined, null, [1], {}], []],
    start_session: [[{ workingDir: "." }, { workingDir: ".", metadata: { a: null }, resumeSessionId: "s", approvalLevel: 5, model: "m", more: 1 }, { workingDir: ".", metadata: null }], [undefined, {}, { workingDir: "" }, { workingDir: ".", metadata: [] }, { workingDir: ".", approvalLevel: 0 }]],
    send_message: [[{ sessionId, text: "t" }, { sessionId, text: " t ", maxSteps: 1 }], [{ sessionId }, { sessionId, text: " \n" }, { sessionId, text: "t", maxSteps: 1.5 }, { sessionId, text: "t", maxSteps: "1" }]],
    steer_message: [[{ sessionId, text: " " }], [{ sessionId }, { sessionId, text: 1 }]],
    cancel: [[{ sessionId }], [{}]],
    approval_response: [[{ approvalId: "a", approved: false, reason: "r", grant: "session" }], [{ approvalId: "a" }, { approvalId: "a", approved: 1 }, { approvalId: "a", approved: true, grant: "ever" }]],
    get_session: [[{ sessionId }], [{ sessionId: 1 }]],
    skill_install: [[{ sourcePath: "p", force: true }], [{ sourcePath: "" }, { sourcePath: "p", force: "yes" }]],
    skill_uninstall: [[{ name: "n" }], [{ name: "" }]],
    skill_list: [[undefined, "x"], []],
    shutdown: [[undefined, 5], []],
    run_step: [[undefined, { a: 1 }], []],
    compact_session: [[{ sessionId }], [{}]],
    get_compaction: [[{ sessionId }], [{}]],
    list_sessions: [[undefined, {}, { limit: 500, workingDir: "/w" }], [{ limit: 0 }, { limit: 501 }]],
    models_list: [[undefined, {}], []],
    set_model: [[{ model: "m" }, { model: "m", sessionId }], [{}, { model: "" }]],
  };
  for (const [type, [valid, invalid]] of Object.entries(samples)) {
    test(type, () => {
      const accepts = (payload: unknown) => HostRequest.safeParse({ kind: "request", id: "1", type, payload }).success;
      expect([valid.map(accepts), invalid.map(accepts)]).toEqual([valid.map(() => true), invalid.map(() => false)]);
    });
  }

  test("each type has a payload, a request and, but for run_step, a response", () => {
    expect(HostRequest.options.map((option) => option.shape.type.value).toSorted()).toEqual([...HostRequestType.options].toSorted());
    expect(Object.keys(responsePayloads).toSorted()).toEqual(Object.keys(requestPayloads).filter((type) => type !== "run_step").toSorted());
  });

  test("the documented path gives a host the same types", () => {
    const request: HostRequestTypeAtItsPath = { kind: "request", id: 7, type: "send_message", payload: { sessionId, text: "t" } };
    expect(HostRequest.parse(request) as unknown).toEqual(request);
  });
});
