import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { compactedTextOf } from "../../../../src/agent/compaction/boundary.ts";
import type { ActionEngine, EngineFailure, ModelInfo } from "../../../../src/core/engine.ts";
import { type AgentMessage, contentText, usageOf } from "../../../../src/core/message.ts";
import { assistant, bench, called, many, plainly, result, said, settings, user } from "./messages.ts";

/** A result of 150 lines, which makes 154 with what is before it, and one of 60 in the tail: 2400 tokens. */
const long = (): AgentMessage[] => [
  user("which file is longer?"),
  called("a", { path: "a.txt" }),
  result("a", many(150, "a line of the first file that nobody needs")),
  called("b", { path: "b.txt" }),
  result("b", many(60, "a line of the second file that nobody needs")),
];
const signal = new AbortController().signal;
const failed = (failure: Partial<EngineFailure>) => ({ type: "failed" as const, failure: { kind: "server" as const, category: "transport" as const, message: "503", ...failure }, usage: usageOf({}) });

describe("a plan of the model", () => {
  test("is asked for as the contract says, and made", async () => {
    const { committed, compactor, conversation, events, eventsAtCommit, requests } = bench(long(), ["5,40\n"]);
    const outcome = await compactor.run({ reason: "threshold", midTurn: true, signal });
    expect(outcome).toMatchObject({ status: "compacted", fits: true, calls: 1 });
    const [request] = requests;
    expect({ purpose: request?.purpose, tools: request?.tools, thinking: request?.thinking, temperature: request?.temperature, maxTokens: request?.maxTokens }).toEqual({ purpose: "compaction", tools: [], thinking: "off", temperature: 0, maxTokens: 512 });
    const asked = request?.messages.map((message) => ("content" in message ? contentText(message.content) : "")).join("");
    for (const part of ["<record>\n1→[User]: which file is longer?\n2→\n3→[Assistant tool calls]: fs.read(path=\"a.txt\")", "154 lines. Keep about 77, delete about 77.", "Focus: which file is longer?", "Protected, never delete: 1, 3"]) expect(asked).toContain(part);
    const [made] = committed;
    expect(made?.compactedText).toStartWith('[User]: which file is longer?\n\n[Assistant tool calls]: fs.read(path="a.txt")\n\n(filtered 36 lines)\na line of the first file that nobody needs 37\n');
    expect(made).toMatchObject({ firstKeptEntryId: "entry3", rung: "planned", planner: "model", promptVersion: 3, parameters: { compression_ratio: 0.5, preserve_recent: 2, query: "which file is longer?" } });
    expect(made?.stats).toMatchObject({ linesBefore: 154, linesDeleted: 36, linesKept: 118, rangeCount: 1 });
    expect(conversation.messages.map(({ role }) => role)).toEqual(["custom", "assistant", "toolResult"]);
    expect(compactedTextOf(conversation.messages[0])).toBe(made?.compactedText ?? "");
    expect(eventsAtCommit).toEqual([["compaction_started", "compaction_progressed", "compaction_progressed"]]);
    expect(events.at(-1)).toMatchObject({ type: "compaction_ended", reason: "threshold", aborted: false, willRetry: false, midTurn: true });
  });

  test("ends when it names enough lines, and takes no more than the target", async () => {
    const { committed, compactor } = bench(long(), ["5,100\n1,4\nnever read"]);
    await compactor.run({ reason: "threshold", midTurn: true, signal });
    expect(committed[0]?.stats.linesDeleted).toBe(77);
  });

  test("a small window lowers the target, so that the next request takes half of it", async () => {
    const messages = [user("go"), said(many(60, "a line of an answer that nobody needs")), called("b"), result("b", "y".repeat(3000))];
    const { compactor, requests } = bench(messages, ["4,62\n"], { window: 2048, settings: { ...settings, compressionRatio: 0.9 } });
    await compactor.run({ reason: "manual", signal });
    const asked = requests[0]?.messages.map((message) => ("content" in message ? contentText(message.content) : "")).join("") ?? "";
    const keep = Number(/Keep about (\d+)/.exec(asked)?.[1]);
    expect(keep).toBeGreaterThan(10);
    expect(keep).toBeLessThan(40);
    expect(compactor.measure()).toBeLessThanOrEqual(1024);
  });

  test("lines that do not fit into the planner's request are not shown and go", async () => {
    const { committed, compactor, requests } = bench([user("go"), result("x", many(600, "a row")), said("b"), said("c")], ["590,600\n"], { window: 2048, settings: { ...settings, compressionRatio: 0.1 } });
    await compactor.run({ reason: "manual", signal });
    const asked = requests[0]?.messages.map((message) => ("content" in message ? contentText(message.content) : "")).join("") ?? "";
    expect(asked).not.toContain("→[User]: go");
    expect(asked).toContain("600→a row 598");
    expect(committed[0]).toMatchObject({ planner: "model" });
    expect(committed[0]?.compactedText).toStartWith("(filtered ");
  });
});

