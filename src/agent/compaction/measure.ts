// How many tokens the next request has (json-mode.md 7.2): counted by the engine's tokenizer where it has one, else the
// last usage that still holds plus an estimate of what came later.
import { z } from "zod";
import type { ChatMessage, Engine } from "../../core/engine.ts";
import { contentText, type AgentMessage, type AssistantMessage } from "../../core/message.ts";
import type { ToolSpec } from "../../core/tool.ts";
import type { Conversation } from "../conversation.ts";
import { formOf } from "../chosen-form.ts";
import { renderConversation, systemFor, type SystemText } from "../prompt.ts";

const charsPerToken = 4;
const imageTokens = 1200;
/** What a chat template puts around a message, and around the whole. */
const messageFrameTokens = 6;
const chatFrameTokens = 8;

export interface MeasuredRequest {
  engine: Engine;
  system: SystemText;
  tools: readonly ToolSpec[];
  conversation: Conversation;
}

/** Tokens of one text. */
export function textTokens(engine: Engine, text: string): number {
  return engine.countTokens?.(text) ?? Math.ceil(text.length / charsPerToken);
}

/** Tokens of the request that these messages make, whatever was counted before. */
export function requestTokens({ engine, system, tools, conversation }: MeasuredRequest): number {
  if (engine.kind === "text") {
    return chatTokens(engine, renderConversation(systemFor(engine, system), conversation, formOf(engine))) + chatFrameTokens;
  }
  // Either the tools are sent as such, or the guide tells of them.
  const schemas = engine.needsGuide?.() ? 0 : tools.reduce((sum, tool) => sum + toolText(tool).length, 0);
  return Math.ceil((systemFor(engine, system).length + schemas) / charsPerToken) + messageTokens(conversation.messages.filter(isSent));
}

/** Tokens of the next request. */
export function contextTokens(request: MeasuredRequest): number {
  const { conversation, engine } = request;
  if (engine.countTokens?.("") !== undefined) return requestTokens(request);
  const { messages, boundaryEnd } = conversation;
  const last = messages.findLastIndex((message, index) => index >= boundaryEnd && isCounted(message));
  const counted = messages[last];
  if (counted?.role !== "assistant") return requestTokens(request);
  const later = messages.slice(last + 1).filter(isSent);
  if (engine.kind === "text" && later.every(({ role }) => role !== "assistant")) {
    const chat = renderConversation(systemFor(engine, request.system), conversation, formOf(engine));
    return counted.usage.totalTokens + chatTokens(engine, chat.slice(chat.findLastIndex(({ role }) => role === "assistant") + 1));
  }
  return counted.usage.totalTokens + messageTokens(later);
}

/** As the engine is sent it, notes and reminders included. */
function chatTokens(engine: Engine, chat: readonly ChatMessage[]): number {
  return chat.reduce((sum, { text }) => sum + textTokens(engine, text) + messageFrameTokens, 0);
}

function messageTokens(messages: readonly AgentMessage[]): number {
  const characters = messages.reduce((sum, message) => sum + messageText(message).length, 0);
  return Math.ceil(characters / charsPerToken) + messages.reduce((sum, message) => sum + imageCount(message), 0) * imageTokens;
}

function imageCount(message: AgentMessage): number {
  if (message.role === "assistant" || !("content" in message) || typeof message.content === "string") return 0;
  return message.content.filter(({ type }) => type === "image").length;
}

function messageText(message: AgentMessage): string {
  switch (message.role) {
    case "assistant":
      return message.content.map((block) => (block.type === "text" ? block.text : block.type === "thinking" ? block.thinking : `${block.name}${JSON.stringify(block.arguments)}`)).join("\n");
    case "bashExecution":
      return message.excludeFromContext ? "" : `${message.command}\n${message.output}`;
    case "branchSummary":
      return message.summary;
    default:
      return contentText(message.content);
  }
}

function isCounted(message: AgentMessage): message is AssistantMessage {
  return message.role === "assistant" && isSent(message) && message.usage.totalTokens > 0;
}

/** Failed and aborted answers are in no request. */
export function isSent(message: AgentMessage): boolean {
  return message.role !== "assistant" || (message.stopReason !== "error" && message.stopReason !== "aborted");
}

const toolTexts = new WeakMap<ToolSpec, string>();

function toolText(tool: ToolSpec): string {
  const known = toolTexts.get(tool);
  if (known !== undefined) return known;
  const text = JSON.stringify({ name: tool.name, description: tool.description, parameters: z.toJSONSchema(tool.schema, { io: "input" }) });
  toolTexts.set(tool, text);
  return text;
}
