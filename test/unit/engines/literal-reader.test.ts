// Literals as small models write them, and what is none.
import { describe, expect, test } from "bun:test";
import { readLiteral, readNamedArguments } from "../../../src/engines/literal-reader.ts";

describe("readLiteral", () => {
  const good: [string, unknown][] = [
    ['{"a": [1, -2.5e3, true, null], "b": {"c": "d"}}', { a: [1, -2500, true, null], b: { c: "d" } }],
    ["{'a': True, 'b': None, 'c': False,}", { a: true, b: null, c: false }],
    ["('x', 'y',)", ["x", "y"]],
    ['"a\\n\\"b\\" \\u00e9 \\ud83d\\ude42 \\\\"', 'a\n"b" é 🙂 \\'],
    ["'it\\'s'", "it's"],
    ["  {}  ", {}],
    ["[]", []],
    ['"line\nbreak"', "line\nbreak"],
  ];
  for (const [text, value] of good) test(text, () => expect(readLiteral(text)?.value).toEqual(value));

  const bad = ["", "{", "[1, 2", '{"a" 1}', "{a: 1}", '{1: "x"}', '"open', "hello", "1x", "import os", "{'a': f()}", "[".repeat(100)];
  for (const text of bad) test(`${JSON.stringify(text.slice(0, 20))} is none`, () => expect(readLiteral(text)).toBeUndefined());

  test("it ends where the literal ends", () => {
    expect(readLiteral('x = {"a":1} rest', 3)).toEqual({ value: { a: 1 }, end: 11 });
  });

  test("a key named __proto__ is a key", () => {
    const value = readLiteral('{"__proto__": {"admin": true}}')?.value as object;
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect("admin" in value).toBe(false);
  });
});

describe("readNamedArguments", () => {
  test("good ones", () => {
    expect(readNamedArguments('path=".", limit = 3, deep: True)', 0)).toEqual({ value: { path: ".", limit: 3, deep: true }, end: 32 });
    expect(readNamedArguments(")", 0)).toEqual({ value: {}, end: 1 });
  });

  for (const text of ["", 'path="."', "path)", '".")', "a=1 b=2)", "a=b)"]) {
    test(`${JSON.stringify(text)} is none`, () => expect(readNamedArguments(text, 0)).toBeUndefined());
  }
});
