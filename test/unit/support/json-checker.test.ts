// The checker of the JSON stream must take every right order of json-mode.md and refuse every broken invariant.
// Where the independent checker is present, both must give the same verdict.
import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { JsonEvent } from "../../../src/wire/json/schema.ts";
import { checkJsonIndependently } from "../../support/independent-checker.ts";
import { shapeCheck } from "../../support/json-checker/shape.ts";
import type { JsonObject } from "../../support/json-checker/values.ts";
import { checkJsonStream, describeBreaches } from "../../support/json-checker.ts";
import { aborted, assistant, call, compaction, compactionResult, encode, failed, grow, header, pair, queue, retryEnd, retryStart, run, settled, someUsage, toolEnd, toolResult, toolStart, toolUpdate, turn, user, zeroUsage } from "./stream-builder.ts";

const answer = assistant([{ type: "text", text: "hello" }], "stop");
const thought = assistant([{ type: "thinking", thinking: "hmm so" }, { type: "text", text: "hello" }], "stop");
const [callA, callB] = [call("a"), call("b", "fs.read", { path: "x" })];
const [resultA, resultB] = [toolResult(callA, "x\n"), { ...toolResult(callB, "text"), details: { path: "/workspace/x" } }];
const asksA = assistant([callA], "toolUse");
const asksBoth = assistant([callA, callB], "toolUse");
const begin = pair(user("ask"));
const sequentialA = [toolStart(callA), toolUpdate(callA, "x"), toolEnd(resultA), ...pair(resultA)];
const parallelBoth = [toolStart(callA), toolStart(callB), toolEnd(resultB), toolEnd(resultA), ...pair(resultA), ...pair(resultB)];
const plainTurn = turn(begin, grow(answer));
const plainRun = run(plainTurn);
const failedRun = (kind: string): JsonObject[] => run(turn(begin, pair(failed(kind))));
const failedAgain = (kind: string): JsonObject[] => run(turn([], pair(failed(kind))));
const refuse = (cut: JsonObject): JsonObject[] => {
  const result = toolResult(cut, "cut off", true);
  return [toolStart(cut), toolEnd(result), ...pair(result)];
};
const withoutSnapshots = (events: JsonObject[]): JsonObject[] =>
  events.map((event) => (event["type"] === "message_update" ? { type: event["type"], assistantMessageEvent: event["assistantMessageEvent"] } : event));
const plain = [header, ...plainRun, settled()];
const oneTool = [header, ...run(turn(begin, grow(asksA), sequentialA), turn([], grow(answer))), settled()];
const twoTools = [header, ...run(turn(begin, grow(asksBoth), parallelBoth), turn([], grow(answer))), settled()];
const retriedOnce = [header, ...failedRun("server"), retryStart(1), ...run(turn([], grow(answer), [], [retryEnd(true, 1)])), settled()];
const custom = { role: "custom", customType: "output_schema_error", content: "not valid", display: true, timestamp: 1000 };
const summary = { attempt: 1, maxAttempts: 3, delayMs: 2000, errorMessage: "busy" };
const exhausted = [
  header,
  ...failedRun("overflow"),
  ...compaction("overflow", true),
  ...failedAgain("overflow"),
  ...compaction("overflow", false, { unresolvedOverflow: true, errorMessage: "5000 of 4096 tokens" }),
  settled("unresolved_overflow", 1),
];
const steered = [
  header,
  ...run(turn(begin, [...grow(asksA)], [toolStart(callA), queue(["also"]), toolEnd(resultA), ...pair(resultA)]), turn([queue([]), ...pair(user("also"))], grow(answer))),
  settled(),
];

