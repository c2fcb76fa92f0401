// `npm test`: makes ready what the tests need (executable, weights), runs every group in its own process, adds up.
// The last line of stdout is `N passed, N failed`; progress and the tests' own output go to stderr.
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { sourceHash } from "../build/source-hash.mjs";
import { readJunit, type TestCase } from "./support/junit.ts";

const root = resolve(import.meta.dir, "..");
const cache = join(root, "test/.cache");
const weights = process.env["ATOMIC_TEST_MODELS"] ?? join(cache, "models");
const long = process.argv.includes("--long");
const minuteMs = 60_000;

interface Group {
  name: string;
  /** Ends within its own limit of time; what takes longer is ended and counts as failed. */
  run(folders: Folders): Promise<TestCase[]>;
}

interface Folders {
  /** Private home and state of this run. */
  home: string;
  /** Where each group writes its report. */
  reports: string;
}

const groups: Group[] = [
  command("types", ["node_modules/typescript/bin/tsc", "--noEmit"]),
  command("lint", ["node_modules/oxlint/bin/oxlint", "src", "build", "test", "examples"]),
  tests("unit", 3),
  tests("tidy.test.ts", 1),
  step("executable", 3, buildExecutable),
  step("weights", 6, fetchWeights),
  step("llama-server", 2, async () => (await import("./support/llama-server.ts")).installLlamaServer()),
  step("chromium", 3, async () => (await import("./support/chromium.ts")).installChromium()),
  tests("golden", 3),
  tests("binary", 8, 25),
  tests("model", 15, 75),
  ...(globSync(join(root, "test/fuzz/**/*.test.ts")).length > 0 ? [tests("fuzz", 4, 75)] : []),
];

const exitCode = await main();
// Not left to drain: a step that was given up may still hold something open.
process.exit(exitCode);

async function main(): Promise<number> {
  const startedAt = performance.now();
  const scratch = mkdtempSync(join(tmpdir(), "atomic-tests-"));
  const folders: Folders = { home: join(scratch, "home"), reports: join(scratch, "reports") };
  for (const folder of [folders.home, folders.reports, cache]) mkdirSync(folder, { recursive: true });
  const cases: TestCase[] = [];
  try {
    for (const group of groups) cases.push(...(await runGroup(group, folders)));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  await summarise(cases, performance.now() - startedAt);
  return cases.some(({ outcome }) => outcome === "failed") ? 1 : 0;
}

async function runGroup(group: Group, folders: Folders): Promise<TestCase[]> {
  say(`\n── ${group.name}\n`);
  const startedAt = performance.now();
  const found = await group.run(folders).catch((error: unknown): TestCase[] => {
    say(`${error instanceof Error ? error.message : String(error)}\n`);
    return [failure(group.name, "did not end well", performance.now() - startedAt)];
  });
  say(`${group.name}: ${totals(found)} in ${seconds(performance.now() - startedAt)}\n`);
  return found;
}

/** A checker whose exit status is its verdict: one test. */
function command(name: string, args: string[]): Group {
  const limitMs = 3 * minuteMs;
  return {
    name,
    async run() {
      const { status, durationMs } = await execute([process.execPath, ...args], cleanEnvironment(), limitMs);
      return [{ name, file: "", outcome: status === 0 ? "passed" : "failed", durationMs }];
    },
  };
}

/** Something that later groups need: nothing when it is there, a failure when it can't be made. */
function step(name: string, limitMinutes: number, work: () => Promise<void>): Group {
  return {
    name,
    async run() {
      const limit = Promise.withResolvers<never>();
      const timer = setTimeout(() => limit.reject(new Error(`no end after ${limitMinutes} minutes`)), limitMinutes * minuteMs);
      await Promise.race([work(), limit.promise]).finally(() => clearTimeout(timer));
      return [];
    },
  };
}

/** `bun test` over one folder or file below test/; a long run may take longer. */
function tests(name: string, limitMinutes: number, longMinutes = 3 * limitMinutes): Group {
  const limitMs = (long ? longMinutes : limitMinutes) * minuteMs;
  return {
    name,
    async run({ home, reports }) {
      const report = join(reports, `${name}.xml`);
      const args = ["test", `./test/${name}`, "--only-failures", "--timeout=60000", "--reporter=junit", `--reporter-outfile=${report}`];
      const { status, durationMs } = await execute([process.execPath, ...args], testEnvironment(home), limitMs);
      const found = existsSync(report) ? readJunit(readFileSync(report, "utf8")) : [];
      if (found.length === 0) return [failure(name, "ran no test", durationMs)];
      const unexplained = status !== 0 && !found.some(({ outcome }) => outcome === "failed");
      return unexplained ? [...found, failure(name, `ended with status ${status}`, durationMs)] : found;
    },
  };
}

async function buildExecutable(): Promise<void> {
  const executable = join(root, "dist", process.platform === "win32" ? "atomic.exe" : "atomic");
  const note = join(root, "dist/build.json");
  const builtFrom = existsSync(executable) && existsSync(note) ? String((JSON.parse(readFileSync(note, "utf8")) as { sourceHash?: unknown }).sourceHash) : "";
  if (builtFrom === sourceHash(root)) return say("up to date\n");
  const { status } = await execute([process.execPath, "build/compile.ts"], cleanEnvironment(), 3 * minuteMs);
  if (status !== 0) throw new Error("the build failed");
}

/** The models of the tests, with the product's own code. What is there is only named. */
async function fetchWeights(): Promise<void> {
  mkdirSync(weights, { recursive: true });
  process.env["ATOMIC_TEST_MODELS"] = weights;
  const { ensureModel } = await import("./support/models.ts");
  const progress = setInterval(() => say(`${folderMebibytes(weights)} MiB in ${weights}\n`), 5000);
  try {
    for (const name of ["smollm2-135m", "qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"]) say(`${name}: ${await ensureModel(name)}\n`);
  } finally {
    clearInterval(progress);
  }
}

function folderMebibytes(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, entry) => sum + (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0), 0);
  return Math.round(bytes / 2 ** 20);
}

