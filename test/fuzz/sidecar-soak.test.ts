// Turn after turn with steers, cancels, questions and changes of skills at random, by a scripted and by a real model: every
// request is answered once, and neither memory nor descriptors grow. 20 and 4 turns; 500 and 30 with ATOMIC_TEST_LONG=1.
import { expect, test } from "bun:test";
import { modelPath } from "../support/models.ts";
import type { ScriptItem } from "../support/scripted.ts";
import { hostOfExecutable } from "../support/sidecar-host.ts";
import { randomOf, type Random } from "./sidecar-lines.ts";
import { soak } from "./soak.ts";

const isLong = process.env["ATOMIC_TEST_LONG"] === "1";
const turns = isLong ? 500 : 20;
const modelTurns = isLong ? 30 : 4;
const limitMs = 2_400_000;
const seed = Number(process.env["ATOMIC_TEST_SEED"] ?? 7);
const files = { "a.txt": "one\ntwo\n".repeat(200), "skill/SKILL.md": "---\nname: skill\ndescription: a skill\n---\nBody.\n" };

test(`a scripted model for ${turns} turns, seed ${seed}`, async () => {
  const random = randomOf(seed);
  using host = hostOfExecutable({ timeoutMs: limitMs, config: { agent: { providerWait: { enabled: false } } }, files });
  await host.start(Array.from({ length: 8 * turns }, () => step(random)), { approvalLevel: 1 });
  // A leak of one turn's frames would be more in a long run.
  const { ends, ...counts } = await soak(host, { turns, random, patienceMs: 500, growthMaxMiB: 48 });
  expect(ends).toEqual(expect.arrayContaining(["cancelled", "reply", ...(isLong ? ["failed"] : [])]) as string[]);
  expect(Object.entries(counts).filter(([, count]) => count === 0)).toEqual([]);
}, limitMs);

test(`a real model for ${modelTurns} turns, seed ${seed}`, async () => {
  const random = randomOf(seed);
  const config = { localModels: { completionMaxTokens: 128, managed: { contextSize: 4096 } }, agent: { maxSteps: 3, providerWait: { enabled: false } } };
  using host = hostOfExecutable({ timeoutMs: limitMs, config, files });
  const answer = await host.ask("start_session", { workingDir: host.workingDir, model: modelPath("smollm2-135m"), approvalLevel: 1 });
  host.sessionId = String(answer.payload?.["sessionId"]);
  const { ends, skillChanges, steered } = await soak(host, { turns: modelTurns, random, patienceMs: 60_000, growthMaxMiB: 96 });
  const failures = host.frames.flatMap(({ kind, payload }) => (kind === "response" && payload?.["reason"] === "failed" ? [payload["error"]] : []));
  expect(failures.filter((failure) => !isCut(failure))).toEqual([]);
  if (isLong) expect([steered > 0, skillChanges > 0, ends.length > 1]).toEqual([true, true, true]);
}, limitMs);

/** Such a small model may go on to write until the limit. */
function isCut(failure: unknown): boolean {
  return (failure as { message?: string }).message === "the answer was cut at the output limit before it was complete";
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
