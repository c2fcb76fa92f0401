// A host that works for long: turn after turn, with what a person does meanwhile at random. Says what it met, and what the
// kernel says of the process behind each turn.
import { expect } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { checkSeen, type Frame, type hostOfExecutable, type SidecarHost } from "../support/sidecar-host.ts";
import type { Random } from "./sidecar-lines.ts";

export interface SoakOptions {
  turns: number;
  random: Random;
  /** After so long without an end a turn is cancelled, as by a person who has waited enough. */
  patienceMs: number;
  /** Growth of the memory between the first and the last part that is no leak, MiB. */
  growthMaxMiB: number;
}

/** The workspace needs a folder `skill`. Every request is answered once, memory and descriptors stay, the checkers take the stream. */
export async function soak(host: ReturnType<typeof hostOfExecutable>, { growthMaxMiB, patienceMs, random, turns }: SoakOptions): Promise<Met> {
  const samples: Sample[] = [];
  for (let turn = 0; turn < turns; turn++) {
    await oneTurn(host, random, patienceMs);
    await host.ask("ping");
    samples.push(sampleOf(host.process.pid));
  }
  expect((await host.ask("get_session", { sessionId: host.sessionId })).payload).toMatchObject({ turnCount: turns });
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
  const answers = Map.groupBy(host.frames.filter(({ kind }) => kind === "response"), ({ correlationId }) => correlationId);
  expect(host.requests.filter(({ id }) => answers.get(id)?.length !== 1)).toEqual([]);
  expect(checkSeen().map((breach) => breach.split("\n")[0])).toEqual([]);
  if (turns >= comparableTurns) expectFlat(samples, growthMaxMiB);
  return metOf(host);
}

/** In fewer turns a model may still be loading. */
const comparableTurns = 20;

/** The first quarter still fills caches and the like. */
function expectFlat(samples: readonly Sample[], growthMaxMiB: number): void {
  const turns = samples.length;
  const [early, late] = [samples.slice(turns / 4, turns / 2), samples.slice(-turns / 4)];
  const [before, after] = [early, late].map((part) => ({ descriptors: median(part, "descriptors"), memoryMiB: median(part, "memoryMiB") })) as [Sample, Sample];
  process.stderr.write(`${turns} turns: memory ${before.memoryMiB.toFixed(0)} → ${after.memoryMiB.toFixed(0)} MiB, descriptors ${before.descriptors} → ${after.descriptors}\n`);
  expect(after.descriptors).toBeLessThanOrEqual(before.descriptors);
  expect(after.memoryMiB - before.memoryMiB).toBeLessThan(growthMaxMiB);
}

/** How often each thing happened. */
export interface Met {
  ends: string[];
  steered: number;
  cancelled: number;
  approved: number;
  denied: number;
  skillChanges: number;
}

function metOf(host: SidecarHost): Met {
  const typeOf = new Map(host.requests.map(({ id, line, type }) => [id, { type, line }]));
  const count = (type: string, fits: (payload: Frame["payload"], line: string) => boolean): number => host.frames.filter(({ correlationId = "", kind, payload }) => kind === "response" && typeOf.get(correlationId)?.type === type && fits(payload, typeOf.get(correlationId)?.line ?? "")).length;
  return {
    ends: [...new Set(host.frames.flatMap(({ payload, type }) => (type === "turn_finished" ? [String(payload?.["reason"])] : [])))].toSorted(),
    steered: count("steer_message", (payload) => payload?.["steered"] === true),
    cancelled: count("cancel", (payload) => payload?.["wasRunning"] === true),
    approved: count("approval_response", (payload, line) => payload?.["resolved"] === true && line.includes('"approved":true')),
    denied: count("approval_response", (payload, line) => payload?.["resolved"] === true && line.includes('"approved":false')),
    skillChanges: count("skill_install", () => true) + count("skill_uninstall", () => true),
  };
}

/** One message, and at random what a person does meanwhile. */
async function oneTurn(host: SidecarHost, random: Random, patienceMs: number): Promise<void> {
  const { sessionId } = host;
  let read = host.frames.length;
  const asked = host.message(random.one(["go on", "What is in a.txt?", "Write a short note to note.txt.", "List the files."]));
  if (random.chance(0.4)) host.send("steer_message", { sessionId, text: "look at a.txt too" });
  if (random.chance(0.3)) host.send(random.one(["skill_install", "skill_uninstall"] as const), { sourcePath: "skill", name: "skill", force: true });
  if (random.chance(0.3)) host.send("get_session", { sessionId });
  const cancelAt = random.chance(0.2) ? random.one(["step_started", "llm_request", "assistant_delta", "tool_call_started"]) : undefined;
  const endsAt = performance.now() + patienceMs;
  for (let isCancelled = false; ; ) {
    for (; read < host.frames.length; read++) {
      const { correlationId, kind, payload, type } = host.frames[read] as Frame;
      if (correlationId !== asked) continue;
      if (kind === "response") return;
      if (type === "approval_request") host.send("approval_response", { approvalId: payload?.["approvalId"], ...verdict(host, random) });
      if (type === "step_started" && random.chance(0.2)) host.send("steer_message", { sessionId, text: "and hurry" });
      if (isCancelled || type !== cancelAt) continue;
      isCancelled = true;
      host.send("cancel", { sessionId });
    }
    if (!isCancelled && performance.now() > endsAt) {
      isCancelled = true;
      host.send("cancel", { sessionId });
    }
    if (host.transport.ended()) throw new Error("the process ended");
    await host.transport.changed();
  }
}

/** A no and a yes first, so that both happen however few the questions are; then at random, some for the whole session. */
function verdict(host: SidecarHost, random: Random): { approved: boolean; grant?: "session" } {
  const given = host.requests.filter(({ type }) => type === "approval_response").length;
  if (given < 2) return { approved: given === 1 };
  return { approved: random.chance(0.7), ...(random.chance(0.2) ? { grant: "session" } : {}) };
}

interface Sample {
  memoryMiB: number;
  descriptors: number;
}

/** What the kernel says of a process; zeros where it can't be asked. */
function sampleOf(pid: number): Sample {
  const folder = `/proc/${pid}`;
  if (!existsSync(folder)) return { memoryMiB: 0, descriptors: 0 };
  const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`${folder}/status`, "utf8"))?.[1]);
  return { memoryMiB: kilobytes / 1024, descriptors: readdirSync(`${folder}/fd`).length };
}

function median(samples: readonly Sample[], name: keyof Sample): number {
  return samples.map((sample) => sample[name]).toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0;
}
