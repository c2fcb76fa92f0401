// fs.edit: only the bytes asked for change, and a failed edit changes none.
import { expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fixture } from "./fixture.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");

const edits: [name: string, before: string, oldText: string, newText: string, after: string][] = [
  ["CRLF, old text with LF", "a\r\nb\r\nc\r\n", "a\nb", "a\nB", "a\r\nB\r\nc\r\n"],
  ["CRLF, old text with CRLF", "a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"],
  ["CRLF, one line becomes two", "a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"],
  ["CRLF, old text begins and ends with a line end", "a\r\nb\r\nc", "\nb\n", "\n", "a\r\nc"],
  ["mixed line ends keep theirs", "a\nb\r\nc\n", "a", "A\nA", "A\nA\nb\r\nc\n"],
  ["mixed line ends, the CRLF part", "a\nb\r\nc\n", "b\nc", "b\nC", "a\nb\r\nC\n"],
  ["a whole line by nothing", "a\nb\nc\n", "b", "", "a\nc\n"],
  ["two whole lines by nothing, CRLF", "a\r\nb\r\nc\r\n", "a\nb", "", "c\r\n"],
  ["a whole line with its line end by nothing", "a\nb\nc\n", "b\n", "", "a\nc\n"],
  ["a part of a line by nothing", "ab\nc\n", "b", "", "a\nc\n"],
  ["LF file, new text with CRLF", "a\nb\n", "a", "x\r\ny", "x\ny\nb\n"],
  ["BOM", "\xef\xbb\xbfx=1\n", "x=1", "x=2", "\xef\xbb\xbfx=2\n"],
  ["BOM in the old text", "\xef\xbb\xbfx=1\n", "\uFEFFx=1", "\uFEFFx=2", "\xef\xbb\xbfx=2\n"],
  ["no BOM is added", "x=\xc3\xa9\n", "x=", "y=", "y=\xc3\xa9\n"],
  ["no final newline", "a\nb", "b", "c", "a\nc"],
  ["unknown encoding", "caf\xe9 \xff\xfe\x80\na=1\n", "a=1", "a=2", "caf\xe9 \xff\xfe\x80\na=2\n"],
  ["signs of replacement patterns", "a\n", "a", "$& $1 \\n", "$& $1 \\n\n"],
  ["to nothing", "a\n", "a\n", "", ""],
  ["lone CR", "a\rb\r\nc\r\n", "a\rb\nc", "x", "x\r\n"],
];
test.each(edits)("an edit: %s", async (_name, before, oldText, newText, after) => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f"), bytes(before));
  const edited = await at.call("fs.edit", { path: "f", oldText, newText });
  expect(edited.text).toStartWith("replaced 1 place in f; it now reads:\n");
  expect(readFileSync(join(at.workspace, "f")).toString("latin1")).toBe(after);
});

test("the diff has just the changed lines, and details their order", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f"), "a\r\nb\r\nc\r\n");
  const { text, details } = await at.call("fs.edit", { path: "f", oldText: "a\nb", newText: "a\nB" });
  expect(details).toEqual({ path: join(at.workspace, "f"), replacements: 1, diff: "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", firstChangedLine: 2 });
  expect(Object.keys(details)).toEqual(["path", "replacements", "diff", "firstChangedLine"]);
  expect(text).toBe("replaced 1 place in f; it now reads:\n1: a\n2: B\n3: c");
});

test("all places", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f"), "x\r\ny x\r\nxx\r\n");
  const edited = await at.call("fs.edit", { path: "f", oldText: "x", newText: "z", replaceAll: true });
  expect(edited).toMatchObject({ isError: false, details: { replacements: 4, firstChangedLine: 1 } });
  expect(readFileSync(join(at.workspace, "f"), "utf8")).toBe("z\r\ny z\r\nzz\r\n");
});

const failures: [name: string, before: string, args: Record<string, unknown>, text: string][] = [
  ["absent", "def f(a, b):\n    return a+b\n", { oldText: "return a + b", newText: "return a - b" }, "oldText is not in f (0 places), so nothing was changed; the nearest is line 2:\n2:     return a+b"],
  ["nothing like it", "abc\n", { oldText: "zzzzzz", newText: "" }, "oldText is not in f (0 places), so nothing was changed; no line resembles it; read the file first"],
  ["empty file", "", { oldText: "a", newText: "" }, "oldText is not in f (0 places), so nothing was changed; the file is empty"],
  ["ambiguous", "a\nb\na\n", { oldText: "a", newText: "c" }, "oldText is in f 2 times, on lines 1, 3; put the line above the one that is meant into oldText too, or replace them all with fs.replace. Nothing was changed."],
  ["what follows written again", "def f(a):\r\n    b = a * 2\r\n    return b\r\n", { oldText: "def f(a):", newText: "def f(a, c):\n    b = a * 2\n    return b" }, "newText ends with what follows oldText in f already, and it would be there twice:\n    b = a * 2\n    return b\nPut these lines into oldText too, or leave them out of newText. Nothing was changed."],
  ["the same", "a\n", { oldText: "a", newText: "a" }, "newText is the same as oldText (line ends are kept as they are); f was not changed"],
  ["binary", "a\0b", { oldText: "a", newText: "b" }, "f is a binary file; fs.edit takes plain text only"],
];
test.each(failures)("a failed edit changes nothing: %s", async (_name, before, args, text) => {
  using at = fixture();
  const path = join(at.workspace, "f");
  writeFileSync(path, before);
  const { mtimeMs, ino } = statSync(path);
  expect(await at.call("fs.edit", { path: "f", ...args })).toMatchObject({ isError: true, text, details: {} });
  expect(readFileSync(path, "utf8")).toBe(before);
  expect([statSync(path).mtimeMs, statSync(path).ino]).toEqual([mtimeMs, ino]);
});

test.each([
  ["a closing bracket more", "f(\n}\n", "f(", "f() {\n}", "f() {\n}\n}\n"],
  ["a line like the next, with others behind it", "one\nsecond line\n", "one", "one\nsecond line\nthird", "one\nsecond line\nthird\nsecond line\n"],
  ["the next line within the old text", "one\nsecond line\n", "one\nsecond line", "one\nsecond line\nsecond line", "one\nsecond line\nsecond line\n"],
])("is meant as it is: %s", async (_name, before, oldText, newText, after) => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f"), before);
  expect((await at.call("fs.edit", { path: "f", oldText, newText })).isError).toBe(false);
  expect(readFileSync(join(at.workspace, "f"), "utf8")).toBe(after);
});

test("the question shows the diff; outside the workspace it tells nothing before it is allowed", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f"), "a\n");
  expect(await at.needs("fs.edit", { path: "f", oldText: "a", newText: "b" })).toMatchObject([{ category: "fs_write_workspace", silentFrom: 2, reason: `edit 1 occurrence(s) in ${at.workspace}/f`, preview: expect.stringContaining("-a\n+b") }]);
  writeFileSync(join(at.outside, "secret.txt"), "secret line\n");
  expect(await at.needs("fs.edit", { path: join(at.outside, "secret.txt"), oldText: "secret lime", newText: "b" })).toMatchObject([{ category: "other", silentFrom: 5, preview: "" }]);
  expect(at.needs("fs.edit", { path: "f", oldText: "absent", newText: "b" })).rejects.toThrow("oldText is not in f");
});
