// S-70: a host that writes anything. The process lives, every request is answered once, and what it writes keeps to the
// contract. 10 000 lines, the tenth of a long run (ATOMIC_TEST_LONG=1); ATOMIC_TEST_SEED repeats one.
import { expect, test } from "bun:test";
import { isObject } from "../support/json-checker/values.ts";
import type { ScriptItem } from "../support/scripted.ts";
import { checkSeen, type Frame, hostOfExecutable, type SidecarHost } from "../support/sidecar-host.ts";
import { type FuzzLine, fuzzLine, type Known, randomOf, type Random } from "./sidecar-lines.ts";

const linesOfStream = 2000;
const isLong = process.env["ATOMIC_TEST_LONG"] === "1";
const streams = isLong ? 50 : 5;
const firstSeed = Number(process.env["ATOMIC_TEST_SEED"] ?? (isLong ? Date.now() % 2 ** 31 : 70));
/** Lines of one write, and requests that may wait for their answer. */
const linesAtOnce = 20;
const openMax = 4;
const limitMs = 600_000;

/** What the streams held, all together. */
const met = new Set<string>();
const seeds = Array.from({ length: streams }, (_, index) => firstSeed + index);

test.each(seeds)("S-70 2000 random lines, seed %d", async (seed) => {
  const random = randomOf(seed);
  using host = hostOfExecutable({ timeoutMs: limitMs, config: { llm: { retry: { maxRetries: 1, baseDelayMs: 1 } }, agent: { providerWait: { enabled: false } }, log: { level: "warn" } }, files: { "a.txt": "one\ntwo\n".repeat(50), "skill-a/SKILL.md": skillOf("skill-a"), "skill-b/SKILL.md": skillOf("skill-b"), "broken/SKILL.md": "no" } });
  const fuzz = new Fuzz(host, random, [0, 1, 2].map(() => host.script(steps(random), { compaction: ["2,9\n", "1,5\n3,20\n"] })));
  let mutated = 0;
  for (let sent = 0; sent < linesOfStream; sent += linesAtOnce) {
    if (sent % (10 * linesAtOnce) === 0) await fuzz.begin();
    const lines = Array.from({ length: linesAtOnce }, () => fuzzLine(random, fuzz.known()));
    mutated += lines.filter(({ isMutated }) => isMutated === true).length;
    fuzz.say("go on");
    fuzz.write(lines);
    await fuzz.settle(openMax);
  }
  expect(mutated).toBeGreaterThan(linesOfStream / 2);
  await fuzz.close();
  for (const { payload, type } of host.frames) met.add(type === "turn_finished" ? `${type} ${String(payload?.["reason"])}` : String(type));
  const { exitCode, breaches } = await host.end();
  expect({ exitCode, breaches: breaches.slice(0, 5) }).toEqual({ exitCode: 0, breaches: [] });
  expect(fuzz.unanswered()).toEqual([]);
  expect(checkSeen().map((breach) => breach.split("\n")[0])).toEqual([]);
}, limitMs);

test("S-70 the lines were not only refused: turns ran and ended, people were asked, steering was read", () => {
  expect(["turn_finished reply", "turn_finished cancelled", "turn_finished failed", "approval_request", "skill_registry_updated", "steer_applied"].filter((what) => !met.has(what))).toEqual([]);
});

/** Keeps what a host would keep, from the frames as they come. */
class Fuzz {
  readonly #host: SidecarHost;
  readonly #random: Random;
  readonly #models: readonly string[];
  /** By id, as JSON: how many answers are still to come. */
  readonly #open = new Map<string, number>();
  #openCount = 0;
  /** Lines that the parser may refuse, with what stands for them among the requests. */
  readonly #deep = new Map<string, SidecarHost["requests"][number]>();
  #read = 0;
  #sessions: string[] = ["s-none"];
  #approvals: string[] = [];

  constructor(host: SidecarHost, random: Random, models: readonly string[]) {
    this.#host = host;
    this.#random = random;
    this.#models = models;
  }

