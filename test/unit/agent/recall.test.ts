// The question once more before its answer.
import { expect, test } from "bun:test";
import { Conversation } from "../../../src/agent/conversation.ts";
import { recallRequest } from "../../../src/agent/recall.ts";
import type { AgentMessage } from "../../../src/core/message.ts";

const user = (text: string): AgentMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 0 });
const result = (): AgentMessage => ({ role: "toolResult", toolCallId: "c", toolName: "fs.read", content: [], isError: false, timestamp: 0 });

function recalled(messages: AgentMessage[]): string {
  const conversation = new Conversation(messages);
  recallRequest(conversation);
  recallRequest(conversation);
  return conversation.note(messages.at(-1) as AgentMessage);
}

test("it is told once beside the last of several results of its turn", () => {
  expect(recalled([user("Where is it, and how much?"), result(), result(), result()])).toBe("(The question was: Where is it, and how much?)");
});

test.each([
  ["few results are behind it", [user("Where?"), result(), result()]],
  ["the results are of another turn", [user("Where?"), result(), result(), user("When?"), result()]],
  ["it is long", [user("Where? ".repeat(100)), result(), result(), result()]],
  ["no result is the last", [result(), result(), result(), user("Where?")]],
])("it is not told where %s", (_name, messages) => {
  expect(recalled(messages)).toBe("");
});
