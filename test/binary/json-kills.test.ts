// `kill -9` at random points of a busy run of `atomic json`, again and again in one state folder: what was printed is stored,
// the store is sound, the session goes on. stderr tells between which two lines of stdout each kill fell.
import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { expectEnd, makePlace, type Place, runJson, startJson, textOf } from "../support/json-run.ts";
import { at, type JsonObject, listAt, textAt } from "../support/json-checker/values.ts";
import type { ScriptItem } from "../support/scripted.ts";
import { exported } from "../support/stored-sessions.ts";

const killCount = process.env["ATOMIC_TEST_LONG"] === "1" ? 100 : 8;
const stepCount = 24;

/** Thinks, speaks and makes two or three calls a step, with waits so short that a kill falls anywhere. */
const steps = Array.from({ length: stepCount }, (_, index): ScriptItem[] => [
  { thinking: `Step ${index}` },
  { delayMs: 1 },
  { text: `This is step ${index}.` },
  { delayMs: 1 },
  { call: "fs.write", args: { path: `${index}.txt`, content: `${index}\n` } },
  { call: "fs.read", args: { path: `${index}.txt` } },
  ...(index % 2 === 0 ? [{ call: "shell.run", args: { command: `sleep 0.0${1 + (index % 5)}` } }] : []),
]);

interface Kill {
  /** Whole lines of stdout before it. */
  lines: number;
  /** message_end lines before it. */
  printed: number;
  /** Messages in the session, without those that the resumed run added. */
  stored: number;
  interrupted: number;
}

test(`${killCount} times kill -9 in a busy run: each printed message is stored, open calls are interrupted, --continue goes on`, async () => {
  using place = makePlace();
  const model = place.script([...steps, [{ text: "done" }]]);
  const whole = await runJson(place, ["--model", model, "work"]);
  expectEnd(whole, "ok", 0);
  const names = whole.events.map(nameOf);
  const ends = whole.all("message_end").length;
  const kills: Kill[] = [];
  for (let round = 0; round < killCount; round++) {
    const kill = await killAndResume(place, model, names, chooseLine(names, round));
    kills.push(kill);
    const { lines, printed, stored, interrupted } = kill;
    const where = `after line ${lines} (${names[lines - 1]}), before line ${lines + 1} (${names[lines] ?? "the end"})`;
    process.stderr.write(`kill ${round + 1}: ${where}; ${printed} of ${ends} message_end lines printed, ${stored - interrupted} stored, ${interrupted} calls interrupted\n`);
  }
  const between = kills.filter(({ printed }) => printed > 0 && printed < ends);
  process.stderr.write(`${between.length} of ${killCount} kills fell between two message_end lines, at ${new Set(kills.map(({ lines }) => lines)).size} different lines\n`);
  expect(between.length).toBeGreaterThanOrEqual(killCount / 2);
  expect(new Set(kills.map(({ lines }) => lines)).size).toBeGreaterThan(killCount / 4);
  expect(kills.some(({ interrupted }) => interrupted > 0)).toBe(true);
}, killCount * 8000);

/** Any line from the first message_end on; every third time the start of a call, so that calls are cut for sure. */
function chooseLine(names: readonly string[], round: number): number {
  const first = names.findIndex((name) => name.startsWith("message_end"));
  const last = Math.floor(names.length * 0.9);
  const fitting = [...names.keys()].filter((line) => line > first && line < last && (round % 3 > 0 || names[line] === "tool_execution_start shell.run"));
  return fitting[Math.floor(Math.random() * fitting.length)] ?? first;
}

async function killAndResume(place: Place, model: string, names: readonly string[], line: number): Promise<Kill> {
  using running = startJson(place, ["--model", model, "work"]);
  let seen = 0;
  await running.waitFor(() => seen++ >= line);
  await Bun.sleep(Math.random() * 6);
  running.signal("SIGKILL");
  const { text, signal } = await running.result();
  expect(signal).toBe("SIGKILL");
  const events = text.split("\n").slice(0, -1).map((json) => JSON.parse(json) as JsonObject);
  expect(events.map(nameOf)).toEqual(names.slice(0, events.length));
  const printed = events.filter(({ type }) => type === "message_end").map(({ message }) => message as JsonObject);
  const id = textAt(events[0], "id");

  const resumed = await runJson(place, ["--continue", "--model", place.script([[{ text: "on" }]]), "go on"]);
  expectEnd(resumed, "ok", 0);
  expect(resumed.events[0]).toMatchObject({ id, resumed: true });
  using database = new Database(join(place.home.state, "sessions.sqlite"));
  expect(database.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);

  const messages = (await exported(place, id)).filter(({ type }) => type === "message").map(({ message }) => message as JsonObject);
  expect(messages.slice(-2)).toEqual(resumed.messages());
  const stored = messages.slice(0, -2);
  expect(stored.slice(0, printed.length)).toEqual(printed);
  return { lines: events.length, printed: printed.length, stored: stored.length, interrupted: expectAnswered(stored, printed) };
}

/** Each call has one result, in order; what the kill cut has an `interrupted` one, which nothing printed. @returns their number */
function expectAnswered(stored: readonly JsonObject[], printed: readonly JsonObject[]): number {
  const calls = stored.flatMap((message) => listAt(message, "content")).filter((block) => at(block, "type") === "toolCall").map((block) => at(block, "id"));
  const results = stored.filter(({ role }) => role === "toolResult");
  expect(results.map(({ toolCallId }) => toolCallId)).toEqual(calls);
  const interrupted = results.filter((result) => textOf(result).startsWith("interrupted"));
  expect(interrupted.map(({ isError }) => isError)).toEqual(interrupted.map(() => true));
  expect(results.slice(results.length - interrupted.length)).toEqual(interrupted);
  expect(printed.filter((message) => message["role"] === "toolResult" && textOf(message).startsWith("interrupted"))).toEqual([]);
  return interrupted.length;
}

/** What a line is, without what differs from run to run. */
function nameOf(event: JsonObject): string {
  const details = [textAt(event, "message", "role"), textAt(event, "assistantMessageEvent", "type"), textAt(event, "toolName")];
  return [textAt(event, "type"), ...details.filter((detail) => detail !== "")].join(" ");
}
