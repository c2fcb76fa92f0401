// A guide of a turn with the real tools in a real folder and a planned kind of work, driven step by step.
import { Conversation } from "../../../src/agent/conversation.ts";
import { Guide } from "../../../src/agent/guide.ts";
import type { TextEngine } from "../../../src/core/engine.ts";
import { usageOf, type AssistantMessage, type ToolCall, type ToolResultMessage, type UserMessage } from "../../../src/core/message.ts";
import { builtinTools } from "../../../src/tools/index.ts";
import { workspaceView } from "../../../src/tools/workspace-view.ts";
import type { Fixture } from "../tools/fixture.ts";

export const info = { id: "m", name: "m", api: "in-process", provider: "llama", baseUrl: "", reasoning: false, input: ["text" as const], contextWindow: 4096, maxTokens: 4096 };

export function planning(answer: string): TextEngine {
  return {
    kind: "text",
    info: () => info,
    answersApart: () => true,
    open: async () => {},
    async *complete() {
      yield { type: "text", text: answer };
      yield { type: "ended", stop: "end", usage: usageOf({}) };
    },
    close: async () => {},
  };
}

export function bench(at: Fixture, text: string, plan: string, engine = planning(plan), names?: readonly string[]) {
  const request: UserMessage = { role: "user", content: [{ type: "text", text }], timestamp: 0 };
  const conversation = new Conversation([request]);
  const guide = new Guide({ engine, tools: builtinTools(at.options).filter(({ name }) => names?.includes(name) ?? true), conversation, view: workspaceView(at.workspace, at.options.home), loop: { repeatsMax: 3 }, signal: new AbortController().signal, spend: () => {} });
  let count = 0;
  /** A step that makes this call, as the loop does. @returns what is told beside its result, or why it was not made */
  const step = async (name: string, args: Record<string, unknown>): Promise<string | undefined> => {
    const call: ToolCall = { type: "toolCall", id: `c${++count}`, name, arguments: args };
    const veto = await guide.veto(call);
    const { details = {}, isError, text: told } = veto === undefined ? await at.call(name, args) : { isError: true, text: veto };
    const message: AssistantMessage = { role: "assistant", content: [call], api: "", provider: "", model: "", usage: usageOf({}), stopReason: "toolUse", timestamp: 0 };
    const result: ToolResultMessage = { role: "toolResult", toolCallId: call.id, toolName: name, content: [{ type: "text", text: told }], details, isError, timestamp: 0 };
    const notes = await guide.record([call], [result]);
    conversation.add(message);
    conversation.add(result, notes.get(result));
    return veto ?? notes.get(result);
  };
  return { conversation, guide, request, step, offer: () => guide.offer(false) };
}
