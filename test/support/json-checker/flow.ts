// What surrounds runs: retries (I12, section 8), compactions (I13, I15, section 7), queues (I14, C1).
import { at, type Breach, Breaches, type Line, listAt, numberAt, same, show, textAt } from "./values.ts";

/** I12: attempts count from 1; each series ends exactly once, with its last number. */
export function checkRetries(lines: readonly Line[]): Breach[] {
  const breaches = new Breaches();
  let attempt = 0;
  let last: unknown;
  for (const { number, event } of lines) {
    breaches.line = number;
    if (event["type"] === "message_end" && at(event, "message", "role") === "assistant") last = event["message"];
    if (event["type"] === "auto_retry_start") {
      attempt++;
      breaches.need(event["attempt"] === attempt, "I12", `attempt ${show(event["attempt"])}, wanted ${attempt}`);
      breaches.need(numberAt(event, "attempt") <= numberAt(event, "maxAttempts"), "8", "attempt is over maxAttempts");
      const kind = textAt(last, "errorKind");
      breaches.need(textAt(last, "stopReason") === "error" && retried.has(kind), "8", `a retry after ${textAt(last, "stopReason")} ${kind}`);
    } else if (event["type"] === "auto_retry_end") {
      breaches.need(attempt > 0 && event["attempt"] === attempt, "I12", `the end names attempt ${show(event["attempt"])}, the last was ${attempt}`);
      breaches.need(("finalError" in event) !== (event["success"] === true), "8", "finalError stands exactly without success");
      breaches.need(event["success"] !== true || !["error", "aborted"].includes(textAt(last, "stopReason")), "8", "success after a failed message");
      attempt = 0;
    }
  }
  breaches.need(attempt === 0, "I12", "the last retry series has no auto_retry_end");
  return breaches.all;
}

const retried = new Set(["network", "timeout", "rate_limit", "server", "empty"]);
const floating = new Set(["queue_update", "session_info_changed", "model_changed", "thinking_level_changed"]);

/** I13, I15: each compaction ends once, says why it has no result, and a promised retry follows. */
export function checkCompactions(lines: readonly Line[]): Breach[] {
  const breaches = new Breaches();
  let start: unknown;
  let inRun = false;
  let promised = false;
  for (const { number, event } of lines) {
    breaches.line = number;
    const type = textAt(event, "type");
    if (promised && !floating.has(type)) {
      breaches.need(type === "agent_start", "I15", `${type} follows willRetry:true`);
      promised = false;
    }
    if (type === "agent_start" || type === "agent_end") inRun = type === "agent_start";
    if (type === "compaction_start") {
      breaches.need(start === undefined, "I13", "a compaction inside another");
      breaches.need(inRun === "midTurn" in event, "C3", "midTurn stands exactly inside a run");
      start = event;
    } else if (type === "compaction_end") {
      checkCompactionEnd(start, event, breaches);
      promised = event["willRetry"] === true;
      start = undefined;
    }
  }
  breaches.need(start === undefined, "I13", "the last compaction has no end");
  return breaches.all;
}

function checkCompactionEnd(start: unknown, end: Line["event"], breaches: Breaches): void {
  breaches.need(start !== undefined, "I13", "compaction_end without its start");
  breaches.need(at(start, "reason") === end["reason"] && at(start, "midTurn") === end["midTurn"], "I13", "reason or midTurn is not that of the start");
  const [result, aborted] = [end["result"], end["aborted"] === true];
  breaches.need(!aborted || (result === undefined && end["willRetry"] === false), "I13", "aborted with a result or willRetry");
  breaches.need(aborted || result !== undefined || "errorMessage" in end, "C12", "neither aborted nor a result nor an errorMessage");
  const unresolved = end["unresolvedOverflow"] === true;
  breaches.need(!unresolved || (end["reason"] === "overflow" && end["willRetry"] === false && "errorMessage" in end), "I13", "unresolvedOverflow with another reason, a retry or no message");
  breaches.need(end["willRetry"] !== true || (result !== undefined && end["reason"] !== "manual" && !("midTurn" in end)), "7.3", "willRetry without a result, manual, or inside a run");
  if (result === undefined) return;
  const stat = (name: string): number => numberAt(result, "stats", name);
  breaches.need(stat("linesKept") + stat("linesDeleted") === stat("linesBefore"), "7.6", "linesKept and linesDeleted are not linesBefore");
  const percent = 100 * (1 - stat("tokensAfter") / (stat("tokensBefore") || 1));
  breaches.need(Math.abs(percent - stat("percentReduction")) <= 0.051, "3.6", `percentReduction is not ${percent.toFixed(1)}`);
  const planned = at(result, "rung") === "planned" && end["reason"] !== "manual";
  breaches.need(!planned || stat("tokensBefore") - stat("tokensAfter") >= 256, "G1", "committed without progress");
}

