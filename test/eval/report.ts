// What the runs of a model add up to, what of it is kept, and how it compares with what was kept before.
// Of the control half only totals are kept, so that nobody can tune to its tasks.
import type { Measure } from "./measure.ts";
import type { Half, Task } from "./task.ts";

export interface Run extends Measure {
  name: string;
  category: string;
  half: Half;
  temperature: number;
  seed: number;
  /** What the check found; empty and an outcome of `ok` = solved. */
  faults: string[];
  durationMs: number;
}

export interface Totals {
  runs: number;
  solved: number;
  invalidCalls: number;
  steps: number;
  promptTokens: number;
  outputTokens: number;
  durationMs: number;
}

/** A file below test/eval/results. */
export interface Kept {
  date: string;
  model: string;
  version: string;
  only?: string;
  halves: { [half in Half]?: Totals };
  /** `solved/runs` of each category of either half; absent in results that were kept before they were counted. */
  categories?: { [half in Half]?: { [category: string]: string } };
  /** `solved/runs` of each task whose results may be looked at. */
  tasks: { [name: string]: string };
}

export function isSolved({ faults, outcome }: Pick<Run, "faults" | "outcome">): boolean {
  return faults.length === 0 && outcome === "ok";
}

export function totals(runs: readonly Run[]): Totals {
  const sum = (of: (run: Run) => number): number => runs.reduce((total, run) => total + of(run), 0);
  return {
    runs: runs.length,
    solved: runs.filter(isSolved).length,
    invalidCalls: sum((run) => run.invalidCalls),
    steps: sum((run) => run.steps),
    promptTokens: sum((run) => run.promptTokens),
    outputTokens: sum((run) => run.outputTokens),
    durationMs: Math.round(sum((run) => run.durationMs)),
  };
}

/** @param reveal also tells of single tasks of the control half */
export function kept(runs: readonly Run[], about: Pick<Kept, "date" | "model" | "version" | "only">, reveal: boolean): Kept {
  const shown = runs.filter(({ half }) => half === "tuning" || reveal);
  const byHalf = Object.entries(Object.groupBy(runs, ({ half }) => half));
  const halves = Object.fromEntries(byHalf.map(([half, some]) => [half, totals(some)]));
  const categories = Object.fromEntries(byHalf.map(([half, some]) => [half, shares(some, ({ category }) => category)]));
  return { ...about, halves, categories, tasks: shares(shown, ({ name }) => name) };
}

function shares(runs: readonly Run[], key: (run: Run) => string): { [key: string]: string } {
  return Object.fromEntries(Object.entries(Object.groupBy(runs, key)).map(([name, some = []]) => [name, `${some.filter(isSolved).length}/${some.length}`]));
}

/** The newest that was made of the same model, tasks and halves with as many runs. */
export function lastComparable(all: readonly Kept[], now: Kept): Kept | undefined {
  return all.filter((one) => one.model === now.model && one.only === now.only && runsOf(one) === runsOf(now)).toSorted((a, b) => (a.date < b.date ? -1 : 1)).at(-1);
}

/** One line a task, for those that may be shown. */
export function taskLines(tasks: readonly Task[], runs: readonly Run[]): string[] {
  return table([
    ["task", "category", "solved", "invalid", "steps", "read", "written", "seconds", ""],
    ...tasks.map(({ name, category }) => {
      const own = runs.filter((run) => run.name === name);
      const fault = own.find((run) => !isSolved(run));
      return [name, category, ...figures(totals(own)), fault ? reason(fault) : ""];
    }),
  ]);
}

/** One line a category, with its count in either half: how many of the control tasks are solved may be looked at, which not. */
export function categoryLines({ categories = {} }: Kept): string[] {
  const names = new Set(Object.values(categories).flatMap((some) => Object.keys(some)));
  return table([["category", "tuning", "control"], ...[...names].map((name) => [name, categories.tuning?.[name] ?? "-", categories.control?.[name] ?? "-"])]);
}

/** One line a half, and what became of each task since the run before. */
export function summaryLines(now: Kept, before: Kept | undefined): string[] {
  const lines = table([
    ["half", "solved", "invalid", "steps", "read", "written", "seconds"],
    ...Object.entries(now.halves).map(([half, some]) => [half, ...figures(some)]),
    ...Object.entries(before?.halves ?? {}).map(([half, some]) => [`  before: ${half}`, ...figures(some)]),
  ]);
  if (!before) return [...lines, "no comparable result was kept before"];
  const changed = Object.entries(now.tasks).filter(([name, solved]) => (before.tasks[name] ?? solved) !== solved);
  return [...lines, `against ${before.date} (${before.version}):${changed.length === 0 ? " no task that may be shown changed" : ""}`, ...changed.map(([name, solved]) => `  ${name}: ${before.tasks[name]} → ${solved}`)];
}

function runsOf({ halves }: Kept): string {
  return `${halves.tuning?.runs ?? 0} ${halves.control?.runs ?? 0}`;
}

function figures({ runs, solved, invalidCalls, steps, promptTokens, outputTokens, durationMs }: Totals): string[] {
  return [`${solved}/${runs}`, String(invalidCalls), String(steps), String(promptTokens), String(outputTokens), (durationMs / 1000).toFixed(1)];
}

function reason({ faults, outcome }: Run): string {
  return outcome === "ok" ? (faults[0] ?? "") : `ended as ${outcome}`;
}

/** Words to the left, figures to the right; the last column is never padded. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) => row.map((cell, column) => (column === row.length - 1 && !/^[\d.]+$|^seconds$/.test(cell) ? cell : /^[\d./]+$/.test(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join("  ").trimEnd());
}