  known(): Known {
    return {
      sessionId: this.#sessions.at(-1) ?? "",
      earlierIds: this.#sessions.slice(-5),
      approvalIds: this.#approvals.slice(-4),
      openIds: [...this.#open.keys()].slice(-5).map((id) => JSON.parse(id) as string | number),
      workingDir: this.#host.workingDir,
      models: this.#models,
    };
  }

  /** A session and a turn for sure: random starts and texts alone are mostly refused. */
  async begin(): Promise<void> {
    this.#ask("start_session", { workingDir: this.#host.workingDir, model: this.#random.one(this.#models), approvalLevel: this.#random.one([1, 1, 1, 2, 4]) });
    await this.settle(0);
    for (const text of ["one", "two"]) this.say(text);
  }

  say(text: string): void {
    this.#ask("send_message", { sessionId: this.known().sessionId, text });
  }

  write(lines: readonly FuzzLine[]): void {
    for (const { request } of lines) {
      if (!request) continue;
      this.#count(request.id, 1);
      const sent = { id: request.id as string, type: String(request.type), line: request.text };
      this.#host.requests.push(sent);
      if (request.raw !== undefined) this.#deep.set(request.raw, sent);
    }
    this.#host.transport.write(Buffer.concat(lines.map(({ bytes }) => Buffer.from(bytes))));
  }

  /** Until few enough requests wait. What waits for a person is answered, what hangs is cancelled. */
  async settle(most: number): Promise<void> {
    for (let rounds = 0; this.#follow() > most; rounds++) {
      if (this.#host.transport.ended()) throw new Error("the process ended");
      if (rounds > 50_000) throw new Error(`no answer to ${this.unanswered().slice(0, 10).join(", ")}`);
      if (rounds % 50 === 49) this.#ask("cancel", { sessionId: this.known().sessionId });
      await this.#host.transport.changed();
    }
  }

  async close(): Promise<void> {
    await this.settle(0);
    this.#ask("shutdown", {});
    await this.settle(0);
  }

  unanswered(): string[] {
    this.#follow();
    return [...this.#open].map(([id, count]) => `${id} ×${count}`);
  }

  #ask(type: string, payload: unknown): void {
    const id = `own-${this.#host.requests.length}`;
    this.write([{ bytes: `${JSON.stringify({ kind: "request", id, type, payload })}\n`, request: { id, type, text: JSON.stringify({ kind: "request", id, type, payload }) } }]);
  }

  #follow(): number {
    const { frames } = this.#host;
    for (; this.#read < frames.length; this.#read++) this.#take(frames[this.#read] as Frame);
    return this.#openCount;
  }

  #take({ correlationId, kind, ok, payload, type }: Frame): void {
    if (kind === "response") this.#count(correlationId, -1);
    if (payload?.["code"] === "parse_error") this.#refuse(String(payload["stack"]));
    if (type === "session_started") this.#sessions.push(String(payload?.["sessionId"]));
    if (type === "approval_request") this.#approvals.push(String(payload?.["approvalId"]));
    if (kind === "response" && ok && isObject(payload) && payload["resolved"] === true && this.#random.chance(0.5)) this.#approvals.pop();
  }

  /** A line that was too deep for the parser was no request. */
  #refuse(raw: string): void {
    const refused = this.#deep.get(raw);
    if (refused === undefined) return;
    this.#deep.delete(raw);
    this.#host.requests.splice(this.#host.requests.indexOf(refused), 1);
    this.#count(refused.id, -1);
  }

  #count(given: unknown, by: number): void {
    const isId = (typeof given === "string" && given !== "") || typeof given === "number";
    const id = JSON.stringify(isId ? given : "");
    const count = (this.#open.get(id) ?? 0) + by;
    this.#openCount += by;
    if (count === 0) this.#open.delete(id);
    else this.#open.set(id, count);
  }
}

function skillOf(name: string): string {
  return `---\nname: ${name}\ndescription: about ${name}\n---\nBody.\n`;
}

/** What the model says, step after step, for as many turns as there may be. */
function steps(random: Random): ScriptItem[][] {
  const items: (() => ScriptItem[])[] = [
    () => [{ text: "a reply" }],
    () => [{ call: "reply", args: { text: "with a file", attachments: [random.one(["a.txt", "gone"])] } }],
    () => [{ thinking: "hm" }, { call: "fs.read", args: { path: "a.txt" } }, { call: "fs.list", args: {} }, { call: "skill.view", args: { name: "skill-a" } }],
    () => [{ call: "fs.write", args: { path: "b.txt", content: "x" } }, { call: "fs.write", args: { path: "c.txt", content: "y" } }],
    () => [{ call: "fs.write", args: { path: "d.txt", content: "z" } }, { call: "fs.trash", args: { paths: ["d.txt"] } }],
    () => [{ call: "fs.edit", args: { path: "a.txt", oldText: "one", newText: "1", replaceAll: true } }],
    () => [{ delayMs: 5 }, { call: "fs.write", args: { path: "e.txt", content: "z" } }],
    () => [{ text: "note" }, { call: "fs.grep", args: { pattern: "one" } }],
    () => [{ call: "fs.list", args: { no: 1 } }, { call: "fs.read", args: { path: 7 } }],
    () => [{ text: "half" }, { error: "broken", category: random.one(["model", "grammar", "transport", "tool"] as const) }],
    () => [{ text: "cut" }, { stop: "length" }],
    () => [{ delayMs: random.below(20) }, { text: "late" }],
    () => [{ call: "finish", args: { summary: "done" } }],
    () => [{ hang: true }],
  ];
  return Array.from({ length: 300 }, () => random.one(items)());
}
