// The tools of the tests: the reader of reports, the workspace, the fault server, the tolerant parse of the checker.
import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { isTolerantParse } from "../../support/json-checker/partial-json.ts";
import { same } from "../../support/json-checker/values.ts";
import { readJunit } from "../../support/junit.ts";
import { makeWorkspace } from "../../support/workspace.ts";

describe("readJunit", () => {
  test("outcomes, names and times", () => {
    const xml = `<testsuites><testsuite name="a"><testcase name="x &amp; &quot;y&quot;" classname="group" time="0.25" file="a.test.ts" />
      <testcase name="bad" classname="" time="1" file="a.test.ts"><failure type="AssertionError" /></testcase>
      <testcase name="later" time="0" file="a.test.ts"><skipped /></testcase></testsuite></testsuites>`;
    expect(readJunit(xml)).toEqual([
      { name: 'group > x & "y"', file: "a.test.ts", outcome: "passed", durationMs: 250 },
      { name: "bad", file: "a.test.ts", outcome: "failed", durationMs: 1000 },
      { name: "later", file: "a.test.ts", outcome: "skipped", durationMs: 0 },
    ]);
    expect(readJunit("")).toEqual([]);
  });
});

describe("workspace", () => {
  test("shows text, bytes and links, and is gone afterwards", async () => {
    let path = "";
    {
      using workspace = makeWorkspace({ "a/b.txt": "text", "c.bin": new Uint8Array([0xff, 0]), "empty/": "" });
      path = workspace.path;
      symlinkSync("a", workspace.at("link"));
      expect(workspace.snapshot()).toEqual({ "a/b.txt": "text", "c.bin": "base64:/wA=", link: "-> a" });
    }
    expect(await Bun.file(path).exists()).toBe(false);
  });
});

describe("isTolerantParse", () => {
  const takes = (value: unknown, text: string): boolean => isTolerantParse(value, text, same);

  test("a whole text has one parse", () => {
    expect(takes({ path: "." }, '{"path":"."}')).toBe(true);
    expect(takes({}, '{"path":"."}')).toBe(false);
  });

  test("the readable beginnings of a cut text", () => {
    for (const value of [{}, { path: "ab" }, { path: "ab", n: 1 }]) expect(takes(value, '{"path":"ab","n":1')).toBe(true);
    expect(takes({ path: "a" }, '{"path":"a')).toBe(true);
    expect(takes({ path: "a" }, '{"path":"a\\u00')).toBe(true);
    expect(takes({ list: [1, { a: "b" }] }, '{"list":[1,{"a":"b"}')).toBe(true);
    expect(takes({}, "")).toBe(true);
  });

  test("not what the text doesn't say yet", () => {
    expect(takes({ path: "abc" }, '{"path":"ab')).toBe(false);
    expect(takes({ path: "ab", n: 1 }, '{"path":"ab"')).toBe(false);
    expect(takes({ other: "" }, '{"path":"ab')).toBe(false);
  });
});
