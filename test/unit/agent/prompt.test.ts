import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { Conversation } from "../../../src/agent/conversation.ts";
import { renderConversation, systemText } from "../../../src/agent/prompt.ts";
import { usageOf, type AssistantMessage, type StopReason, type ToolResultMessage, type UserMessage } from "../../../src/core/message.ts";

const user = (text: string): UserMessage => ({ role: "user", content: [{ type: "text", text }], timestamp: 1 });
const assistant = (content: AssistantMessage["content"], stopReason: StopReason): AssistantMessage => ({
  role: "assistant",
  content,
  api: "in-process",
  provider: "llama",
  model: "m",
  usage: usageOf({}),
  stopReason,
  timestamp: 2,
});
const result = (text: string, isError = false): ToolResultMessage => ({ role: "toolResult", toolCallId: "c1", toolName: "fs.read", content: [{ type: "text", text }], isError, timestamp: 3 });
const call = { type: "toolCall" as const, id: "c1", name: "fs.read", arguments: { path: "a" } };

describe("the system text", () => {
  const tools = [{ name: "fs.read", description: "shows a file", schema: z.strictObject({ path: z.string(), mode: z.enum(["a", "b"]).optional(), many: z.array(z.int()).default([]) }), class: "read" as const }];

  test("lists the tools with their arguments", () => {
    expect(systemText({ tools, additions: [] })).toContain('fs.read {"path":string,"mode"?:"a"|"b","many"?:[integer]} - shows a file');
  });

  test("a replacement stands in for the rules, additions come last", () => {
    const text = systemText({ tools, replacement: "Be brief.", additions: ["One.", "Two."] });
    expect(text.startsWith("Be brief.\n\nTools:\n")).toBe(true);
    expect(text.endsWith("\n\nOne.\n\nTwo.")).toBe(true);
  });
});

describe("the conversation", () => {
  test("grows only at its end", () => {
    const conversation = new Conversation();
    const prompts: string[] = [];
    const remember = (): number => prompts.push(JSON.stringify(renderConversation("S", conversation)).slice(0, -1));
    conversation.add(user("What is in a?"));
    remember();
    conversation.addGenerated(assistant([call], "toolUse"), '{"tool":"fs.read","args":{"path":"a"}}');
    conversation.add(result("text of a"));
    remember();
    conversation.addGenerated(assistant([{ type: "text", text: "é" }], "stop"), '{"tool":"reply","args":{"text":"\\u00e9"}}');
    conversation.add(user("And b?"));
    remember();
    expect(prompts[1]?.startsWith(prompts[0] ?? "?")).toBe(true);
    expect(prompts[2]?.startsWith(prompts[1] ?? "?")).toBe(true);
    expect(prompts[2]).toContain("\\\\u00e9");
  });

  test("alternates, whatever came together", () => {
    const conversation = new Conversation([user("one"), user("two"), assistant([call, { ...call, id: "c2" }], "toolUse"), result("a"), { ...result("b", true), toolCallId: "c2" }, user("three")]);
    const roles = renderConversation("S", conversation).map((message) => message.role);
    expect(roles).toEqual(["system", "user", "assistant", "user"]);
  });

  test("leaves failed and aborted answers out", () => {
    const conversation = new Conversation([user("one"), assistant([{ type: "text", text: "half" }], "aborted"), assistant([], "error"), user("two")]);
    expect(renderConversation("S", conversation)).toEqual([
      { role: "system", text: "S" },
      { role: "user", text: "one\n\ntwo" },
    ]);
  });

  test("a note is given once and stays", () => {
    const conversation = new Conversation();
    const message = user("one");
    conversation.annotate(message, "Files: a");
    conversation.annotate(message, "Files: a b");
    conversation.add(message);
    expect(renderConversation("S", conversation)[1]?.text).toBe("one\n\nFiles: a");
  });

  test("an answer without its original text is written in the action's form", () => {
    const conversation = new Conversation([user("one"), assistant([{ type: "text", text: 'say "x"' }], "stop")]);
    expect(renderConversation("S", conversation)[2]?.text).toBe('{"goal":"answer","tool":"reply","args":{"text":"say \\"x\\""}}');
  });
});
