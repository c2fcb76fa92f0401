// Verbatim line compaction in the JSON stream (json-mode.md 7, J-31 to J-40; X01, X02), by scripted models and a real server.
import { describe, expect, test } from "bun:test";
import { configureServer, says, startChatServer } from "../support/chat-server.ts";
import type { Answer } from "../support/fault-server.ts";
import { checked, expectEnd, expectOrder, finished, isType, type JsonRun, makePlace, type Place, runJson, startJson, textOf } from "../support/json-run.ts";
import { at, type JsonObject, listAt } from "../support/json-checker/values.ts";
import type { Script, ScriptItem } from "../support/scripted.ts";

const row = "a row of the file that nobody needs any more, as far as one can tell";
const rows = (name: string): string => Array.from({ length: 100 }, (_, index) => `${row} ${name} ${index + 1}\n`).join("");
const files = { "a.txt": rows("a"), "b.txt": rows("b"), "c.txt": rows("c") };

const used = (input: number): ScriptItem => ({ usage: { input, output: 10 } });
const read = (name: string, input: number): ScriptItem[] => [used(input), { call: "fs.read", args: { path: name } }];
const say = (text: string, input: number): ScriptItem[] => [used(input), { text, chunk: 64 }];

const call = "ms(a) mu(toolcall_start) mu(toolcall_delta)* mu(toolcall_end) me(a,toolUse)";
const tool = (name: string): string => `TS ${call} xs(${name}) xe(${name}) ms(t,${name}) me(t,${name}) TE[${name}]`;
const prompted = (turn: string): string => turn.replace("TS ", "TS ms(u) me(u) ");
const reply = "TS ms(a) mu(text_start) mu(text_delta)+ mu(text_end) me(a,stop) TE[]";
const failed = "TS ms(a,error) me(a,error) TE[]";
const twoReads = `H AS ${prompted(tool("A"))} ${tool("B")}`;

async function play(place: Place, script: Script, ...prompts: string[]): Promise<JsonRun> {
  return await runJson(place, ["--model", place.script(script), ...prompts], { timeoutMs: 60_000 });
}

const results = (run: JsonRun): JsonObject[] => run.all("compaction_end").flatMap((event) => (event["result"] === undefined ? [] : [event["result"] as JsonObject]));
const linesOf = (result: unknown): string[] => String(at(result, "compactedText")).split("\n");
const marked = (line: string): number => Number(/^\(filtered (\d+) lines\)$/.exec(line)?.[1] ?? 0);

describe("J-31", () => {
  test("J-31 a compact line in a run of tool turns: order 6.34, and the run goes on", async () => {
    using place = makePlace(files);
    const steps = [read("a.txt", 400), [...read("b.txt", 1600), { delayMs: 500 }], say("Done.", 900)];
    using running = startJson(place, ["--model", place.script({ contextWindow: 32_768, steps, compaction: ["5,60\n"] }), "--stdin-commands", "read both"], { interactive: true, timeoutMs: 60_000 });
    await running.waitFor(isType("tool_execution_end"));
    running.send({ type: "compact" });
    const run = await finished(running);
    expectOrder(run, `${twoReads} cs{manual,midTurn} ce{manual,result,midTurn} ${reply} AE{u,a,t,a,t,a} Z{ok}`);
    expectEnd(run, "ok", 0);
  });

  test("J-31 with nothing to compact: an errorMessage, and the run goes on", async () => {
    using place = makePlace();
    using running = startJson(place, ["--model", place.script([[used(100), { text: "Hel" }, { delayMs: 500 }, { text: "lo" }]]), "--stdin-commands", "hi"], { interactive: true, timeoutMs: 60_000 });
    await running.waitFor(isType("message_update"));
    running.send({ type: "compact" });
    const run = await finished(running);
    expect(run.all("compaction_end")).toEqual([{ type: "compaction_end", reason: "manual", aborted: false, willRetry: false, errorMessage: expect.stringContaining("fewer than 20") }]);
    expectEnd(run, "ok", 0);
  });
});

