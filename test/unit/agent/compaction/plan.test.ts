import { describe, expect, test } from "bun:test";
import { mechanicalLines, parsePlan, pickedLines, planGrammar, unprotectedLines } from "../../../../src/agent/compaction/plan.ts";
import { rebuild } from "../../../../src/agent/compaction/rebuild.ts";
import type { LineKind, RegionLine } from "../../../../src/agent/compaction/region.ts";
import { accepts, parseGbnf } from "../../../support/gbnf.ts";

const lines = (count: number, kept: number[] = []): RegionLine[] => Array.from({ length: count }, (_, index) => ({ text: `line ${index + 1}`, kind: "user", isProtected: kept.includes(index + 1) }));
/** Line numbers, from 1. */
const numbers = (picked: ReadonlySet<number>): number[] => [...picked].map((index) => index + 1).toSorted((a, b) => a - b);

describe("the grammar", () => {
  const grammar = parseGbnf(planGrammar);
  test.each(["1,4\n", "9,12\n1,1\n", "1234567,2\n", "1,2\n".repeat(512)])("takes %j", (text) => {
    expect(accepts(grammar, text)).toBe(true);
  });
  test.each(["", "1,4", "01,4\n", "0,4\n", "1-4\n", "1, 4\n", "\n", "12345678,1\n", "1,2\n".repeat(513)])("refuses %j", (text) => {
    expect(accepts(grammar, text)).toBe(false);
  });
});

describe("the tolerant parse", () => {
  test.each<[string, [number, number][]]>([
    ["1,4\n9,12\n", [[1, 4], [9, 12]]],
    ["```\n1,4\n```\n", [[1, 4]]],
    ["```text\n\n  1 , 4  \n```", [[1, 4]]],
    ["- 1-4\n* 9–12\n• 20\n", [[1, 4], [9, 12], [20, 20]]],
    ["1. 3,4\n2) 5-6\n", [[3, 4], [5, 6]]],
    ["1,4\r\n9,12\r\n", [[1, 4], [9, 12]]],
    ["Here they are:\n1,4\n", [[1, 4]]],
  ])("reads %j", (answer, ranges) => {
    expect(parsePlan(answer)).toEqual({ ranges, isMalformed: false });
  });

  test("more ignored than accepted is malformed", () => {
    expect(parsePlan("I would\nsay\n1,4\n").isMalformed).toBe(true);
    expect(parsePlan("nothing").isMalformed).toBe(true);
  });

  test("a cut answer loses its last line, unless that is whole", () => {
    expect(parsePlan("1,4\n9,1", true).ranges).toEqual([[1, 4]]);
    expect(parsePlan("1,4\n9,1").ranges).toEqual([[1, 4], [9, 1]]);
    expect(parsePlan("1,4\n9,12\n", true).ranges).toEqual([[1, 4], [9, 12]]);
  });
});

describe("validation", () => {
  test("reversed ranges are turned, ends are clamped, what is outside is dropped", () => {
    expect(numbers(pickedLines([[4, 2], [9, 99], [50, 60], [0, 0]], lines(10), 10))).toEqual([2, 3, 4, 9, 10]);
  });
  test("the target ends it, in the given order; what is named twice counts once", () => {
    expect(numbers(pickedLines([[7, 8], [7, 9], [1, 3]], lines(10), 4))).toEqual([1, 7, 8, 9]);
  });
  test("protected lines are cut out", () => {
    expect(numbers(pickedLines([[1, 6]], lines(10, [3, 4]), 10))).toEqual([1, 2, 5, 6]);
    expect(pickedLines([[3, 4]], lines(10, [3, 4]), 10).size).toBe(0);
  });
  test("lines that are gone already are not counted", () => {
    expect(numbers(pickedLines([[1, 4]], lines(10), 2, new Set([0, 1])))).toEqual([3, 4]);
  });
});

describe("the mechanical order", () => {
  const kinds: LineKind[] = ["user", "assistant", "toolCalls", "thinking", "toolResult", "user", "toolResult", "assistant"];
  const mixed: RegionLine[] = kinds.map((kind, index) => ({ text: `${index + 1}`, kind, isProtected: index === 0 }));
  test.each<[number, number[]]>([[1, [5]], [2, [5, 7]], [3, [5, 7, 4]], [4, [5, 7, 4, 3]], [6, [5, 7, 4, 3, 2, 8]], [8, [5, 7, 4, 3, 2, 8, 6]]])("%i lines", (most, wanted) => {
    expect([...mechanicalLines(mixed, most)].map((index) => index + 1)).toEqual(wanted);
  });
  test("everything but what is protected", () => {
    expect(numbers(unprotectedLines(mixed))).toEqual([2, 3, 4, 5, 6, 7, 8]);
  });
});

describe("rebuild", () => {
  const of = (texts: string[], plan: number[], kept: number[] = []) =>
    rebuild(texts.map((text, index) => ({ text, kind: "user" as const, isProtected: kept.includes(index + 1) })), new Set(plan.map((number) => number - 1)));

  test("one marker a range; the rest is byte for byte the old", () => {
    expect(of([" a ", "b", "c\r", "", "d\t"], [2, 3])).toEqual({ text: " a \n(filtered 2 lines)\n\nd\t", linesDeleted: 2, rangeCount: 1 });
    expect(of(["a", "b", "c"], [1, 3])).toEqual({ text: "(filtered 1 lines)\nb\n(filtered 1 lines)", linesDeleted: 2, rangeCount: 2 });
  });
  test("old markers that touch are taken in, their numbers added", () => {
    expect(of(["a", "(filtered 7 lines)", "b", "(filtered 4 lines)", "c"], [3])).toEqual({ text: "a\n(filtered 12 lines)\nc", linesDeleted: 3, rangeCount: 1 });
  });
  test("others stay as they are and are no range of this plan", () => {
    expect(of(["(filtered 7 lines)", "a", "b"], [3])).toEqual({ text: "(filtered 7 lines)\na\n(filtered 1 lines)", linesDeleted: 1, rangeCount: 1 });
  });
  test("a protected line that looks like a marker stays", () => {
    expect(of(["(filtered 7 lines)", "b"], [2], [1]).text).toBe("(filtered 7 lines)\n(filtered 1 lines)");
  });
  test("nothing", () => {
    expect(of(["a", "b"], [])).toEqual({ text: "a\nb", linesDeleted: 0, rangeCount: 0 });
  });
});
