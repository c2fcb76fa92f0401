// Whole conversations through templates that refuse most of what a conversation holds: no system role, no tool role, roles
// that alternate, a user first (cases K01, K02, K04; P02).
import { describe, expect, test } from "bun:test";
import { Conversation } from "../../../src/agent/conversation.ts";
import { renderConversation } from "../../../src/agent/prompt.ts";
import { usageOf, type AgentMessage, type AssistantMessage } from "../../../src/core/message.ts";
import { renderChat } from "../../../src/engines/chat-template.ts";

const rules: Record<string, string> = {
  "no system role": "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}",
  alternation: "{% for m in messages if m.role != 'system' %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate user/assistant') }}{% endif %}{% endfor %}",
  "two roles": "{% for m in messages %}{% if m.role not in ['user', 'assistant'] %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}",
};
const body = "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";

const user = (text: string): AgentMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });
const said = (content: AssistantMessage["content"]): AgentMessage => ({ role: "assistant", content, api: "x", provider: "x", model: "m", usage: usageOf({}), stopReason: "stop", timestamp: 2 });
const call = said([{ type: "toolCall", id: "c", name: "fs.read", arguments: { path: "a" } }]);
const result: AgentMessage = { role: "toolResult", toolCallId: "c", toolName: "fs.read", content: [{ type: "text", text: "text of a" }], isError: false, timestamp: 3 };
const summary: AgentMessage = { role: "custom", customType: "compaction", content: "what was before", display: false, timestamp: 3 };

const conversations: Record<string, AgentMessage[]> = {
  "two prompts, a steer, a call and its result": [user("one"), call, result, user("steer"), said([{ type: "text", text: "done" }]), user("two"), user("steer again")],
  "a result first": [result, said([{ type: "text", text: "done" }]), user("two")],
  "an answer first": [said([{ type: "text", text: "done" }]), user("two")],
  "a compaction and what was kept": [summary, result, call, result],
};

for (const [rule, check] of [...Object.entries(rules), ["all of them", Object.values(rules).join("")] as const]) {
  describe(`a template with ${rule}`, () => {
    for (const [name, messages] of Object.entries(conversations)) {
      test(name, () => {
        const chat = renderConversation("Rules.", new Conversation(messages));
        const rendered = renderChat(`${check}${body}`, chat, { bosToken: "", eosToken: "", addGenerationPrompt: true });
        expect(rendered.warning).toBeUndefined();
        // Every text is there, in order, as it was.
        expect(rendered.segments.filter(({ literal }) => literal).map(({ text }) => text)).toEqual(chat.map(({ text }) => text));
        expect(rendered.segments.at(-1)).toEqual({ text: "<assistant>", literal: false });
      });
    }
  });
}
