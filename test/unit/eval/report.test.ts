// What a run is read as, what the runs add up to, and that nothing of the control half shows but totals.
import { describe, expect, test } from "bun:test";
import { measure } from "../../eval/measure.ts";
import { categoryLines, kept, lastComparable, summaryLines, taskLines, totals, type Run } from "../../eval/report.ts";
import { tasks } from "../../eval/tasks/index.ts";

function assistant(text: string, input: number, output: number): { [key: string]: unknown } {
  return { type: "message_end", message: { role: "assistant", content: [{ type: "thinking", thinking: "hm" }, { type: "text", text }], usage: { input, output, cacheRead: 7 } } };
}

function toolEnd(text: string, isError: boolean): { [key: string]: unknown } {
  return { type: "tool_execution_end", toolCallId: "1", toolName: "fs.read", result: { content: [{ type: "text", text }] }, isError };
}

describe("measure", () => {
  test("counts generations, tokens and the calls that could not run", () => {
    const events = [
      { type: "session" },
      { type: "message_end", message: { role: "user", content: [{ type: "text", text: "hello" }] } },
      assistant("first", 100, 9),
      toolEnd("there is no tool fs.raed; did you mean fs.read? The tools are: fs.read", true),
      toolEnd("fs.read was not run, its arguments are wrong: path: expected a string", true),
      toolEnd("there is no file a.txt", true),
      toolEnd("there is no tool like a hammer", false),
      assistant("second", 20, 4),
      { type: "agent_settled", outcome: "ok", calls: [], exitCode: 0 },
    ];
    expect(measure(events)).toMatchObject({ reply: "second", steps: 2, invalidCalls: 2, promptTokens: 120, outputTokens: 13, outcome: "ok" });
    expect(measure(events).calls.map(({ result }) => result.slice(0, 10))).toEqual(["there is n", "fs.read wa", "there is n", "there is n"]);
  });

  test("a stream without its last line is broken", () => {
    expect(measure([assistant("half", 1, 1)])).toMatchObject({ reply: "half", outcome: "broken" });
    expect(measure([])).toEqual({ reply: "", steps: 0, invalidCalls: 0, promptTokens: 0, outputTokens: 0, outcome: "broken", calls: [] });
  });
});

function run(name: string, half: Run["half"], changes: Partial<Run> = {}): Run {
  return { name, category: "c", half, temperature: 0, seed: 1, faults: [], durationMs: 1500, reply: "r", steps: 2, invalidCalls: 1, promptTokens: 30, outputTokens: 5, outcome: "ok", calls: [], ...changes };
}

const about = { date: "2026-01-02T00:00:00.000Z", model: "m", version: "v2" };

describe("report", () => {
  test("solved is a check without faults and a run that ended well", () => {
    const runs = [run("a", "tuning"), run("a", "tuning", { faults: ["x"] }), run("a", "tuning", { outcome: "max_steps" })];
    expect(totals(runs)).toEqual({ runs: 3, solved: 1, invalidCalls: 3, steps: 6, promptTokens: 90, outputTokens: 15, durationMs: 4500 });
  });

  test("of the control half totals are kept, and its tasks only when revealed", () => {
    const runs = [run("open", "tuning"), run("secret", "control", { faults: ["x"] }), run("secret", "control")];
    const one = kept(runs, about, false);
    expect(JSON.stringify(one)).not.toContain("secret");
    expect([one.halves.tuning?.solved, one.halves.control?.solved, one.halves.control?.runs]).toEqual([1, 1, 2]);
    expect(kept(runs, about, true).tasks).toEqual({ open: "1/1", secret: "1/2" });
  });

  test("either half is counted by category", () => {
    const runs = [run("open", "tuning"), run("secret", "control", { faults: ["x"] }), run("other", "control", { category: "d" })];
    expect(categoryLines(kept(runs, about, false))).toEqual(["category  tuning  control", "c            1/1  0/1", "d         -       1/1"]);
  });

  test("compares with the newest result of the same model, tasks and number of runs", () => {
    const now = kept([run("a", "tuning")], about, false);
    const older = { ...now, date: "2025-01-01" };
    const newer = { ...now, date: "2025-06-01" };
    const others = [{ ...now, date: "2025-07-01", model: "other" }, { ...now, date: "2025-08-01", only: "x" }, kept([run("a", "tuning"), run("a", "tuning")], { ...about, date: "2025-09-01" }, false)];
    expect(lastComparable([newer, ...others, older], now)).toBe(newer);
    expect(lastComparable(others, now)).toBeUndefined();
  });

  test("says what changed since then", () => {
    const before = kept([run("a", "tuning"), run("b", "tuning", { faults: ["x"] })], { ...about, date: "2025-01-01", version: "v1" }, false);
    const now = kept([run("a", "tuning", { faults: ["y"] }), run("b", "tuning", { faults: ["x"] })], about, false);
    expect(summaryLines(now, before)).toEqual([
      "half              solved  invalid  steps  read  written  seconds",
      "tuning               0/2        2      4    60       10      3.0",
      "  before: tuning     1/2        2      4    60       10      3.0",
      "against 2025-01-01 (v1):",
      "  a: 1/1 → 0/1",
    ]);
    expect(summaryLines(now, undefined).at(-1)).toBe("no comparable result was kept before");
  });

  test("a task's line holds its figures and the first reason", () => {
    const [task] = tasks;
    if (!task) throw new Error("there are no tasks");
    const lines = taskLines([task], [run(task.name, "tuning"), run(task.name, "tuning", { faults: ["the reply does not say 5"] }), run("another", "tuning", { faults: ["not mine"] })]);
    expect(lines.map((line) => line.split(/\s{2,}/).filter((cell) => cell !== ""))).toEqual([
      ["task", "category", "solved", "invalid", "steps", "read", "written", "seconds"],
      [task.name, task.category, "1/2", "2", "4", "60", "10", "3.0", "the reply does not say 5"],
    ]);
  });
});
