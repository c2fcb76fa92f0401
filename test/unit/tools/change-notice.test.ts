// Changes that would break a file are refused; of what is allowed it is told what was lost.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fixture } from "./fixture.ts";

const broken = (name: string): string => `[${name} can't be read by its own format now: `;

test.each([
  ["a.json", '{"a": 1}\n', "1}", "1"],
  ["a.toml", "a = 1\n", "1", "= 1"],
])("an edit that would break %s is refused, and the file stays; one that doesn't is silent", async (name, before, oldText, newText) => {
  using at = fixture();
  writeFileSync(join(at.workspace, name), before);
  expect((await at.call("fs.replace", { path: name, oldText: "1", newText: "2" })).text).not.toContain("[");
  const kept = readFileSync(join(at.workspace, name), "utf8");
  for (const [tool, args] of [["fs.edit", { oldText: oldText.replace("1", "2"), newText }], ["fs.write", { content: "= nonsense" }]] as const) {
    expect(await at.call(tool, { path: name, ...args })).toMatchObject({ isError: true, text: expect.stringMatching(new RegExp(`^nothing was changed: ${name} could not be read by its own format any more: `)) });
    expect(readFileSync(join(at.workspace, name), "utf8")).toBe(kept);
  }
  // Before anybody is asked.
  expect(at.needs("fs.edit", { path: name, oldText: oldText.replace("1", "2"), newText })).rejects.toThrow("nothing was changed");
});

test("a file that was broken before is no news", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.json"), '{"a": 1,,}\n');
  expect((await at.call("fs.edit", { path: "a.json", oldText: "1,,", newText: "2,," })).text).not.toContain("[a.json");
});

test("a new file in a wrong format", async () => {
  using at = fixture();
  expect((await at.call("fs.write", { path: "a.json", content: "nonsense" })).text).toStartWith(`wrote 8 bytes to a.json\n${broken("a.json")}`);
  expect((await at.call("fs.write", { path: "b.json", content: "[1]" })).text).toBe("wrote 3 bytes to b.json");
});

test("a whole file written anew says what is gone, unless most of it stayed", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f"), "a\nb\nc\nd\n");
  expect((await at.call("fs.write", { path: "f", content: "a\nb\nx\ny\n" })).text).toBe("wrote 8 bytes to f");
  expect((await at.call("fs.write", { path: "f", content: "a\n" })).text).toBe("wrote 2 bytes to f\n[3 of the 4 lines that f had are gone]");
});