const right: { [order: string]: [events: JsonObject[], exitCode: number] } = {
  "6.1 plain": [plain, 0],
  "6.1 with delta updates": [withoutSnapshots(plain), 0],
  "6.2 thinking": [[header, ...run(turn(begin, grow(thought))), settled()], 0],
  "6.3 one tool": [oneTool, 0],
  "6.4 two tools side by side": [twoTools, 0],
  "6.8 calls cut by the output cap": [
    [header, ...run(turn(begin, grow(assistant([callA, callB], "length")), [callA, callB].flatMap(refuse)), turn([], grow(answer))), settled()],
    0,
  ],
  "6.9 abort before output": [[header, ...run(turn(begin, pair(aborted))), settled("aborted", 1)], 1],
  "6.10 abort in a text": [[header, ...run(turn(begin, grow(assistant([{ type: "text", text: "hello" }], "aborted", { errorMessage: "aborted" })))), settled("aborted", 130)], 130],
  "6.12 abort in the retry wait": [[header, ...failedRun("network"), retryStart(1), retryEnd(false, 1), settled("aborted", 1)], 1],
  "6.18 retry": [retriedOnce, 0],
  "6.20 error": [[header, ...failedRun("auth"), settled("error", 1)], 1],
  "6.21 steering": [steered, 0],
  "6.24 threshold after a run": [[header, ...plainRun, ...compaction("threshold", false), ...plainRun, settled()], 0],
  "6.26 mid-turn": [[header, ...run(turn(begin, grow(asksA), sequentialA), compaction("threshold", false, undefined, true), turn([], grow(answer))), settled()], 0],
  "6.29 overflow and retry": [[header, ...failedRun("overflow"), ...compaction("overflow", true), ...run(turn([], grow(answer))), settled()], 0],
  "6.31 unresolved": [exhausted, 1],
  "6.33 planner retry": [
    [header, ...plainRun, { type: "compaction_start", reason: "threshold" }, { type: "summarization_retry_scheduled", ...summary }, { type: "summarization_retry_attempt_start", source: "compaction", reason: "threshold" }, { type: "summarization_retry_finished" }, ...compaction("threshold", false).slice(1), settled()],
    0,
  ],
  "6.36 failed first prompt": [[header, ...failedRun("auth"), ...plainRun, settled("error", 1)], 1],
  "6.38 empty": [[header, settled("empty", 0)], 0],
  "9.3 schema error": [[header, ...run(plainTurn, turn(pair(custom), grow(answer))), settled()], 0],
  "9.4 abort drops the queue": [[header, { type: "agent_start" }, queue(["late"]), ...run(turn([...begin, queue([])], pair(aborted))).slice(1), settled("aborted", 1, { undelivered: { steering: ["late"], followUp: [] } })], 1],
};

describe("takes the right orders", () => {
  const streams = Object.entries(right).map(([order, [events, exitCode]]) => ({ order, stdout: encode(events), exitCode }));
  const independent = checkJsonIndependently(streams);
  for (const [index, { order, stdout, exitCode }] of streams.entries()) {
    test(order, () => {
      expect(describeBreaches(checkJsonStream(stdout, { exitCode }))).toBe("");
      expect(independent?.[index] ?? []).toEqual([]);
    });
  }

  test("and they fit the schema of the wire", () => {
    const shape = shapeCheck(z.toJSONSchema(JsonEvent) as JsonObject);
    const breaches = streams.flatMap(({ order, stdout, exitCode }) => checkJsonStream(stdout, { exitCode, shape }).map((breach) => ({ order, ...breach })));
    expect(breaches).toEqual([]);
  });
});

type Change = (event: JsonObject) => JsonObject | JsonObject[] | undefined;

/** The stream with one event changed, dropped or multiplied: the first of its type, or the one picked. */
function broken(events: JsonObject[], type: string, change: Change, pick = 0): JsonObject[] {
  let seen = 0;
  return events.flatMap((event): JsonObject[] => {
    if (event["type"] !== type || seen++ !== pick) return [event];
    const now = change(structuredClone(event));
    return Array.isArray(now) ? now : now ? [now] : [];
  });
}

const inside = (event: JsonObject, name: string): JsonObject => event[name] as JsonObject;
const drop: Change = () => undefined;
const double: Change = (event) => [event, event];
const changed = (name: string, more: JsonObject): Change => (event) => ({ ...event, [name]: { ...inside(event, name), ...more } });
const plus = (more: JsonObject): Change => (event) => ({ ...event, ...more });

