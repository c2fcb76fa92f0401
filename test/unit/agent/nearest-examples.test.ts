// Which examples a request is told beside: those that share words with it, whatever is named in them.
import { expect, test } from "bun:test";
import { moreExamples } from "../../../src/agent/more-examples.ts";
import { nearestExamples, type WorkExample } from "../../../src/agent/nearest-examples.ts";
import { answerKinds, changeKinds, lookKinds } from "../../../src/core/work.ts";

const pool: WorkExample[] = [["move a.txt to old", "change: move"], ["what is in a.txt?", "answer: read"], ["where is b.png?", "answer: find"], ["delete it", "change: delete"]];

test.each([
  ["Move report.pdf to archive", ["change: move"]],
  ["where are the pictures?", ["answer: find"]],
  ["What is in \"my notes\"?", ["answer: find", "answer: read"]],
  ["verschiebe es", []],
  ["", []],
])("%s", (request, works) => {
  expect(nearestExamples(request, pool, 2).map(([, work]) => work)).toEqual(works);
});

test("no more than are wanted, the most alike last", () => {
  expect(nearestExamples("what is in a.txt?", pool, 1)).toEqual([["what is in a.txt?", "answer: read"]]);
  expect(nearestExamples("what is in a.txt?", pool, 3).at(-1)?.[0]).toBe("what is in a.txt?");
});

test("each example names kinds of work that there are, and no request stands there twice", () => {
  for (const [request, work] of moreExamples) {
    const [goal, kinds = ""] = work.split(": ");
    const known: readonly string[] = goal === "answer" ? answerKinds : [...lookKinds, ...changeKinds];
    expect([request, kinds.split(", ").filter((kind) => !known.includes(kind))]).toEqual([request, []]);
  }
  expect(new Set(moreExamples.map(([request]) => request)).size).toBe(moreExamples.length);
});
