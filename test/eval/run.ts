// `npm run eval -- --model NAME`: the tasks through the built executable, each in a fresh folder, and a table of how it went.
// Of the control half it says totals alone, unless --reveal.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { makeHome, repositoryRoot, runAtomic, type Home } from "../support/atomic.ts";
import { ensureModel } from "../support/models.ts";
import { makeWorkspace } from "../support/workspace.ts";
import { measure, type Measure } from "./measure.ts";
import { categoryLines, isSolved, kept, lastComparable, summaryLines, taskLines, type Kept, type Run } from "./report.ts";
import { filesOnly, halfOf, type Half, type Task } from "./task.ts";
import { tasks } from "./tasks/index.ts";

const usage = `npm run eval -- [--model NAME]
  --model NAME     of the catalogue, the path of a GGUF file, or scripted:FILE (default qwen2.5-coder-1.5b)
  --half HALF      tuning (default), control or all
  --only TEXT      tasks whose name or category has this text (tuning half, unless --reveal)
  --seeds N        runs at temperature 0.3 beside the one at 0 (default 2)
  --jobs N         runs at once (default 1)
  --limit SECONDS  for each run (default 300)
  --keep           keeps the totals in test/eval/results, for later comparisons
  --json FILE      every run in full, replies and faults, written as they come
  --reveal         single results of the control half too: after that it is no control any more
`;

interface Plan {
  task: Task;
  temperature: number;
  seed: number;
}