describe("J-32", () => {
  test("J-32 window 8192, tool turns past 6144 tokens: order 6.26, exit 0", async () => {
    using place = makePlace(files);
    const run = await play(place, { contextWindow: 8192, steps: [read("a.txt", 400), read("b.txt", 5100), say("Done.", 900)], compaction: ["5,60\n"] }, "read both");
    expectOrder(run, `${twoReads} cs{threshold,midTurn} ce{threshold,result,midTurn} ${reply} AE{u,a,t,a,t,a} Z{ok}`);
    expectEnd(run, "ok", 0);
    expect(at(results(run)[0], "firstKeptEntryId")).toMatch(/^[0-9a-f]{8}$/);
  });

  test("J-32 window 4096, a short prompt: no compaction events", async () => {
    using place = makePlace();
    const run = await play(place, { contextWindow: 4096, steps: [[{ text: "Hello." }]] }, "hi");
    expectOrder(run, `H AS ${prompted(reply)} AE{u,a} Z{ok}`);
  });

  test("J-32 firstKeptEntryId is the stored entry of the tail, and a resumed session goes on behind it", async () => {
    using place = makePlace(files);
    await play(place, { contextWindow: 8192, steps: [read("a.txt", 400), read("b.txt", 5100), say("Done.", 900)], compaction: ["5,60\n"] }, "read both");
    const steps: ScriptItem[][] = [[{ expect: { contains: "(filtered 56 lines)", lastRole: "user" } }, { expect: { contains: `${row} b 100`, absent: `${row} a 10\n` } }, { text: "Yes." }]];
    const run = await runJson(place, ["--model", place.script({ steps }), "--continue", "still there?"]);
    expectEnd(run, "ok", 0);
  });
});

const tooLong: Answer = { status: 400, body: { error: { message: "This model's maximum context length is 32768 tokens. However, your messages resulted in 40000 tokens.", code: "context_length_exceeded", type: "invalid_request_error" } } };
const reads = (name: string): Answer => says({ calls: [{ name: "fs_read", id: name, args: JSON.stringify({ path: name }) }], usage: { prompt_tokens: 1000, completion_tokens: 10, total_tokens: 1010 } });

describe("J-33", () => {
  test("J-33 a server that says once that the context is too long: order 6.29, exit 0", async () => {
    await using server = await startChatServer([reads("a.txt"), reads("b.txt"), tooLong, says({ text: ["5,60\n"] }), says({ text: ["Done."] })]);
    using place = makePlace(files);
    configureServer(place, server);
    const run = await runJson(place, ["--model", "here/m", "read both"]);
    expectOrder(run, `${twoReads} ${failed} AE{u,a,t,a,t,a} cs{overflow} ce{overflow,result,willRetry} AS ${reply} AE{a} Z{ok}`);
    expectEnd(run, "ok", 0);
    const [, , , planner, again] = server.chats();
    expect(at(planner, "tools")).toBeUndefined();
    const sent = JSON.stringify(again);
    expect(sent).toContain("(filtered 52 lines)");
    expect(sent).not.toContain("maximum context length");
  });

  test("J-33 one that never stops saying so: order 6.31, exit 1, and an end", async () => {
    await using server = await startChatServer([reads("a.txt"), reads("b.txt"), tooLong, says({ text: ["5,60\n"] }), tooLong]);
    using place = makePlace(files);
    configureServer(place, server);
    const run = await runJson(place, ["--model", "here/m", "read both"]);
    expectOrder(run, `${twoReads} ${failed} AE{u,a,t,a,t,a} cs{overflow} ce{overflow,result,willRetry} AS ${failed} AE{a} cs{overflow} ce{overflow,unresolvedOverflow,errorMessage} Z{unresolved_overflow}`);
    expectEnd(run, "unresolved_overflow", 1);
    expect(server.chats().length).toBe(5);
  });
});

describe("J-34", () => {
  test("J-34 an unresolved overflow in prompt 1: prompt 2 runs, and may compact again", async () => {
    using place = makePlace(files);
    const steps: ScriptItem[][] = [read("a.txt", 400), read("b.txt", 1600), [{ overflow: true }], [{ overflow: true }], read("c.txt", 1600), [{ overflow: true }], say("Done.", 900)];
    const run = await play(place, { contextWindow: 32_768, steps, compaction: ["5,60\n", "2,100\n"] }, "read both", "and c");
    expectOrder(
      run,
      `${twoReads} ${failed} AE{u,a,t,a,t,a} cs{overflow} ce{overflow,result,willRetry} AS ${failed} AE{a} cs{overflow} ce{overflow,unresolvedOverflow,errorMessage} AS ${prompted(tool("C"))} ${failed} AE{u,a,t,a} cs{overflow} ce{overflow,result,willRetry} AS ${reply} AE{a} Z{unresolved_overflow}`,
    );
    expectEnd(run, "unresolved_overflow", 1);
  });
});

