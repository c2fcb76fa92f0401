// `npm run bench [-- --json FILE] [--quick]`: speed beside a reference measured in the same minutes, so that figures of different
// machines and days can be compared by their ratios. Prints a table; exit status 1 when a target is missed. `--quick` leaves out what needs weights.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { executablePath, makeHome, repositoryRoot, runAtomic, startAtomic } from "../support/atomic.ts";
import { numberAt, textAt } from "../support/json-checker/values.ts";
import { ensureModel } from "../support/models.ts";
import { writeScript } from "../support/scripted.ts";
import { makeWorkspace } from "../support/workspace.ts";
import { measurePairs, median } from "./pairs.ts";
import type { Speed } from "./speed.ts";
import { measureRoundTrips, measureStarts, type RoundTrips, wireBounds } from "./wire.ts";
import { deltaCount, measureSpeed, measureWaiting, streamBounds } from "./stream.ts";

interface Row {
  what: string;
  unit: string;
  ours: number;
  reference?: number;
  ratio?: number;
  /** Bound of the ratio. */
  target?: { most?: number; least?: number };
}

const { values: options } = parseArgs({ options: { quick: { type: "boolean", default: false }, json: { type: "string" }, model: { type: "string", default: "qwen2.5-coder-0.5b" }, pairs: { type: "string", default: "20" } } });

process.env["ATOMIC_TEST_MODELS"] ??= join(repositoryRoot, "test/.cache/models");
const rows: Row[] = [];
const quick = [startUp, headerLine, sidecarStart, roundTrips, streams];
for (const measure of options.quick ? quick : [...quick, roundTripsWhileDecoding, engineSpeed, tokensPerStep]) rows.push(...(await measure()));
printTable(rows);
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify({ date: new Date().toISOString(), machine: machine(), rows }, null, 2)}\n`);
process.exitCode = rows.some(isMissed) ? 1 : 0;

/** The whole life of a process that prints its version, against one of Bun that does nothing. */
async function startUp(): Promise<Row[]> {
  say("start-up");
  const paired = await measurePairs(Number(options.pairs), () => timeProcess([executablePath(), "--version"]), bareBun);
  return [{ what: "atomic --version, against bun -e 0", unit: "ms", ...paired, target: { most: 2.5 } }];
}

/** From the start of the process to the first line of the stream. */
async function headerLine(): Promise<Row[]> {
  say("header line");
  using home = makeHome();
  using workspace = makeWorkspace();
  const model = writeScript(home.folder.at("script.json"), { steps: [[{ text: "done" }]] });
  const ours = async (): Promise<number> => {
    const startedAt = performance.now();
    using running = startAtomic(["json", "--model", model, "--no-session", "hello"], { cwd: workspace.path, home });
    await running.waitFor((event) => event["type"] === "session");
    const durationMs = performance.now() - startedAt;
    await running.result();
    return durationMs;
  };
  return [{ what: "atomic json, first line, against bun -e 0", unit: "ms", ...(await measurePairs(Number(options.pairs), ours, bareBun)) }];
}

/** The sidecar's start, against a compiled process that only echoes. */
async function sidecarStart(): Promise<Row[]> {
  say("start of the sidecar");
  const { firstLine, session } = await measureStarts(Number(options.pairs));
  return [
    { what: "atomic sidecar, start to first frame, against an echo's first line", unit: "ms", ...firstLine },
    { what: "atomic sidecar, start to session_started, against a line echoed", unit: "ms", ...session },
  ];
}

/** Pings, each beside one to the echo. */
async function roundTrips(): Promise<Row[]> {
  say("round trips");
  return [
    ...tripRows("idle", await measureRoundTrips("idle", 1000), { median: wireBounds.idleMedianMost }),
    ...tripRows("while 200 deltas a second stream", await measureRoundTrips("steady", 1000)),
    ...tripRows("while deltas stream without end", await measureRoundTrips("flood", 500)),
  ];
}

async function roundTripsWhileDecoding(): Promise<Row[]> {
  say("round trips while a model decodes");
  const weights = await ensureModel("smollm2-135m");
  return tripRows("while smollm2-135m decodes", await measureRoundTrips({ weights }, 1000), { tail: wireBounds.decodingTailMost });
}

function tripRows(when: string, { median: half, tail }: RoundTrips, most: { median?: number; tail?: number } = {}): Row[] {
  return [
    { what: `ping ${when}, p50, against an echo`, unit: "ms", ...half, ...(most.median === undefined ? {} : { target: { most: most.median } }) },
    { what: `ping ${when}, p99, against an echo`, unit: "ms", ...tail, ...(most.tail === undefined ? {} : { target: { most: most.tail } }) },
  ];
}

/** Many small pieces through a pipe: how fast, and in what memory with readers of both kinds. */
async function streams(): Promise<Row[]> {
  if (process.platform !== "linux") return [];
  say("streams (a minute)");
  const { speed, growth } = await measureSpeed(5);
  const { deltas, snapshots, snapshotMebibytes } = await measureWaiting(3);
  const many = deltaCount.toLocaleString("en");
  return [
    { what: `${many} deltas, against a bare loop that writes the same`, unit: "lines/s", ...speed, target: { least: streamBounds.speedLeast } },
    { what: `${many} deltas: peak memory, against a tenth of them`, unit: "MiB", ...growth, target: { most: streamBounds.growthMost } },
    { what: `${many} deltas: peak memory, reader stops for 2 s, against one that doesn't`, unit: "MiB", ...deltas, target: { most: streamBounds.waitingMost } },
    { what: `${snapshotMebibytes.toFixed(0)} MiB of snapshots, such a reader: peak memory, against no snapshots`, unit: "MiB", ...snapshots, target: { most: streamBounds.snapshotsMost } },
  ];
}

