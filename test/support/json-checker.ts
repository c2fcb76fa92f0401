// The project's checker of the JSON event stream, written from json-mode.md: framing, shapes, the grammar and invariants of
// section 12. A stream is right when it returns nothing. It must not import what produces the stream.
import { checkEnds } from "./json-checker/ends.ts";
import { checkCompactions, checkQueues, checkRetries } from "./json-checker/flow.ts";
import { readLines } from "./json-checker/framing.ts";
import { checkGrammar } from "./json-checker/grammar.ts";
import { checkMessages } from "./json-checker/messages.ts";
import type { ShapeCheck } from "./json-checker/shape.ts";
import { checkTurns } from "./json-checker/turns.ts";
import type { Breach } from "./json-checker/values.ts";

export interface StreamContext {
  /** Exit status of the process, where it is known. */
  exitCode?: number;
  /** Check of each line against the wire's schema; see `shapeCheck`. */
  shape?: ShapeCheck;
}

/** @param bytes all of stdout. */
export function checkJsonStream(bytes: Uint8Array, context: StreamContext = {}): Breach[] {
  const { lines, breaches } = readLines(bytes);
  if (lines.length === 0) return [...breaches, { line: 0, rule: "I1", message: "the stream is empty" }];
  return [
    ...breaches,
    ...(context.shape?.(lines) ?? []),
    ...checkGrammar(lines),
    ...checkMessages(lines),
    ...checkTurns(lines),
    ...checkRetries(lines),
    ...checkCompactions(lines),
    ...checkQueues(lines),
    ...checkEnds(lines, context.exitCode),
  ];
}

/** One line a breach, for the message of a failing test. */
export function describeBreaches(breaches: readonly Breach[]): string {
  return breaches.map(({ line, rule, message }) => `line ${line}: ${rule}: ${message}`).join("\n");
}
