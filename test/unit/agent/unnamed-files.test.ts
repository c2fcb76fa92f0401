// Which files a question is about that names none.
import { expect, test } from "bun:test";
import { allWhereSmall, spokenFiles } from "../../../src/agent/unnamed-files.ts";
import type { WorkspaceView } from "../../../src/core/tool.ts";

const texts: Record<string, string> = { "scones.md": "x".repeat(900), "bread.md": "x".repeat(900), "club/a.txt": "x".repeat(900), "club/b.txt": "x".repeat(900) };
const viewOf = (known: Record<string, string>): WorkspaceView => ({ text: async (path: string) => known[path] }) as unknown as WorkspaceView;
const names = { files: Object.keys(texts), folders: [".", "club"] };

test("those that are called as it speaks, as long as they are few", () => {
  expect([spokenFiles("How hot is the oven for the scones?", names), spokenFiles("How hot is it?", names)]).toEqual([["scones.md"], []]);
  expect(spokenFiles("scone", { files: ["a/scones.md", "b/scones.md", "c/scones.md", "d/scones.md"], folders: [] })).toEqual([]);
});

test("all of a small folder: of the one that it names, else of the whole", async () => {
  expect(await allWhereSmall("Who is it?", names, viewOf(texts))).toEqual([]);
  expect(await allWhereSmall("Who is it? See club/.", names, viewOf(texts))).toEqual(["club/a.txt", "club/b.txt"]);
  expect(await allWhereSmall("Who is it?", { files: ["scones.md", "bread.md"], folders: ["."] }, viewOf(texts))).toEqual(["scones.md", "bread.md"]);
});

test("none where one of them is no text, or where they are many", async () => {
  expect(await allWhereSmall("Who?", { files: ["scones.md", "photo.png"], folders: ["."] }, viewOf(texts))).toEqual([]);
  const many = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`${index}.txt`, "x"]));
  expect(await allWhereSmall("Who?", { files: Object.keys(many), folders: ["."] }, viewOf(many))).toEqual([]);
});