/** The in-process engine against the binding's plain `evaluate`: one process each, in turn. */
async function engineSpeed(): Promise<Row[]> {
  say("engine (a few minutes)");
  const model = await ensureModel(options.model);
  const threads = String(navigator.hardwareConcurrency);
  const ours: Speed[] = [];
  const reference: Speed[] = [];
  for (let index = 0; index < 3; index++) {
    reference.push(await speedOf("plain-binding.ts", model, threads));
    ours.push(await speedOf("engine.ts", model, threads));
  }
  return (["prefillTokensPerSecond", "decodeTokensPerSecond"] as const).map((name) => ({
    what: `${name === "prefillTokensPerSecond" ? "reading a prompt" : "writing"}, ${options.model}, against the binding alone`,
    unit: "tokens/s",
    ours: median(ours.map((speed) => speed[name])),
    reference: median(reference.map((speed) => speed[name])),
    ratio: median(ours.map((speed, index) => speed[name] / (reference[index]?.[name] ?? Number.NaN))),
    target: { least: 0.95 },
  }));
}

async function speedOf(script: string, model: string, threads: string): Promise<Speed> {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/${script}`, model, threads], { stdout: "pipe", stderr: "inherit" });
  const [text, status] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  if (status !== 0) throw new Error(`${script} ended with ${status}`);
  return JSON.parse(text) as Speed;
}

/** How many prompt tokens each step of a small job evaluates: what the prompt cache saves. */
async function tokensPerStep(): Promise<Row[]> {
  say("a job of several steps");
  const model = await ensureModel(options.model);
  using home = makeHome();
  using workspace = makeWorkspace({ "notes/a.txt": "alpha\nbeta\n", "notes/b.txt": "gamma\n", "README.md": "# Notes\nTwo files below notes.\n" });
  const job = "Read notes/a.txt, then read notes/b.txt, then tell me all lines.";
  const result = await runAtomic(["json", "--model", model, "--seed", "1", "--temperature", "0", "--max-steps", "6", "--updates", "delta", job], { cwd: workspace.path, home, timeoutMs: 300_000 });
  const steps = result.events().filter((event) => event["type"] === "message_end" && textAt(event, "message", "role") === "assistant");
  const evaluated = steps.map((event) => numberAt(event, "message", "usage", "input"));
  const cached = steps.map((event) => numberAt(event, "message", "usage", "cacheRead"));
  const [first = Number.NaN, ...later] = evaluated;
  return [
    { what: "job: steps", unit: "", ours: steps.length },
    { what: "job: prompt tokens evaluated, first step", unit: "tokens", ours: first },
    { what: "job: prompt tokens evaluated, median of later steps", unit: "tokens", ours: median(later) },
    { what: "job: prompt tokens from the cache, last step", unit: "tokens", ours: cached.at(-1) ?? Number.NaN },
    { what: "job: whole process", unit: "ms", ours: result.durationMs },
  ];
}

function bareBun(): Promise<number> {
  return timeProcess([process.execPath, "-e", "0"]);
}

async function timeProcess(argv: string[]): Promise<number> {
  const startedAt = performance.now();
  const child = Bun.spawn(argv, { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  const status = await child.exited;
  if (status !== 0) throw new Error(`${argv.join(" ")} ended with ${status}`);
  return performance.now() - startedAt;
}

function isMissed({ ratio, target }: Row): boolean {
  return ratio !== undefined && (ratio > (target?.most ?? Number.POSITIVE_INFINITY) || ratio < (target?.least ?? 0));
}

function printTable(all: readonly Row[]): void {
  const cells = all.map((row) => [row.what, shown(row.ours), row.reference === undefined ? "" : shown(row.reference), row.unit, row.ratio === undefined ? "" : row.ratio.toFixed(2), targetText(row)]);
  const table = [["", "atomic", "reference", "", "ratio", "target"], ...cells];
  const widths = table[0]?.map((_, column) => Math.max(...table.map((line) => line[column]?.length ?? 0))) ?? [];
  const lines = table.map((line) => line.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join("  ").trimEnd());
  process.stdout.write(`${lines.join("\n")}\n`);
}

function targetText(row: Row): string {
  const { most, least } = row.target ?? {};
  const bound = most === undefined ? (least === undefined ? "" : `≥ ${Number(least.toFixed(2))}`) : `≤ ${most}`;
  return isMissed(row) ? `${bound} missed` : bound;
}

function shown(value: number): string {
  return Number.isFinite(value) ? value.toFixed(value < 10 ? 2 : 0) : "–";
}

function machine(): { platform: string; cores: number } {
  return { platform: `${process.platform}-${process.arch}`, cores: navigator.hardwareConcurrency };
}

function say(text: string): void {
  process.stderr.write(`bench: ${text}\n`);
}
