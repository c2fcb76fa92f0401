import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { jsonForm } from "../../../src/agent/action-form.ts";
import { Conversation } from "../../../src/agent/conversation.ts";
import { renderConversation, systemFor, systemText } from "../../../src/agent/prompt.ts";
import type { Engine } from "../../../src/core/engine.ts";
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
    expect(systemText({ tools, additions: [] }).text(jsonForm)).toContain('fs.read {"path":string,"mode"?:"a"|"b","many"?:[integer]} - shows a file');
  });

  test("a replacement stands in for the rules, additions come last", () => {
    const { text: textFor, action } = systemText({ tools, replacement: "Be brief.", additions: ["One.", "Two."] });
    const text = textFor(jsonForm);
    expect(action).toBe("Be brief.\n\nOne.\n\nTwo.");
    expect(text.startsWith("Be brief.\n\nTools:\n")).toBe(true);
    expect(text.endsWith("\n\nOne.\n\nTwo.")).toBe(true);
  });

  test("of an action engine names neither the tools nor the form of an action; its guide has both", () => {
    const { text: textFor, action, guide } = systemText({ tools, additions: ["Project note."] });
    const text = textFor(jsonForm);
    expect(action).not.toMatch(/fs\.|"tool"|"goal"|JSON|Tools:|Example/);
    expect(action).toStartWith("You do jobs in a folder of the user's computer with tools.\n\n- Read a file before");
    expect(action).toEndWith("\n\nProject note.");
    expect(guide).toStartWith('Each message you write is one action, a JSON object on one line:\n{"goal":"answer","tool":NAME,"args":{...}} while');
    expect(guide).toContain('\n\nTools:\nfs.read {"path":string');
    expect(guide).toEndWith("You're welcome.\"}}");
    // Nothing of the guide is missing where an engine is told everything by words.
    for (const paragraph of guide.split("\n\n")) expect(text).toContain(paragraph);
  });

  test("is told with the guide where an action engine says that it needs it", () => {
    const system = { text: () => "T", action: "A", guide: "G" };
    const info = { id: "m", name: "m", api: "x", provider: "x", baseUrl: "", reasoning: false, input: ["text" as const], contextWindow: 1000, maxTokens: 1000 };
    const engine = (needs: boolean | undefined): Engine => ({ kind: "action", info: () => info, async *act() {}, close: async () => {}, ...(needs === undefined ? {} : { needsGuide: () => needs }) });
    expect([undefined, false, true].map((needs) => systemFor(engine(needs), system))).toEqual(["A", "A", "A\n\nG"]);
    expect(systemFor({ kind: "text", info: () => info, open: async () => {}, async *complete() {}, close: async () => {} }, system)).toBe("T");
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

  test("notes of a message stand below it, each on a line", () => {
    const conversation = new Conversation();
    const message = user("one");
    conversation.annotate(message, "Files: a");
    conversation.annotate(message, "");
    conversation.annotate(message, "More");
    conversation.add(message);
    expect(renderConversation("S", conversation)[1]?.text).toBe("one\n\nFiles: a\nMore");
  });

  test("an answer without its original text is written in the action's form", () => {
    const conversation = new Conversation([user("one"), assistant([{ type: "text", text: 'say "x"' }], "stop")]);
    expect(renderConversation("S", conversation)[2]?.text).toBe('{"goal":"answer","tool":"reply","args":{"text":"say \\"x\\""}}');
  });
});