describe("J-35", () => {
  test("J-35 a server without usage, a long session: the threshold still fires", async () => {
    const silent = (name: string): Answer => says({ calls: [{ name: "fs_read", id: name, args: JSON.stringify({ path: name }) }], usage: null });
    await using server = await startChatServer([silent("a.txt"), silent("b.txt"), silent("c.txt"), says({ text: ["5,100\n"], usage: null }), says({ text: ["Done."], usage: null })]);
    using place = makePlace(files);
    configureServer(place, server, { contextWindow: 4096 });
    const run = await runJson(place, ["--model", "here/m", "--tools", "fs.read", "read all"]);
    expectOrder(run, `${twoReads} ${tool("C")} cs{threshold,midTurn} ce{threshold,result,midTurn} ${reply} AE{u,a,t,a,t,a,t,a} Z{ok}`);
    expect(JSON.stringify(server.chats().at(-1))).toContain("filtered");
  });
});

describe("J-36", () => {
  test("J-36 a planner request that a server answers with 503 once: order 6.33", async () => {
    await using server = await startChatServer([reads("a.txt"), reads("b.txt"), tooLong, { status: 503, body: { error: { message: "overloaded" } } }, says({ text: ["5,60\n"] }), says({ text: ["Done."] })]);
    using place = makePlace(files);
    configureServer(place, server, {}, { retry: { baseDelayMs: 1 } });
    const run = await runJson(place, ["--model", "here/m", "read both"]);
    expectOrder(run, `${twoReads} ${failed} AE{u,a,t,a,t,a} cs{overflow} SS{1} SA{compaction,overflow} SF ce{overflow,result,willRetry} AS ${reply} AE{a} Z{ok}`);
    expect(run.all("summarization_retry_scheduled")).toEqual([{ type: "summarization_retry_scheduled", attempt: 1, maxAttempts: 3, delayMs: 1, errorMessage: expect.stringContaining("503") }]);
    expect(at(results(run)[0], "planner")).toBe("model");
  });
});

describe("J-37", () => {
  test("J-37 a planner that answers prose twice: mechanical, the result is there", async () => {
    using place = makePlace(files);
    const run = await play(place, { contextWindow: 8192, steps: [read("a.txt", 400), read("b.txt", 5100), say("Done.", 900)], compaction: ["I would delete it all.\n", "Sure!\n"] }, "read both");
    expect(results(run)).toMatchObject([{ rung: "planned", planner: "mechanical" }]);
    expectEnd(run, "ok", 0);
  });

  test("J-37 when nothing can be freed: no result, an errorMessage, no second attempt on the same context", async () => {
    using place = makePlace(files);
    const run = await play(place, { contextWindow: 8192, steps: [read("a.txt", 400), read("b.txt", 1600), say("Done.", 6200), say("Yes.", 6240)], compaction: ["5,8\n"] }, "read both", "sure?");
    expectOrder(run, `${twoReads} ${reply} AE{u,a,t,a,t,a} cs{threshold} ce{threshold,errorMessage} AS ${prompted(reply)} AE{u,a} Z{ok}`);
    expectEnd(run, "ok", 0);
  });
});

describe("J-38", () => {
  test("J-38 a compaction between two steps commits, the request is still too large: order 6.27, result and errorMessage both", async () => {
    using place = makePlace(files);
    const kept = `<keepContext>\n${"note ".repeat(400)}\n</keepContext>`;
    const steps: ScriptItem[][] = [[used(1900), { text: kept, chunk: 4000 }, { call: "fs.read", args: { path: "a.txt" } }]];
    const run = await runJson(place, ["--model", place.script({ contextWindow: 2048, steps }), "--tools", "fs.read", "--system-prompt", "Be short.", "word ".repeat(1000)]);
    const [end] = run.all("compaction_end");
    expect(Object.keys(end ?? {})).toEqual(["type", "reason", "result", "aborted", "willRetry", "errorMessage", "midTurn"]);
    expect(at(end, "errorMessage")).toMatch(/\d+ tokens .* window 2048/);
    expect(run.messages("assistant").at(-1)).toMatchObject({ stopReason: "error", errorKind: "overflow", content: [] });
    expectEnd(run, "error", 1);
  });
});

