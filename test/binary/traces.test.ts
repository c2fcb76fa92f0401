// What a session leaves on disk beside its entries, by the executable: traces and the end of old sessions (sidecar.md 10).
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { makePlace, type Place, runJson } from "../support/json-run.ts";
import { hostOfExecutable } from "../support/sidecar-host.ts";
import { runAtomic } from "../support/atomic.ts";

interface Row {
  seq: number;
  sessionId: string;
  ts: number;
  type: string;
}

const traced = { tracing: { trace: { enabled: true } } };
const rowsIn = (path: string): Row[] => readFileSync(path, "utf8").split("\n").slice(0, -1).map((line) => JSON.parse(line) as Row);
const tracesOf = (place: Place): string => join(place.home.state, "traces");

test("a trace holds every event of a session, over several processes, without configured secrets, and goes with it", async () => {
  using place = makePlace({ "a.txt": "the key is sk-very-secret" });
  place.configure({ ...traced, localModels: { apiKey: "sk-very-secret" } });
  const model = place.script([[{ call: "fs.read", args: { path: "a.txt" } }], [{ text: "read" }]]);
  const first = await runJson(place, ["--model", model, "read it"]);
  const id = String(first.events[0]?.["id"]);
  const path = join(tracesOf(place), `s-${id}.ndjson`);
  expect([statSync(path).mode & 0o777, statSync(tracesOf(place)).mode & 0o777]).toEqual([0o600, 0o700]);
  await runJson(place, ["--model", place.script([[{ text: "again" }]]), "--session", id, "again"]);
  const rows = rowsIn(path);
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
  expect(new Set(rows.map(({ sessionId }) => sessionId))).toEqual(new Set([`s-${id}`]));
  expect(rows.filter(({ type }) => type === "turn_started").length).toBe(2);
  expect(rows.filter(({ type }) => type === "turn_ended").length).toBe(2);
  expect(rows.some(({ type }) => type === "tool_ended")).toBe(true);
  expect(readFileSync(path, "utf8")).not.toContain("very-secret");
  expect((await runAtomic(["sessions", "rm", id], { home: place.home })).exitCode).toBe(0);
  expect(existsSync(path)).toBe(false);
});

test("no trace is written unasked, and none of a run that keeps nothing", async () => {
  using place = makePlace();
  const model = place.script([[{ text: "hello" }]]);
  await runJson(place, ["--model", model, "hi"]);
  place.configure(traced);
  await runJson(place, ["--model", model, "--no-session", "hi"]);
  expect(existsSync(tracesOf(place))).toBe(false);
});

test("on the sidecar's wire a trace that reaches its limit is told once and ends with a row that says so", async () => {
  using host = hostOfExecutable({ config: { tracing: { trace: { enabled: true, maxBytesPerSession: 2000 } } } });
  const sessionId = await host.start([[{ text: "a reply that is long enough ".repeat(20) }]]);
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  expect(host.frames.filter(({ type, payload }) => type === "log" && String(payload?.["message"]).includes("tracing.trace.maxBytesPerSession")).length).toBe(1);
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
  const path = join(host.folder.at("state"), "traces", `${sessionId}.ndjson`);
  expect(rowsIn(path).at(-1)).toMatchObject({ type: "trace_cut", maxBytes: 2000, sessionId });
  expect(statSync(path).size).toBeLessThanOrEqual(2000);
});

test("old sessions end where the configuration says so, their traces with them", async () => {
  using place = makePlace();
  place.configure(traced);
  const model = place.script([[{ text: "hello" }]]);
  for (const prompt of ["one", "two", "three"]) await runJson(place, ["--model", model, prompt]);
  const listed = async (): Promise<number> => (await runAtomic(["sessions", "list"], { home: place.home })).text.split("\n").length - 1;
  expect([await listed(), readdirSync(tracesOf(place)).length]).toEqual([3, 3]);
  place.configure({ ...traced, sessions: { retention: { enabled: true, maxRows: 2 } } });
  await runJson(place, ["--model", model, "four"]);
  expect([await listed(), readdirSync(tracesOf(place)).length]).toEqual([2, 2]);
});
