// How fast a stream of many small pieces leaves `atomic json` through a pipe, and what memory that takes: beside a bare loop
// that writes the same bytes, beside a shorter stream, and beside a reader that doesn't make it wait. Linux only: reads /proc.
import { closeSync, constants, openSync, read, readFileSync, writeFileSync } from "node:fs";
import { executablePath } from "../support/atomic.ts";
import { makePlace, type Place } from "../support/json-run.ts";
import { median, type Paired } from "./pairs.ts";

export const deltaCount = 100_000;
/** Bounds of the ratios. */
export const streamBounds = { speedLeast: 1 / 3, growthMost: 1.5, waitingMost: 1.2, snapshotsMost: 3 };
/** How long the slow reader reads nothing: longer than the whole stream takes otherwise. */
const pauseMs = 2000;

export interface StreamSpeed {
  /** Lines a second against the bare loop. */
  speed: Paired;
  /** Peak memory in MiB against a stream of a tenth of the length. */
  growth: Paired;
}

export interface StreamMemory {
  /** Peak memory in MiB with a reader that stops, against one that reads on. */
  deltas: Paired;
  /** With whole snapshots of a long answer and a reader that stops, against the same answer without them. */
  snapshots: Paired;
  /** MiB in the stream of snapshots: what waits in memory when nothing holds the model back. */
  snapshotMebibytes: number;
}

/** 100,000 deltas and a reader that keeps up. Medians of so many rounds. @throws when a stream is not whole */
export async function measureSpeed(rounds: number): Promise<StreamSpeed> {
  using place = makePlace();
  const [long, short] = [deltaStream(place, deltaCount), deltaStream(place, deltaCount / 10)];
  const speeds: Pair[] = [];
  const peaks: Pair[] = [];
  for (let round = 0; round < rounds; round++) {
    const ours = await runStream(place, long);
    speeds.push([ours.linesPerSecond, (await runBareLoop(place, ours.bytes)).linesPerSecond]);
    peaks.push([ours.peakMebibytes, (await runStream(place, short)).peakMebibytes]);
  }
  return { speed: medians(speeds), growth: medians(peaks) };
}

/** A reader that reads nothing for a while. Medians of so many rounds. @throws when a stream is not whole */
export async function measureWaiting(rounds: number): Promise<StreamMemory> {
  using place = makePlace();
  const deltas = deltaStream(place, deltaCount);
  const snapshots = ["--model", place.script([[{ text: "y".repeat(2_400_000), chunk: 20_000 }]])];
  const withoutSnapshots = ["--updates", "delta", ...snapshots];
  const peaks: { deltas: Pair[]; snapshots: Pair[] } = { deltas: [], snapshots: [] };
  let snapshotMebibytes = 0;
  for (let round = 0; round < rounds; round++) {
    const slow = await runStream(place, deltas, pauseMs);
    peaks.deltas.push([slow.peakMebibytes, (await runStream(place, deltas)).peakMebibytes]);
    const shown = await runStream(place, snapshots, pauseMs);
    peaks.snapshots.push([shown.peakMebibytes, (await runStream(place, withoutSnapshots, pauseMs)).peakMebibytes]);
    snapshotMebibytes = shown.bytes.length / 2 ** 20;
  }
  return { deltas: medians(peaks.deltas), snapshots: medians(peaks.snapshots), snapshotMebibytes };
}

type Pair = [ours: number, reference: number];

function medians(taken: readonly Pair[]): Paired {
  return { ours: median(taken.map(([ours]) => ours)), reference: median(taken.map(([, reference]) => reference)), ratio: median(taken.map(([ours, reference]) => ours / reference)), pairs: taken.length };
}

function deltaStream(place: Place, count: number): string[] {
  return ["--updates", "delta", "--model", place.script([[{ text: "word ".repeat(count), chunk: 5 }]])];
}

interface Flow {
  bytes: Buffer;
  /** From the first byte to the end. */
  linesPerSecond: number;
  peakMebibytes: number;
}

async function runStream(place: Place, args: readonly string[], readAfterMs = 0): Promise<Flow> {
  const flow = await throughPipe(place, [executablePath(), "json", "--no-session", ...args, "go"], readAfterMs);
  const last = flow.bytes.toString("utf8", flow.bytes.lastIndexOf("\n", -2) + 1);
  if (!last.includes('"outcome":"ok"') || !last.endsWith("\n")) throw new Error(`the stream ends with ${last.slice(-300)}`);
  return flow;
}

async function runBareLoop(place: Place, bytes: Buffer): Promise<Flow> {
  const file = place.home.folder.at("stream.jsonl");
  writeFileSync(file, bytes);
  const flow = await throughPipe(place, [process.execPath, `${import.meta.dir}/bare-loop.ts`, file]);
  if (!flow.bytes.equals(bytes)) throw new Error("the bare loop wrote other bytes");
  return flow;
}

/** Runs a program into a pipe of the system and reads that, from a while later on: nothing else buffers between them. */
async function throughPipe(place: Place, argv: string[], readAfterMs = 0): Promise<Flow> {
  const pipe = openPipe(place.home.folder.at(`pipe-${Bun.randomUUIDv7()}`));
  const child = Bun.spawn(argv, {
    cwd: place.workspace.path,
    env: { PATH: process.env["PATH"], HOME: place.home.path, ATOMIC_AGENT_STATE_DIR: place.home.state },
    stdin: "ignore",
    stdout: pipe.output,
    stderr: "inherit",
  });
  closeSync(pipe.output);
  let peakMebibytes = 0;
  const watching = setInterval(() => (peakMebibytes = Math.max(peakMebibytes, peakOf(child.pid))), 5);
  try {
    await Bun.sleep(readAfterMs);
    const chunks: Buffer[] = [];
    let startedAt = 0;
    for (let chunk = await readSome(pipe.input); chunk.length > 0; chunk = await readSome(pipe.input)) {
      startedAt ||= performance.now();
      chunks.push(chunk);
    }
    const durationMs = performance.now() - startedAt;
    if ((await child.exited) !== 0) throw new Error(`${argv.join(" ")} ended with ${child.exitCode}`);
    const bytes = Buffer.concat(chunks);
    return { bytes, linesPerSecond: (lineCount(bytes) * 1000) / durationMs, peakMebibytes };
  } finally {
    clearInterval(watching);
    closeSync(pipe.input);
    child.kill("SIGKILL");
  }
}

/** Both ends of a new pipe; opened for both ways first, since either end alone would wait for the other. */
function openPipe(path: string): { input: number; output: number } {
  const made = Bun.spawnSync(["mkfifo", path]);
  if (made.exitCode !== 0) throw new Error(`mkfifo: ${made.stderr.toString()}`);
  const both = openSync(path, constants.O_RDWR);
  const ends = { input: openSync(path, constants.O_RDONLY), output: openSync(path, constants.O_WRONLY) };
  closeSync(both);
  return ends;
}

function readSome(descriptor: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(65_536);
  return new Promise((resolve, reject) => {
    read(descriptor, buffer, 0, buffer.length, null, (error, length) => (error ? reject(error) : resolve(buffer.subarray(0, length))));
  });
}

/** Most memory that the process ever held, in MiB; 0 when it is gone. */
function peakOf(pid: number): number {
  try {
    const [, kibibytes = "0"] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kibibytes) / 1024;
  } catch {
    return 0;
  }
}

function lineCount(bytes: Buffer): number {
  let count = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, end + 1)) count++;
  return count;
}