describe("J-39", () => {
  test("J-39 lines between keepContext tags stay byte for byte; every other kept line is an old one", async () => {
    using place = makePlace(files);
    const keep = ["<keepContext>", "  the door code is\t4711 ", "→ é 😀", "</keepContext>"];
    const prompt = ["read both", ...keep, "Be quick."].join("\n");
    const run = await play(place, { contextWindow: 8192, steps: [read("a.txt", 400), read("b.txt", 1600), say("Done.", 6200)], compaction: ["1,40\n60,90\n"] }, prompt);
    const lines = linesOf(results(run)[0]);
    expect(lines.join("\n")).toContain(keep.join("\n"));
    const old = new Set([`[User]: ${prompt}`, ...run.messages("toolResult").map((message) => `[Tool result]: ${textOf(message)}`), "[Assistant tool calls]: fs.read(path=\"a.txt\")", "[Assistant tool calls]: fs.read(path=\"b.txt\")"].flatMap((text) => text.split("\n")).concat(""));
    expect(lines.filter((line) => !old.has(line) && marked(line) === 0)).toEqual([]);
    expect(lines.filter((line) => marked(line) > 0).length).toBe(Number(at(results(run)[0], "stats", "rangeCount")));
  });
});

describe("J-40", () => {
  test("J-40 the numbers fit; a second compaction merges markers, and their numbers count real lines", async () => {
    using place = makePlace(files);
    const steps = [read("a.txt", 400), read("b.txt", 5100), read("c.txt", 5100), say("Done.", 900)];
    const run = await play(place, { contextWindow: 8192, steps, compaction: ["10,40\n", "8,60\n90,120\n"] }, "read all");
    const [first, second, ...more] = results(run);
    expect(more).toEqual([]);
    for (const result of [first, second]) {
      const { linesBefore, linesDeleted, linesKept, percentReduction, tokensAfter, tokensBefore } = at(result, "stats") as { [name: string]: number };
      expect(Number(linesKept) + Number(linesDeleted)).toBe(Number(linesBefore));
      expect(percentReduction).toBe(Math.round(1000 * (1 - Number(tokensAfter) / Number(tokensBefore))) / 10);
    }
    const lines = linesOf(second);
    const markers = lines.filter((line) => marked(line) > 0);
    expect(markers.length).toBe(2);
    // The first took 31 lines, and its marker is one of the 53 of the first range of the second.
    expect(markers.map(marked)).toEqual([31 + 52, 31]);
    expect(lines.some((line, index) => marked(line) > 0 && marked(lines[index + 1] ?? "") > 0)).toBe(false);
  });
});

describe("X01", () => {
  test("X01 a file that is longer than the window: the request fits, and what was left out is said with numbers", async () => {
    await using server = await startChatServer([reads("big.txt"), says({ text: ["Done."] })]);
    using place = makePlace({ "big.txt": Array.from({ length: 600 }, (_, index) => `${row} ${index + 1}\n`).join("") });
    configureServer(place, server, { contextWindow: 4096 });
    const run = await runJson(place, ["--model", "here/m", "--tools", "fs.read", "what is in big.txt?"]);
    expectEnd(run, "ok", 0);
    const [first, second] = server.chats();
    const sent = listAt(second, "messages").map((message) => JSON.stringify(at(message, "content") ?? "")).join("\n");
    expect(JSON.stringify(second).length / 4).toBeLessThan(4096);
    expect(at(listAt(second, "messages")[0], "content")).toEqual(at(listAt(first, "messages")[0], "content"));
    expect(at(second, "tools")).toEqual(at(first, "tools"));
    expect(sent).toContain("what is in big.txt?");
    expect(textOf(run.messages("toolResult")[0])).toMatch(/600/);
  });
});

describe("X02", () => {
  test("X02 a prompt that can't fit: at most two tries, the numbers, a quick end", async () => {
    using place = makePlace();
    const steps: ScriptItem[][] = [[{ text: "never said" }]];
    const run = await checked((await runJson(place, ["--model", place.script({ contextWindow: 2048, steps }), "--tools", "", "--system-prompt", "rule ".repeat(1500), "word ".repeat(400)])).result);
    expect(run.all("compaction_start").length).toBeLessThanOrEqual(2);
    expect(run.all("compaction_end").at(-1)).toMatchObject({ unresolvedOverflow: true, errorMessage: expect.stringMatching(/\d+ tokens, the model's window 2048, of which 1920/) });
    expect(run.messages("assistant").length).toBe(1);
    expectEnd(run, "unresolved_overflow", 1);
    expect(run.result.durationMs).toBeLessThan(10_000);
  });
});
