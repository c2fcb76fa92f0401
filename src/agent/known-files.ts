// Which files a model knows: it must not replace, or quote from, one that it has not looked at. It would guess.
import { contentText, type AgentMessage, type ToolCall } from "../core/message.ts";
import { fileArguments } from "./offer.ts";
import type { Tool, WorkspaceNames } from "../core/tool.ts";

/** Why the call must not run; undefined when it may. */
export function blindReplacement(call: ToolCall, tools: readonly Tool[], names: WorkspaceNames | undefined, messages: readonly AgentMessage[]): string | undefined {
  const tool = tools.find(({ name }) => name === call.name);
  const parsed = tool?.mustKnow && tool.schema.safeParse(call.arguments);
  const path = parsed?.success ? tool?.mustKnow?.(parsed.data) : undefined;
  if (path === undefined || !names?.files.includes(path.replace(/^\.\//, "")) || isKnown(path, messages, tools) || (tool?.quotes && names.long?.includes(path) && isShown(path, messages, tools))) return undefined;
  return `${path} exists and you have not read it: nothing was written. Read it first; to change a part of it use fs.edit.`;
}

/** Whether a search showed lines of it: of a long file that is enough to change one. */
export function isShown(path: string, messages: readonly AgentMessage[], tools: readonly Tool[]): boolean {
  const searches = new Set(tools.flatMap(({ name, serves }) => (serves?.includes("search") ? [name] : [])));
  return messages.some((message) => message.role === "toolResult" && !message.isError && searches.has(message.toolName) && contentText(message.content).split("\n").some((line) => line.startsWith(`${path}:`)));
}

/** Whether an earlier call that went well was about this file. */
export function isKnown(path: string, messages: readonly AgentMessage[], tools: readonly Tool[]): boolean {
  const isAbout = ({ name, arguments: args }: ToolCall): boolean => {
    const tool = tools.find((candidate) => candidate.name === name);
    return tool !== undefined && fileArguments(tool).some((argument) => args[argument] === path);
  };
  const done = new Set(messages.flatMap((message) => (message.role === "toolResult" && !message.isError ? [message.toolCallId] : [])));
  return messages.some(
    (message) =>
      message.role === "assistant" && message.content.some((block) => block.type === "toolCall" && done.has(block.id) && isAbout(block)),
  );
}