const wrong: [rule: string, what: string, events: JsonObject[], exitCode?: number][] = [
  ["I1", "no header", plain.slice(1)],
  ["I1", "two headers", [header, ...plain]],
  ["I1", "no agent_settled", plain.slice(0, -1)],
  ["I1", "something after agent_settled", [...plain, queue([])]],
  ["2", "a header of UUID version 4", broken(plain, "session", plus({ id: "01890a5d-ac96-474b-bcce-b302099a8057" }))],
  ["2", "a prelude event in the middle", broken(plain, "turn_start", (event) => [event, { type: "thinking_level_changed", level: "off" }])],
  ["R10", "a header without milliseconds", broken(plain, "session", plus({ timestamp: "2026-01-02T03:04:05Z" }))],
  ["I2", "turn_end is missing", broken(plain, "turn_end", drop)],
  ["I2", "agent_start twice", broken(plain, "agent_start", double)],
  ["I2", "message_end is missing", broken(plain, "message_end", drop)],
  ["grammar", "no user message", [header, ...run(turn([], grow(answer))), settled()]],
  ["grammar", "a tool result before the tool", [header, ...run(turn(begin, grow(asksA), [...pair(resultA), toolStart(callA), toolEnd(resultA)]), turn([], grow(answer))), settled()]],
  ["grammar", "a compaction between header and a continuation", [header, ...compaction("overflow", true), ...run(turn([], grow(answer))), settled()]],
  ["I3", "message_end of another role", broken(plain, "message_end", changed("message", { role: "assistant", content: [] }))],
  ["I3", "an update of a user message", [header, ...run(turn([...begin.slice(0, 1), { type: "message_update", message: user("ask"), assistantMessageEvent: { type: "text_start", contentIndex: 0 } }, ...begin.slice(1)], grow(answer))), settled()]],
  ["C8", "the user message changes", broken(plain, "message_end", changed("message", { content: [{ type: "text", text: "other" }] }))],
  ["I4", "text_end says something else", broken(plain, "message_update", changed("assistantMessageEvent", { content: "hullo" }), 3)],
  ["I4", "message_end says something else", [header, ...run(turn(begin, [...grow(answer).slice(0, -1), { type: "message_end", message: assistant([{ type: "text", text: "hullo" }], "stop") }])), settled()]],
  ["I4", "the call's arguments are not those of the deltas", withoutSnapshots(broken(oneTool, "message_update", changed("assistantMessageEvent", { delta: '"path":"/"}' }), 2))],
  ["I5", "pending at the end", [header, ...run(turn(begin, [...grow(answer).slice(0, -1), { type: "message_end", message: { ...answer, stopReason: "pending" } }])), settled()]],
  ["C5", "a snapshot that is not pending", broken(plain, "message_update", changed("message", { stopReason: "stop" }))],
  ["U1", "a done update", broken(plain, "message_update", changed("assistantMessageEvent", { type: "done" }))],
  ["U2", "partial is there", broken(plain, "message_update", changed("assistantMessageEvent", { partial: {} }))],
  ["U3", "block numbers with a gap", broken(plain, "message_update", changed("assistantMessageEvent", { contentIndex: 1 }))],
  ["U4", "a delta without its start", broken(plain, "message_update", drop)],
  ["U5", "a snapshot that runs ahead", broken(plain, "message_update", changed("message", { content: [{ type: "text", text: "hello" }] }), 1)],
  ["U6", "a block without its end", broken(plain, "message_update", drop, 3)],
  ["U7", "message_start with content", broken(plain, "message_start", changed("message", { content: [{ type: "text", text: "h" }] }), 1)],
  ["U8", "message in some updates only", broken(plain, "message_update", (event) => ({ type: event["type"], assistantMessageEvent: event["assistantMessageEvent"] }), 1)],
  ["R9", "the model changes in a snapshot", broken(plain, "message_update", changed("message", { model: "other" }))],
  ["I6", "agent_end lacks a message", broken(plain, "agent_end", (event) => ({ ...event, messages: [] }))],
  ["I7", "turn_end has another message", broken(plain, "turn_end", changed("message", { timestamp: 1 }))],
  ["I7", "turn_end has no results", broken(oneTool, "turn_end", plus({ toolResults: [] }))],
  ["I8", "a call without a result", [header, ...run(turn(begin, grow(asksBoth), sequentialA), turn([], grow(answer))), settled()]],
  ["I9", "a tool starts twice", broken(oneTool, "tool_execution_start", double)],
  ["I9", "other arguments at the start", broken(oneTool, "tool_execution_start", plus({ args: { path: "/" } }))],
  ["I9", "an unknown call", broken(oneTool, "tool_execution_start", plus({ toolCallId: "z" }))],
  ["I9", "an update after the end", broken(oneTool, "tool_execution_end", (event) => [event, toolUpdate(callA, "xy")])],
  ["I10", "starts out of order", [header, ...run(turn(begin, grow(asksBoth), [toolStart(callB), toolStart(callA), ...parallelBoth.slice(2)]), turn([], grow(answer))), settled()]],
  ["I10", "results out of order", [header, ...run(turn(begin, grow(asksBoth), [...parallelBoth.slice(0, 4), ...pair(resultB), ...pair(resultA)]), turn([], grow(answer))), settled()]],
  ["I11", "the result differs from the tool's end", broken(oneTool, "tool_execution_end", plus({ isError: true }))],
  ["10.3", "an update that takes text back", broken(oneTool, "tool_execution_update", (event) => [event, toolUpdate(callA, "y")])],
  ["6.20", "a turn after an error", [header, ...run(turn(begin, pair(failed("auth"))), turn([], grow(answer))), settled()]],
  ["C13", "a turn after an answer brings nothing", [header, ...run(plainTurn, turn([], grow(answer))), settled()]],
  ["9.3", "a custom message without an answer", [header, ...run(turn([...begin, ...pair(custom)], grow(answer))), settled()]],
  ["I12", "the first attempt is 2", broken(retriedOnce, "auto_retry_start", plus({ attempt: 2 }))],
  ["I12", "no auto_retry_end", broken(retriedOnce, "auto_retry_end", drop)],
  ["I12", "the end names another attempt", broken(retriedOnce, "auto_retry_end", plus({ attempt: 2 }))],
  ["8", "a retry of an error that is final", [header, ...failedRun("auth"), ...retriedOnce.slice(retriedOnce.findIndex((event) => event["type"] === "auto_retry_start"))]],
  ["8", "success with finalError", broken(retriedOnce, "auto_retry_end", plus({ finalError: "it failed" }))],
  ["I13", "another reason at the end", broken(exhausted, "compaction_end", plus({ reason: "threshold" }))],
  ["I13", "aborted with a result", [header, ...plainRun, ...compaction("threshold", false, { result: compactionResult, aborted: true }), settled()]],
  ["I13", "unresolved without a message", [...exhausted.slice(0, -3), ...compaction("overflow", false, { unresolvedOverflow: true }), settled("unresolved_overflow", 1)]],
  ["C3", "midTurn outside a run", [header, ...plainRun, ...compaction("threshold", false, undefined, true), settled()]],
  ["C12", "neither result nor message", [header, ...plainRun, ...compaction("threshold", false, {}), settled()]],
  ["7.3", "a manual compaction that retries", [header, ...plainRun, ...compaction("manual", true), ...run(turn([], grow(answer))), settled()]],
  ["7.6", "lines that don't add up", [header, ...plainRun, ...compaction("threshold", false, { result: { ...compactionResult, stats: { ...compactionResult.stats, linesKept: 2 } } }), settled()]],
  ["3.6", "a wrong percentage", [header, ...plainRun, ...compaction("threshold", false, { result: { ...compactionResult, stats: { ...compactionResult.stats, percentReduction: 70 } } }), settled()]],
  ["G1", "no progress", [header, ...plainRun, ...compaction("threshold", false, { result: { ...compactionResult, stats: { ...compactionResult.stats, tokensAfter: 4000, percentReduction: 0 } } }), settled()]],
  ["I15", "willRetry and no run", [header, ...failedRun("overflow"), ...compaction("overflow", true), settled("error", 1)]],
  ["I14", "a text leaves and no message carries it", broken(steered, "queue_update", () => undefined, 1)],
  ["I14", "a text appears from nowhere", broken(steered, "queue_update", plus({ steering: ["a", "b"] }))],
  ["I14", "another text is delivered", broken(steered, "queue_update", plus({ steering: ["other"] }))],
  ["I14", "undelivered without a queue", broken(plain, "agent_settled", plus({ undelivered: { steering: ["x"], followUp: [] } }))],
  ["I16", "a timestamp falls", broken(plain, "message_end", changed("message", { timestamp: 9000 }))],
  ["I16", "another exit status", plain, 1],
  ["I16", "half a token", broken(plain, "agent_settled", changed("usage", { input: 0.5 }))],
  ["3.4", "a total that is no sum", [header, ...run(turn(begin, grow({ ...answer, usage: { ...someUsage, totalTokens: 11 } }))), settled()]],
  ["3.4", "usage at the start", broken(plain, "message_start", changed("message", { usage: someUsage }), 1)],
  ["3.2", "errorMessage in a good message", [header, ...run(turn(begin, grow({ ...answer, errorMessage: "x" }))), settled()]],
  ["3.2", "an error without its kind", [header, ...run(turn(begin, pair({ ...assistant([], "error"), usage: zeroUsage, errorMessage: "x" }))), settled("error", 1)]],
  ["3.3", "toolUse without a call", [header, ...run(turn(begin, grow({ ...answer, stopReason: "toolUse" }))), settled("max_steps", 1)]],
  ["C7", "an incomplete call in a good message", [header, ...run(turn(begin, grow(assistant([{ ...callA, incomplete: true }], "length")))), settled("length")]],
  ["5", "outcome ok after an error", [header, ...failedRun("auth"), settled()]],
  ["9.5", "exit code 0 with an error", [header, ...failedRun("auth"), settled("error", 0)], 0],
  ["6.38", "outcome empty with a run", [header, ...plainRun, settled("empty")]],
  ["C10", "unresolved_overflow without a compaction", [header, ...failedRun("overflow"), settled("unresolved_overflow", 1)]],
];