/** Without the variables that change what Bun does. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const { BUN_OPTIONS: _options, BUN_BE_BUN: _beBun, ...environment } = process.env;
  return environment;
}

/** What tests see: nothing of the developer's own home, state or settings. */
function testEnvironment(home: string): NodeJS.ProcessEnv {
  const kept = Object.entries(cleanEnvironment()).filter(([name]) => !name.startsWith("ATOMIC_") || name.startsWith("ATOMIC_TEST_"));
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    USERPROFILE: home,
    ATOMIC_AGENT_STATE_DIR: join(home, "state"),
    ATOMIC_TEST_MODELS: weights,
    ...(long ? { ATOMIC_TEST_LONG: "1" } : {}),
  };
}

async function execute(argv: string[], env: NodeJS.ProcessEnv, limitMs: number): Promise<{ status: number; durationMs: number }> {
  const startedAt = performance.now();
  const child = Bun.spawn(argv, { cwd: root, env, stdin: "ignore", stdout: 2, stderr: 2 });
  const timer = setTimeout(() => {
    say(`ended after ${seconds(limitMs)}\n`);
    child.kill("SIGKILL");
  }, limitMs);
  const status = await child.exited;
  clearTimeout(timer);
  return { status, durationMs: performance.now() - startedAt };
}

function failure(group: string, what: string, durationMs: number): TestCase {
  say(`${group}: ${what}\n`);
  return { name: `${group}: ${what}`, file: "", outcome: "failed", durationMs };
}

async function summarise(cases: readonly TestCase[], durationMs: number): Promise<void> {
  const slowest = cases.toSorted((a, b) => b.durationMs - a.durationMs).slice(0, 8);
  say(`\nslowest:\n${slowest.map((one) => `  ${seconds(one.durationMs).padStart(8)}  ${one.file} ${one.name}\n`).join("")}`);
  const failed = cases.filter(({ outcome }) => outcome === "failed");
  if (failed.length > 0) say(`\nfailed:\n${failed.map((one) => `  ${one.file} ${one.name}\n`).join("")}`);
  say(`\n${seconds(durationMs)} in all\n`);
  await Bun.write(Bun.stdout, `${totals(cases)}\n`);
}

function totals(cases: readonly TestCase[]): string {
  const count = (outcome: TestCase["outcome"]): number => cases.filter((one) => one.outcome === outcome).length;
  const skipped = count("skipped");
  return `${count("passed")} passed, ${count("failed")} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}

function say(text: string): void {
  process.stderr.write(text);
}
