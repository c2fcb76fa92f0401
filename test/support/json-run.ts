// Plays `atomic json` with a scripted model in a workspace and a state of its own. Every stream that a test sees has passed
// the project's checker of json-mode.md, and the independent one where it is present.
import { expect } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { describeOrder, followsOrder, makeTokenizer } from "../golden/order.ts";
import { type AtomicResult, type Home, makeHome, type RunningAtomic, type RunOptions, startAtomic } from "./atomic.ts";
import { checkJsonIndependently } from "./independent-checker.ts";
import { checkJsonStream, describeBreaches } from "./json-checker.ts";
import { at, type JsonObject, listAt } from "./json-checker/values.ts";
import { type Script, type ScriptItem, writeScript } from "./scripted.ts";
import { jsonWireShape } from "./wire-schema.ts";
import { type FileTree, makeWorkspace, type Workspace } from "./workspace.ts";

/** A workspace, and a home with its state folder, for one or several runs. */
export interface Place extends Disposable {
  home: Home;
  workspace: Workspace;
  /** Saves the configuration file. */
  configure(config: object): void;
  /** Writes a script and gives the value for `--model`. */
  script(steps: ScriptItem[][] | Script): string;
}

export function makePlace(files: FileTree = {}): Place {
  const home = makeHome();
  const workspace = makeWorkspace(files);
  let scripts = 0;
  mkdirSync(home.state, { recursive: true });
  return {
    home,
    workspace,
    configure: (config) => writeFileSync(`${home.state}/config.json`, JSON.stringify(config)),
    script: (steps) => writeScript(home.folder.at(`script-${++scripts}.json`), Array.isArray(steps) ? { steps } : steps),
    [Symbol.dispose]: () => {
      workspace[Symbol.dispose]();
      home[Symbol.dispose]();
    },
  };
}

export interface JsonRun {
  result: AtomicResult;
  events: JsonObject[];
  /** In the notation of json-mode.md section 6. */
  tokens: string[];
  /** Events of a type. */
  all(type: string): JsonObject[];
  /** Messages of the message_end events, of one role or of all. */
  messages(role?: string): JsonObject[];
  settled: JsonObject;
}

/** Runs `atomic json ARGS` to its end, in a place. */
export async function runJson(place: Place, args: readonly string[], options: RunOptions = {}): Promise<JsonRun> {
  using running = startJson(place, args, options);
  if (options.stdin !== undefined) {
    running.write(options.stdin);
    running.end();
  }
  return await finished(running);
}

export function startJson(place: Place, args: readonly string[], options: RunOptions & { interactive?: boolean } = {}): RunningAtomic {
  return startAtomic(["json", ...args], { cwd: place.workspace.path, home: place.home, ...options });
}

/** Waits for the end and checks the stream. */
export async function finished(running: RunningAtomic): Promise<JsonRun> {
  return await checked(await running.result());
}

/** @throws with every breach when the stream is not right. */
export async function checked(result: AtomicResult): Promise<JsonRun> {
  const exitCode = result.exitCode ?? undefined;
  const breaches = checkJsonStream(result.stdout, { shape: await jsonWireShape(), ...(exitCode === undefined ? {} : { exitCode }) });
  const shown = `\nstderr: ${result.stderr.slice(0, 2000)}\nstdout: ${result.text.slice(0, 4000)}`;
  if (breaches.length > 0) throw new Error(`${describeBreaches(breaches)}${shown}`);
  const [foreign = []] = checkJsonIndependently([{ stdout: result.stdout, ...(exitCode === undefined ? {} : { exitCode }) }]) ?? [];
  if (foreign.length > 0) throw new Error(`independent checker:\n${foreign.join("\n")}${shown}`);
  const events = result.events();
  const all = (type: string): JsonObject[] => events.filter((event) => event["type"] === type);
  return {
    result,
    events,
    tokens: events.map(makeTokenizer()),
    all,
    messages: (role) => all("message_end").map((event) => event["message"] as JsonObject).filter((message) => role === undefined || message["role"] === role),
    settled: events.at(-1) ?? {},
  };
}

/** @throws with the order that came when it is not the demanded one. */
export function expectOrder(run: JsonRun, pattern: string): void {
  if (!followsOrder(run.tokens, pattern)) throw new Error(`wanted ${pattern}\ncame   ${describeOrder(run.tokens)}`);
}

/** What the stream says at its end, with the exit status of the process. */
export function expectEnd(run: JsonRun, outcome: string, exitCode: number): void {
  expect({ outcome: run.settled["outcome"], exitCode: run.settled["exitCode"], status: run.result.exitCode }).toEqual({ outcome, exitCode, status: exitCode });
}

/** Text of a message: its text blocks, joined. */
export function textOf(message: unknown): string {
  return listAt(message, "content").map((block) => (at(block, "type") === "text" ? String(at(block, "text")) : "")).join("");
}

/** Waits for a predicate on a delta of the answer. */
export function isDelta(event: JsonObject): boolean {
  return at(event, "assistantMessageEvent", "type") === "text_delta";
}

export function isType(type: string): (event: JsonObject) => boolean {
  return (event) => event["type"] === type;
}
