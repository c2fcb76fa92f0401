// One case of test/golden: what is run, and what was recorded. Read from its folder, played against the executable.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type AtomicResult, makeHome, runAtomic, startAtomic } from "../support/atomic.ts";
import type { JsonObject } from "../support/json-checker/values.ts";
import { type Script, writeScript } from "../support/scripted.ts";
import { type FileTree, makeWorkspace } from "../support/workspace.ts";
import { normaliseEvents, normaliseText, type Places } from "./normalise.ts";
import { makeTokenizer } from "./order.ts";

/** Contents by path, or a text repeated. */
const Files = z.record(z.string(), z.union([z.string(), z.strictObject({ repeat: z.string(), times: z.int() })]));

const CaseFile = z.strictObject({
  /** What the case shows, with the section of the contract. */
  title: z.string(),
  /** Arguments of the executable; `--model scripted:FILE` is added to them when there is a script. */
  arguments: z.array(z.string()),
  files: Files.default({}),
  environment: z.record(z.string(), z.string()).default({}),
  /** Runs before it in the same places, whose streams are not looked at. */
  earlier: z.array(z.strictObject({ arguments: z.array(z.string()), script: z.record(z.string(), z.unknown()) })).default([]),
  /** Absent = the null device. */
  stdin: z.string().optional(),
  /** The scripted model: {steps, …}. */
  script: z.record(z.string(), z.unknown()).optional(),
  /** What is done while it runs, in order: after the event of this token, send a line or a signal. */
  during: z.array(z.strictObject({ after: z.string(), send: z.record(z.string(), z.unknown()).optional(), signal: z.string().optional() })).default([]),
  /** The order that the contract demands, in its notation. */
  order: z.string(),
  exitCode: z.int(),
  /** All files of the workspace at the end, and nothing beside it; absent = those of the beginning. */
  filesAfter: Files.optional(),
});
type CaseFile = z.infer<typeof CaseFile>;

export interface GoldenCase extends CaseFile {
  name: string;
  folder: string;
}

export interface Played {
  result: AtomicResult;
  tokens: string[];
  /** One normalised event a line. */
  transcript: string;
  stderr: string;
  /** Everything in the workspace and beside it. */
  files: { [path: string]: string };
}

export const goldenFolder = join(import.meta.dir, "json");

export function loadCases(): GoldenCase[] {
  return readdirSync(goldenFolder).toSorted().map((name) => {
    const folder = join(goldenFolder, name);
    return { name, folder, ...CaseFile.parse(JSON.parse(readFileSync(join(folder, "case.json"), "utf8"))) };
  });
}

export async function playCase(golden: GoldenCase): Promise<Played> {
  // One level down, so that what a call does beside the workspace shows too.
  using outside = makeWorkspace(expand(golden.files));
  const workspace = outside.at("workspace");
  mkdirSync(workspace, { recursive: true });
  using home = makeHome();
  const script = home.folder.at("script.json");
  const common = { cwd: workspace, home, env: golden.environment };
  for (const earlier of golden.earlier) {
    const { exitCode, stderr } = await runAtomic(argumentsOf(earlier, script), common);
    if (exitCode !== 0) throw new Error(`a run before it ended with ${exitCode}: ${stderr}`);
  }
  using running = startAtomic(argumentsOf(golden, script), {
    ...common,
    interactive: golden.during.some(({ send }) => send !== undefined),
    ...(golden.stdin === undefined ? {} : { stdin: golden.stdin }),
  });
  if (golden.stdin !== undefined) {
    running.write(golden.stdin);
    running.end();
  }
  const tokenOf = makeTokenizer();
  for (const { after, send, signal } of golden.during) {
    await running.waitFor((event) => tokenOf(event) === after);
    if (send) running.send(send);
    if (signal) running.signal(signal as NodeJS.Signals);
  }
  const result = await running.result();
  const places: Places = { [script]: "<script>", [home.state]: "<state>", [home.path]: "<home>", [workspace]: "<workspace>", [outside.path]: "<outside>" };
  const events = result.events();
  return {
    result,
    tokens: events.map(makeTokenizer()),
    transcript: normaliseEvents(events, places).map((event) => `${JSON.stringify(event)}\n`).join(""),
    stderr: normaliseText(result.stderr, places),
    files: outside.snapshot(),
  };
}

export function argumentsOf({ arguments: [command = "", ...rest], script }: Pick<CaseFile, "arguments" | "script">, path: string): string[] {
  return [command, ...(script ? ["--model", writeScript(path, script as unknown as Script)] : []), ...rest];
}

/** Contents in full, below the folder of the workspace. */
export function expand(files: z.infer<typeof Files>): FileTree & { [path: string]: string } {
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [`workspace/${path}`, typeof content === "string" ? content : content.repeat.repeat(content.times)]));
}

/** What was recorded; undefined where nothing was. */
export function recorded(golden: GoldenCase, file: "stdout.jsonl" | "stderr.txt"): string | undefined {
  const path = join(golden.folder, file);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

export function record(golden: GoldenCase, played: Played): void {
  writeFileSync(join(golden.folder, "stdout.jsonl"), played.transcript);
  writeFileSync(join(golden.folder, "stderr.txt"), played.stderr);
}

/** Every event of a recorded transcript. */
export function recordedEvents(golden: GoldenCase): JsonObject[] {
  const lines = (recorded(golden, "stdout.jsonl") ?? "").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as JsonObject);
}
