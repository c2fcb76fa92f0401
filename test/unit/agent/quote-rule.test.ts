// The rule of quotes: every piece of a text, and nothing else.
import { describe, expect, test } from "bun:test";
import { GrammarRules } from "../../../src/agent/gbnf.ts";
import { quoteRule } from "../../../src/agent/quote-rule.ts";
import { accepts, parseGbnf } from "../../support/gbnf.ts";

function grammarOf(text: string): string {
  const rules = new GrammarRules();
  const name = quoteRule(rules, text, "quote");
  return `root ::= ${name}\n${rules}`;
}

describe("pieces of a text", () => {
  test.each(["abcbc", "aaaa", 'say "hi"\\n', "a\tb\n\nc\n", "größe ✓ 😀 x", "\u0001\u2028"])("of %j: all of them", (text) => {
    const grammar = parseGbnf(grammarOf(text));
    const characters = [...text];
    for (let from = 0; from < characters.length; from++) {
      for (let to = from + 1; to <= characters.length; to++) {
        const piece = characters.slice(from, to).join("");
        expect([piece, accepts(grammar, JSON.stringify(piece))]).toEqual([piece, true]);
      }
    }
  });
  test.each([
    ["abcbc", ["ac", "cbcb", "", "abcbcx", "B"]],
    ["one\ntwo\n", ["onetwo", "two\none", "one\\ntwo"]],
  ])("of %j: nothing else", (text, others) => {
    const grammar = parseGbnf(grammarOf(text));
    for (const other of others) expect([other, accepts(grammar, JSON.stringify(other))]).toEqual([other, false]);
  });
});

test("of one line only, where a quote ends with its line", () => {
  const rules = new GrammarRules();
  const name = quoteRule(rules, "one\ntwo n\n", "quote", true);
  const grammar = parseGbnf(`root ::= ${name}\n${rules}`);
  expect(["one", "two n", "n", "one\n", "one\ntwo", "\n"].map((piece) => accepts(grammar, JSON.stringify(piece)))).toEqual([true, true, true, false, false, false]);
});

test("a text that is quoted twice is written once", () => {
  const rules = new GrammarRules();
  const first = quoteRule(rules, "abc", "one");
  const size = String(rules).length;
  expect([quoteRule(rules, "abc", "other"), String(rules).length]).toEqual([first, size]);
  expect(quoteRule(rules, "abd", "one")).not.toBe(first);
});

test("its size is linear in the text's", () => {
  const text = Array.from({ length: 120 }, (_, index) => `line ${index * 7919} of a text ${index % 3}\n`).join("");
  expect(grammarOf(text).split("\n").length).toBeLessThan(2 * text.length + 3);
});
