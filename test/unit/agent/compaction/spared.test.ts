import { describe, expect, test } from "bun:test";
import type { LineKind, RegionLine } from "../../../../src/agent/compaction/region.ts";
import { sparedLines } from "../../../../src/agent/compaction/spared.ts";

const filler = (count: number): RegionLine[] => Array.from({ length: count }, (_, index) => line(`filler ${index}`));
const line = (text: string, kind: LineKind = "toolResult"): RegionLine => ({ text, kind, isProtected: false });
const call = (path: string): RegionLine => line(`[Assistant tool calls]: fs.read(path=${JSON.stringify(path)})`, "toolCalls");
const spared = (lines: readonly RegionLine[], keep: number, query = "nothing of it"): string[] => [...sparedLines(lines, keep, query)].map((index) => lines[index]?.text ?? "");

describe("what was done", () => {
  test("calls stay, the blank lines behind them don't", () => {
    const lines = [call("a.txt"), line("", "toolCalls"), ...filler(30), call("b.txt")];
    expect(spared(lines, 16)).toEqual([call("b.txt").text, call("a.txt").text]);
  });
  test("the newest, up to a quarter of what stays", () => {
    const lines = [...filler(30), ...["a", "b", "c"].map(call)];
    expect(spared(lines, 8)).toEqual([call("c").text, call("b").text]);
    expect(spared(lines, 3)).toEqual([]);
  });
  test("a call that carries much content is not spared", () => {
    expect(spared([call("x".repeat(200)), ...filler(30)], 16)).toEqual([]);
  });
});

describe("what speaks of the focus", () => {
  const fact = line("The warehouse code is HERON-52.");
  test("a line with rare words of it stays, whatever ends the word", () => {
    expect(spared([...filler(20), fact, ...filler(20)], 20, "Reply with the code.")).toEqual([fact.text]);
  });
  test("words that stand in many lines tell nothing, nor do short ones", () => {
    expect(spared([...filler(40), line("a filler of tea")], 20, "filler tea")).toEqual([]);
  });
  test("more words of it win, and the newer of equals; a quarter of what stays at most", () => {
    const lines = [fact, ...filler(60), line("code A"), line("code B")];
    expect(spared(lines, 8, "the warehouse code")).toEqual([fact.text, "code B"]);
  });
});
