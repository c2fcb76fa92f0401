// The short notation of json-mode.md section 6: a stream as a row of tokens, and an order as a pattern over them.
// H header, AS/AE{roles}, TS/TE[calls], ms(r)/me(r) with u a t c, mu(kind), xs/xu/xe(call), q, rs{n}/re{success},
// cs/ce{reason and what stands there}, SS{n}, SA, SF, Z{outcome}.
import { at, type JsonObject, listAt, textAt } from "../support/json-checker/values.ts";

/** Gives each event its token; calls are A, B, … in the order of their first appearance. */
export function makeTokenizer(): (event: JsonObject) => string {
  const labels = new Map<unknown, string>();
  const label = (id: unknown): string => {
    const known = labels.get(id) ?? String.fromCharCode(65 + labels.size);
    labels.set(id, known);
    return known;
  };
  return (event) => {
    const type = textAt(event, "type");
    const token = tokens[type];
    return token ? token(event, label) : type;
  };
}

/** Whether the tokens follow the pattern: tokens in order, each with `*`, `+` or `?` if wanted; `(x|y)*` for either. */
export function followsOrder(found: readonly string[], pattern: string): boolean {
  const source = pattern.trim().split(/\s+/).map(itemSource).join("");
  return new RegExp(`^${source}$`).test(found.map((token) => `${token} `).join(""));
}

/** The row for people: repeated tokens once, with their number. */
export function describeOrder(found: readonly string[]): string {
  const shown: { token: string; count: number }[] = [];
  for (const token of found) {
    const last = shown.at(-1);
    if (last?.token === token) last.count++;
    else shown.push({ token, count: 1 });
  }
  return shown.map(({ token, count }) => (count === 1 ? token : `${token}×${count}`)).join(" ");
}

type Token = (event: JsonObject, label: (id: unknown) => string) => string;

const roles: { [role: string]: string } = { user: "u", assistant: "a", toolResult: "t", custom: "c" };

const tokens: { [type: string]: Token } = {
  session: () => "H",
  agent_start: () => "AS",
  agent_end: (event) => `AE{${listAt(event, "messages").map(roleOf).join(",")}}`,
  turn_start: () => "TS",
  turn_end: (event, label) => `TE[${listAt(event, "toolResults").map((result) => label(at(result, "toolCallId"))).join(",")}]`,
  message_start: (event, label) => `ms(${messageToken(event, label)})`,
  message_end: (event, label) => `me(${messageToken(event, label)})`,
  message_update: (event) => `mu(${textAt(event, "assistantMessageEvent", "type")})`,
  tool_execution_start: (event, label) => `xs(${label(event["toolCallId"])})`,
  tool_execution_update: (event, label) => `xu(${label(event["toolCallId"])})`,
  tool_execution_end: (event, label) => `xe(${label(event["toolCallId"])}${event["isError"] === true ? ",isError" : ""})`,
  queue_update: (event) => `q{${listAt(event, "steering").length},${listAt(event, "followUp").length}}`,
  auto_retry_start: (event) => `rs{${String(event["attempt"])}}`,
  auto_retry_end: (event) => `re{${String(event["success"])}}`,
  compaction_start: (event) => `cs{${[textAt(event, "reason"), ...flags(event, ["midTurn"])].join()}}`,
  compaction_end: (event) => `ce{${[textAt(event, "reason"), ...flags(event, ["result", "aborted", "willRetry", "unresolvedOverflow", "errorMessage", "midTurn"])].join()}}`,
  summarization_retry_scheduled: (event) => `SS{${String(event["attempt"])}}`,
  summarization_retry_attempt_start: (event) => `SA{${textAt(event, "source")},${textAt(event, "reason")}}`,
  summarization_retry_finished: () => "SF",
  agent_settled: (event) => `Z{${textAt(event, "outcome")}}`,
};

/** Those of the fields that stand there and are not false. */
function flags(event: JsonObject, names: readonly string[]): string[] {
  return names.filter((name) => name in event && event[name] !== false);
}

function messageToken(event: JsonObject, label: (id: unknown) => string): string {
  const message = event["message"];
  const stop = at(message, "stopReason");
  if (typeof stop === "string") return stop === "pending" ? "a" : `a,${stop}`;
  if (at(message, "role") === "toolResult") return `t,${label(at(message, "toolCallId"))}`;
  return roleOf(message);
}

function roleOf(message: unknown): string {
  const role = textAt(message, "role");
  return roles[role] ?? role;
}

function itemSource(item: string): string {
  const [, body = "", count = ""] = /^(.*?)([*+?]?)$/.exec(item) ?? [];
  const inner = body.startsWith("(") && body.includes("|") ? body.slice(1, -1).split("|") : [body];
  return `(?:(?:${inner.map((token) => RegExp.escape(token)).join("|")}) )${count}`;
}
