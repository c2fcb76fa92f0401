// fs.count: lines, words and files as they really are, in files of any size.
import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fixture } from "./fixture.ts";

test("a text file", async () => {
  using at = fixture();
  for (const [content, counts] of [
    ["one two\nthree\n", "2 lines, 3 words, 14 characters, 14 bytes"],
    ["one", "1 line, 1 word, 3 characters, 3 bytes"],
    ["", "0 lines, 0 words, 0 characters, 0 bytes"],
    ["\n\n", "2 lines, 0 words, 2 characters, 2 bytes"],
    ["\uFEFFé 😀\r\nlast", "2 lines, 3 words, 9 characters, 16 bytes"],
  ] as const) {
    writeFileSync(join(at.workspace, "a.txt"), content);
    expect((await at.call("fs.count", { path: "a.txt" })).text).toBe(`a.txt: ${counts}`);
  }
  writeFileSync(join(at.workspace, "a.txt"), "a\nb");
  expect((await at.call("fs.count", { path: "a.txt" })).details).toEqual({ path: join(at.workspace, "a.txt"), lines: 2, words: 2, characters: 3, bytes: 3 });
});

test("characters and words across the pieces in which a file is read", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f"), `${"€".repeat(200_000)} ${"😀 é\n".repeat(200_000)}`);
  expect((await at.call("fs.count", { path: "f" })).text.split("\n")[0]).toBe("f: 200000 lines, 400001 words, 1000001 characters, 2200001 bytes");
});

test("lines that hold a pattern", async () => {
  using at = fixture();
  mkdirSync(join(at.workspace, "logs"));
  writeFileSync(join(at.workspace, "logs/a.log"), "GET /404 200\nGET /a 404\nGET /b 404 404\n");
  writeFileSync(join(at.workspace, "logs/b.log"), "none\n");
  writeFileSync(join(at.workspace, "logs/c.log"), "x 404");
  expect(await at.call("fs.count", { path: "logs/a.log", pattern: "404$" })).toMatchObject({ text: '2 of 3 lines in logs/a.log hold "404$"', details: { lines: 3, hits: 2 } });
  expect((await at.call("fs.count", { path: "logs/c.log", pattern: "404" })).text).toBe('1 of 1 line in logs/c.log holds "404"');
  expect(await at.call("fs.count", { path: "logs", pattern: "404" })).toMatchObject({ text: '4 lines in 2 of 3 files in logs hold "404"\nlogs/a.log: 3 lines\nlogs/c.log: 1 line', details: { files: 3, hits: 4 } });
  expect((await at.call("fs.count", { path: "logs", pattern: "absent" })).text).toBe('0 lines in 0 of 3 files in logs hold "absent"\nin all files: 3 lines begin with "GET"; 1 with "none"; 1 with "x"\nin all files: 3 lines hold "GET"');
  expect((await at.call("fs.count", { path: "logs", pattern: "x (" })).text).toContain('\n[no regular expression (');
  expect(await at.call("fs.count", { path: "logs", pattern: "a\nb" })).toMatchObject({ isError: true, text: "the pattern holds a line end; fs.count looks at one line at a time" });
});

test("lines that hold the pattern in other capitals are told beside", async () => {
  using at = fixture();
  for (const [name, text] of [["a.log", "1 FAILED\n2 ok, nothing failed\n3 FAILED\n4 Failed twice, failed\n"], ["b.log", "FAILED\n"]] as const) writeFileSync(join(at.workspace, name), text);
  expect((await at.call("fs.count", { path: "a.log", pattern: "failed" })).text).toBe('2 of 4 lines in a.log hold "failed"\n2 lines hold it written "FAILED"');
  expect((await at.call("fs.count", { path: "b.log", pattern: "failed" })).text).toBe('0 of 1 line in b.log hold "failed"\n1 line holds it written "FAILED"');
  expect((await at.call("fs.count", { pattern: "failed" })).text).toBe('2 lines in 1 of 2 files in . hold "failed"\na.log: 2 lines\n3 lines hold it written "FAILED"');
  expect((await at.call("fs.count", { path: "a.log", pattern: "fail.d" })).text).toBe('2 of 4 lines in a.log hold "fail.d"');
});

