// The first and the last line of a stream and what they say of the rest: I1, I16, R10, section 5 (outcome), 9.5 (exit code).
import { at, type Breach, Breaches, type Line, textAt } from "./values.ts";

/** @param exitCode exit status of the process; undefined = not known. */
export function checkEnds(lines: readonly Line[], exitCode?: number): Breach[] {
  const breaches = new Breaches();
  const types = lines.map(({ event }) => textAt(event, "type"));
  const count = (type: string): number => types.filter((found) => found === type).length;
  breaches.need(types[0] === "session" && count("session") === 1, "I1", "the header is not exactly line 1");
  breaches.need(types.at(-1) === "agent_settled" && count("agent_settled") === 1, "I1", "agent_settled is not once and last");
  checkHeader(lines[0], breaches);
  checkTimes(lines, breaches);
  const last = lines.findLast(({ event }) => event["type"] === "agent_settled");
  if (last) checkSettled(lines, last, exitCode, breaches);
  return breaches.all;
}

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const isoMilliseconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function checkHeader(line: Line | undefined, breaches: Breaches): void {
  if (!line || line.event["type"] !== "session") return;
  breaches.line = line.number;
  breaches.need(uuid7.test(textAt(line.event, "id")), "2", "id is not a UUID of version 7");
  breaches.need(isoMilliseconds.test(textAt(line.event, "timestamp")), "R10", "timestamp is not ISO 8601 UTC with milliseconds");
  breaches.need(/^(\/|[A-Za-z]:[\\/]|\\\\)/.test(textAt(line.event, "cwd")), "2", "cwd is not absolute");
}

function checkTimes(lines: readonly Line[], breaches: Breaches): void {
  let latest = 0;
  for (const { number, event } of lines) {
    const time = at(event, "message", "timestamp");
    if (event["type"] !== "message_end" || typeof time !== "number") continue;
    breaches.line = number;
    breaches.need(Number.isInteger(time) && time >= latest, "I16", "timestamp falls or is no integer");
    latest = time;
  }
  for (const { number, event } of lines) {
    breaches.line = number;
    for (const [name, tokens] of tokenCounts(event)) breaches.need(Number.isInteger(tokens) && Number(tokens) >= 0, "I16", `${name} is ${String(tokens)}`);
  }
}

const tokenNames = ["input", "output", "cacheRead", "cacheWrite", "reasoning", "totalTokens"];

function tokenCounts(event: unknown): [string, unknown][] {
  const usage = at(event, "message", "usage") ?? at(event, "usage");
  return tokenNames.map((name): [string, unknown] => [name, at(usage, name)]).filter(([, value]) => value !== undefined);
}

function checkSettled(lines: readonly Line[], settled: Line, exitCode: number | undefined, breaches: Breaches): void {
  breaches.line = settled.number;
  const outcome = textAt(settled.event, "outcome");
  const code = settled.event["exitCode"];
  breaches.need(exitCode === undefined || code === exitCode, "I16", `exitCode ${String(code)}, the process ended with ${exitCode}`);
  const good = ["ok", "empty", "length"].includes(outcome);
  breaches.need([0, 1, 129, 130, 143].includes(Number(code)) && (code === 0) === good, "9.5", `exitCode ${String(code)} with outcome ${outcome}`);
  const stops = finalStops(lines);
  breaches.need(!good || stops.every((stop) => stop === "stop" || stop === "length"), "5", `outcome ${outcome}, prompts ended with ${stops.join()}`);
  breaches.need(outcome !== "ok" || (stops.length > 0 && !stops.includes("length")), "5", `outcome ok, prompts ended with ${stops.join() || "nothing"}`);
  breaches.need(outcome !== "length" || stops.includes("length"), "5", "outcome length without a cut answer");
  breaches.need(outcome !== "error" || stops.includes("error"), "5", "outcome error without a failed answer");
  breaches.need(outcome !== "empty" || !lines.some(({ event }) => event["type"] === "agent_start"), "6.38", "outcome empty with a run");
  const unresolved = lines.some(({ event }) => event["unresolvedOverflow"] === true);
  breaches.need(outcome !== "unresolved_overflow" || unresolved, "C10", "outcome unresolved_overflow without such a compaction_end");
  breaches.need(!unresolved || !good, "5", `an unresolved overflow and outcome ${outcome}`);
}

/** Stop reason of the last assistant message of each prompt; a continuation replaces the run before it. */
function finalStops(lines: readonly Line[]): string[] {
  const stops: string[] = [];
  let previous: Line["event"] | undefined;
  let stop = "";
  for (const { event } of lines) {
    const type = textAt(event, "type");
    if (type === "queue_update") continue;
    if (type === "agent_start" && (at(previous, "type") === "auto_retry_start" || at(previous, "willRetry") === true)) stops.pop();
    if (type === "message_end" && at(event, "message", "role") === "assistant") stop = textAt(event, "message", "stopReason");
    if (type === "agent_end") stops.push(stop);
    previous = event;
  }
  return stops;
}