describe("refuses what is broken", () => {
  const streams = wrong.map(([rule, what, events, exitCode]) => {
    const said = events.findLast((event) => event["type"] === "agent_settled")?.["exitCode"];
    return { rule, what, stdout: encode(events), exitCode: exitCode ?? Number(said ?? 0) };
  });
  const independent = checkJsonIndependently(streams);
  for (const [index, { rule, what, stdout, exitCode }] of streams.entries()) {
    test(`${rule}: ${what}`, () => {
      const breaches = checkJsonStream(stdout, { exitCode });
      expect(breaches.map((breach) => breach.rule), describeBreaches(breaches)).toContain(rule);
      expect(independent?.[index]).not.toEqual([]);
    });
  }

  test("each invariant I1 to I16 has a stream that breaks it", () => {
    const covered = new Set(wrong.map(([rule]) => rule));
    expect(Array.from({ length: 16 }, (_, index) => `I${index + 1}`).filter((rule) => !covered.has(rule))).toEqual([]);
  });
});

describe("framing", () => {
  const good = new TextDecoder().decode(encode(plain));
  const bytes: [rule: string, what: string, stream: string | Uint8Array][] = [
    ["R1", "an empty line", good.replace("\n", "\n\n")],
    ["R1", "CRLF", good.replace("\n", "\r\n")],
    ["R1", "a BOM", `\ufeff${good}`],
    ["R1", "no LF at the end", good.slice(0, -1)],
    ["R1", "two objects on a line", good.replace("\n", "")],
    ["R1", "a number", `${good}1\n`],
    ["R1", "text of a library", `${good}loading model\n`],
    ["R1", "bytes that are not UTF-8", Buffer.concat([Buffer.from(good), Buffer.from([0xff, 0x0a])])],
    ["R2", "a raw U+2028", good.replaceAll("hello", "hel\u2028lo")],
    ["I1", "nothing", ""],
  ];
  for (const [rule, what, stream] of bytes) {
    test(`${rule}: ${what}`, () => {
      expect(checkJsonStream(Buffer.from(stream)).map((breach) => breach.rule)).toContain(rule);
    });
  }

  test("an escaped U+2028 and a lone surrogate are right", () => {
    const stream = good.replaceAll("ask", "a\\u2028k\\ud800");
    expect(describeBreaches(checkJsonStream(Buffer.from(stream), { exitCode: 0 }))).toBe("");
  });
});

