// What a small model is told beside a result, because it would count it wrong.
import type { ToolResultMessage } from "../core/message.ts";
import type { Tool } from "../core/tool.ts";

/** "" when there is nothing to tell. */
export function hintOf({ content, details, isError, toolName }: ToolResultMessage, tools: readonly Tool[], request = ""): string {
  const tool = isError ? undefined : tools.find(({ name }) => name === toolName);
  const hint = tool?.hint?.({ content, ...(details === undefined ? {} : { details: details as Record<string, unknown> }) }, request);
  return hint === undefined ? "" : `(${hint})`;
}
