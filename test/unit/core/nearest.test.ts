import { expect, test } from "bun:test";
import { nearest } from "../../../src/core/nearest.ts";

test("the closest candidate within a third of the word, or two edits", () => {
  const flags = ["--model", "--mode", "--max-steps", "--thinking"];
  expect(["--modle", "--MODEL", "--max-step", "--thinkng", "--mdoe"].map((word) => nearest(word, flags))).toEqual(["--model", "--model", "--max-steps", "--thinking", "--mode"]);
  expect(["--verbose", "x", ""].map((word) => nearest(word, flags))).toEqual([undefined, undefined, undefined]);
});

test("edits are insert, delete, replace and a swap of neighbours", () => {
  expect([nearest("abdc", ["abcd"]), nearest("abcx", ["abcd"]), nearest("abc", ["abcd"]), nearest("abcde", ["abcd"])]).toEqual(["abcd", "abcd", "abcd", "abcd"]);
  expect(nearest("badc", ["abcd"])).toBe("abcd");
  expect(nearest("dcba", ["abcd"])).toBeUndefined();
  expect(nearest("ab", ["abc", "ab"])).toBe("ab");
});
