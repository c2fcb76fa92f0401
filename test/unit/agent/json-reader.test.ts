// One JSON value out of a stream of text, in pieces of every size: whatever the value is, its end is found.
import { expect, test } from "bun:test";
import { JsonValueReader } from "../../../src/agent/json-reader.ts";

const values = ['{"a":[1,{"b":"}"}]}', '["]",[]]', '"a \\" } b"', '""', "0", "-12.5e+3", "true", "false", "null"];

test("every value, in pieces of 1 to 5 characters, followed by what closes an action", () => {
  for (const value of values) {
    for (let size = 1; size <= 5; size++) {
      const reader = new JsonValueReader();
      let left = `${value}}\n{"next":1}`;
      let taken = "";
      for (let done = false; !done; ) {
        const step = reader.push(left.slice(0, size));
        taken += step.taken;
        left = step.rest + left.slice(size);
        done = step.done;
      }
      expect([value, size, taken, left, reader.text]).toEqual([value, size, value, '}\n{"next":1}', value]);
    }
  }
});

test("a value that is cut is not done", () => {
  for (const value of ['{"a":', '["', '"abc', "12"]) expect(new JsonValueReader().push(value)).toEqual({ taken: value, rest: "", done: false });
});