describe("what a planner does wrong", () => {
  test.each([["prose", ["I would delete most.\nAll of it.\n", "Sure!\n"], 2], ["only what is protected", ["1,1\n", "1,1\n"], 2], ["a failure that stays", [failed({ kind: "auth", message: "no key" })], 1]] as const)("%s: the mechanical order", async (_, answers, calls) => {
    const { committed, compactor, requests } = bench(long(), answers);
    const outcome = await compactor.run({ reason: "threshold", midTurn: true, signal });
    expect(outcome).toMatchObject({ status: "compacted", calls });
    expect(requests.length).toBe(calls);
    expect(committed[0]).toMatchObject({ rung: "planned", planner: "mechanical", stats: { linesDeleted: 77 } });
    expect(committed[0]?.compactedText).not.toContain("no key");
  });

  test("a second answer that can be used is used; it was asked for in other words", async () => {
    const { committed, compactor, requests } = bench(long(), ["Sure!\n", "5,40\n"]);
    await compactor.run({ reason: "threshold", midTurn: true, signal });
    expect(committed[0]).toMatchObject({ planner: "model", stats: { linesDeleted: 36 } });
    expect(requests[0]?.messages).not.toEqual(requests[1]?.messages);
  });

  test("a failure for a moment is told and tried again", async () => {
    const { committed, compactor, events } = bench(long(), [failed({}), failed({}), "5,40\n"]);
    await compactor.run({ reason: "threshold", signal });
    expect(events.map(({ type }) => type)).toEqual(["compaction_started", "compaction_progressed", "summary_retry_scheduled", "summary_retry_started", "summary_retry_scheduled", "summary_retry_started", "summary_retry_ended", "compaction_progressed", "compaction_ended"]);
    expect(committed[0]?.planner).toBe("model");
  });

  test("retries end after as many as are allowed", async () => {
    const { committed, compactor, events } = bench(long(), [failed({}), failed({}), failed({}), failed({})]);
    await compactor.run({ reason: "threshold", signal });
    expect(events.filter(({ type }) => type === "summary_retry_scheduled").length).toBe(3);
    expect(committed[0]?.planner).toBe("mechanical");
  });
});

