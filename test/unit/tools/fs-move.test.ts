// fs.move and fs.copy on real files: names, folders, links, other file systems, and what stays as it is.
import { expect, test } from "bun:test";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fixture, type Fixture } from "./fixture.ts";

function withFiles(at: Fixture): void {
  mkdirSync(join(at.workspace, "folder/deep"), { recursive: true });
  mkdirSync(join(at.workspace, "empty"));
  writeFileSync(join(at.workspace, "a.txt"), "a", { mode: 0o640 });
  writeFileSync(join(at.workspace, "folder/deep/b.sh"), "b", { mode: 0o755 });
  utimesSync(join(at.workspace, "folder/deep/b.sh"), 1_000_000, 1_000_000);
  symlinkSync("deep/b.sh", join(at.workspace, "folder/link"));
}

test("to another name, into folders that are there and into new ones", async () => {
  using at = fixture();
  withFiles(at);
  expect(await at.call("fs.move", { from: "a.txt", to: "new/x/b.txt" })).toMatchObject({ isError: false, text: "moved a.txt to new/x/b.txt", details: { from: join(at.workspace, "a.txt"), to: join(at.workspace, "new/x/b.txt") } });
  expect(await at.call("fs.move", { from: "new/x/b.txt", to: "folder" })).toMatchObject({ isError: false, text: "moved new/x/b.txt to folder/b.txt" });
  expect(await at.call("fs.move", { from: "folder/b.txt", to: "other/" })).toMatchObject({ isError: false, text: "moved folder/b.txt to other/b.txt" });
  expect(readFileSync(join(at.workspace, "other/b.txt"), "utf8")).toBe("a");
  expect(await at.call("fs.move", { from: "folder", to: "renamed" })).toMatchObject({ isError: false });
  expect(readlinkSync(join(at.workspace, "renamed/link"))).toBe("deep/b.sh");
  expect(existsSync(join(at.workspace, "folder"))).toBe(false);
});

test("several files at once, into a folder that is made for them; all or none", async () => {
  using at = fixture();
  withFiles(at);
  for (const path of ["b.txt", "folder/b.txt", "folder/c.txt", ".hidden.txt"]) writeFileSync(join(at.workspace, path), path);
  expect(await at.call("fs.copy", { from: "*.txt", to: "texts" })).toMatchObject({ isError: false, text: "copied a.txt to texts/a.txt\ncopied b.txt to texts/b.txt", details: { files: [{ from: join(at.workspace, "a.txt"), to: join(at.workspace, "texts/a.txt") }, { from: join(at.workspace, "b.txt"), to: join(at.workspace, "texts/b.txt") }] } });
  expect(await at.call("fs.move", { from: "folder/*.txt", to: "other/new" })).toMatchObject({ text: "moved folder/b.txt to other/new/b.txt\nmoved folder/c.txt to other/new/c.txt" });
  expect(await at.call("fs.move", { from: "**/*.txt", to: "flat" })).toMatchObject({ isError: true, text: "a.txt and texts/a.txt would both become flat/a.txt; nothing was changed" });
  expect(await at.call("fs.move", { from: "*.png", to: "flat" })).toMatchObject({ isError: true, text: "no file fits *.png; nothing was changed" });
  expect(await at.call("fs.move", { from: "*.txt", to: "other/new/b.txt" })).toMatchObject({ isError: true, text: expect.stringContaining("is there already") });
  expect((await at.needs("fs.move", { from: "*.txt", to: "flat" })).length).toBe(4);
  writeFileSync(join(at.workspace, "star*.txt"), "own");
  expect(await at.call("fs.move", { from: "star*.txt", to: "own.txt" })).toMatchObject({ text: "moved star*.txt to own.txt" });
});

test("outside the workspace a pattern tells nothing of what is there, and a link of its name is that link", async () => {
  using at = fixture();
  writeFileSync(join(at.outside, "a.txt"), "a");
  symlinkSync("nowhere", join(at.workspace, "li*nk"));
  for (const pattern of ["*.txt", "*.none"]) {
    for (const [name, args] of [["fs.move", { from: join(at.outside, pattern), to: "x" }], ["fs.trash", { paths: [join(at.outside, pattern)] }]] as const) await expect(at.needs(name, args)).rejects.toThrow("is outside the workspace, where files are named one by one");
  }
  expect(await at.call("fs.move", { from: "li*nk", to: "other" })).toMatchObject({ text: "moved li*nk to other" });
});

test("a file that came between the answer and the move is not moved unasked", async () => {
  using at = fixture();
  withFiles(at);
  const args = at.tool("fs.move").schema.parse({ from: "*.txt", to: "texts" });
  await at.tool("fs.move").needs(args, at.context);
  writeFileSync(join(at.workspace, "late.txt"), "late");
  await expect(at.tool("fs.move").run(args, at.context)).rejects.toThrow("changed after approval");
});

