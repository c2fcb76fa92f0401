// The snapshot of a call's arguments while they are written.
import { describe, expect, test } from "bun:test";
import { parsePartialJson } from "../../../src/wire/json/partial-json.ts";

describe("parsePartialJson", () => {
  const rows: [string, Record<string, unknown>][] = [
    ["", {}],
    ["  ", {}],
    ["{", {}],
    ['{"a', {}],
    ['{"a"', {}],
    ['{"a":', {}],
    ['{"a":"', { a: "" }],
    ['{"a":"x', { a: "x" }],
    ['{"a":"x\\', { a: "x" }],
    ['{"a":"x\\u00', { a: "x" }],
    ['{"a":"x\\u00e9', { a: "xé" }],
    ['{"a":"\\ud83d', { a: "" }],
    ['{"a":"\\ud83d\\ude00', { a: "😀" }],
    ['{"a":"x","b', { a: "x" }],
    ['{"a":12', { a: 12 }],
    ['{"a":12.', { a: 12 }],
    ['{"a":-', {}],
    ['{"a":tru', {}],
    ['{"a":true', { a: true }],
    ['{"a":null,', { a: null }],
    ['{"a":[1,2', { a: [1, 2] }],
    ['{"a":[', { a: [] }],
    ['{"a":[{"b":"c', { a: [{ b: "c" }] }],
    ['{"a":{}}', { a: {} }],
    ['{"a":1}', { a: 1 }],
    ['{"a":1} trailing', { a: 1 }],
    ['{"a":1 "b":2}', { a: 1 }],
    ['{"a":"line\nbreak"}', { a: "line" }],
    ['{,"a":1}', {}],
    ['{"a":1,}', { a: 1 }],
    ["[1,2]", {}],
    ["[1,", {}],
    ["null", {}],
    ["prose", {}],
  ];
  for (const [text, expected] of rows) {
    test(JSON.stringify(text), () => expect(parsePartialJson(text)).toEqual(expected));
  }

  test("each prefix of an object shows no more than the object, and the whole of it in the end", () => {
    const value = { path: 'a "b" \\ ü 😀\u2028', list: [1, -2.5e3, [], { deep: [true, false, null] }], empty: {}, last: "end" };
    const text = JSON.stringify(value);
    let shown = 0;
    for (let length = 0; length <= text.length; length++) {
      const size = JSON.stringify(parsePartialJson(text.slice(0, length))).length;
      expect(size).toBeLessThanOrEqual(text.length);
      shown = Math.max(shown, size);
    }
    expect(parsePartialJson(text)).toEqual(value);
    expect(shown).toBe(text.length);
  });

  test("`__proto__` is plain data", () => {
    const parsed = parsePartialJson('{"__proto__":{"polluted":1},"a":"b');
    expect(Object.keys(parsed)).toEqual(["__proto__", "a"]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test("deep nesting and long strings neither overflow nor take long", () => {
    const started = performance.now();
    expect(Object.keys(parsePartialJson(`{"a":${"[".repeat(200_000)}`))).toEqual(["a"]);
    const long = `${"x".repeat(3_000_000)}\\n${"é".repeat(1_000_000)}`;
    expect(parsePartialJson(`{"a":"${long}`).a).toBe(long.replace("\\n", "\n"));
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
