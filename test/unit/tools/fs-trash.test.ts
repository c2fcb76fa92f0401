// fs.trash: what is trashed is in the user's trash, with a note, and nowhere else.
import { expect, test } from "bun:test";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rawPath } from "../../../src/tools/path-text.ts";
import { moveToTrash } from "../../../src/tools/trash-place.ts";
import { fixture } from "./fixture.ts";

const trash = process.platform === "darwin" ? ".Trash" : ".local/share/Trash/files";

test("files, folders and links move, and the result names them", async () => {
  using at = fixture();
  for (const path of ["a", "b/c", "kept"]) await at.call("fs.write", { path, content: path });
  symlinkSync("kept", join(at.workspace, "link"));
  const done = await at.call("fs.trash", { paths: ["a", "b", "b/c", "link"] });
  expect(done).toMatchObject({ isError: false, text: "moved to the trash:\na\nb\nlink", details: { paths: ["a", "b", "link"].map((name) => join(at.workspace, name)), trashed: 3 } });
  expect(Object.keys(done.details)).toEqual(["paths", "trashed"]);
  expect(readdirSync(at.workspace)).toEqual(["kept"]);
  const files = join(at.options.home, trash);
  expect(readFileSync(join(files, "b/c"), "utf8")).toBe("b/c");
  expect(lstatSync(join(files, "link")).isSymbolicLink()).toBe(true);
});

test.if(process.platform === "linux")("each thing has its note; names that are taken or too long get another", async () => {
  using at = fixture();
  const long = "n".repeat(255);
  for (const path of ["a b", "sub/a b", long]) await at.call("fs.write", { path, content: "x" });
  await at.call("fs.trash", { paths: ["a b"] });
  await at.call("fs.trash", { paths: ["sub/a b", long] });
  const info = join(at.options.home, ".local/share/Trash/info");
  expect(readdirSync(info).toSorted()).toEqual(["a b.2.trashinfo", "a b.trashinfo", `${"n".repeat(230)}.trashinfo`]);
  expect(readFileSync(join(info, "a b.2.trashinfo"), "utf8")).toMatch(/^\[Trash Info\]\nPath=\/.*\/work\/sub\/a%20b\nDeletionDate=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\n$/);
});

test("what is missing, or holds the workspace or the home, is refused before anything moves", async () => {
  using at = fixture();
  await at.call("fs.write", { path: "a", content: "x" });
  expect(await at.call("fs.trash", { paths: ["a", "bb"] })).toMatchObject({ isError: true, text: expect.stringContaining("bb does not exist") });
  for (const path of [".", "..", "~", "/", "~/.atomic"]) expect(await at.call("fs.trash", { paths: [path] })).toMatchObject({ isError: true, text: expect.stringContaining("cannot be moved to the trash") });
  expect(readdirSync(at.workspace)).toEqual(["a"]);
});

test.if(process.platform === "linux" && existsSync("/dev/shm"))("from another file system, where its own trash cannot be made, a copy moves", async () => {
  using at = fixture();
  const other = mkdtempSync("/dev/shm/atomic-trash-");
  try {
    mkdirSync(join(other, "d"));
    writeFileSync(join(other, "d/f"), "x", { mode: 0o640 });
    symlinkSync("f", join(other, "d/l"));
    const target = await moveToTrash(rawPath(join(other, "d")), { home: at.options.home });
    expect(existsSync(join(other, "d"))).toBe(false);
    expect(readFileSync(`${target}/f`, "utf8")).toBe("x");
    expect(lstatSync(`${target}/f`).mode & 0o777).toBe(0o640);
    expect(lstatSync(`${target}/l`).isSymbolicLink()).toBe(true);
    if (target.startsWith("/dev/shm/")) rmSync(target, { recursive: true });
  } finally {
    rmSync(other, { recursive: true, force: true });
  }
});

test("what trashing needs", async () => {
  using at = fixture();
  for (const path of ["a", "~/h", join(at.outside, "o"), "~/.atomic/config.json"]) await at.call("fs.write", { path, content: "x" });
  expect(await at.needs("fs.trash", { paths: ["a"] })).toMatchObject([{ category: "fs_trash", silentFrom: 2, grant: "category" }]);
  expect(await at.needs("fs.trash", { paths: ["a", "~/h"] })).toMatchObject([{ category: "fs_trash", silentFrom: 3 }]);
  expect(await at.needs("fs.trash", { paths: ["a", join(at.outside, "o")] })).toMatchObject([{ category: "other", silentFrom: 5, affectedResources: [join(at.workspace, "a"), join(at.outside, "o")] }]);
  expect(await at.needs("fs.trash", { paths: ["~/.atomic/config.json"] })).toMatchObject([{ category: "trust_config", silentFrom: 5 }]);
});
