// The events of a turn that failed before a session could run it (json-mode.md 6.20): a failure after the header is never
// silent, it shows as an assistant message with an error.
import { AgentError, type ErrorCode, messageOf } from "../core/error.ts";
import type { AgentEvent } from "../core/event.ts";
import { type AssistantMessage, type ErrorKind, type ImageContent, type TextContent, type UserMessage, usageOf } from "../core/message.ts";

/** One run of one attempt that answers the prompt with the failure. */
export function failedTurn(error: unknown, content: (TextContent | ImageContent)[], model: { provider: string; model: string }, timestamp: number): AgentEvent[] {
  const spoken = content[0]?.type === "text" ? content : [{ type: "text" as const, text: "" }, ...content];
  const user: UserMessage = { role: "user", content: spoken, timestamp };
  const answer: AssistantMessage = {
    role: "assistant",
    content: [],
    api: "",
    provider: model.provider,
    model: model.model,
    usage: usageOf({}),
    stopReason: "error",
    timestamp,
    errorMessage: messageOf(error),
    errorKind: kindOf(error),
  };
  return [
    { type: "run_started" },
    { type: "attempt_started", stepIndex: 0, attempt: 0 },
    { type: "message_started", message: user },
    { type: "message_ended", message: user },
    { type: "message_started", message: answer },
    { type: "message_ended", message: answer },
    { type: "attempt_ended", message: answer, toolResults: [] },
    { type: "run_ended", messages: [user, answer] },
  ];
}

const kinds: Partial<Record<ErrorCode, ErrorKind>> = { model_missing: "model_missing", model_unknown: "model_missing", storage_full: "storage", state_unusable: "storage" };

function kindOf(error: unknown): ErrorKind {
  return error instanceof AgentError ? (kinds[error.code] ?? "engine") : "engine";
}
