// Plays a golden case inside the test's own process, through the same command that the executable runs.
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import type { ProcessIo } from "../../src/cli/process-io.ts";
import { runPromptCommand } from "../../src/cli/prompt-command.ts";
import { makeHome } from "../support/atomic.ts";
import type { JsonObject } from "../support/json-checker/values.ts";
import { makeWorkspace } from "../support/workspace.ts";
import { argumentsOf, expand, type GoldenCase } from "./golden-case.ts";
import { normaliseEvents, type Places } from "./normalise.ts";

/** Signals, stdin, earlier processes and confined commands need a process of their own. */
export function canPlayInProcess({ during, earlier, script, stdin, arguments: [command] }: GoldenCase): boolean {
  return command === "json" && during.length === 0 && earlier.length === 0 && stdin === undefined && !JSON.stringify(script ?? {}).includes("shell.run");
}

export async function playInProcess(golden: GoldenCase): Promise<{ transcript: string; exitCode: number }> {
  using outside = makeWorkspace(expand(golden.files));
  const workspace = outside.at("workspace");
  mkdirSync(workspace, { recursive: true });
  using home = makeHome();
  const script = home.folder.at("script.json");
  const output = home.folder.at("stdout.jsonl");
  const [, ...argv] = argumentsOf(golden, script);
  const before = { folder: process.cwd(), home: process.env["HOME"] };
  const descriptor = openSync(output, "w");
  process.chdir(workspace);
  process.env["HOME"] = home.path;
  try {
    const exitCode = await runPromptCommand("json", argv, ioTo(descriptor, { HOME: home.path, ATOMIC_AGENT_STATE_DIR: home.state, ...golden.environment }));
    const events = readFileSync(output, "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line) as JsonObject);
    const places: Places = { [script]: "<script>", [home.state]: "<state>", [home.path]: "<home>", [workspace]: "<workspace>", [outside.path]: "<outside>" };
    return { exitCode, transcript: normaliseEvents(events, places).map((event) => `${JSON.stringify(event)}\n`).join("") };
  } finally {
    process.chdir(before.folder);
    process.env["HOME"] = before.home;
    closeSync(descriptor);
  }
}

function ioTo(stdoutDescriptor: number, env: ProcessIo["env"]): ProcessIo {
  const nothing = (): void => undefined;
  return { env, stdoutDescriptor, stdoutIsTerminal: false, stderrIsTerminal: false, canAsk: false, columns: 80, print: nothing, write: nothing, warn: nothing };
}
