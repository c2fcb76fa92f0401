import { describe, expect, test } from "bun:test";
import { compactionMessage } from "../../../../src/agent/compaction/boundary.ts";
import { regionLines } from "../../../../src/agent/compaction/region.ts";
import type { AgentMessage } from "../../../../src/core/message.ts";
import { assistant, result, said, user } from "./messages.ts";

const texts = (messages: AgentMessage[]): string => regionLines(messages).map(({ text }) => text).join("\n");
const protectedOf = (messages: AgentMessage[], request?: { text: string; charsMax: number }): string[] => regionLines(messages, request).flatMap(({ text, isProtected }) => (isProtected ? [text] : []));

describe("serialization", () => {
  test("sections in the order thinking, text, calls, split by a blank line", () => {
    const spoken = assistant([
      { type: "text", text: "I look." },
      { type: "toolCall", id: "a", name: "fs.read", arguments: { path: "x y", limit: 3 } },
      { type: "toolCall", id: "b", name: "fs.list", arguments: {} },
      { type: "thinking", thinking: "which?\nthis" },
    ], "toolUse");
    expect(texts([user("find it\nsoon"), spoken, result("a", "one\n\ntwo")])).toBe(
      '[User]: find it\nsoon\n\n[Assistant thinking]: which?\nthis\n\n[Assistant]: I look.\n\n[Assistant tool calls]: fs.read(path="x y", limit=3); fs.list()\n\n[Tool result]: one\n\ntwo',
    );
  });

  test("custom, branch and command messages count as the user's; an excluded command is left out", () => {
    const command = { role: "bashExecution" as const, command: "ls", output: "a\nb", cancelled: false, truncated: false, timestamp: 1 };
    const messages: AgentMessage[] = [
      { role: "custom", customType: "note", content: "noted", display: true, timestamp: 1 },
      { role: "branchSummary", summary: "before", fromId: "1", timestamp: 1 },
      command,
      { ...command, command: "secret", excludeFromContext: true },
    ];
    expect(texts(messages)).toBe("[User]: noted\n\n[User]: before\n\n[User]: $ ls\na\nb");
  });

  test("an image is the line [image]", () => {
    expect(texts([{ role: "user", content: [{ type: "text", text: "see" }, { type: "image", data: "AA==", mimeType: "image/png" }], timestamp: 1 }])).toBe("[User]: see\n[image]");
  });

  test("a long result is cut at 16000 characters, with a note of the rest", () => {
    const text = texts([result("a", "x".repeat(16_500))]);
    expect(text).toBe(`[Tool result]: ${"x".repeat(16_000)}\n[500 more characters of this result are left out]`);
    expect(texts([user("x".repeat(16_500))])).toBe(`[User]: ${"x".repeat(16_500)}`);
  });

  test("failed and aborted answers are in no region", () => {
    expect(texts([user("a"), assistant([{ type: "text", text: "half" }], "error"), assistant([{ type: "text", text: "cut" }], "aborted"), said("b")])).toBe("[User]: a\n\n[Assistant]: b");
  });

  test("the old text comes first, then a line end", () => {
    expect(texts([compactionMessage("[User]: a\n(filtered 3 lines)", 1), said("b")])).toBe("[User]: a\n(filtered 3 lines)\n[Assistant]: b");
  });
});

describe("keepContext", () => {
  test("from tag to tag, in any case, behind a role header, tags included", () => {
    expect(protectedOf([user("<KEEPCONTEXT>\none\n</keepContext>\ntwo"), said("x\n<keepContext>\nthree\n</keepContext>")])).toEqual([
      "[User]: <KEEPCONTEXT>", "one", "</keepContext>", "<keepContext>", "three", "</keepContext>",
    ]);
  });

  test("an unclosed one lasts to the end of its message, calls included", () => {
    const spoken = assistant([{ type: "text", text: "<keepContext>\nkeep" }, { type: "toolCall", id: "a", name: "fs.read", arguments: {} }], "toolUse");
    expect(protectedOf([spoken, result("a", "no"), user("no")])).toEqual(["[Assistant]: <keepContext>", "keep", "", "[Assistant tool calls]: fs.read()"]);
  });

  test("not in tool results, and not where the tag is a part of a line", () => {
    expect(protectedOf([result("a", "<keepContext>\nx\n</keepContext>"), user("say <keepContext>\ny"), user(" <keepContext>\nz")])).toEqual([]);
  });

  test("in old compacted text", () => {
    expect(protectedOf([compactionMessage("[User]: <keepContext>\ncode\n</keepContext>\nmore", 1)])).toEqual(["[User]: <keepContext>", "code", "</keepContext>"]);
    expect(protectedOf([compactionMessage("[Tool result]: <keepContext>\nx\n[User]: y", 1)])).toEqual([]);
  });
});

describe("the request that is being worked on", () => {
  test("stays, at its newest place", () => {
    expect(protectedOf([user("go"), said("x"), user("go\nnow"), said("go\nnow")], { text: "go\nnow", charsMax: 100 })).toEqual(["[User]: go", "now"]);
  });

  test("also when only the text of an earlier compaction has it", () => {
    expect(protectedOf([compactionMessage("[User]: go\n(filtered 9 lines)", 1), said("x")], { text: "go", charsMax: 100 })).toEqual(["[User]: go"]);
  });

  test("of a long one, its beginning and its end", () => {
    const text = ["find the fault:", ...Array.from({ length: 50 }, (_, index) => `log ${index}`), "why?"].join("\n");
    expect(protectedOf([user(text)], { text, charsMax: 60 })).toEqual(["[User]: find the fault:", "log 0", "log 47", "log 48", "log 49", "why?"]);
  });
});
