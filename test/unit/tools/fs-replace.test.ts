// fs.replace: every place, words before parts of words, and not a byte more.
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fixture } from "./fixture.ts";

const replacements: [name: string, before: string, oldText: string, newText: string, after: string, count: number][] = [
  ["every place", "x a\nx\r\nx", "x", "y", "y a\ny\r\ny", 3],
  ["words, when there are some", "cat category\nCat, cat.\n", "cat", "dog", "dog category\nCat, dog.\n", 2],
  ["parts of words, when there are no others", "colours, colouring\n", "colour", "color", "colors, coloring\n", 2],
  ["text that is no word", "a->b->c\n", "->", ".", "a.b.c\n", 2],
  ["several lines", "a\r\nb\r\na\r\nb\r\n", "a\nb", "c\nd\ne", "c\r\nd\r\ne\r\nc\r\nd\r\ne\r\n", 2],
];
test.each(replacements)("replaces: %s", async (_name, before, oldText, newText, after, count) => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f"), before);
  expect(await at.call("fs.replace", { path: "f", oldText, newText })).toMatchObject({ isError: false, details: { replacements: count } });
  expect(readFileSync(join(at.workspace, "f"), "utf8")).toBe(after);
});

test("shows each line that changed, and says what it left", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f"), "cat\nno\ncat cat\ncategory\n");
  writeFileSync(join(at.workspace, "g"), "Cat CAT cat Category\n");
  expect((await at.call("fs.replace", { path: "g", oldText: "cat", newText: "dog" })).text).toEndWith("\n[still there, with other capitals: Cat, CAT]");
  expect((await at.call("fs.replace", { path: "f", oldText: "cat", newText: "dog\npuppy" })).text).toBe("replaced 3 places in f; it now reads:\n1: dog\n4: dog\n5: puppy dog\n[1 inside longer words was left]");
});

test("a word in small letters is replaced at the beginning of a sentence too, in prose alone", async () => {
  using at = fixture();
  const text = "Cat and cat.\r\nCategory, CAT\n";
  for (const name of ["f.md", "f.py"]) writeFileSync(join(at.workspace, name), text);
  const { text: told } = await at.call("fs.replace", { path: "f.md", oldText: "cat", newText: "a cat" });
  expect(told).toBe("replaced 2 places in f.md, 1 with a capital letter; it now reads:\n1: A cat and a cat.\n[still there, with other capitals: CAT]");
  expect(readFileSync(join(at.workspace, "f.md"), "utf8")).toBe("A cat and a cat.\r\nCategory, CAT\n");
  await at.call("fs.replace", { path: "f.py", oldText: "cat", newText: "a cat" });
  expect(readFileSync(join(at.workspace, "f.py"), "utf8")).toBe("Cat and a cat.\r\nCategory, CAT\n");
});

test.each([
  ["abc\n", { oldText: "zzzzzz", newText: "" }, "oldText is not in f (0 places), so nothing was changed; no line resembles it; read the file first"],
  ["a\n", { oldText: "a", newText: "a" }, "newText is the same as oldText (line ends are kept as they are); f was not changed"],
  ["a\0b", { oldText: "a", newText: "b" }, "f is a binary file; fs.replace takes plain text only"],
])("changes nothing in %j", async (before, args, text) => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f"), before);
  expect(await at.call("fs.replace", { path: "f", ...args })).toMatchObject({ isError: true, text });
  expect(readFileSync(join(at.workspace, "f"), "utf8")).toBe(before);
});

test("in all text files of a folder, what is ignored or hidden left out; nothing is written before all of it is sound", async () => {
  using at = fixture();
  for (const [path, content] of [["a.py", "old = 1\nprint(old)\n"], ["sub/b.py", "import old\n"], ["sub/older.py", "older = 1\n"], ["bin", "old\0"], [".hidden.py", "old\n"], ["out/x.py", "old\n"], [".gitignore", "out\n"]] as const) {
    mkdirSync(join(at.workspace, path, ".."), { recursive: true });
    writeFileSync(join(at.workspace, path), content);
  }
  const all = { path: ".", oldText: "old", newText: "new" };
  const [need] = await at.needs("fs.replace", all);
  expect([need?.reason, need?.preview?.includes("+import new")]).toEqual(["replace 3 occurrence(s) in 2 files", true]);
  expect(await at.call("fs.replace", all)).toMatchObject({ isError: false, text: "replaced 3 places in 2 files; they now read:\na.py:\n1: new = 1\n2: print(new)\nsub/b.py:\n1: import new", details: { replacements: 3 } });
  expect(await at.call("fs.replace", all)).toMatchObject({ isError: false, text: "replaced 1 place in sub/older.py; it now reads:\n1: newer = 1" });
  expect(await at.call("fs.replace", all)).toMatchObject({ isError: true, text: "oldText is in no text file of .; nothing was changed" });
  expect(await at.call("fs.replace", { ...all, path: at.outside })).toMatchObject({ isError: true, text: expect.stringContaining("is outside the workspace; name one file") });
  writeFileSync(join(at.workspace, "c.json"), '{"new":1}');
  expect(await at.call("fs.replace", { path: ".", oldText: "new", newText: 'n"ew' })).toMatchObject({ isError: true, text: expect.stringContaining("c.json could not be read by its own format") });
  expect(readFileSync(join(at.workspace, "a.py"), "utf8")).toBe("new = 1\nprint(new)\n");
});