describe("guards", () => {
  test("G1, G2: what frees too little is not committed, nor tried again before the context grew or the model changed", async () => {
    const messages = [...long().slice(0, 4), result("b", "y".repeat(11_000))];
    const { committed, compactor, conversation, events } = bench(messages, ["5,8\n", "5,8\n"]);
    expect(compactor.isDue()).toBe(true);
    const outcome = await compactor.run({ reason: "threshold", signal });
    expect(outcome).toMatchObject({ status: "noop", fits: false });
    expect(committed).toEqual([]);
    expect(conversation.messages).toEqual(messages);
    expect(events.at(-1)).toMatchObject({ type: "compaction_ended", errorMessage: expect.stringContaining("fewer than 256") });
    expect(events.at(-1)).not.toHaveProperty("result");
    expect(compactor.isDue()).toBe(false);
    conversation.add(user("z".repeat(4 * 205)));
    expect(compactor.isDue()).toBe(true);
  });

  test("below 20 lines: silent by itself, told when asked for", async () => {
    const short = [user("a"), said("b"), said("c".repeat(14_000)), user("d")];
    const quiet = bench(short, []);
    expect(await quiet.compactor.run({ reason: "threshold", signal })).toMatchObject({ status: "noop" });
    expect(quiet.events).toEqual([]);
    const asked = bench(short, []);
    await asked.compactor.run({ reason: "manual", signal });
    expect(asked.events.map(({ type }) => type)).toEqual(["compaction_started", "compaction_ended"]);
    expect(asked.events.at(-1)).toMatchObject({ errorMessage: expect.stringContaining("fewer than 20") });
  });

  test("what a person asks for has to free enough as well, and keeps no other from being tried", async () => {
    const { committed, compactor, events } = bench([...long(), assistant([{ type: "text", text: "b" }], "stop", 3300)], ["5,6\n"]);
    expect(await compactor.run({ reason: "manual", signal })).toMatchObject({ status: "noop" });
    expect(committed).toEqual([]);
    expect(events.at(-1)).toMatchObject({ reason: "manual", errorMessage: expect.stringContaining("fewer than 256") });
    expect(compactor.isDue()).toBe(true);
  });

  test("a store that can't be written leaves the conversation as it was, and blocks nothing", async () => {
    const messages = [...long(), assistant([{ type: "text", text: "b" }], "stop", 3300)];
    const { compactor, conversation, events } = bench(messages, ["5,40\n"], { commit: () => { throw new Error("disk full"); } });
    expect(await compactor.run({ reason: "threshold", signal })).toMatchObject({ status: "failed", message: "disk full" });
    expect(conversation.messages).toEqual(messages);
    expect(events.at(-1)).toMatchObject({ errorMessage: "disk full" });
    expect(compactor.isDue()).toBe(true);
  });
});

