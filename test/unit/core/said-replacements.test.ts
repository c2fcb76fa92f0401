// What a request wants replaced, read off its words.
import { expect, test } from "bun:test";
import { saidRemovals, saidReplacements, standingIn } from "../../../src/core/said-replacements.ts";

test.each([
  ["Rename the variable row to line and rows to lines.", ["row", "rows"]],
  ["Replace old.example.org by new.example.org everywhere.", ["old.example.org"]],
  ["Turn every 'red hat' into a blue one", ["red hat"]],
  ["Use oil instead of butter.", ["butter"]],
  ["plan.md is called todo.md now, and log.md was renamed to diary.md", ["plan.md", "log.md"]],
  ["Make it 2026 instead of 2024", []],
  ["Say hello.", []],
])("%s", (request, replaced) => {
  expect(saidReplacements(request)).toEqual(replaced);
});

test("what stands in a text by itself, in its own capitals", () => {
  expect(standingIn("Row 1: rows of a row", ["row", "column"])).toEqual(["Row", "row"]);
});

test("what is to be taken out, in quotes", () => {
  const removed = (request: string): string[] => saidRemovals(request);
  expect([removed("Remove the lines that print 'x' and \"y z\" from a.py, and make the others say 'w'."), removed("Don't say 'x'. Take `b` out of the list"), removed("Remove the cat's line")]).toEqual([["x", "y z"], ["b"], []]);
});
