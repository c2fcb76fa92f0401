// The projection of events to lines of the JSON stream: each event, exact snapshots, key order, absent fields.
import { describe, expect, test } from "bun:test";
import type { AgentEvent, MessageUpdate } from "../../../src/core/event.ts";
import { type AssistantMessage, type ToolCall, type ToolResultMessage, usageOf } from "../../../src/core/message.ts";
import { createJsonProjection } from "../../../src/wire/json/project.ts";
import { JsonEvent } from "../../../src/wire/json/schema.ts";

const pending: AssistantMessage = { role: "assistant", content: [], api: "a", provider: "p", model: "m", usage: usageOf({}), stopReason: "pending", timestamp: 1 };
const call: ToolCall = { type: "toolCall", id: "c1", name: "fs.read", arguments: { path: "a\u2028b" } };
const result: ToolResultMessage = { role: "toolResult", toolCallId: "c1", toolName: "fs.read", content: [{ type: "text", text: "x" }], details: { path: "/a" }, isError: false, timestamp: 2 };
const model = { id: "i", name: "n", api: "in-process", provider: "llama", baseUrl: "", reasoning: false, input: ["text" as const], contextWindow: 10, maxTokens: 5 };
const compaction = {
  compactedText: "t",
  firstKeptEntryId: null,
  tokensBefore: 10,
  stats: { linesBefore: 2, linesDeleted: 1, linesKept: 1, rangeCount: 1, tokensBefore: 10, tokensAfter: 5, percentReduction: 50 },
  parameters: { compression_ratio: 0.5, preserve_recent: 2, query: "q" },
  promptVersion: 3 as const,
  rung: "planned" as const,
};

/** JSON text, so that key order and absent fields count. */
function lines(events: AgentEvent[], updates: "snapshot" | "delta" = "snapshot"): string[] {
  const project = createJsonProjection({ updates });
  return events.flatMap((event) => project(event).map((frame) => JSON.stringify(frame)));
}

const update = (fields: MessageUpdate): AgentEvent => ({ type: "message_updated", update: fields });

const growing: AgentEvent[] = [
  { type: "message_started", message: pending },
  update({ type: "thinking_start", contentIndex: 0 }),
  update({ type: "thinking_delta", contentIndex: 0, delta: "hm" }),
  update({ type: "text_start", contentIndex: 1 }),
  update({ type: "text_delta", contentIndex: 1, delta: "one " }),
  update({ type: "thinking_end", contentIndex: 0, content: "hm" }),
  update({ type: "text_delta", contentIndex: 1, delta: "two" }),
  update({ type: "text_end", contentIndex: 1, content: "one two" }),
  update({ type: "toolcall_start", contentIndex: 2, id: "c1", toolName: "fs.read" }),
  update({ type: "toolcall_delta", contentIndex: 2, delta: "" }),
  update({ type: "toolcall_delta", contentIndex: 2, delta: '{"path":"a\\u20' }),
  update({ type: "toolcall_delta", contentIndex: 2, delta: '28b"}' }),
  update({ type: "toolcall_end", contentIndex: 2, toolCall: call }),
];

