// A host that works for long: turn after turn with steers, cancels, questions and changes of skills at random. Every request
// is answered once, and neither memory nor descriptors grow. 20 turns; 500 with ATOMIC_TEST_LONG=1.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { ScriptItem } from "../support/scripted.ts";
import { checkSeen, type Frame, hostOfExecutable, type SidecarHost } from "../support/sidecar-host.ts";
import { randomOf, type Random } from "./sidecar-lines.ts";

const isLong = process.env["ATOMIC_TEST_LONG"] === "1";
const turns = isLong ? 500 : 20;
const limitMs = 900_000;
const seed = Number(process.env["ATOMIC_TEST_SEED"] ?? 7);
/** Growth that an allocator shows without any leak; a leak of one turn's frames would be more in a long run. */
const growthMaxMiB = 48;

test(`${turns} turns, seed ${seed}`, async () => {
  const random = randomOf(seed);
  using host = hostOfExecutable({ timeoutMs: limitMs, config: { agent: { providerWait: { enabled: false } } }, files: { "a.txt": "one\ntwo\n".repeat(200), "skill/SKILL.md": "---\nname: skill\ndescription: a skill\n---\nBody.\n" } });
  await host.start(Array.from({ length: 8 * turns }, () => step(random)), { approvalLevel: 1 });
  const reasons = new Map<string, number>();
  const samples: Sample[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const reason = String((await oneTurn(host, random)).payload?.["reason"]);
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    await host.ask("ping");
    samples.push(sampleOf(host.process.pid));
  }
  // Every kind of end was met, so that the numbers below speak of all of them.
  expect([...reasons.keys()].toSorted()).toEqual(expect.arrayContaining(["cancelled", "reply"]) as string[]);
  expect((await host.ask("get_session", { sessionId: host.sessionId })).payload).toMatchObject({ turnCount: turns });
  const { exitCode, breaches } = await host.end();
  expect({ exitCode, breaches }).toEqual({ exitCode: 0, breaches: [] });
  const answered = new Map<unknown, number>();
  for (const { correlationId, kind } of host.frames) if (kind === "response") answered.set(correlationId, (answered.get(correlationId) ?? 0) + 1);
  expect(host.requests.filter(({ id }) => answered.get(id) !== 1)).toEqual([]);
  expect(checkSeen().map((breach) => breach.split("\n")[0])).toEqual([]);
  const [early, late] = [samples.slice(turns / 4, turns / 2), samples.slice(-turns / 4)];
  expect(median(late, "descriptors")).toBeLessThanOrEqual(median(early, "descriptors"));
  expect(median(late, "memoryMiB") - median(early, "memoryMiB")).toBeLessThan(growthMaxMiB);
}, limitMs);

/** One message, and at random what a person does meanwhile. */
async function oneTurn(host: SidecarHost, random: Random): Promise<Frame> {
  const { sessionId } = host;
  const asked = host.message("go on");
  const answered = host.response(asked);
  if (random.chance(0.4)) host.send("steer_message", { sessionId, text: "look at a.txt too" });
  if (random.chance(0.3)) host.send(random.one(["skill_install", "skill_uninstall"] as const), { sourcePath: "skill", name: "skill", force: true });
  if (random.chance(0.3)) host.send("get_session", { sessionId });
  if (random.chance(0.2)) await host.frame(({ correlationId, type }) => correlationId === asked && type === "step_started", "the first step").then(() => host.send("cancel", { sessionId }));
  return await Promise.race([answered, answerQuestions(host, random, asked)]);
}

/** Says yes or no to every question of a turn; a model that hangs is cancelled. */
async function answerQuestions(host: SidecarHost, random: Random, asked: string | number): Promise<Frame> {
  const known = new Set<unknown>();
  for (let looked = host.frames.length, rounds = 0; ; rounds++) {
    for (const { payload, type } of host.frames.slice(Math.max(0, looked - 200))) {
      const approvalId = payload?.["approvalId"];
      if (type !== "approval_request" || known.has(approvalId)) continue;
      known.add(approvalId);
      host.send("approval_response", { approvalId, approved: random.chance(0.7), ...(random.chance(0.2) ? { grant: "session" } : {}) });
    }
    looked = host.frames.length;
    const answer = host.frames.slice(-400).find(({ correlationId, kind }) => kind === "response" && correlationId === asked);
    if (answer) return answer;
    if (rounds === 200) host.send("cancel", { sessionId: host.sessionId });
    await host.transport.changed();
  }
}

function step(random: Random): ScriptItem[] {
  return random.one<ScriptItem[]>([
    [{ text: "All of it is done. ".repeat(20) }],
    [{ call: "fs.read", args: { path: "a.txt" } }, { call: "fs.list", args: {} }],
    [{ call: "fs.write", args: { path: `b${random.below(5)}.txt`, content: "x" } }],
    [{ text: "a note" }, { call: "fs.grep", args: { pattern: "one" } }],
    [{ call: "skill.view", args: { name: "skill" } }],
    [{ call: "shell.run", args: { command: "echo hello; cat a.txt" } }],
    [{ delayMs: 5 }, { text: "late" }],
    [{ text: "half" }, { error: "broken", category: "model" }],
    [{ hang: true }],
  ]);
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
  const sorted = samples.map((sample) => sample[name]).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
