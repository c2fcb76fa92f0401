// What a small model is told beside a result: the counts that it would get wrong.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hintOf } from "../../../src/agent/hint.ts";
import { fixture } from "./fixture.ts";

async function hinted(name: string, args: Record<string, unknown>, request = ""): Promise<string> {
  using at = fixture();
  for (const folder of ["docs", "src"]) mkdirSync(join(at.workspace, folder));
  for (const path of ["[slug].md", "b.md", "docs/c.md"]) writeFileSync(join(at.workspace, path), "one\ntwo\none\n");
  if (request !== "") writeFileSync(join(at.workspace, "docs/d.md"), "one\n".repeat(99));
  const { details, isError, text } = await at.call(name, args);
  return hintOf({ role: "toolResult", toolCallId: "1", toolName: name, content: [{ type: "text", text }], details, isError, timestamp: 0 }, [at.tool(name)], request);
}

test.each([
  ["fs.list", {}, "(2 folders: docs, src; 2 files)"],
  ["fs.list", { path: "docs" }, "(0 folders and 1 file)"],
  ["fs.list", { path: "src" }, "(0 folders and 0 files)"],
  ["fs.find", { pattern: "*.md" }, "(0 folders and 3 files)"],
  ["fs.find", { pattern: "*.txt" }, ""],
  ["fs.grep", { pattern: "one" }, "(6 matches, in 3 files)"],
  ["fs.list", { limit: 1 }, ""],
  ["fs.read", { path: "b.md" }, ""],
  ["fs.list", { path: "absent" }, ""],
])("%s %j", async (name, args, told) => {
  expect(await hinted(name, args)).toBe(told);
});

test("asked for sizes, the largest file, also of the folders that a listing shows", async () => {
  expect(await hinted("fs.list", {}, "What is the biggest file?")).toBe("(2 folders: docs, src; 2 files; the largest file: docs/d.md, 396 bytes)");
  expect(await hinted("fs.find", { pattern: "b*" }, "What is the biggest file?")).toBe("(0 folders and 1 file)");
});

test("asked for the smallest, or for empty ones, also these", async () => {
  expect(await hinted("fs.list", { path: "docs" }, "Which is the shortest text?")).toBe("(0 folders and 2 files; the smallest file: c.md, 12 bytes)");
  expect(await hinted("fs.list", {}, "Are there empty files?")).toBe("(2 folders: docs, src; 2 files; empty files: none)");
  using at = fixture();
  for (const name of ["a.md", "b.md", "c.md"]) writeFileSync(join(at.workspace, name), name === "b.md" ? "x" : "");
  const { details, text } = await at.call("fs.find", { pattern: "*.md" });
  expect(hintOf({ role: "toolResult", toolCallId: "1", toolName: "fs.find", content: [{ type: "text", text }], details, isError: false, timestamp: 0 }, [at.tool("fs.find")], "Which files are empty?")).toBe("(0 folders and 3 files; empty files: a.md, c.md)");
});

test("names that hold a word of the request, where others do not", async () => {
  const told = async (request: string): Promise<string> => {
    using at = fixture();
    for (const name of ["march-trumpet.txt", "march-horn.txt", "waltz-trumpet.txt"]) writeFileSync(join(at.workspace, name), name);
    const { details, text } = await at.call("fs.list", {});
    return hintOf({ role: "toolResult", toolCallId: "1", toolName: "fs.list", content: [{ type: "text", text }], details, isError: false, timestamp: 0 }, [at.tool("fs.list")], request);
  };
  expect(await told("Which parts are for the trumpets?")).toBe("(0 folders and 3 files; with trumpets: march-trumpet.txt, waltz-trumpet.txt)");
  expect(await told("Which txt files are there?")).toBe("(0 folders and 3 files)");
});

test("asked for the last or first of numbered files, which that is", async () => {
  const told = async (request: string): Promise<string> => {
    using at = fixture();
    for (const name of ["1_a.sql", "2_b.sql", "10_c.sql"]) writeFileSync(join(at.workspace, name), "");
    const { details, text } = await at.call("fs.list", {});
    return hintOf({ role: "toolResult", toolCallId: "1", toolName: "fs.list", content: [{ type: "text", text }], details, isError: false, timestamp: 0 }, [at.tool("fs.list")], request);
  };
  expect(await told("Which migration is the latest?")).toBe("(0 folders and 3 files; the last in their order: 10_c.sql)");
  expect(await told("which comes first")).toBe("(0 folders and 3 files; the first in their order: 1_a.sql)");
  expect(await told("which are there")).toBe("(0 folders and 3 files)");
});

test("cells of a table that hold nothing are told", async () => {
  const told = async (name: string, content: string): Promise<string> => {
    using at = fixture();
    writeFileSync(join(at.workspace, name), content);
    const { details, text } = await at.call("fs.read", { path: name });
    return hintOf({ role: "toolResult", toolCallId: "1", toolName: "fs.read", content: [{ type: "text", text }], details, isError: false, timestamp: 0 }, [at.tool("fs.read")]);
  };
  expect(await told("a.csv", "name,street,phone\nbakery,Mill Lane 4,\nforge,,555\n")).toBe("(no phone of bakery, no street of forge: these cells are empty)");
  expect(await told("b.csv", "name,phone\nbakery,1\n")).toBe("");
  expect(await told("c.txt", "name,phone\nbakery,\n")).toBe("");
  expect(await told("d.csv", `name,phone\n${"x,\n".repeat(20)}`)).toBe("");
});
