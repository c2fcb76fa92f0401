// Where paths lead and what they need, judged by the real place; and that what was judged is what runs.
import { expect, test } from "bun:test";
import { linkSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ApprovalCategory, ApprovalLevel } from "../../../src/core/approval.ts";
import { withFolder } from "../../../src/tools/open.ts";
import { rawPath, readPathText, showPath } from "../../../src/tools/path-text.ts";
import { locate, relativeTo } from "../../../src/tools/path.ts";
import { fixture } from "./fixture.ts";

test("any bytes survive being shown and read back", () => {
  let seed = 1;
  for (let round = 0; round < 2000; round++) {
    const bytes = Buffer.from(Array.from({ length: 1 + (round % 12) }, () => ((seed = (seed * 48271) % 2147483647) % 255) + 1));
    const shown = showPath(rawPath(bytes));
    expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    expect(Buffer.from(readPathText(shown), "latin1")).toEqual(bytes);
  }
});

const needs: [path: string, category: ApprovalCategory, silentFrom: ApprovalLevel][] = [
  ["new/deep/file", "fs_write_workspace", 2],
  ["~/file", "fs_write_home", 3],
  ["../file", "fs_write_home", 3],
  ["../../outside/file", "other", 5],
  ["out/file", "other", 5],
  ["out/new/deep/file", "other", 5],
  ["dangling", "other", 5],
  ["~/.atomic/config.json", "trust_config", 5],
  ["~/.atomic/.env", "trust_config", 5],
  ["to-config", "trust_config", 5],
  ["hard-config", "trust_config", 5],
  ["~/.atomic/other", "fs_write_home", 3],
  ["work-neighbour/../file", "fs_write_workspace", 2],
];
test.each(needs)("writing %s", async (path, category, silentFrom) => {
  using at = fixture();
  writeFileSync(join(at.options.stateFolder, "config.json"), "{}");
  symlinkSync(at.outside, join(at.workspace, "out"));
  symlinkSync(join(at.outside, "not-there"), join(at.workspace, "dangling"));
  symlinkSync(join(at.options.stateFolder, "config.json"), join(at.workspace, "to-config"));
  linkSync(join(at.options.stateFolder, "config.json"), join(at.workspace, "hard-config"));
  const [need] = await at.needs("fs.write", { path, content: "x" });
  expect([need?.category, need?.silentFrom]).toEqual([category, silentFrom]);
  expect(need?.affectedResources[0]).toStartWith(at.root);
});

test("reading outside the workspace, also through a link", async () => {
  using at = fixture();
  writeFileSync(join(at.outside, "secret.txt"), "secret");
  symlinkSync(at.outside, join(at.workspace, "link"));
  for (const [name, args] of [["fs.read", { path: "link/secret.txt" }], ["fs.list", { path: "link" }], ["fs.find", { pattern: "*", path: "link" }], ["fs.grep", { pattern: "s", path: "link" }]] as const) {
    expect(await at.needs(name, args)).toMatchObject([{ category: "fs_read_outside", silentFrom: 5, affectedResources: [at.outside], grant: { root: at.outside } }]);
  }
  expect(await at.needs("fs.read", { path: "inside" })).toEqual([]);
  using free = fixture({ readScope: "unrestricted" });
  expect(await free.needs("fs.read", { path: join(free.outside, "x") })).toEqual([]);
  expect(await free.needs("fs.read", { path: "~/.atomic/.env" })).toMatchObject([{ category: "fs_read_outside", silentFrom: 5 }]);
  using named = fixture({ readable: () => [at.outside] });
  expect(await named.needs("fs.read", { path: join(at.outside, "secret.txt") })).toEqual([]);
});

test("a path that leads elsewhere than when it was judged is not used", async () => {
  using at = fixture();
  writeFileSync(join(at.outside, "f"), "outside");
  mkdirSync(join(at.workspace, "d"));
  writeFileSync(join(at.workspace, "d/f"), "inside");
  for (const [name, args] of [["fs.read", { path: "d/f" }], ["fs.write", { path: "d/f", content: "x" }], ["fs.edit", { path: "d/f", oldText: "inside", newText: "x" }], ["fs.trash", { paths: ["d/f"] }]] as const) {
    const tool = at.tool(name);
    const parsed = tool.schema.parse(args);
    await tool.needs(parsed, at.context);
    renameSync(join(at.workspace, "d"), join(at.workspace, "moved"));
    symlinkSync(at.outside, join(at.workspace, "d"));
    expect(tool.run(parsed, at.context)).rejects.toThrow(`changed after approval: ${at.outside}/f`);
    renameSync(join(at.workspace, "d"), join(at.workspace, `old-${name}`));
    renameSync(join(at.workspace, "moved"), join(at.workspace, "d"));
  }
  expect(readFileSync(join(at.outside, "f"), "utf8")).toBe("outside");
});

test("a folder that was opened stays the same when its name leads elsewhere", () => {
  using at = fixture();
  mkdirSync(join(at.workspace, "d"));
  writeFileSync(join(at.workspace, "d/f"), "inside");
  const text = withFolder(rawPath(join(at.workspace, "d")), (name) => {
    if (process.platform !== "linux") return "inside";
    renameSync(join(at.workspace, "d"), join(at.workspace, "moved"));
    symlinkSync(at.outside, join(at.workspace, "d"));
    return readFileSync(name("f"), "utf8");
  });
  expect(text).toBe("inside");
  symlinkSync(at.workspace, join(at.outside, "way"));
  expect(() => withFolder(rawPath(join(at.outside, "way/moved")), () => "used")).toThrow(process.platform === "linux" ? "changed meanwhile" : "");
});

test("parts of paths", () => {
  using at = fixture();
  expect(relativeTo("/", "/etc/hosts")).toBe("etc/hosts");
  expect(relativeTo("/a/b", "/a/bc")).toBeUndefined();
  expect(relativeTo("/a/b", "/a/b")).toBe("");
  expect(locate("./x/../y//z/", at.workspace, at.options.home).real).toBe(rawPath(join(at.workspace, "y/z")));
  expect(locate("~", at.workspace, at.options.home).real).toBe(rawPath(at.options.home));
  expect(locate("../../../../../../../../..", at.workspace, at.options.home).real).toBe("/");
  expect(locate("~x", at.workspace, at.options.home).shown).toBe("~x");
});
