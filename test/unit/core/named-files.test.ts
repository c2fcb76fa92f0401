// Which names a text holds.
import { expect, test } from "bun:test";
import { importedFiles, isSpokenOf, mentionedFiles, mentionedFolders, namesPath, namedFiles, namedFolders, saidEndings } from "../../../src/core/named-files.ts";

const files = ["a/notes.txt", "b/notes.txt", "report.txt", "monthly report.txt", "src/main.py", "src/main.pyc", "old/report.txt", "Makefile"];

test.each([
  ["a name, wherever such a file is", "What does notes.txt say?", ["a/notes.txt", "b/notes.txt"]],
  ["a name that is a path is that file", "What does report.txt say?", ["report.txt"]],
  ["a path is that file alone", "Read old/report.txt.", ["old/report.txt"]],
  ["a name with blanks, and not the names that it holds", 'What is in "monthly report.txt"?', ["monthly report.txt"]],
  ["a name by itself beside a longer one", "Compare report.txt and monthly report.txt", ["report.txt", "monthly report.txt"]],
  ["no part of another name", "main.pyc, not xmain.py", ["src/main.pyc"]],
  ["the end of a sentence", "Look at Makefile. Then at ./src/main.py.", ["src/main.py", "Makefile"]],
  ["none", "Hello", []],
])("%s", (_name, text, mentioned) => {
  expect(mentionedFiles(text, files)).toEqual(mentioned);
});

test("folders that are not there, inside those that are", () => {
  expect(namedFolders("Make notes/2026 and notes/old, either/or, then ./notes/2026/a and notes/b.md", [".", "notes", "notes/old"])).toEqual(["notes/2026", "notes/2026/a"]);
});

test("files by their usual endings", () => {
  expect(namedFiles("Write b.txt and ./src/c.py; v1.2, example.org and e.g. are none.")).toEqual(["b.txt", "src/c.py"]);
});

test("a path is named by itself, not by its name or by a longer one", () => {
  const args = JSON.stringify({ path: "test_stats.py", other: "b.txt" });
  expect(["test_stats.py", "stats.py", "b.txt", "sub/b.txt"].map((path) => namesPath(args, path))).toEqual([true, false, true, false]);
});

test("files of a kind, by pattern, ending or language", () => {
  expect(saidEndings("Change it in all *.js and .TS files, the Python files and the md files of src.")).toEqual([".js", ".ts", ".py", ".md"]);
  expect(saidEndings("Put both files into a.txt, v1.2 and the log file")).toEqual([]);
});

test("files that a program takes something from", () => {
  const all = ["limits.py", "src/util.js", "a.py", "notes.txt"];
  expect(importedFiles("from limits import MAX\nx = a\n", all)).toEqual(["limits.py"]);
  expect(importedFiles("import { f } from './util.js';\nconst notes = 1;\n", all)).toEqual(["src/util.js"]);
});

test.each([
  ["recipes/scones.md", "How hot is the oven for the scones?", true],
  ["recipes/banana-bread.md", "how long does the Banana bread take", true],
  ["recipes/banana-bread.md", "how long does the bread take", false],
  ["list.txt", "list the colours of the rainbow", false],
  ["scones.md", "What is the capital of France?", false],
  [".env", "which environment is this", false],
])("a file may be spoken of by what it is called after: %s, %s", (path, text, isSpoken) => {
  expect(isSpokenOf(path, text)).toBe(isSpoken);
});

test.each([
  ["with a slash behind it", "What is in todo/?", ["todo"]],
  ["at the end of a sentence", "The lists are in ./todo/. How many?", ["todo"]],
  ["as a word", "How many todo lists are there?", ["todo"]],
  ["inside another", "Look into todo/old.", ["todo/old"]],
  ["not as the place of a file", "Read todo/a.md and todo.txt.", []],
  ["not as a part of a word", "The todos of my-todo", []],
])("a folder is spoken of %s", (_name, text, expected) => {
  expect(mentionedFolders(text, [".", "todo", "todo/old"])).toEqual(expected);
});
