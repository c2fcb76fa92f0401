// The ordering grammar of sidecar.md section 12 as regular expressions over one letter a frame: none of its rules contains
// itself.
import { show } from "../json-checker/values.ts";
import type { Frame, Life } from "./lives.ts";

/** The order of one answered request's frames. */
export function checkOrder({ frames, name, type }: Life): string[] {
  const letters = frames.map((frame) => letterOf(frame, type)).join("").replaceAll(/(d)d+|(r)r+/g, "$1$2");
  if (refusal.test(letters) || (answers[type] ?? plain).test(letters)) return [];
  return [`${name}: grammar: ${show(letters)} ${frames.map(wordOf).join(" ").slice(0, 600)}`];
}

const letters: { [type: string]: string } = {
  skill_registry_updated: "k", llm_unavailable: "u", session_started: "s", user_message: "m", turn_started: "t", step_started: "b", step_finished: "e",
  steer_applied: "a", steer_undelivered: "9", llm_request: "q", llm_response: "p", assistant_delta: "d", reasoning_delta: "r", assistant_reset: "v",
  tool_call_started: "c", approval_request: "g", approval_withdrawn: "w", loop_detected: "l", provider_waiting: "z", provider_recovered: "Z",
  compaction_started: "h", compaction_progress: "n", compaction_completed: "f", compaction_failed: "f", session_failed: "3",
};
const ends: { [reason: string]: string } = { reply: "4", finish: "5", max_steps: "6", failed: "7", cancelled: "8" };

function letterOf({ error, kind, ok, payload, type = "" }: Frame, asked: string): string {
  if (kind === "response") return ok ? (asked === "send_message" && payload?.["started"] === false ? "U" : "R") : error?.code === "unknown_request" ? "N" : "F";
  if (type === "error") return String(payload?.["code"]).startsWith("step_error:") ? (payload?.["willRetry"] === true ? "y" : "x") : "?";
  if (type === "tool_call_result") return payload?.["tool"] !== "reply" ? "o" : payload["status"] === "ok" ? "i" : "j";
  if (type === "assistant_reply") return payload?.["progressNote"] === true ? "P" : "A";
  if (type === "session_completed") return payload?.["reason"] === "finish" ? "1" : "2";
  if (type === "turn_finished") return ends[String(payload?.["reason"])] ?? "?";
  return letters[type] ?? "?";
}

const compaction = "hn*f";
const failedAttempt = "(?:q[dr]*p?)?yv?";
const trouble = `(?:${failedAttempt}|${compaction}|[lzZ])`;
const result = "(?:o|i[AP]|jv?)";
const batch = `c+(?:[lgw]|${result})*`;
/** Without a response or a batch a fatal error follows. */
const attempt = `(?:x|q[dr]*(?:x|p(?:x|${batch}x?)))`;
const step = `ba*${trouble}*${attempt}?e`;
const ending = "(?:4|d+A4|15|d+A26|x?3[78])";
const whole = (rule: string): RegExp => new RegExp(`^(?:${rule})$`);

const refusal = whole("N|F");
const plain = whole("R");
const answers: { [type: string]: RegExp } = {
  start_session: whole("k?u?sR"),
  skill_install: whole("kR"),
  skill_uninstall: whole("kR"),
  compact_session: whole(`(?:${compaction})?R`),
  send_message: whole(`U|mt(?:${compaction}|${step})*${ending}9*R`),
};

function wordOf({ kind, payload, type }: Frame): string {
  const told = ["tool", "code", "reason"].map((key) => payload?.[key]).find((value) => typeof value === "string");
  return `${kind === "response" ? "R" : String(type)}${typeof told === "string" ? `(${told})` : ""}`;
}
