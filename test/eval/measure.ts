// What one run was like, read off the stream of `atomic json`.
import { at, isObject, listAt, numberAt, textAt, type JsonObject } from "../support/json-checker/values.ts";

/** One call, as much of it as tells what happened. */
export interface MadeCall {
  tool: string;
  args: unknown;
  result: string;
}

export interface Measure {
  /** The text of the last assistant message. */
  reply: string;
  /** Generations. */
  steps: number;
  /** Calls of a tool that is not there, or with arguments that do not fit its schema. */
  invalidCalls: number;
  /** Tokens read, without what came from the cache. */
  promptTokens: number;
  /** Tokens written. */
  outputTokens: number;
  /** Of `agent_settled`; `broken` when the stream has none. */
  outcome: string;
  calls: MadeCall[];
}

export function measure(events: readonly JsonObject[]): Measure {
  const messages = events.filter((event) => event["type"] === "message_end" && textAt(event, "message", "role") === "assistant");
  const settled = events.at(-1);
  const sum = (key: string): number => messages.reduce((total, event) => total + numberAt(event, "message", "usage", key), 0);
  return {
    reply: textOf(listAt(messages.at(-1), "message", "content")),
    steps: messages.length,
    invalidCalls: events.filter(isInvalidCall).length,
    promptTokens: sum("input"),
    outputTokens: sum("output"),
    outcome: settled?.["type"] === "agent_settled" ? textAt(settled, "outcome") : "broken",
    calls: events.filter((event) => event["type"] === "tool_execution_end").map((event) => madeCall(event, events)),
  };
}

const resultCharsMax = 600;

function madeCall(end: JsonObject, events: readonly JsonObject[]): MadeCall {
  const id = textAt(end, "toolCallId");
  const start = events.find((event) => event["type"] === "tool_execution_start" && event["toolCallId"] === id);
  return { tool: textAt(end, "toolName"), args: at(start, "args"), result: textOf(listAt(end, "result", "content")).slice(0, resultCharsMax) };
}

function isInvalidCall(event: JsonObject): boolean {
  if (event["type"] !== "tool_execution_end" || event["isError"] !== true) return false;
  return /^there is no tool |was not run, its arguments are wrong/.test(textOf(listAt(event, "result", "content")));
}

function textOf(content: readonly unknown[]): string {
  return content.map((block) => (isObject(block) && at(block, "type") === "text" ? textAt(block, "text") : "")).join("");
}
