// How soon `atomic sidecar` answers, beside a bare echo process in the same seconds: round trips of `ping` in pairs, one to each,
// while the sidecar is idle, streams, or decodes with real weights; and how soon both are there after their start.
import { join } from "node:path";
import { executablePath } from "../support/atomic.ts";
import { makePlace, type Place } from "../support/json-run.ts";
import { writeScript } from "../support/scripted.ts";
import { measurePairs, type Paired } from "./pairs.ts";
import { type Frame, Peer } from "./peer.ts";

/** Bounds of the ratios. */
export const wireBounds = { idleMedianMost: 2, decodingTailMost: 3 };

export interface RoundTrips {
  /** Median and 99th percentile in ms; the ratio is that of the two figures. */
  median: Paired;
  tail: Paired;
}

export interface Starts {
  /** From the start of the process to its first line, in ms. */
  firstLine: Paired;
  /** From the start of the process to `session_started`; of the echo: to the first line that it sends back. */
  session: Paired;
}

/** What the sidecar does meanwhile: nothing; a scripted turn of 200 deltas a second, or of as many as it can; a model's turns. */
export type Load = "idle" | "steady" | "flood" | { weights: string; threads?: number };

/** @param pairs how many round trips to each */
export async function measureRoundTrips(load: Load, pairs: number): Promise<RoundTrips> {
  using place = makePlace();
  if (typeof load === "object" && load.threads !== undefined) place.configure({ localModels: { managed: { threads: load.threads } } });
  const surroundings = surroundingsOf(place);
  await using ours = new Peer([executablePath(), "sidecar"], surroundings);
  await using echo = new Peer([await compileEcho(place)], surroundings);
  await Promise.all([ours.started, echo.started]);
  const ready = await loadOf(load, ours, place);
  const taken: Pair[] = [];
  for (let index = -warmUpPairs; index < pairs; index++) {
    const sides = index % 2 === 0 ? [ours, echo] : [echo, ours];
    const durations: number[] = [];
    for (const side of sides) {
      // Not in step with anything that comes at regular times.
      await Bun.sleep(Math.random() * gapMaxMs);
      await ready();
      durations.push(await side.ping());
    }
    const [first = 0, second = 0] = durations;
    if (index >= 0) taken.push(index % 2 === 0 ? { ours: first, echo: second } : { ours: second, echo: first });
  }
  return { median: figureOf(taken, 0.5), tail: figureOf(taken, 0.99) };
}

/** Medians of so many pairs of starts, a scripted model in the session. */
export async function measureStarts(pairs: number): Promise<Starts> {
  using place = makePlace();
  const echo = await compileEcho(place);
  const model = writeScript(place.home.folder.at("script.json"), { steps: [] });
  const sidecar = [executablePath(), "sidecar"];
  return {
    firstLine: await measurePairs(pairs, () => timeStart(place, sidecar), () => timeStart(place, [echo])),
    session: await measurePairs(pairs, () => timeSession(place, sidecar, model), () => timeSession(place, [echo], model)),
  };
}

interface Pair {
  ours: number;
  echo: number;
}

/** Unmeasured ones before. */
const warmUpPairs = 10;
const gapMaxMs = 4;

function figureOf(taken: readonly Pair[], part: number): Paired {
  const [ours, reference] = [percentile(taken.map((pair) => pair.ours), part), percentile(taken.map((pair) => pair.echo), part)];
  return { ours, reference, ratio: ours / reference, pairs: taken.length };
}

function percentile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN;
}

/** As the executable itself is made: one file with bytecode. */
async function compileEcho(place: Place): Promise<string> {
  const outfile = place.home.folder.at("echo");
  const options = { entrypoints: [join(import.meta.dir, "echo.ts")], target: "bun", format: "esm", bytecode: true, compile: { outfile, autoloadDotenv: false, autoloadBunfig: false } };
  await Bun.build(options as Bun.BuildConfig);
  return outfile;
}

function surroundingsOf({ home, workspace }: Place): { cwd: string; env: { [name: string]: string | undefined } } {
  return { cwd: workspace.path, env: { PATH: process.env["PATH"], HOME: home.path, ATOMIC_AGENT_STATE_DIR: home.state } };
}

/** Starts what the sidecar does meanwhile. @returns resolves as soon as it does it */
async function loadOf(load: Load, ours: Peer, place: Place): Promise<() => Promise<void>> {
  if (load === "idle") return async () => undefined;
  const words = load === "steady" ? { repeat: 1_000_000, items: [{ text: "word " }, { delayMs: 5 }] } : { repeat: 1000, items: [{ text: "word ".repeat(20_000), chunk: 5 }] };
  const model = typeof load === "object" ? load.weights : place.script([[words]]);
  return await keepWriting(ours, { workingDir: place.workspace.path, model, approvalLevel: 1 });
}

/** Sends message after message, denies every question, and knows whether the model writes at the moment. */
async function keepWriting(ours: Peer, session: object): Promise<() => Promise<void>> {
  ours.send({ kind: "request", id: "start", type: "start_session", payload: session });
  const { payload } = await ours.frame(({ correlationId, kind }) => kind === "response" && correlationId === "start");
  let isWriting = false;
  let wake = (): void => undefined;
  const say = (): void => ours.send({ kind: "request", id: "turn", type: "send_message", payload: { sessionId: payload?.["sessionId"], text: "Write a long story about a fox." } });
  ours.onLine = (line) => {
    if (line.includes('"assistant_delta"')) return;
    const frame = JSON.parse(line) as Frame;
    if (frame.type === "llm_request" || frame.type === "llm_response") isWriting = frame.type === "llm_request";
    if (isWriting) wake();
    if (frame.type === "approval_request") ours.send({ kind: "request", id: "deny", type: "approval_response", payload: { approvalId: frame.payload?.["approvalId"], approved: false } });
    if (frame.kind === "response" && frame.correlationId === "turn") say();
  };
  say();
  return async () => {
    while (!isWriting) await new Promise<void>((resolve) => (wake = resolve));
  };
}

async function timeStart(place: Place, argv: string[]): Promise<number> {
  const startedAt = performance.now();
  await using peer = new Peer(argv, surroundingsOf(place));
  await peer.started;
  return performance.now() - startedAt;
}

async function timeSession(place: Place, argv: string[], model: string): Promise<number> {
  const startedAt = performance.now();
  await using peer = new Peer(argv, surroundingsOf(place));
  peer.send({ kind: "request", id: "start", type: "start_session", payload: { workingDir: place.workspace.path, model } });
  await peer.frame(({ kind, type }) => type === "session_started" || kind === "request");
  return performance.now() - startedAt;
}