describe("shape", () => {
  const schema: JsonObject = {
    $defs: {
      Block: { anyOf: [{ type: "object", properties: { type: { const: "text" }, text: { type: "string" } }, required: ["type", "text"] }, { type: "object", properties: { type: { const: "image" }, data: { type: "string" }, mimeType: { type: "string" } }, required: ["type", "data", "mimeType"] }] },
    },
    oneOf: [
      { type: "object", properties: { type: { const: "session" }, version: { const: 3 }, id: { type: "string" }, model: { type: "string" } }, required: ["type", "version", "id"] },
      { type: "object", properties: { type: { const: "message_end" }, content: { type: "array", items: { $ref: "#/$defs/Block" } }, args: {}, firstKeptEntryId: {} }, required: ["type"] },
    ],
  };
  const check = shapeCheck(schema);
  const rules = (event: JsonObject): string[] => check([{ number: 1, event }]).map((breach) => breach.rule);

  test("takes what is right, additions last", () => {
    expect(rules({ type: "session", version: 3, id: "x", added: 1 })).toEqual([]);
    expect(rules({ type: "message_end", content: [{ type: "image", data: "", mimeType: "image/png" }], args: { z: null }, firstKeptEntryId: null })).toEqual([]);
  });

  test("R8: keys out of order, at the top and inside an alternative", () => {
    expect(rules({ type: "session", id: "x", version: 3 })).toEqual(["R8"]);
    expect(rules({ type: "session", version: 3, added: 1, id: "x" })).toEqual(["R8"]);
    expect(rules({ type: "message_end", content: [{ type: "image", mimeType: "", data: "" }] })).toEqual(["R8"]);
  });

  test("R7: null, also in an addition", () => {
    expect(rules({ type: "session", version: 3, id: "x", added: null })).toEqual(["R7"]);
    expect(rules({ type: "session", version: 3, id: "x", model: null })).toContain("R7");
  });

  test("R13: against the schema", () => {
    expect(rules({ type: "session", version: 4, id: "x" })).toContain("schema");
    expect(rules({ type: "nonsense" })).toContain("schema");
  });
});
