// The sidecar answers while it starts, loads real weights, reads a prompt and generates: S-17 from the spawn on. And what
// `models_list` says of the model meanwhile. Must not judge what the model says.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { executablePath, type Home, makeHome } from "../support/atomic.ts";
import { modelPath } from "../support/models.ts";
import { type Frame, listOf, spawnSidecar } from "../support/sidecar-host.ts";

const pingEveryMs = 20;
const latencyMsMax = 250;
/** Other work of the machine can only make an answer later: one undisturbed run is proof. */
const tries = 4;

interface Watched {
  /** Milliseconds from the request to its answer, in the order of asking. */
  latencies: number[];
  unanswered: number;
  /** When the slowest one was asked, in milliseconds from the spawn. */
  worstAt: number;
  /** States of the model, each once, in the order of their first sight. */
  states: string[];
  /** Of the turn. */
  reason: unknown;
}

let home: Home;
beforeAll(() => void (home = makeHome()));
afterAll(() => home[Symbol.dispose]());

/** One life of a sidecar: spawn, session, a turn with the model; asked every 20 ms until the turn is over. */
async function watch(state: string): Promise<Watched> {
  using place = makeHome();
  using spawned = spawnSidecar([executablePath(), "sidecar"], { env: { ATOMIC_AGENT_STATE_DIR: state, ATOMIC_AGENT_LOG_LEVEL: "error" } });
  const { child } = spawned;
  const askedAt = new Map<string, number>();
  const answers: { askedAt: number; latencyMs: number }[] = [];
  const states = new Set<string>();
  const spawnedAt = performance.now();
  let count = 0;
  const send = (id: string, type: string, payload?: unknown): void => {
    askedAt.set(id, performance.now());
    child.stdin.write(`${JSON.stringify({ kind: "request", id, type, payload })}\n`);
    void child.stdin.flush();
  };
  const ask = setInterval(() => {
    send(`ping-${count++}`, "ping");
    if (count % 5 === 0) send(`models-${count}`, "models_list");
  }, pingEveryMs);
  send("start", "start_session", { workingDir: place.path, model: modelPath("smollm2-135m") });
  let reason: unknown;
  try {
    for await (const frame of framesFrom(child.stdout)) {
      const id = String(frame.correlationId);
      if (frame.kind !== "response") continue;
      const asked = askedAt.get(id) ?? Number.NaN;
      askedAt.delete(id);
      if (id.startsWith("ping-")) answers.push({ askedAt: asked - spawnedAt, latencyMs: performance.now() - asked });
      for (const model of listOf<{ active: boolean; state?: string }>(frame.payload, "models")) if (model.active) states.add(String(model.state));
      if (id === "start") send("turn", "send_message", { sessionId: frame.payload?.["sessionId"], text: "Say hello.", maxSteps: 1 });
      if (id === "turn") {
        reason = frame.payload?.["reason"];
        clearInterval(ask);
        send("last", "models_list");
      }
      if (id === "last") void child.stdin.end();
    }
  } finally {
    clearInterval(ask);
  }
  const worst = answers.toSorted((a, b) => b.latencyMs - a.latencyMs)[0];
  return { latencies: answers.map(({ latencyMs }) => latencyMs), unanswered: askedAt.size, worstAt: worst?.askedAt ?? 0, states: [...states], reason };
}

async function* framesFrom(stream: ReadableStream<Uint8Array>): AsyncGenerator<Frame, void, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as Frame;
  }
}

/** @param stateFolder of each try */
async function answersInTime(stateFolder: () => string): Promise<void> {
  const worsts: string[] = [];
  for (let run = 0; run < tries; run++) {
    const { latencies, reason, states, unanswered, worstAt } = await watch(stateFolder());
    expect({ unanswered, states }).toEqual({ unanswered: 0, states: expect.arrayContaining(["loading", "ready"]) });
    expect([states.at(-1), ["reply", "finish", "max_steps"].includes(String(reason))]).toEqual(["ready", true]);
    expect(latencies.length).toBeGreaterThan(20);
    const worst = Math.max(...latencies);
    if (worst <= latencyMsMax) return;
    worsts.push(`${Math.round(worst)} ms at ${Math.round(worstAt)} ms`);
  }
  throw new Error(`the slowest answers to ping: ${worsts.join(", ")}; ${latencyMsMax} ms are allowed`);
}

test("S-17 ping every 20 ms from the spawn until the first reply, on a machine that never ran the engine: each answered within 250 ms", async () => {
  const homes: Home[] = [];
  try {
    await answersInTime(() => {
      const fresh = makeHome();
      homes.push(fresh);
      return fresh.state;
    });
  } finally {
    for (const fresh of homes) fresh[Symbol.dispose]();
  }
}, 480_000);

test("S-17 the same where the engine is unpacked and the head of the prompt is on disk", async () => {
  await watch(home.state);
  await answersInTime(() => home.state);
}, 480_000);