test("the files of a folder, by the end of their names; what is ignored or hidden is not counted", async () => {
  using at = fixture();
  for (const [path, content] of [["README.md", "# r\n"], ["docs/deep/a.md", "1\n2\n"], ["docs/b.md.png", "\u0089PNG\0"], ["Makefile", "all:\n"], ["out/x.md", "x"], [".gitignore", "out\n"], [".git/x.md", "x"]] as const) {
    mkdirSync(join(at.workspace, path, ".."), { recursive: true });
    writeFileSync(join(at.workspace, path), content);
  }
  symlinkSync(at.outside, join(at.workspace, "link"));
  expect(await at.call("fs.count", { what: "files" })).toMatchObject({ text: "Markdown files (.md): 2\nfiles without ending: 1\n.png files: 1\nall files in . and the 2 folders below: 4", details: { files: 4, folders: 2 } });
  expect((await at.call("fs.count", {})).text).toBe(["4 lines in 4 files in .", "3 lines in 2 .md", "1 line in 1 without ending", "0 lines in 1 .png", "Makefile: 1 line", "README.md: 1 line", "docs/b.md.png: no text", "docs/deep/a.md: 2 lines"].join("\n"));
  expect((await at.call("fs.count", { what: "words", path: "docs/deep", glob: "*.md" })).text).toBe("2 words in 1 file in docs/deep\ndocs/deep/a.md: 2 words");
  expect((await at.call("fs.count", { what: "files", path: "docs/deep", glob: "*.none" })).text).toBe("0 files in docs/deep");
  expect((await at.call("fs.count", { what: "files", path: "docs", pattern: "md$" })).text).toBe('0 lines in 0 of 2 files in docs hold "md$"\n.png files: 1\nMarkdown files (.md): 1\nall files in docs and the 1 folder below: 2');
  expect((await at.call("fs.count", { what: "files", path: "README.md", pattern: "markdown" })).text).toBe('0 of 1 line in README.md hold "markdown"');
  expect((await at.call("fs.count", { what: "files", path: "README.md", pattern: "r" })).text).toBe('1 of 1 line in README.md holds "r"');
  for (let index = 0; index < 30; index += 1) writeFileSync(join(at.workspace, `docs/deep/${index}.txt`), "x\n");
  expect((await at.call("fs.count", { path: "docs/deep" })).text).toBe("32 lines in 31 files in docs/deep\n30 lines in 30 .txt\n2 lines in 1 .md\nin all files: 30 lines begin with \"x\"; 1 with \"1\"; 1 with \"2\"\nin all files: 30 lines hold \"x\"");
});

test("without a pattern what occurs in a text how often", async () => {
  using at = fixture();
  const counted = async (name: string, content: string): Promise<string[]> => {
    writeFileSync(join(at.workspace, name), content);
    return (await at.call("fs.count", { what: "files", path: name })).text.split("\n").slice(1);
  };
  expect(await counted("list.md", "# To do\n\n- [x] a\n- [ ] b\n- [ ] c\n")).toEqual(['2 lines begin with "- [ ]" (open, not done); 1 with "#"; 1 with "- [x]" (ticked, done)']);
  expect((await at.call("fs.count", { pattern: "open" })).text).toBe('0 lines in 0 of 1 file in . hold "open"');
  writeFileSync(join(at.workspace, "other.md"), "- [ ] d\n");
  expect((await at.call("fs.count", { pattern: "open" })).text).toBe('0 lines in 0 of 2 files in . hold "open"\nin all files: 3 lines begin with "- [ ]" (open, not done); 1 with "#"; 1 with "- [x]" (ticked, done)');
  expect(await counted("a.log", "1 ok job\n2 FAIL job\n3 ok job\n4 WARN job\n")).toEqual(['4 lines hold "job"; 2 "ok"']);
  expect(await counted("a.csv", "name,town,paid\nA,Bern,yes\nB,Bern,no\nC,Chur,yes\n")).toEqual(["3 rows", "town: Bern 2, Chur 1", "paid: yes 2, no 1"]);
  expect(await counted("a.json", '[{"kind":"x"},{"kind":"x"},{"kind":"y"}]')).toEqual(["3 rows", "kind: x 2, y 1"]);
  expect(await counted("one.json", '{"a":1}')).toEqual(expect.any(Array));
  writeFileSync(join(at.workspace, "a.txt"), "bb\nbb\n");
  expect((await at.call("fs.count", { path: "a.txt", pattern: "c" })).text).toBe('0 of 2 lines in a.txt hold "c"\n2 lines begin with "bb"\n2 lines hold "bb"');
});

test("what is no text, missing, or outside", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "binary"), "a\0");
  expect(await at.call("fs.count", { path: "binary" })).toMatchObject({ isError: true, text: "binary is no text file (2 bytes); fs.count counts text only" });
  expect(await at.call("fs.count", { path: "binery" })).toMatchObject({ isError: true, text: expect.stringContaining("did you mean binary?") });
  expect(await at.needs("fs.count", { path: at.outside })).toMatchObject([{ category: "fs_read_outside" }]);
  at.context.signal = AbortSignal.abort();
  writeFileSync(join(at.workspace, "f"), "x");
  await expect(at.tool("fs.count").run(at.tool("fs.count").schema.parse({ path: "f" }), at.context)).rejects.toThrow();
});

test("lines that stand there several times are counted as they are", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "jobs.yaml"), "- name: a\n  on: false\n- name: b\n  on: true\n- name: c\n  on: false\n");
  expect((await at.call("fs.count", { path: "jobs.yaml" })).text).toContain('2 lines are "on: false"');
});

test.each([
  ["model.rs", "// a struct of old\npub struct A;\nstruct B(u8);\n#[derive(Debug)]\n", '2 lines hold "struct"'],
  ["a.js", "// count is private\nclass A {\n  #count = 0;\n  add() { this.#count += 1; }\n}\n", '2 lines hold "count"'],
  ["a.c", "/* p\n * p\n */\n*p = 1;\n*p = 2;\n", '2 lines hold "p"'],
  ["a.py", "# value\nvalue = 1\nvalue += 1\n", '2 lines hold "value"'],
  ["a.lua", "-- key\nkey = 1\nkey = 2\n", '2 lines hold "key"'],
])("comments of code are not counted where no pattern says what is: %s", async (path, content, told) => {
  using at = fixture();
  writeFileSync(join(at.workspace, path), content);
  expect((await at.call("fs.count", { path })).text).toContain(told);
});