/** I14: a text enters a queue once and leaves it once: with the message after it, by an abort, or into `undelivered`. */
export function checkQueues(lines: readonly Line[]): Breach[] {
  const breaches = new Breaches();
  let steering: unknown[] = [];
  let followUp: unknown[] = [];
  let carried: { text: unknown } | undefined;
  let dropped: unknown;
  let firstUser = false;
  let previous: Line["event"] | undefined;
  for (const [index, { number, event }] of lines.entries()) {
    breaches.line = number;
    const type = textAt(event, "type");
    const userStart = type === "message_start" && at(event, "message", "role") === "user";
    if (carried) breaches.need(userStart && textOf(event["message"]) === carried.text, "I14", `${show(carried.text)} left its queue, ${type} follows`);
    else if (userStart && !firstUser) breaches.need(false, "I14", "a user message that no queue held");
    if (userStart) firstUser = false;
    carried = undefined;
    if (type === "agent_start") firstUser = !isContinuation(previous);
    if (type === "queue_update") {
      const next = lines[index + 1]?.event;
      const taken = checkMove({ steering, followUp }, event, isUserStart(next), breaches);
      if (taken === "dropped") dropped = { steering, followUp };
      else if (taken) carried = taken;
      steering = listAt(event, "steering");
      followUp = listAt(event, "followUp");
    } else if (!floating.has(type)) previous = event;
    if (type === "agent_settled") checkUndelivered(event, { steering, followUp }, dropped, breaches);
  }
  return breaches.all;
}

interface Queues {
  steering: unknown[];
  followUp: unknown[];
}

function checkMove(before: Queues, event: Line["event"], userFollows: boolean, breaches: Breaches): { text: unknown } | "dropped" | undefined {
  const after: Queues = { steering: listAt(event, "steering"), followUp: listAt(event, "followUp") };
  const emptied = after.steering.length + after.followUp.length === 0 && before.steering.length + before.followUp.length > 0;
  for (const [name, other] of [["steering", "followUp"], ["followUp", "steering"]] as const) {
    if (!same(before[other], after[other])) continue;
    if (after[name].length > 0 && same(after[name].slice(0, -1), before[name])) return undefined;
    const taken = before[name].length > 0 && same(after[name], before[name].slice(1));
    if (taken && (userFollows || !emptied)) return { text: before[name][0] };
  }
  breaches.need(emptied, "I14", `the queues went from ${show(before)} to ${show(after)}: not one text more, the oldest taken, or all dropped`);
  return "dropped";
}

function checkUndelivered(settled: Line["event"], left: Queues, dropped: unknown, breaches: Breaches): void {
  const undelivered = settled["undelivered"];
  const holds = left.steering.length + left.followUp.length > 0;
  const wanted = holds ? left : dropped;
  breaches.need(same(undelivered, wanted), "I14", `undelivered is ${show(undelivered)}, wanted ${show(wanted)}`);
  const ended = ["aborted", "timeout", "error"].includes(textAt(settled, "outcome"));
  breaches.need(dropped === undefined || ended || settled["exitCode"] !== 0, "I14", "texts were dropped without an abort");
}

function isUserStart(event: unknown): boolean {
  return at(event, "type") === "message_start" && at(event, "message", "role") === "user";
}

function isContinuation(previous: unknown): boolean {
  return at(previous, "type") === "auto_retry_start" || at(previous, "willRetry") === true;
}

function textOf(message: unknown): unknown {
  const content = at(message, "content");
  return Array.isArray(content) ? at(content[0], "text") : content;
}
