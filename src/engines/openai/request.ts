// The body of `/v1/chat/completions`: our messages and tools as every compatible server takes them.
// Format: the OpenAI API reference, "Create chat completion"; only what all servers understand is used unasked.
import { z } from "zod";
import type { ActionRequest } from "../../core/engine.ts";
import { contentText, type AgentMessage, type AssistantMessage, type ToolCall } from "../../core/message.ts";
import type { ToolSpec } from "../../core/tool.ts";
import type { Dialect } from "./dialect.ts";

export interface WireMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string | WirePart[];
  tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}
type WirePart = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };

export interface BodyOptions {
  model: string;
  maxTokens: number;
  dialect: Dialect;
  parallelCalls: boolean | undefined;
  images: boolean;
  extraBody: Readonly<Record<string, unknown>>;
}

/** Names as servers allow them, `fs_read` for `fs.read`; two tools never share one. */
export function wireNames(names: readonly string[]): Map<string, string> {
  const taken = new Set<string>();
  return new Map(
    names.map((name) => {
      const base = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 60);
      let wire = base;
      for (let suffix = 2; taken.has(wire); suffix += 1) wire = `${base}_${suffix}`;
      taken.add(wire);
      return [name, wire];
    }),
  );
}

export function bodyOf(request: ActionRequest, options: BodyOptions): Record<string, unknown> {
  const { dialect, extraBody, maxTokens, model, parallelCalls } = options;
  const native = dialect.calls === "native";
  const names = wireNames(request.tools.map((tool) => tool.name));
  const tools = native && request.tools.length > 0 ? { tools: request.tools.map((tool) => toolOf(tool, names)) } : {};
  const format = responseFormat(request, dialect);
  return {
    model,
    messages: messagesOf(request, options, names),
    stream: true,
    ...(dialect.streamOptions ? { stream_options: { include_usage: true } } : {}),
    ...(dialect.temperature ? { temperature: request.temperature } : {}),
    ...(request.seed !== undefined && dialect.seed ? { seed: request.seed } : {}),
    [dialect.maxTokensKey]: Math.min(request.maxTokens, maxTokens),
    ...tools,
    ...(parallelCalls !== undefined && "tools" in tools ? { parallel_tool_calls: parallelCalls } : {}),
    ...(format ? { response_format: { type: "json_schema", json_schema: format } } : {}),
    ...extraBody,
  };
}

function toolOf(tool: ToolSpec, names: ReadonlyMap<string, string>): object {
  return { type: "function", function: { name: names.get(tool.name) ?? tool.name, description: tool.description, parameters: schemaOf(tool) } };
}

function schemaOf(tool: ToolSpec): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(tool.schema, { io: "input" }) as Record<string, unknown>;
  return schema;
}

function responseFormat({ outputSchema, tools }: ActionRequest, dialect: Dialect): { name: string; schema: object; strict: true } | undefined {
  if (!dialect.responseFormat) return undefined;
  if (dialect.calls === "schema" && tools.length > 0) return { name: "action", strict: true, schema: actionSchema(tools, outputSchema) };
  return outputSchema ? { name: "output", strict: true, schema: outputSchema } : undefined;
}

/** One action as the guide describes it: a call of one of the tools, or the reply. */
function actionSchema(tools: readonly ToolSpec[], outputSchema: Record<string, unknown> | undefined): object {
  const text = { type: "object", properties: { text: { type: "string" } }, required: ["text"], additionalProperties: false };
  const action = (name: string, args: object, goals: readonly string[]): object => ({
    type: "object",
    properties: { goal: { type: "string", enum: goals }, tool: { type: "string", enum: [name] }, args },
    required: ["goal", "tool", "args"],
    additionalProperties: false,
  });
  return { anyOf: [action("reply", outputSchema ?? text, ["answer", "change"]), ...tools.map((tool) => action(tool.name, schemaOf(tool), tool.class === "write" ? ["change"] : ["answer", "change"]))] };
}

function messagesOf(request: ActionRequest, options: BodyOptions, names: ReadonlyMap<string, string>): WireMessage[] {
  const { dialect } = options;
  const native = dialect.calls === "native";
  const guide = native || request.tools.length === 0 ? undefined : request.guide;
  const told = [request.system, guide].filter((text) => text !== undefined && text !== "").join("\n\n");
  const ids = new CallIds();
  const messages: WireMessage[] = [];
  for (const message of request.messages) {
    for (const wire of native ? nativeMessages(message, request, options, names, ids) : textMessages(message, request, options)) append(messages, wire);
  }
  if (told === "") return messages;
  if (dialect.systemRole) return [{ role: "system", content: told }, ...messages];
  const system: WireMessage[] = [{ role: "user", content: told }];
  for (const message of messages) append(system, message);
  return system;
}

