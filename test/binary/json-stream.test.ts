// The stream itself (json-mode.md sections 1 to 4): lines, order of keys, snapshots, slow and lost readers.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { executablePath, runAtomic, startAtomic } from "../support/atomic.ts";
import { checked, expectEnd, expectOrder, finished, isDelta, makePlace, runJson, startJson, textOf } from "../support/json-run.ts";
import { at, type JsonObject, listAt } from "../support/json-checker/values.ts";

const say = (text: string): { text: string }[][] => [[{ text }]];
const updates = (events: readonly JsonObject[]): JsonObject[] => events.filter((event) => event["type"] === "message_update");
/** What differs between two runs of the same thing. */
const alike = (text: string): string => text.replaceAll(/"(?:id|timestamp|durationMs|toolCallId)":(?:"[^"]*"|\d+)/g, "");

test("J-1 `json P` and `--mode json P` give the same stream, with a header on line 1", async () => {
  using place = makePlace();
  const model = place.script(say("Hello."));
  const short = await runJson(place, ["--model", model, "hi"]);
  const long = await checked(await runAtomic(["--mode", "json", "--model", model, "hi"], { home: place.home, cwd: place.workspace.path }));
  expect(alike(long.result.text)).toBe(alike(short.result.text));
  for (const { events } of [short, long]) {
    expect(events[0]).toMatchObject({ type: "session", version: 3, cwd: place.workspace.path, provider: "scripted", model });
    expect(String(events[0]?.["id"])).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(String(events[0]?.["timestamp"])).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
});

// What a stream is made of is checked for every stream of these tests: here for one good and one failed.
test("J-2 every line is JSON, ends in LF and fits the schema; one agent_settled, last, with the exit status", async () => {
  using place = makePlace({ "a.txt": "one\n" });
  const good = await runJson(place, ["--model", place.script([[{ call: "fs.read", args: { path: "a.txt" } }], [{ text: "one" }]]), "read"]);
  expectEnd(good, "ok", 0);
  const bad = await runJson(place, ["--model", place.script([[{ error: "broken", category: "model" }]]), "read"]);
  expectEnd(bad, "error", 1);
  for (const { result } of [good, bad]) {
    expect(result.text.endsWith("}\n")).toBe(true);
    expect(result.text.includes("\n\n") || result.text.includes("\r")).toBe(false);
    expect(result.text.match(/"type":"agent_settled"/g)).toHaveLength(1);
  }
});

test("J-3 U+2028, U+2029 and a lone surrogate are escapes, an emoji is itself", async () => {
  using place = makePlace();
  const text = "a\u2028b\u2029c\ud800d\u{1F600}e";
  const run = await runJson(place, ["--model", place.script([[{ text, chunk: 1000 }]]), text.slice(0, 4)]);
  const bytes = Buffer.from(run.result.stdout);
  expect(["\u2028", "\u2029", "\ufffd"].map((found) => bytes.includes(Buffer.from(found)))).toEqual([false, false, false]);
  expect(["\\u2028", "\\u2029", "\\ud800", "\u{1F600}"].map((found) => bytes.includes(Buffer.from(found)))).toEqual([true, true, true, true]);
  expect(textOf(run.messages("assistant")[0])).toBe(text);
});

test("J-4 no field is null but those that have to be", async () => {
  using place = makePlace({ "a.txt": "one\n" });
  const steps = [[{ thinking: "hm" }, { text: "note" }, { call: "fs.read", args: { path: "a.txt" } }, { call: "shell.run", args: { command: "exit 2" } }], [{ error: "away", category: "transport" as const }], [{ text: "done" }]];
  place.configure({ llm: { retry: { baseDelayMs: 1 } } });
  const run = await runJson(place, ["--model", place.script(steps), "go"]);
  expectEnd(run, "ok", 0);
  expect(run.result.text).not.toContain(":null");
});

describe("J-5", () => {
  test("J-5 a plain prompt: order 6.1, the user pair adjacent, its content an array", async () => {
    using place = makePlace();
    const run = await runJson(place, ["--model", place.script(say("Hello.")), "hi"]);
    expectOrder(run, "H AS TS ms(u) me(u) ms(a) mu(text_start) mu(text_delta)+ mu(text_end) me(a,stop) TE[] AE{u,a} Z{ok}");
    expect(run.messages("user")).toEqual([{ role: "user", content: [{ type: "text", text: "hi" }], timestamp: expect.any(Number) }]);
  });

  test("J-5 with a model that thinks: order 6.2", async () => {
    using place = makePlace();
    const run = await runJson(place, ["--model", place.script([[{ thinking: "let me see" }, { text: "Hello." }]]), "hi"]);
    expectOrder(run, "H AS TS ms(u) me(u) ms(a) mu(thinking_start) mu(thinking_delta)* mu(thinking_end) mu(text_start) mu(text_delta)+ mu(text_end) me(a,stop) TE[] AE{u,a} Z{ok}");
  });
});

test("J-6 every update has its message and its event, no partial, and never start, done or error", async () => {
  using place = makePlace({ "a.txt": "one\n" });
  const run = await runJson(place, ["--model", place.script([[{ thinking: "hm" }, { call: "fs.read", args: { path: "a.txt" } }], [{ text: "ab" }, { error: "cut", category: "model" }]]), "go"]);
  const seen = new Set(updates(run.events).map((event) => at(event, "assistantMessageEvent", "type")));
  expect(seen).toEqual(new Set(["thinking_start", "thinking_delta", "thinking_end", "toolcall_start", "toolcall_delta", "toolcall_end", "text_start", "text_delta", "text_end"]));
  for (const event of updates(run.events)) {
    expect(Object.keys(event)).toEqual(["type", "message", "assistantMessageEvent"]);
    expect("partial" in (event["assistantMessageEvent"] as JsonObject)).toBe(false);
  }
});

test("J-7 with 500 deltas snapshot k is the first k deltas joined", async () => {
  using place = makePlace();
  const text = Array.from({ length: 500 }, (_, index) => String.fromCharCode(97 + (index % 26))).join("");
  const run = await runJson(place, ["--model", place.script([[{ text, chunk: 1 }]]), "go"]);
  const deltas = updates(run.events).filter(isDelta);
  expect(deltas.map((event) => at(event, "assistantMessageEvent", "delta")).join("")).toBe(text);
  let joined = "";
  for (const event of deltas) {
    joined += String(at(event, "assistantMessageEvent", "delta"));
    expect(textOf(event["message"])).toBe(joined);
  }
  expect(deltas).toHaveLength(500);
});

describe("J-8", () => {
  test("J-8 `--updates delta`: no message in an update, bytes linear in the answer", async () => {
    using place = makePlace();
    const bytesOf = async (length: number): Promise<number> => {
      const run = await runJson(place, ["--updates", "delta", "--model", place.script([[{ text: "x".repeat(length), chunk: 10 }]]), "go"]);
      expect(updates(run.events).every((event) => !("message" in event) && "assistantMessageEvent" in event)).toBe(true);
      expect(textOf(run.messages("assistant")[0])).toHaveLength(length);
      return run.result.stdout.length;
    };
    const [few, many] = [await bytesOf(2000), await bytesOf(20_000)];
    expect(many).toBeLessThan(10 * few);
  });

  test("J-8 everything but the updates is the same with and without", async () => {
    using place = makePlace({ "a.txt": "one\n" });
    const model = place.script([[{ call: "fs.read", args: { path: "a.txt" } }], [{ text: "done" }]]);
    const [snapshot, delta] = [await runJson(place, ["--model", model, "go"]), await runJson(place, ["--updates", "delta", "--model", model, "go"])];
    const bare = ({ events }: { events: JsonObject[] }): string => alike(JSON.stringify(events.map(({ message, ...event }) => (event["type"] === "message_update" ? event : { ...event, message })))).replaceAll(/call_[0-9a-f]+/g, "");
    expect(bare(delta)).toBe(bare(snapshot));
  });

  test("J-8 `--updates x`: exit 2, stdout empty", async () => {
    const { exitCode, stdout, stderr } = await runAtomic(["json", "--updates", "x", "hi"]);
    expect([exitCode, stdout.length]).toEqual([2, 0]);
    expect(stderr).toContain("--updates");
  });
});

test("J-19 an answer by `reply` is text with terminal, and no tool", async () => {
  using place = makePlace();
  for (const [name, args] of [["reply", { text: "It is done." }], ["finish", { summary: "It is done." }]] as const) {
    const run = await runJson(place, ["--model", place.script([[{ call: name, args }]]), "go"]);
    expectOrder(run, "H AS TS ms(u) me(u) ms(a) mu(text_start) mu(text_delta)+ mu(text_end) me(a,stop) TE[] AE{u,a} Z{ok}");
    expect(run.messages("assistant")).toMatchObject([{ content: [{ type: "text", text: "It is done." }], stopReason: "stop", terminal: name }]);
  }
  const beside = await runJson(place, ["--model", place.script([[{ call: "reply", args: { text: "first" } }, { call: "fs.list", args: {} }], [{ text: "done" }]]), "go"]);
  expect(beside.messages("assistant")[0]).toMatchObject({ content: [{ type: "text", text: "first" }, { type: "toolCall", name: "fs.list" }], stopReason: "toolUse" });
  expect("terminal" in (beside.messages("assistant")[0] ?? {})).toBe(false);
});

/** Runs a shell line with `$ATOMIC` and `$MODEL`, for what a pipe does. */
async function shell(line: string, model: string, place: ReturnType<typeof makePlace>): Promise<{ status: number; stdout: string; stderr: string; durationMs: number }> {
  const startedAt = performance.now();
  const child = Bun.spawn(["bash", "-c", line], {
    cwd: place.workspace.path,
    env: { PATH: process.env["PATH"], HOME: place.home.path, ATOMIC_AGENT_STATE_DIR: place.home.state, ATOMIC: executablePath(), MODEL: model },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, status] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  return { status, stdout, stderr, durationMs: performance.now() - startedAt };
}

test("J-26 a reader that closes after line 3: end within 2 s, nothing on stderr, the session stored", async () => {
  using place = makePlace();
  const model = place.script([[{ repeat: 2000, items: [{ text: "more ", chunk: 5 }, { delayMs: 10 }] }]]);
  const { status, stdout, stderr, durationMs } = await shell('"$ATOMIC" json --model "$MODEL" "the question" | { head -n 3; }; exit ${PIPESTATUS[0]}', model, place);
  expect([status, stdout.split("\n").length, stderr]).toEqual([1, 4, ""]);
  expect(durationMs).toBeLessThan(3000);
  const { id } = JSON.parse(stdout.split("\n")[0] ?? "") as { id: string };
  const exported = await runAtomic(["sessions", "export", id], { home: place.home });
  expect(exported.events().map((entry) => at(entry, "message", "role")).filter(Boolean)).toEqual(["user", "assistant"]);
});

test("J-27 a reader that sleeps 5 s before an agent_end of over 2 MiB: nothing is cut, memory is bounded", async () => {
  using place = makePlace();
  const length = 2_400_000;
  const model = place.script([[{ text: "y".repeat(length), chunk: 20_000 }]]);
  const peak = '"$ATOMIC" json --model "$MODEL" go > >(sleep 5; cat >out.jsonl; : >read) & pid=$!; sleep 4; grep VmHWM /proc/$pid/status; wait $pid; status=$?; while [ ! -e read ]; do sleep 0.05; done; exit $status';
  const { status, stdout, stderr } = await shell(peak, model, place);
  expect([status, stderr]).toEqual([0, ""]);
  const lines = place.workspace.read("out.jsonl").split("\n");
  expect(lines.at(-1)).toBe("");
  expect(JSON.parse(lines.at(-2) ?? "")).toMatchObject({ type: "agent_settled", outcome: "ok" });
  const end = lines.at(-3) ?? "";
  expect(end.length).toBeGreaterThan(2 * 1024 * 1024);
  expect(textOf(listAt(JSON.parse(end), "messages")[1])).toHaveLength(length);
  // All snapshots together are 140 MB: they may not wait in memory.
  expect(Number(/(\d+) kB/.exec(stdout)?.[1])).toBeLessThan(300_000);
}, 60_000);

test("J01 a slow reader of a long answer gets all of it, in both forms", async () => {
  using place = makePlace();
  const model = place.script([[{ text: "z".repeat(300_000), chunk: 10_000 }]]);
  for (const [flag, least, most] of [["", 4_500_000, 8_000_000], ["--updates delta", 0, 3_000_000]] as const) {
    const { status } = await shell(`set -o pipefail; "$ATOMIC" json ${flag} --model "$MODEL" x | (sleep 2; cat) > out`, model, place);
    const out = readFileSync(place.workspace.at("out"), "utf8");
    expect(status).toBe(0);
    expect(out.length).toBeGreaterThan(least);
    expect(out.length).toBeLessThan(most);
    const events = out.split("\n").slice(0, -1).map((line) => JSON.parse(line) as JsonObject);
    expect(events.at(-1)).toMatchObject({ type: "agent_settled", outcome: "ok" });
    expect(textOf(events.findLast(({ type }) => type === "message_end")?.["message"])).toHaveLength(300_000);
  }
}, 30_000);

test("R11 the header is out before a model that waits says anything", async () => {
  using place = makePlace();
  using running = startJson(place, ["--model", place.script([[{ delayMs: 1500 }, { text: "late" }]]), "hi"]);
  const startedAt = performance.now();
  await running.waitFor(({ type }) => type === "session");
  expect(performance.now() - startedAt).toBeLessThan(1000);
  expectEnd(await finished(running), "ok", 0);
});

test("R9 and R10 a user message, its answer and its results keep their place in time and never change", async () => {
  using place = makePlace({ "a.txt": "one\n" });
  const run = await runJson(place, ["--model", place.script([[{ call: "fs.read", args: { path: "a.txt" } }], [{ text: "one" }]]), "go"]);
  const ended = run.messages();
  expect(listAt(run.all("agent_end")[0], "messages")).toEqual(ended);
  expect(ended.map((message) => Number(message["timestamp"]))).toEqual(ended.map((message) => Number(message["timestamp"])).toSorted((a, b) => a - b));
  const sessionMs = Date.parse(String(run.events[0]?.["timestamp"]));
  expect(Number(ended[0]?.["timestamp"])).toBeGreaterThanOrEqual(sessionMs);
});

test("J03 what the program's parts print never reaches stdout", async () => {
  using place = makePlace();
  const run = await runJson(place, ["--model", place.script(say("Hello.")), "hi"], { env: { NODE_LLAMA_CPP_DEBUG: "true", BUN_DEBUG: "1", DEBUG: "*", BUN_OPTIONS: "--print 1" } });
  expectEnd(run, "ok", 0);
});

test("SIGPIPE changes nothing", async () => {
  using place = makePlace();
  using running = startAtomic(["json", "--model", place.script([[{ text: "a" }, { delayMs: 600 }, { text: "b" }]]), "hi"], { home: place.home });
  await running.waitFor(isDelta);
  running.signal("SIGPIPE");
  expectEnd(await finished(running), "ok", 0);
});