describe("each event", () => {
  const rows: [AgentEvent, string | undefined][] = [
    [{ type: "run_started" }, '{"type":"agent_start"}'],
    [{ type: "run_ended", messages: [] }, '{"type":"agent_end","messages":[]}'],
    [{ type: "attempt_started", stepIndex: 0, attempt: 0 }, '{"type":"turn_start"}'],
    [{ type: "attempt_ended", message: pending, toolResults: [result] }, `{"type":"turn_end","message":${JSON.stringify(pending)},"toolResults":[${JSON.stringify(result)}]}`],
    [{ type: "message_ended", message: result }, `{"type":"message_end","message":${JSON.stringify(result)}}`],
    [{ type: "tool_started", stepIndex: 0, call, batch: { index: 0, size: 1 } }, '{"type":"tool_execution_start","toolCallId":"c1","toolName":"fs.read","args":{"path":"a\u2028b"}}'],
    [
      { type: "tool_updated", call, partialResult: { content: [] } },
      '{"type":"tool_execution_update","toolCallId":"c1","toolName":"fs.read","args":{"path":"a\u2028b"},"partialResult":{"content":[]}}',
    ],
    [
      { type: "tool_ended", stepIndex: 0, call, batch: { index: 0, size: 1 }, result: { details: { path: null }, content: [] }, isError: true, durationMs: 5 },
      '{"type":"tool_execution_end","toolCallId":"c1","toolName":"fs.read","result":{"content":[],"details":{"path":null}},"isError":true}',
    ],
    [{ type: "queue_changed", steering: ["a"], followUp: [] }, '{"type":"queue_update","steering":["a"],"followUp":[]}'],
    [{ type: "retry_started", attempt: 1, maxAttempts: 3, delayMs: 2000, errorMessage: "e" }, '{"type":"auto_retry_start","attempt":1,"maxAttempts":3,"delayMs":2000,"errorMessage":"e"}'],
    [{ type: "retry_ended", success: true, attempt: 1 }, '{"type":"auto_retry_end","success":true,"attempt":1}'],
    [{ type: "retry_ended", success: false, attempt: 3, finalError: "e" }, '{"type":"auto_retry_end","success":false,"attempt":3,"finalError":"e"}'],
    [{ type: "compaction_started", reason: "overflow", tokensBefore: 1 }, '{"type":"compaction_start","reason":"overflow"}'],
    [{ type: "compaction_started", reason: "threshold", tokensBefore: 1, midTurn: true }, '{"type":"compaction_start","reason":"threshold","midTurn":true}'],
    [
      { type: "compaction_ended", midTurn: true, errorMessage: "e", reason: "threshold", result: compaction, aborted: false, willRetry: false },
      `{"type":"compaction_end","reason":"threshold","result":${JSON.stringify(compaction)},"aborted":false,"willRetry":false,"errorMessage":"e","midTurn":true}`,
    ],
    [
      { type: "compaction_ended", reason: "overflow", aborted: false, willRetry: false, unresolvedOverflow: true, errorMessage: "e" },
      '{"type":"compaction_end","reason":"overflow","aborted":false,"willRetry":false,"unresolvedOverflow":true,"errorMessage":"e"}',
    ],
    [{ type: "summary_retry_scheduled", attempt: 1, maxAttempts: 3, delayMs: 1, errorMessage: "e" }, '{"type":"summarization_retry_scheduled","attempt":1,"maxAttempts":3,"delayMs":1,"errorMessage":"e"}'],
    [{ type: "summary_retry_started", reason: "manual" }, '{"type":"summarization_retry_attempt_start","source":"compaction","reason":"manual"}'],
    [{ type: "summary_retry_ended" }, '{"type":"summarization_retry_finished"}'],
    [{ type: "session_renamed", name: "n" }, '{"type":"session_info_changed","name":"n"}'],
    [{ type: "session_renamed" }, '{"type":"session_info_changed"}'],
    [
      { type: "model_changed", model: { ...model, input: ["text"] }, source: "set" },
      '{"type":"model_changed","model":{"id":"i","name":"n","api":"in-process","provider":"llama","baseUrl":"","reasoning":false,"input":["text"],"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0},"contextWindow":10,"maxTokens":5},"source":"set"}',
    ],
    [{ type: "thinking_level_changed", level: "off" }, '{"type":"thinking_level_changed","level":"off"}'],
    [{ type: "turn_started", turnIndex: 0, text: "t" }, undefined],
    [{ type: "step_started", stepIndex: 0 }, undefined],
    [{ type: "engine_progressed", stage: "weights", progress: 0.5 }, undefined],
    [{ type: "logged", level: "warn", message: "m" }, undefined],
  ];
  for (const [event, expected] of rows) {
    test(`${event.type}${expected === undefined ? " has no line" : ""}`, () => {
      const made = lines([event]);
      expect(made).toEqual(expected === undefined ? [] : [expected]);
      for (const line of made) expect(JSON.stringify(JsonEvent.parse(JSON.parse(line)))).toBe(line);
    });
  }
});

describe("updates", () => {
  test("a snapshot is the sum of the deltas so far, and nothing of what comes later", () => {
    const contents = lines(growing).slice(1).map((line) => (JSON.parse(line) as { message: AssistantMessage }).message.content);
    const thought = { type: "thinking", thinking: "hm" };
    const said = { type: "text", text: "one two" };
    const started = { type: "toolCall", id: "c1", name: "fs.read", arguments: {} };
    expect(contents as unknown).toEqual([
      [{ type: "thinking", thinking: "" }],
      [thought],
      [thought, { type: "text", text: "" }],
      [thought, { type: "text", text: "one " }],
      [thought, { type: "text", text: "one " }],
      [thought, said],
      [thought, said],
      [thought, said, started],
      [thought, said, started],
      [thought, said, { ...started, arguments: { path: "a" } }],
      [thought, said, call],
      [thought, said, call],
    ]);
  });

  test("each is a new object: what was handed out never changes", () => {
    const project = createJsonProjection({ updates: "snapshot" });
    const kept = growing.flatMap((event) => project(event).map((frame) => ({ frame, text: JSON.stringify(frame) })));
    for (const { frame, text } of kept) expect(JSON.stringify(frame)).toBe(text);
    expect(pending.content).toEqual([]);
  });

  test("with deltas only there is no message, and the rest is the same", () => {
    const without = lines(growing).map((line) => {
      const { message, ...rest } = JSON.parse(line) as { type: string; message?: unknown };
      return JSON.stringify(rest.type === "message_update" ? rest : { ...rest, message });
    });
    expect(lines(growing, "delta")).toEqual(without);
  });

  test("snapshots of the schema keep every key in its place", () => {
    for (const line of lines(growing)) expect(JSON.stringify(JsonEvent.parse(JSON.parse(line)))).toBe(line);
  });

  test("a second message begins empty", () => {
    const second = lines([...growing, { type: "message_ended", message: { ...pending, stopReason: "stop" } }, { type: "message_started", message: pending }, update({ type: "text_start", contentIndex: 0 })]);
    expect((JSON.parse(second.at(-1) ?? "") as { message: AssistantMessage }).message.content).toEqual([{ type: "text", text: "" }]);
  });

  test("an update outside a message is a fault of the caller and is not passed on", () => {
    expect(() => lines([update({ type: "text_start", contentIndex: 0 })])).toThrow("outside an assistant message");
  });
});
