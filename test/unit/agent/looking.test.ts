// When a question was looked into enough.
import { expect, test } from "bun:test";
import { z } from "zod";
import { Looking } from "../../../src/agent/looking.ts";
import type { Work } from "../../../src/agent/work-plan.ts";
import type { AgentMessage, ToolResultMessage } from "../../../src/core/message.ts";
import type { Tool } from "../../../src/core/tool.ts";
import type { WorkKind } from "../../../src/core/work.ts";

const tool = (name: string, serves: WorkKind[]): Tool => ({ name, description: name, class: "read", serves, schema: z.strictObject({ path: z.string().optional().meta({ existing: "file" }) }), needs: async () => [], run: async () => ({ content: [] }) });
const tools = [tool("fs.read", ["read"]), tool("fs.list", ["list"]), tool("fs.find", ["find"])];
const result = (toolName: string, text: string, more: Partial<ToolResultMessage> = {}): ToolResultMessage => ({ role: "toolResult", toolCallId: "c", toolName, content: [{ type: "text", text }], isError: false, timestamp: 0, ...more });
const nothing = (text: string): ToolResultMessage => result("fs.find", text, { details: { matches: 0 } });
const question = (...kinds: WorkKind[]): Work => ({ isChange: false, kinds: new Set(kinds) });

/** After each step, whether it is over. */
function over(work: Work, steps: readonly ToolResultMessage[], isVerySmall = false): boolean[] {
  const looking = new Looking(tools, isVerySmall);
  return steps.map((step) => {
    looking.record(work, [step]);
    return looking.isOver;
  });
}

test.each([
  ["two steps that find something else", question("read"), [result("fs.read", "a"), result("fs.list", "b"), result("fs.list", "c")], [false, false, true]],
  ["one that finds nothing", question("read"), [result("fs.read", "a"), nothing("none")], [false, true]],
  ["one that finds the same once more", question("read"), [result("fs.read", "a"), result("fs.read", "a")], [false, true]],
  ["one that fails", question("read"), [result("fs.read", "a"), result("fs.list", "no", { isError: true })], [false, true]],
  ["nothing while nothing that fits was found", question("read"), [result("fs.list", "a"), nothing("none"), nothing("none")], [false, false, false]],
  ["nothing between steps that fit", question("read"), [result("fs.read", "a"), result("fs.list", "b"), result("fs.read", "c"), result("fs.list", "d")], [false, false, false, false]],
  ["no change", { isChange: true, kinds: new Set(["edit"] as const) }, [result("fs.read", "a"), nothing("none")], [false, false]],
] as const)("over after %s", (_name, work, steps, expected) => {
  expect(over(work, steps)).toEqual([...expected]);
});

test("a very small model has enough with the first thing that fits", () => {
  const steps = [result("fs.list", "a"), result("fs.read", "b")];
  expect([over(question("read"), steps, true), over(question("read"), steps), over(question("talk"), steps, true)]).toEqual([[false, true], [false, false], [false, false]]);
});

test("a file that speaks of another one leads on, also a very small model", () => {
  const looking = new Looking(tools, true);
  const leadsOn = ({ content: [block] }: ToolResultMessage): boolean => block?.type === "text" && block.text.startsWith("Next");
  const after = ["Next: b", "Next: c", "the end"].map((text) => {
    looking.record(question("read"), [result("fs.read", text)], undefined, leadsOn);
    return looking.isOver;
  });
  expect(after).toEqual([false, false, true]);
});

test("all that was named is enough once it was read, unless it leads on", () => {
  const looking = new Looking(tools, false);
  const conversation = { messages: [], request: "What does a.txt say?" };
  const read = (path: string, text: string): boolean => {
    const shown = result("fs.read", text);
    looking.take(question("read"), [{ type: "toolCall", id: shown.toolCallId, name: "fs.read", arguments: { path } }], [shown], { conversation, names: { files: ["a.txt", "b.txt"], folders: ["."] }, unnamed: [] });
    return looking.isOver;
  };
  expect([read("a.txt", "see b.txt"), read("b.txt", "the end")]).toEqual([false, true]);
});

test("so is all that a question is about which names nothing", () => {
  const looking = new Looking(tools, false);
  const over = ["a.txt", "b.txt"].map((path) => {
    const shown = result("fs.read", path, { toolCallId: path });
    looking.take(question("read"), [{ type: "toolCall", id: path, name: "fs.read", arguments: { path } }], [shown], { conversation: { messages: [{ role: "assistant", content: [{ type: "toolCall", id: "a.txt", name: "fs.read", arguments: { path: "a.txt" } }], api: "", provider: "", model: "", stopReason: "toolUse", timestamp: 0 } as unknown as AgentMessage, result("fs.read", "a", { toolCallId: "a.txt" })], request: "When is it?" }, names: { files: ["a.txt", "b.txt", "c.txt"], folders: ["."] }, unnamed: ["a.txt", "b.txt"] });
    return looking.isOver;
  });
  expect(over).toEqual([false, true]);
});
