// The question once more, right before its answer: behind several long results a small model answers only a part of it.
import type { Conversation } from "./conversation.ts";

/** Behind fewer results the question is near enough. */
const resultsMin = 3;
const requestCharsMax = 400;

/** Tells it beside the last result. */
export function recallRequest(conversation: Conversation): void {
  const { messages, request } = conversation;
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const results = messages.slice(asked + 1).filter(({ role }) => role === "toolResult");
  const last = messages.at(-1);
  const note = `(The question was: ${request.trim()})`;
  if (results.length < resultsMin || request.length > requestCharsMax || last?.role !== "toolResult" || conversation.note(last).includes(note)) return;
  conversation.annotate(last, note);
}
