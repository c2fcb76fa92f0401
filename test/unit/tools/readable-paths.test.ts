// Which paths a user's text lets be read, and which it does not.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../../src/core/limits.ts";
import { ReadablePaths } from "../../../src/tools/readable-paths.ts";
import { fixture } from "./fixture.ts";

const texts: [text: string, paths: string[]][] = [
  ["read /etc/hosts.", ["/etc/hosts"]],
  ["compare (/a/b) with ~/c, and ../d!", ["/a/b", "/home/ann/c", "/home/ann/code/../d"]],
  ['open "/a b/c d.txt" and \'~/x y\'', ["/a b/c d.txt", "/home/ann/x y"]],
  ["see `/var/log/x.log`:", ["/var/log/x.log"]],
  ["yes and/or no, a / b, 1/2, ~ 5, the root / or ~/ or .. or ../..", []],
  ["https://example.org/a/b is down", []],
  ["in src/main.ts and ./x", []],
  ["sub/../../other/file", ["/home/ann/code/sub/../../other/file"]],
];
test.each(texts)("%s", (text, paths) => {
  const readable = new ReadablePaths("/home/ann/code", "/home/ann");
  readable.mention(text);
  expect([...readable.list()]).toEqual(paths);
});

test("what the user wrote about and what was granted is read without a question, its neighbours are not", async () => {
  const allowed: string[] = [];
  using at = fixture({ readable: () => allowed });
  const readable = new ReadablePaths(at.workspace, at.options.home);
  for (const name of ["a", "b"]) writeFileSync(join(at.outside, name), name);
  writeFileSync(join(at.options.stateFolder, ".env"), "A=1");
  readable.mention(`show me ${at.outside}/a and ${at.options.stateFolder}/.env`);
  allowed.push(...readable.list());
  expect(await at.needs("fs.read", { path: join(at.outside, "a") })).toEqual([]);
  expect(await at.needs("fs.read", { path: join(at.outside, "b") })).toMatchObject([{ category: "fs_read_outside" }]);
  expect(await at.needs("fs.read", { path: join(at.options.stateFolder, ".env") })).toMatchObject([{ category: "fs_read_outside" }]);
});

test("the oldest paths go first", () => {
  const readable = new ReadablePaths("/w", "/h");
  for (let index = 0; index <= limits.readablePathsMax; index++) readable.allow(`/p/${index}`);
  expect(readable.list().length).toBe(limits.readablePathsMax);
  expect(readable.list()[0]).toBe("/p/1");
});