const resultsFolder = join(import.meta.dir, "results");
const graceMs = 30_000;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === "string") {
    process.stderr.write(`eval: ${options}\n\n${usage}`);
    return 2;
  }
  const chosen = tasks.filter(({ name, category }) => (options.half === "all" || halfOf(name) === options.half) && (options.only === undefined || name.includes(options.only) || category.includes(options.only)));
  const samplings = [{ temperature: 0, seed: 1 }, ...Array.from({ length: options.seeds }, (_, index) => ({ temperature: 0.3, seed: index + 1 }))];
  const plans = chosen.flatMap((task) => samplings.map((sampling) => ({ task, ...sampling })));
  if (plans.length === 0) {
    process.stderr.write("eval: no task fits\n");
    return 2;
  }
  process.env["ATOMIC_TEST_MODELS"] ??= join(repositoryRoot, "test/.cache/models");
  const model = /^scripted:|\.gguf$/.test(options.model) ? options.model : await ensureModel(options.model);
  using home = makeHome();
  const about = { date: new Date().toISOString(), model: basename(options.model), version: versionNow(), ...(options.only === undefined ? {} : { only: options.only }) };
  const runs = await runAll(plans, options.jobs, (plan) => runOne(plan, model, home, options.limitMs), (runs, last) => {
    const isShown = (run: Run): boolean => options.reveal || run.half === "tuning";
    process.stderr.write(`${runs.length}/${plans.length} ${isShown(last) ? verdict(last) : "control"}\n`);
    // Written as it grows: a run of hours may be stopped.
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify({ ...kept(runs, about, options.reveal), runs: runs.filter(isShown) }, null, 2)}\n`);
  });
  const now = kept(runs, about, options.reveal);
  const shown = chosen.filter(({ name }) => options.reveal || halfOf(name) === "tuning");
  const lines = [...(shown.length > 0 ? [...taskLines(shown, runs), ""] : []), ...categoryLines(now), "", ...summaryLines(now, lastComparable(readKept(), now))];
  process.stdout.write(`${lines.join("\n")}\n`);
  if (options.keep) keep(now);
  return 0;
}

interface Options {
  model: string;
  half: Half | "all";
  only: string | undefined;
  seeds: number;
  jobs: number;
  limitMs: number;
  keep: boolean;
  json: string | undefined;
  reveal: boolean;
}

/** @returns what is wrong with the command line, as text */
function readOptions(): Options | string {
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        model: { type: "string", default: "qwen2.5-coder-1.5b" },
        half: { type: "string", default: "tuning" },
        only: { type: "string" },
        seeds: { type: "string", default: "2" },
        jobs: { type: "string", default: "1" },
        limit: { type: "string", default: "300" },
        keep: { type: "boolean", default: false },
        json: { type: "string" },
        reveal: { type: "boolean", default: false },
      },
    }));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const { half, only, keep, json, reveal, model } = values;
  const [seeds, jobs, limitSeconds] = [Number(values.seeds), Number(values.jobs), Number(values.limit)];
  if (half !== "tuning" && half !== "control" && half !== "all") return `--half ${half}: expected tuning, control or all`;
  if (!Number.isInteger(seeds) || seeds < 0) return `--seeds ${values.seeds}: expected a whole number from 0`;
  if (!Number.isInteger(jobs) || jobs < 1) return `--jobs ${values.jobs}: expected a whole number from 1`;
  if (!Number.isInteger(limitSeconds) || limitSeconds < 1) return `--limit ${values.limit}: expected a whole number of seconds from 1`;
  if (only !== undefined && half !== "tuning" && !reveal) return "--only would show single results of the control half: leave it out, or add --reveal";
  return { model, half, only, seeds, jobs, limitMs: limitSeconds * 1000, keep, json, reveal };
}

/** @param ended is told all runs that ended so far, and the last of them */
async function runAll(plans: readonly Plan[], jobs: number, run: (plan: Plan) => Promise<Run>, ended: (runs: readonly Run[], last: Run) => void): Promise<Run[]> {
  const runs: Run[] = [];
  const left = [...plans];
  const work = async (): Promise<void> => {
    for (let plan = left.shift(); plan; plan = left.shift()) {
      const last = await run(plan);
      runs.push(last);
      ended(runs, last);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return runs;
}

function verdict(run: Run): string {
  const what = isSolved(run) ? "solved" : [...run.faults, ...(run.outcome === "ok" ? [] : [`ended as ${run.outcome}`])].join("; ");
  return `${run.name} at ${run.temperature}: ${what}`;
}

async function runOne({ task, temperature, seed }: Plan, model: string, home: Home, limitMs: number): Promise<Run> {
  using workspace = makeWorkspace(task.files);
  const args = ["json", "--no-session", "--updates", "delta", "--model", model, "--temperature", String(temperature), "--seed", String(seed), "--timeout", String(limitMs / 1000), "--", task.prompt];
  const startedAt = performance.now();
  const seen = await watch(args, workspace.path, home, limitMs + graceMs);
  const durationMs = Math.round(performance.now() - startedAt);
  const faults = task.check(seen.reply, workspace.snapshot(), filesOnly(task.files));
  return { name: task.name, category: task.category, half: halfOf(task.name), temperature, seed, faults, durationMs, ...seen };
}

/** A process that hangs or breaks its stream is a result too. */
async function watch(args: readonly string[], cwd: string, home: Home, timeoutMs: number): Promise<Measure> {
  try {
    const result = await runAtomic(args, { cwd, home, timeoutMs });
    const seen = measure(result.events());
    if (seen.outcome === "broken") process.stderr.write(result.stderr);
    return seen;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return measure([]);
  }
}

function versionNow(): string {
  return execFileSync("git", ["describe", "--always", "--dirty"], { cwd: repositoryRoot, encoding: "utf8" }).trim();
}

function readKept(): Kept[] {
  mkdirSync(resultsFolder, { recursive: true });
  return readdirSync(resultsFolder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(resultsFolder, name), "utf8")) as Kept);
}

function keep(now: Kept): void {
  const path = join(resultsFolder, `${now.date.slice(0, 19).replaceAll(":", "-")}-${now.model.replace(/[^\w.-]/g, "-")}.json`);
  writeFileSync(path, `${JSON.stringify(now, null, 2)}\n`);
  process.stdout.write(`kept as ${path}\n`);
}
