// Answers that a turn driven by a host can't use, though the generation ended by itself (sidecar.md 6, 11): cut at the output
// limit, or with a call that names no tool. JSON mode shows both as results of the calls instead (json-mode.md 6.8, T6).
import type { EngineFailure } from "../core/engine.ts";
import type { AssistantMessage, ToolCall, ToolResultMessage } from "../core/message.ts";
import type { ToolSpec } from "../core/tool.ts";
import { unknownTool } from "./tool-calls.ts";
import { cutFailure } from "./turn-failures.ts";

export interface UnusableAnswer {
  failure: EngineFailure;
  /** What the model is told of each of its calls, so that the next try is a better one; without any the answer is forgotten. */
  corrections: ToolResultMessage[];
}

/** @param tools every tool of the session, also those that the step did not offer */
export function unusableAnswer({ content, stopReason }: AssistantMessage, tools: readonly Pick<ToolSpec, "name">[], timestamp: number): UnusableAnswer | undefined {
  if (stopReason === "length") return { failure: cutFailure, corrections: [] };
  const calls = stopReason === "toolUse" ? content.filter((block): block is ToolCall => block.type === "toolCall") : [];
  const isKnown = ({ name }: ToolCall): boolean => tools.some((tool) => tool.name === name);
  const unknown = calls.find((call) => !isKnown(call));
  if (!unknown) return undefined;
  const corrections = calls.map((call): ToolResultMessage => {
    const text = isKnown(call) ? `not run: another call of this message names no tool (${unknown.name})` : unknownTool(call.name, tools);
    return { role: "toolResult", toolCallId: call.id, toolName: call.name, content: [{ type: "text", text }], details: {}, isError: true, timestamp };
  });
  return { failure: { kind: "engine", category: "grammar", message: unknownTool(unknown.name, tools) }, corrections };
}
