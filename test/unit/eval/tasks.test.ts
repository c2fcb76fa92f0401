// The tasks of the evaluation: a check that takes what is wrong, or refuses what is right, would measure nothing.
import { describe, expect, test } from "bun:test";
import { filesOnly, halfOf, tasksOf, type Files, type Task } from "../../eval/task.ts";
import { tasks } from "../../eval/tasks/index.ts";

/** Some checks start programs. */
const limitMs = 60_000;

function judge(task: Task, reply: string, after: Files): string[] {
  return task.check(reply, after, filesOnly(task.files));
}

function changes(task: Task): boolean {
  return !Bun.deepEquals(task.solution.after, filesOnly(task.files));
}

describe("the set", () => {
  test("has at least 80 tasks of at least 20 categories, each with a name of its own", () => {
    expect(tasks.length).toBeGreaterThanOrEqual(80);
    expect(new Set(tasks.map(({ category }) => category)).size).toBeGreaterThanOrEqual(20);
    expect(new Set(tasks.map(({ name }) => name)).size).toBe(tasks.length);
    expect(new Set(tasks.map(({ prompt }) => prompt)).size).toBe(tasks.length);
  });

  test("each category has a task of the control half and two of the tuning half", () => {
    const scarce = Object.entries(Object.groupBy(tasks, ({ category }) => category))
      .map(([category, all = []]) => ({ category, tuning: all.filter(({ name }) => halfOf(name) === "tuning").length, control: all.filter(({ name }) => halfOf(name) === "control").length }))
      .filter(({ tuning, control }) => tuning < 2 || control < 1);
    expect(scarce).toEqual([]);
  });

  test("a half depends on nothing but the name", () => {
    expect(["alpha", "beta", "gamma", "delta"].map(halfOf)).toEqual(["tuning", "tuning", "tuning", "control"]);
  });
});

for (const task of tasks) {
  test(`${task.category}: ${task.name}`, () => {
    const before = filesOnly(task.files);
    const { reply, after } = task.solution;
    expect(judge(task, reply, after)).toEqual([]);
    for (const other of task.alsoRight) expect({ other, faults: judge(task, other, after) }).toEqual({ other, faults: [] });
    expect(judge(task, "", before)).not.toEqual([]);
    expect(task.wrong.length).toBeGreaterThan(0);
    for (const wrong of task.wrong) expect({ wrong, faults: judge(task, wrong.reply, wrong.after) }).not.toEqual({ wrong, faults: [] });
    // Right but for a file that appeared or went.
    expect(judge(task, reply, { ...after, "stray.txt": "stray\n" })).toEqual(["stray.txt appeared"]);
    for (const path of Object.keys(after)) expect(judge(task, reply, without(after, path))).not.toEqual([]);
    // A right reply over an untouched folder, and everything that is in the files as the reply.
    if (changes(task)) expect(judge(task, reply, before)).not.toEqual([]);
    expect(judge(task, Object.entries(before).flat().join("\n"), before)).not.toEqual([]);
    expect(judge(task, "Done.", before)).not.toEqual([]);
  }, limitMs);
}

describe("a check", () => {
  const [counting, writing] = tasksOf("x", [
    { name: "n1", prompt: "p", files: {}, count: 5, solution: { reply: "5" } },
    { name: "n2", prompt: "p", files: { "a.txt": "a\n", "empty/": "" }, says: ["7.4"], disk: { "a.txt": "b\n" }, solution: { reply: "7.4" } },
  ]);

  test("takes a number in digits or in words, and refuses its neighbours and a crowd", () => {
    const faults = ["5", "There are **five** files.", "1. a\n2. b\nTogether 5.", "5 of 10", "5 (lines 2, 4 and 6)", "5: those with the ids 201, 203, 205, 207 and 209"].map((reply) => counting?.check(reply, {}, {}));
    expect(faults).toEqual([[], [], [], [], [], []]);
    for (const reply of ["", "4", "15", "5.5", "4 or 5", "five or six", "1 3 5 7 9", "a5", "file-5", "5 (or 6)"]) expect({ reply, faults: counting?.check(reply, {}, {}).length }).toEqual({ reply, faults: 1 });
  });

  test("looks for whole words, and forgives a line end at the end of a file, and what Python leaves behind", () => {
    const check = (reply: string, after: Files): string[] | undefined => writing?.check(reply, after, { "a.txt": "a\n" });
    expect(check("It is 7.4.", { "a.txt": "b" })).toEqual([]);
    expect(check("`7.4`", { "a.txt": "b\n\n", "x/__pycache__/a.pyc": "" })).toEqual([]);
    expect(check("7.41", { "a.txt": "b\n" })).toEqual(["the reply does not say 7.4"]);
    expect(check("17.4", { "a.txt": " b\n" })).toEqual(["the reply does not say 7.4", "a.txt is not what it should be"]);
    expect(check("7.4", {})).toEqual(["a.txt is not there"]);
  });
});

function without(files: Files, path: string): Files {
  return Object.fromEntries(Object.entries(files).filter(([name]) => name !== path));
}
