// What a model is told of a workspace beside a request.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeWorkspace } from "../../../src/tools/describe-workspace.ts";
import { isForeign } from "../../../src/tools/related-files.ts";
import { fixture } from "./fixture.ts";

const put = (folder: string, ...paths: string[]): void => {
  for (const path of paths) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), "x");
  }
};

test("nothing where nothing is taken for granted wrongly", async () => {
  using at = fixture();
  put(at.workspace, "b.txt", "src/main.py");
  expect(await describeWorkspace(at.workspace, at.options.home, "what is in b.txt and main.py?")).toBe("");
});

test("an empty folder", async () => {
  using at = fixture();
  expect(await describeWorkspace(at.workspace, at.options.home, "hello")).toBe("The folder is empty.");
});

test("files that the request names in vain; a version or a host is no file", async () => {
  using at = fixture();
  put(at.workspace, "notes.txt", "src/main.py");
  const told = await describeWorkspace(at.workspace, at.options.home, "Copy notes.txt and main.py to src/copy.md, not to v1.2 or example.org; then read plan.txt.");
  expect(told).toBe("(There is no src/copy.md and no plan.txt here.)");
});

test("files that hold words of a request that names none, the most telling first", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "backup.sh"), "KEEP_DAYS=14\nrsync notes\n");
  writeFileSync(join(at.workspace, "README.md"), "Backups: see backup.sh\n");
  writeFileSync(join(at.workspace, "other.txt"), "nothing of it\n");
  expect(await describeWorkspace(at.workspace, at.options.home, "Keep the backups for 30 days instead of 14.")).toBe("(Words of this request are in backup.sh (Keep, days, 14).)");
  expect(await describeWorkspace(at.workspace, at.options.home, "Is rsync used in README.md?")).toBe("");
  expect(await describeWorkspace(at.workspace, at.options.home, "Thank you!")).toBe("");
});

test("a folder with too many names is not looked through", async () => {
  using at = fixture();
  put(at.workspace, ...Array.from({ length: 320 }, (_, index) => `data/${index}.txt`));
  expect(await describeWorkspace(at.workspace, at.options.home, "read plan.txt")).toBe("");
});

test("no file has to do with a request when none has a word of it, as far as all could be looked through", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "notes.txt"), "buy paint\n");
  const foreign = (request: string, files = ["notes.txt"]): Promise<boolean> => isForeign(at.workspace, at.options.home, files, request);
  expect([await foreign("which river is the longest in Africa"), await foreign("Which paints do we need?"), await foreign("What do my notes say?"), await foreign("What is it?")]).toEqual([true, false, false, false]);
  writeFileSync(join(at.workspace, "long.txt"), "x".repeat(100_000));
  expect(await foreign("which river is the longest in Africa", ["notes.txt", "long.txt"])).toBe(false);
});