/** Neighbours of one role become one message: some templates demand that roles alternate. */
function append(messages: WireMessage[], next: WireMessage): void {
  const last = messages.at(-1);
  const joins = last && last.role === next.role && last.role !== "tool" && !last.tool_calls && !next.tool_calls;
  if (!joins) messages.push(next);
  else if (typeof last.content === "string" && typeof next.content === "string") last.content = `${last.content}\n\n${next.content}`;
  else last.content = [...parts(last.content), ...parts(next.content)];
}

function parts(content: string | WirePart[]): WirePart[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** Ids of nine letters and digits, which every template takes; a result finds its call by them. */
class CallIds {
  readonly #wireIds = new Map<string, string>();

  add(id: string): string {
    const wire = `c${String(this.#wireIds.size + 1).padStart(8, "0")}`;
    this.#wireIds.set(id, wire);
    return wire;
  }

  get(id: string): string | undefined {
    return this.#wireIds.get(id);
  }
}

function nativeMessages(message: AgentMessage, request: ActionRequest, options: BodyOptions, names: ReadonlyMap<string, string>, ids: CallIds): WireMessage[] {
  if (message.role === "assistant") {
    if (message.stopReason === "error" || message.stopReason === "aborted") return [];
    const calls = callsOf(message).map((call) => ({
      id: ids.add(call.id),
      type: "function" as const,
      function: { name: names.get(call.name) ?? call.name.replaceAll(".", "_"), arguments: JSON.stringify(call.arguments) },
    }));
    const said = saidIn(message);
    return calls.length > 0 ? [{ role: "assistant", content: said, tool_calls: calls }] : said === "" ? [] : [{ role: "assistant", content: said }];
  }
  if (message.role !== "toolResult") return textMessages(message, request, options);
  const id = ids.get(message.toolCallId);
  // The call itself is no longer in the conversation.
  if (id === undefined) return textMessages(message, request, options);
  const text = contentText(message.content);
  const images = options.images && typeof message.content !== "string" ? message.content.filter((block) => block.type === "image") : [];
  const result: WireMessage = { role: "tool", tool_call_id: id, content: message.isError ? `Error: ${text}` : text };
  return images.length > 0 ? [result, { role: "user", content: imageParts(images) }] : [result];
}

function textMessages(message: AgentMessage, { tools }: ActionRequest, { images }: BodyOptions): WireMessage[] {
  switch (message.role) {
    case "assistant": {
      if (message.stopReason === "error" || message.stopReason === "aborted") return [];
      const calls = callsOf(message).map((call) => actionLine(call, tools));
      const text = calls.length > 0 ? calls.join("\n") : saidIn(message);
      return text === "" ? [] : [{ role: "assistant", content: text }];
    }
    case "toolResult": {
      const text = contentText(message.content);
      return [{ role: "user", content: message.isError ? `${message.toolName} failed: ${text}` : `Result of ${message.toolName}:\n${text}` }];
    }
    case "bashExecution":
      return message.excludeFromContext ? [] : [{ role: "user", content: `$ ${message.command}\n${message.output}` }];
    case "branchSummary":
      return [{ role: "user", content: message.summary }];
    case "user":
    case "custom":
      return [{ role: "user", content: images && typeof message.content !== "string" && message.content.some((block) => block.type === "image") ? imageParts(message.content) : contentText(message.content) }];
  }
}

function imageParts(blocks: readonly ({ type: "text"; text: string } | { type: "image"; data: string; mimeType: string })[]): WirePart[] {
  return blocks.map((block) => (block.type === "text" ? { type: "text", text: block.text } : { type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } }));
}

function callsOf(message: AssistantMessage): ToolCall[] {
  return message.content.filter((block) => block.type === "toolCall");
}

function saidIn(message: AssistantMessage): string {
  return message.content
    .filter((block) => block.type === "text")
    .map((block) => block.text)
    .join("\n");
}

function actionLine(call: ToolCall, tools: readonly ToolSpec[]): string {
  const goal = tools.find((tool) => tool.name === call.name)?.class === "write" ? "change" : "answer";
  return JSON.stringify({ goal, tool: call.name, args: call.arguments });
}
