// The ordering grammar of json-mode.md section 12. Each rule maps the set of positions where it may begin to the set where
// it may end, so that no choice is made too early; the furthest token that did not fit is the one reported.
import { at, type Breach, type Line, textAt } from "./values.ts";

/** @param lines of the stream; types that the contract doesn't know are skipped, the floating ones too. */
export function checkGrammar(lines: readonly Line[]): Breach[] {
  const ordered = lines.filter(({ event }) => !floating.has(String(event["type"])) && known.has(String(event["type"])));
  const reader = new Reader(ordered.map(({ event }) => tokenOf(event)));
  const ends = stream(reader, new Set([0]));
  if (ends.has(ordered.length)) return checkPrelude(lines);
  for (const end of ends) reader.reach(end);
  const line = ordered[reader.furthest]?.number ?? 0;
  const found = reader.tokens[reader.furthest] ?? "the end of the stream";
  const message = `${found} doesn't fit here; possible: ${[...reader.expected].toSorted().join(", ") || "the end"}`;
  return [{ line, rule: "grammar", message }, ...checkPrelude(lines)];
}

const prelude = ["session_info_changed", "model_changed", "thinking_level_changed"];
const floating = new Set(["queue_update", ...prelude]);
const known = new Set([
  "session", "agent_start", "agent_end", "turn_start", "turn_end", "message_start", "message_update", "message_end",
  "tool_execution_start", "tool_execution_update", "tool_execution_end", "compaction_start", "compaction_end",
  "auto_retry_start", "auto_retry_end", "summarization_retry_scheduled", "summarization_retry_attempt_start",
  "summarization_retry_finished", "agent_settled", "queue_update", ...prelude,
]);

/** Section 2: these three come between the header and the first other event, in this order, at most once each. */
function checkPrelude(lines: readonly Line[]): Breach[] {
  const breaches: Breach[] = [];
  let allowedFrom = 0;
  for (const [index, { number, event }] of lines.entries()) {
    const place = prelude.indexOf(String(event["type"]));
    if (place === -1) {
      if (index > 0) allowedFrom = prelude.length;
      continue;
    }
    if (index === 0 || place < allowedFrom) breaches.push({ line: number, rule: "2", message: `${prelude[place]} is out of place` });
    else allowedFrom = place + 1;
  }
  return breaches;
}

function tokenOf(event: Line["event"]): string {
  const type = textAt(event, "type");
  if (type === "message_start" || type === "message_end") return `${type}(${textAt(event, "message", "role")})`;
  if (type === "auto_retry_end" || type === "compaction_end") {
    const flag = type === "auto_retry_end" ? "success" : "willRetry";
    return `${type}(${flag}=${at(event, flag) === true})`;
  }
  return type;
}

class Reader {
  readonly tokens: readonly string[];
  furthest = 0;
  expected = new Set<string>();

  constructor(tokens: readonly string[]) {
    this.tokens = tokens;
  }

  /** Whether `name` stands at `position`; remembers the furthest place where something did not fit. */
  has(position: number, name: string): boolean {
    if (this.tokens[position] === name) return true;
    this.reach(position);
    if (position === this.furthest) this.expected.add(name);
    return false;
  }

  reach(position: number): void {
    if (position <= this.furthest) return;
    this.furthest = position;
    this.expected = new Set();
  }
}

type Rule = (reader: Reader, starts: ReadonlySet<number>) => ReadonlySet<number>;

const token =
  (name: string): Rule =>
  (reader, starts) =>
    new Set([...starts].filter((start) => reader.has(start, name)).map((start) => start + 1));

const sequence =
  (...rules: Rule[]): Rule =>
  (reader, starts) =>
    rules.reduce((positions, rule) => (positions.size === 0 ? positions : rule(reader, positions)), starts);

const either =
  (...rules: Rule[]): Rule =>
  (reader, starts) =>
    new Set(rules.flatMap((rule) => [...rule(reader, starts)]));

const maybe =
  (...rules: Rule[]): Rule =>
  (reader, starts) =>
    new Set([...starts, ...sequence(...rules)(reader, starts)]);

const many =
  (...rules: Rule[]): Rule =>
  (reader, starts) => {
    const reached = new Set(starts);
    let frontier: ReadonlySet<number> = starts;
    while (frontier.size > 0) {
      frontier = new Set([...sequence(...rules)(reader, frontier)].filter((position) => !reached.has(position)));
      for (const position of frontier) reached.add(position);
    }
    return reached;
  };

const message = (role: string): Rule => sequence(token(`message_start(${role})`), token(`message_end(${role})`));
const toolStart = token("tool_execution_start");
const toolUpdate = token("tool_execution_update");
const toolEnd = token("tool_execution_end");
const result = message("toolResult");
const retryStart = token("auto_retry_start");
const retryOk = token("auto_retry_end(success=true)");
const retryFail = token("auto_retry_end(success=false)");

const scheduled = token("summarization_retry_scheduled");
const attempt = token("summarization_retry_attempt_start");
const summaryRetry = sequence(many(scheduled, attempt), scheduled, maybe(attempt), token("summarization_retry_finished"));
const compactStop = sequence(token("compaction_start"), many(summaryRetry), token("compaction_end(willRetry=false)"));
const compactAgain = sequence(token("compaction_start"), many(summaryRetry), token("compaction_end(willRetry=true)"));

const assistant = sequence(token("message_start(assistant)"), many(token("message_update")), token("message_end(assistant)"));
const tools = either(many(toolStart, many(toolUpdate), toolEnd, result), sequence(many(either(toolStart, toolUpdate, toolEnd)), many(result)));
const step = sequence(assistant, maybe(retryOk), tools, token("turn_end"));
const turn = sequence(token("turn_start"), many(either(message("user"), message("custom"))), step);
const moreTurns = many(maybe(compactStop), turn);
/** The first run of a prompt brings the user's text; a run after a link goes on without one. */
const firstRun = sequence(token("agent_start"), token("turn_start"), message("user"), many(either(message("user"), message("custom"))), step, moreTurns, token("agent_end"));
const continuation = sequence(token("agent_start"), turn, moreTurns, token("agent_end"));
const link = either(retryStart, sequence(maybe(retryFail), compactAgain));
const finish = either(sequence(retryStart, retryFail), sequence(retryFail, maybe(compactStop)), compactStop);
const prompt = sequence(maybe(compactStop), firstRun, many(link, continuation), maybe(finish));
const stream = sequence(token("session"), many(either(prompt, compactStop)), token("agent_settled"));
