// What a model is told of a workspace before it looks.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeWorkspace } from "../../../src/tools/describe-workspace.ts";
import { fixture } from "./fixture.ts";

const put = (folder: string, ...paths: string[]): void => {
  for (const path of paths) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), "x");
  }
};

test("few files: each of them, and folders without any", async () => {
  using at = fixture();
  put(at.workspace, "b.txt", "src/main.py", ".hidden");
  mkdirSync(join(at.workspace, "empty"));
  expect(await describeWorkspace(at.workspace, "what is this?")).toBe("All files here: b.txt, empty/, src/main.py");
});

test("many files: the names at the top", async () => {
  using at = fixture();
  put(at.workspace, ...Array.from({ length: 60 }, (_, index) => `data/${index}.txt`), "a.txt");
  expect(await describeWorkspace(at.workspace, "")).toBe("At the top of the folder: a.txt, data/");
});

test("an empty folder", async () => {
  using at = fixture();
  expect(await describeWorkspace(at.workspace, "hello")).toBe("The folder is empty.");
});

test("files that the request names in vain", async () => {
  using at = fixture();
  put(at.workspace, "notes.txt", "src/main.py");
  const told = await describeWorkspace(at.workspace, "Copy notes.txt and main.py to src/copy.md, not to v1.2 or example.org; then read plan.txt.");
  expect(told).toBe("All files here: notes.txt, src/main.py\nNot here: src/copy.md, plan.txt");
});