describe("an overflow", () => {
  test("with too few older lines: all but the request goes, the tail too when it is what does not fit", async () => {
    const messages = [user("find it"), called("a"), result("a", many(600, "a line of a file that is long"))];
    const { committed, compactor, conversation, requests } = bench(messages, []);
    expect(compactor.overflow()).toMatchObject({ kind: "overflow" });
    expect(await compactor.run({ reason: "overflow", retries: true, signal })).toMatchObject({ status: "compacted", fits: true });
    expect(requests).toEqual([]);
    expect(committed[0]).toMatchObject({ rung: "fresh", firstKeptEntryId: null });
    expect(committed[0]).not.toHaveProperty("planner");
    expect(committed[0]?.compactedText).toMatch(/^\[User\]: find it\n\(filtered \d+ lines\)$/);
    expect(conversation.messages.length).toBe(1);
    expect(conversation.request).toBe("find it");
  });

  test("a plan that leaves too much gives way to a fresh one, which keeps a tail that fits", async () => {
    const messages = [user("find it"), called("a"), result("a", many(220, "a line of the file that nobody reads again")), called("b"), result("b", "y".repeat(6800))];
    const { committed, compactor } = bench(messages, ["5,30\n"]);
    expect(await compactor.run({ reason: "overflow", retries: true, signal })).toMatchObject({ fits: true, calls: 1 });
    expect(committed[0]).toMatchObject({ rung: "fresh", firstKeptEntryId: "entry3" });
  });

  test("in a tiny window a fresh one that makes it fit is enough, though it frees little", async () => {
    const { committed, compactor } = bench([user("hi"), called("a"), result("a", "x".repeat(1000)), called("b"), result("b", "y".repeat(900))], [], { window: 512 });
    expect(compactor.overflow()).toBeDefined();
    expect(await compactor.run({ reason: "overflow", retries: true, signal })).toMatchObject({ status: "compacted", fits: true });
    expect(committed[0]?.rung).toBe("fresh");
  });

  test("that nothing helps: unresolved, with the numbers", async () => {
    const { compactor, events } = bench([user("word ".repeat(4000))], []);
    const outcome = await compactor.run({ reason: "overflow", retries: true, signal });
    expect(outcome).toMatchObject({ status: "noop", fits: false });
    expect(events.at(-1)).toMatchObject({ unresolvedOverflow: true, willRetry: false, errorMessage: expect.stringMatching(/has 50\d\d tokens, the model's window 4096, of which 3840/) });
  });
});

describe("the tail", () => {
  test.each<[number, string | null]>([[0, null], [1, "entry5"], [2, "entry3"], [3, "entry3"], [4, "entry1"], [99, "entry0"]])("of %i messages keeps calls and results together", async (preserveRecent, first) => {
    const messages = [user(many(60, "a line of what the user wanted to have done")), called("a"), result("a", "r"), called("b"), result("b", "s"), said(many(30, "y"))];
    const { committed, compactor, events } = bench(messages, ["2,40\n"], { settings: { ...settings, preserveRecent } });
    await compactor.run({ reason: "manual", signal });
    if (preserveRecent === 99) expect(events.at(-1)).toMatchObject({ errorMessage: expect.stringContaining("0 lines") });
    else expect(committed[0]?.firstKeptEntryId).toBe(first);
  });
});

describe("an abort", () => {
  test("before the planner answers, and after: nothing is committed", async () => {
    for (const when of ["compaction_started", "summary_retry_scheduled"]) {
      const abort = new AbortController();
      const made = bench(long(), [failed({}), "5,40\n"], {
        emit: (event) => {
          made.events.push(event);
          if (event.type === when) abort.abort();
        },
      });
      expect(await made.compactor.run({ reason: "threshold", signal: abort.signal })).toMatchObject({ status: "cancelled" });
      expect(made.committed).toEqual([]);
      expect(made.events.at(-1)).toMatchObject({ type: "compaction_ended", aborted: true, willRetry: false });
      expect(made.events.at(-1)).not.toHaveProperty("errorMessage");
    }
  });
});

const window: ModelInfo = { id: "m", name: "m", api: "x", provider: "x", baseUrl: "", reasoning: false, input: ["text"], contextWindow: 4096, maxTokens: 4096 };

describe("the measure", () => {
  test("is the last usage that holds, and an estimate of what came after", () => {
    const { compactor } = bench([user("x".repeat(4000)), assistant([{ type: "text", text: "a" }], "stop", 700), user("y".repeat(41))], []);
    expect(compactor.measure()).toBe(711);
  });
  test("without usage, a quarter of the characters; an image is 1200", () => {
    const image = { role: "user" as const, content: [{ type: "image" as const, data: "AA==", mimeType: "image/png" }], timestamp: 1 };
    const system = plainly("Be brief.");
    expect(bench([user("x".repeat(400))], [], { system }).compactor.measure()).toBe(103);
    expect(bench([image], [], { system }).compactor.measure()).toBe(3 + 2 + 1200);
  });
  test("counts either the tools or the guide that takes their place", () => {
    const tools = [{ name: "fs.read", description: "d".repeat(400), schema: z.strictObject({ path: z.string() }), class: "read" as const }];
    const system = plainly("Be brief.", "g".repeat(4000));
    const measured = (needsGuide: boolean): number => {
      const engine: ActionEngine = { kind: "action", info: () => window, needsGuide: () => needsGuide, async *act() {}, close: async () => {} };
      return bench([user("x".repeat(400))], [], { system, tools, engine }).compactor.measure();
    };
    expect(measured(true)).toBe(Math.ceil((9 + 2 + 4000) / 4) + 100);
    expect(measured(false)).toBeGreaterThan(100 + 100);
    expect(measured(false)).toBeLessThan(300);
  });
  test("usage of failed answers, and from before the boundary, says nothing", async () => {
    const { compactor } = bench([...long().slice(0, 3), assistant([{ type: "text", text: "a" }], "error", 3000), said("b"), assistant([{ type: "text", text: "c" }], "stop", 3300)], ["5,60\n"]);
    expect(compactor.measure()).toBe(3300);
    await compactor.run({ reason: "manual", signal });
    expect(compactor.measure()).toBeLessThan(1500);
  });
});