test("a copy keeps modes, times and links, and leaves the original", async () => {
  using at = fixture();
  withFiles(at);
  expect(await at.call("fs.copy", { from: "folder", to: "copy" })).toMatchObject({ isError: false, text: "copied folder to copy" });
  expect(await at.call("fs.copy", { from: "a.txt", to: "copy" })).toMatchObject({ isError: false, text: "copied a.txt to copy/a.txt" });
  expect(await at.call("fs.copy", { from: "folder/link", to: "link-itself" })).toMatchObject({ isError: false });
  const copy = statSync(join(at.workspace, "copy/deep/b.sh"));
  expect([copy.mode & 0o777, copy.mtimeMs]).toEqual([0o755, 1_000_000_000]);
  expect(statSync(join(at.workspace, "copy/a.txt")).mode & 0o777).toBe(0o640);
  expect(readlinkSync(join(at.workspace, "copy/link"))).toBe("deep/b.sh");
  expect(lstatSync(join(at.workspace, "link-itself")).isSymbolicLink()).toBe(true);
  expect(readdirSync(join(at.workspace, "folder")).toSorted()).toEqual(["deep", "link"]);
  expect(readdirSync(at.workspace).filter((name) => name.startsWith(".atomic"))).toEqual([]);
});

test("nothing is ever overwritten", async () => {
  using at = fixture();
  withFiles(at);
  writeFileSync(join(at.workspace, "b.txt"), "b");
  for (const name of ["fs.move", "fs.copy"]) {
    expect(await at.call(name, { from: "a.txt", to: "b.txt" })).toMatchObject({ isError: true, text: expect.stringContaining("b.txt is there already") });
    expect(await at.call(name, { from: "a.txt", to: "a.txt" })).toMatchObject({ isError: true });
    expect(await at.call(name, { from: "folder", to: "folder/deep" })).toMatchObject({ isError: true, text: expect.stringContaining("lies inside") });
    expect(await at.call(name, { from: "missing", to: "c" })).toMatchObject({ isError: true });
    expect(await at.call(name, { from: "a.txt", to: "b.txt/c" })).toMatchObject({ isError: true });
  }
  const args = { from: "a.txt", to: "late.txt" };
  await at.needs("fs.move", args);
  writeFileSync(join(at.workspace, "late.txt"), "late");
  expect(await at.call("fs.move", args)).toMatchObject({ isError: true });
  expect([readFileSync(join(at.workspace, "a.txt"), "utf8"), readFileSync(join(at.workspace, "b.txt"), "utf8"), readFileSync(join(at.workspace, "late.txt"), "utf8")]).toEqual(["a", "b", "late"]);
});

test("the workspace, the home and the state folder stay where they are", async () => {
  using at = fixture();
  for (const from of [".", "~", "~/.atomic", "/"]) expect(await at.call("fs.move", { from, to: "x" })).toMatchObject({ isError: true, text: expect.stringContaining("stays where it is") });
});

test("what they need: both ends of a move, the reading and the writing of a copy", async () => {
  using at = fixture();
  withFiles(at);
  writeFileSync(join(at.outside, "secret"), "s");
  symlinkSync(at.outside, join(at.workspace, "out"));
  const categories = async (name: string, from: string, to: string) => (await at.needs(name, { from, to })).map(({ category }) => category);
  expect(await categories("fs.move", "a.txt", "b.txt")).toEqual(["fs_write_workspace", "fs_write_workspace"]);
  expect(await categories("fs.move", "a.txt", "out/b.txt")).toEqual(["fs_write_workspace", "other"]);
  expect(await categories("fs.move", "out/secret", "b.txt")).toEqual(["other", "fs_write_workspace"]);
  expect(await categories("fs.copy", "out/secret", "b.txt")).toEqual(["fs_read_outside", "fs_write_workspace"]);
  expect(await categories("fs.copy", "a.txt", "~/.atomic/config.json")).toEqual(["trust_config"]);
  expect((await at.needs("fs.move", { from: "a.txt", to: "b.txt" }))[0]?.reason).toBe(`move ${at.workspace}/a.txt to ${at.workspace}/b.txt`);
});

const otherDevice = process.platform === "linux" && existsSync("/dev/shm") && statSync("/dev/shm").dev !== statSync("/tmp").dev;
test.if(otherDevice)("to another file system: copied whole, then removed", async () => {
  using at = fixture();
  withFiles(at);
  const far = mkdtempSync("/dev/shm/atomic-test-");
  try {
    expect(await at.call("fs.move", { from: "folder", to: `${far}/folder` })).toMatchObject({ isError: false });
    expect(readFileSync(join(far, "folder/deep/b.sh"), "utf8")).toBe("b");
    expect(readlinkSync(join(far, "folder/link"))).toBe("deep/b.sh");
    expect(existsSync(join(at.workspace, "folder"))).toBe(false);
    expect(readdirSync(far)).toEqual(["folder"]);
    expect(await at.call("fs.move", { from: `${far}/folder`, to: "back" })).toMatchObject({ isError: false });
    expect(readdirSync(far)).toEqual([]);
  } finally {
    rmSync(far, { recursive: true, force: true });
  }
});

test("an aborted copy leaves nothing behind", async () => {
  using at = fixture();
  withFiles(at);
  at.context.signal = AbortSignal.abort();
  expect(await at.call("fs.copy", { from: "folder", to: "copy" })).toMatchObject({ isError: true, text: expect.stringContaining("cancelled") });
  expect(readdirSync(at.workspace).toSorted()).toEqual(["a.txt", "empty", "folder"]);
});
