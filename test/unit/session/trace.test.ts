import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { openTrace, removeTrace, TraceRow, type TraceOptions } from "../../../src/session/trace.ts";
import type { AgentEvent } from "../../../src/core/event.ts";
import { makeWorkspace, type Workspace } from "../../support/workspace.ts";

const id = "01990000-0000-7000-8000-000000000001";
const event = (text: string): AgentEvent => ({ type: "turn_started", turnIndex: 0, text });

function options(folder: Workspace, others: Partial<TraceOptions> = {}): TraceOptions & { warnings: string[] } {
  const warnings: string[] = [];
  return { folder: folder.at("traces"), id, bytesMax: 10_000, secrets: [], now: () => 1000, warn: (message) => warnings.push(message), warnings, ...others };
}

const fileOf = (folder: Workspace): string => folder.at(`traces/s-${id}.ndjson`);
const rowsOf = (folder: Workspace): TraceRow[] => readFileSync(fileOf(folder), "utf8").split("\n").slice(0, -1).map((line) => TraceRow.parse(JSON.parse(line)));
type TraceRow = ReturnType<typeof TraceRow.parse>;

test("one row an event, in a file that is private, going on behind an earlier process", () => {
  using folder = makeWorkspace();
  const first = openTrace(options(folder));
  first.add(event("a\u2028b"));
  first.add({ type: "run_started" });
  first.close();
  // A process that was killed while it wrote.
  appendFileSync(fileOf(folder), '{"seq":3,"sess');
  const second = openTrace(options(folder));
  second.add(event("c"));
  second.close();
  second.add(event("after the end"));
  expect(rowsOf(folder)).toEqual([
    { seq: 1, sessionId: `s-${id}`, ts: 1000, type: "turn_started", turnIndex: 0, text: "a\u2028b" },
    { seq: 2, sessionId: `s-${id}`, ts: 1000, type: "run_started" },
    { seq: 3, sessionId: `s-${id}`, ts: 1000, type: "turn_started", turnIndex: 0, text: "c" },
  ]);
  expect(readFileSync(fileOf(folder), "utf8")).not.toContain("\u2028");
  expect([statSync(fileOf(folder)).mode & 0o777, statSync(folder.at("traces")).mode & 0o777]).toEqual([0o600, 0o700]);
});

test("at the limit a last row says so, and nothing follows, in later processes neither", () => {
  using folder = makeWorkspace();
  const bytesMax = 600;
  const given = options(folder, { bytesMax });
  const trace = openTrace(given);
  for (let index = 0; index < 20; index++) trace.add(event(`number ${index}`));
  trace.close();
  const rows = rowsOf(folder);
  expect(rows.at(-1)).toEqual({ seq: rows.length, sessionId: `s-${id}`, ts: 1000, type: "trace_cut", maxBytes: bytesMax });
  expect(rows.filter(({ type }) => type === "trace_cut").length).toBe(1);
  expect(rows.length).toBeGreaterThan(3);
  const size = statSync(fileOf(folder)).size;
  expect(size).toBeLessThanOrEqual(bytesMax);
  expect(given.warnings.length).toBe(1);
  const later = openTrace(options(folder, { bytesMax }));
  later.add(event("more"));
  later.close();
  expect(statSync(fileOf(folder)).size).toBe(size);
});

test("secrets stand in no row, wherever they were", () => {
  using folder = makeWorkspace();
  const trace = openTrace(options(folder, { secrets: ["sk-1234", "sk-1234-longer", "a\"quoted\"one", "it"] }));
  trace.add({ type: "tool_ended", stepIndex: 0, call: { type: "toolCall", id: "c", name: "shell.run", arguments: { command: "echo sk-1234-longer" } }, batch: { index: 0, size: 1 }, result: { content: [{ type: "text", text: "sk-1234 and a\"quoted\"one, it is" }] }, isError: false, durationMs: 1 });
  trace.close();
  const text = readFileSync(fileOf(folder), "utf8");
  expect(text).toContain('"echo ***"');
  expect(text).toContain('"*** and ***, it is"');
});

test("a trace that can't be written warns once and takes everything from then on", () => {
  using folder = makeWorkspace();
  writeFileSync(folder.at("traces"), "a file in the way");
  const given = options(folder);
  const trace = openTrace(given);
  trace.add(event("a"));
  trace.add(event("b"));
  trace.close();
  expect(given.warnings.length).toBe(1);
  expect(given.warnings[0]).toContain(fileOf(folder));
});

test("a file that holds something else is left alone", () => {
  using folder = makeWorkspace();
  mkdirSync(folder.at("traces"));
  writeFileSync(fileOf(folder), "no row at all\n");
  const given = options(folder);
  openTrace(given).add(event("a"));
  expect(readFileSync(fileOf(folder), "utf8")).toBe("no row at all\n");
  expect(given.warnings.length).toBe(1);
});

test("a trace goes with its session", () => {
  using folder = makeWorkspace();
  openTrace(options(folder)).close();
  removeTrace(folder.at("traces"), id);
  removeTrace(folder.at("traces"), id);
  expect(() => statSync(fileOf(folder))).toThrow();
});
