// Which rows of a table a request speaks of.
import { expect, test } from "bun:test";
import { rowsSpokenOf } from "../../../src/tools/table/rows-spoken.ts";

const guests = "name,answer,town\nAnn Lee,yes,Bern\nBo Ek,no,Chur\nEve Abel,yes,Chur\nJan Roth,,Bern\n";

test.each([
  ["a value that it names", "Who answered yes?", "2 of 4 rows have answer yes: Ann Lee, Eve Abel"],
  ["values of two columns", "Did anybody from Chur say Yes?", "1 of 4 rows has answer yes and town Chur: Eve Abel"],
  ["several values of one column", "Who is from Bern, and who from Chur, and said yes?", "2 of 4 rows have answer yes and town Bern or Chur: Ann Lee, Eve Abel"],
  ["no value", "Who is coming?", undefined],
  ["a value of a column that tells rows apart", "What did Ann Lee say?", undefined],
])("%s", (_name, request, told) => {
  expect(rowsSpokenOf("guests.csv", guests, request)).toBe(told);
});

test("nothing of what is no table, or of so few rows that they are seen", () => {
  expect([rowsSpokenOf("guests.txt", guests, "yes"), rowsSpokenOf("guests.csv", "name,answer\nAnn,yes\nBo,no\n", "yes"), rowsSpokenOf("guests.csv", "", "yes"), rowsSpokenOf("guests.csv", "one\ntwo\n", "one")]).toEqual([undefined, undefined, undefined, undefined]);
});

test("many rows are cut, and their number is told", () => {
  const many = `name,answer\n${Array.from({ length: 40 }, (_, index) => `N${index},${index % 2 === 0 ? "yes" : "no"}\n`).join("")}`;
  expect(rowsSpokenOf("a.csv", many, "Who says yes?")).toMatch(/^20 of 40 rows have answer yes: N0, N2, .*N28, and 5 more$/);
});
