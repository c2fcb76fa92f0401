// Messages, engines and sessions that the tests of compaction speak of.
import { Compactor, type CompactorOptions } from "../../../../src/agent/compaction/compactor.ts";
import type { CompactionSettings } from "../../../../src/agent/compaction/sizes.ts";
import { Conversation } from "../../../../src/agent/conversation.ts";
import type { SystemText } from "../../../../src/agent/prompt.ts";
import type { VerbatimCompactionResult } from "../../../../src/core/compaction.ts";
import type { ActionEngine, ActionEvent, ActionRequest } from "../../../../src/core/engine.ts";
import type { AgentEvent } from "../../../../src/core/event.ts";
import { usageOf, type AgentMessage, type AssistantMessage, type StopReason, type ToolResultMessage, type UserMessage } from "../../../../src/core/message.ts";

export const user = (text: string): UserMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });

export const assistant = (content: AssistantMessage["content"], stopReason: StopReason = "stop", tokens = 0): AssistantMessage => ({
  role: "assistant",
  content,
  api: "scripted",
  provider: "scripted",
  model: "m",
  usage: usageOf({ input: tokens }),
  stopReason,
  timestamp: 2,
});

export const said = (text: string): AssistantMessage => assistant([{ type: "text", text }]);

export const called = (id: string, args: Record<string, unknown> = {}): AssistantMessage => assistant([{ type: "toolCall", id, name: "fs.read", arguments: args }], "toolUse");

export const result = (id: string, text: string): ToolResultMessage => ({ role: "toolResult", toolCallId: id, toolName: "fs.read", content: [{ type: "text", text }], isError: false, timestamp: 3 });

/** The same words for every engine. */
export const plainly = (text: string, guide = ""): SystemText => ({ text: () => text, action: text, guide });

/** `count` lines that are each `text` and a number. */
export const many = (count: number, text: string): string => Array.from({ length: count }, (_, index) => `${text} ${index + 1}`).join("\n");

export const settings: CompactionSettings = { enabled: true, reserveTokens: 16_384, compressionRatio: 0.5, preserveRecent: 2, query: null };

export interface Bench {
  compactor: Compactor;
  conversation: Conversation;
  events: AgentEvent[];
  requests: ActionRequest[];
  committed: VerbatimCompactionResult[];
  /** What had been told when the boundary was stored. */
  eventsAtCommit: string[][];
}

/** @param answers of the planner in order: a text, or what ends the generation */
export function bench(messages: readonly AgentMessage[], answers: readonly (string | ActionEvent)[], more: Partial<CompactorOptions> & { window?: number } = {}): Bench {
  const { window = 4096, ...options } = more;
  const found: Omit<Bench, "compactor"> = { conversation: new Conversation(messages), events: [], requests: [], committed: [], eventsAtCommit: [] };
  const compactor = new Compactor({
    engine: planner(answers, found.requests, window),
    conversation: found.conversation,
    system: plainly("Be brief."),
    tools: [],
    settings,
    retry: { enabled: true, maxRetries: 3, baseDelayMs: 0 },
    entryIdOf: (message) => `entry${messages.indexOf(message)}`,
    commit: (committed) => {
      found.committed.push(committed);
      found.eventsAtCommit.push(found.events.map(({ type }) => type));
    },
    emit: (event) => void found.events.push(event),
    runtime: { now: () => 4, id: () => "id", log: () => {} },
    ...options,
  });
  return { compactor, ...found };
}

function planner(answers: readonly (string | ActionEvent)[], requests: ActionRequest[], contextWindow: number): ActionEngine {
  return {
    kind: "action",
    info: () => ({ id: "m", name: "m", api: "scripted", provider: "scripted", baseUrl: "", reasoning: false, input: ["text"], contextWindow, maxTokens: contextWindow }),
    async *act(request) {
      const answer = answers[requests.push(request) - 1];
      if (answer === undefined) throw new Error("the planner was asked too often");
      if (typeof answer !== "string") return yield answer;
      yield { type: "text_start", index: 0 };
      for (const line of answer.split(/(?<=\n)/)) yield { type: "text_delta", index: 0, delta: line };
      yield { type: "text_end", index: 0 };
      yield { type: "ended", stop: "end", usage: usageOf({ input: 100, output: 5 }) };
    },
    close: async () => {},
  };
}
