// fs.list, fs.read, fs.find and fs.write on odd files: names, kinds, sizes, links.
import { expect, test } from "bun:test";
import { chmodSync, linkSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fixture } from "./fixture.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");
const oddNames = ["-rf", " a\nb", "\u00fc", "u\u0308", "x\\", '"quoted"', "tab\there", "n".repeat(255), "plain"];

test("odd names are listed once, on one line, and every tool takes them back", async () => {
  using at = fixture();
  for (const name of oddNames) writeFileSync(join(at.workspace, name), `needle in ${name.length}\n`);
  writeFileSync(Buffer.concat([Buffer.from(`${at.workspace}/z`), Buffer.from([0xff])]), "needle raw\n");
  const listed = (await at.call("fs.list", {})).text.split("\n");
  expect(listed).toEqual(['" a\\nb"', '"\\"quoted\\""', "-rf", "n".repeat(255), "plain", '"tab\\there"', "u\u0308", "x\\", '"z\\xFF"', "\u00fc"]);
  for (const name of listed) {
    expect((await at.call("fs.read", { path: name })).text).toStartWith("needle ");
    expect(await at.call("fs.grep", { pattern: "needle", path: name })).toMatchObject({ text: expect.stringContaining(`${name}:1: needle`), details: { matches: 1 } });
  }
  expect((await at.call("fs.find", { pattern: "z*" })).text).toBe('"z\\xFF"');
  const trashed = await at.call("fs.trash", { paths: listed });
  expect(trashed).toMatchObject({ isError: false, details: { trashed: listed.length } });
  expect((await at.call("fs.list", {})).text).toBe("(empty)");
});

test("a wrong quoted path says what is wrong", async () => {
  using at = fixture();
  expect(await at.call("fs.read", { path: '"a\\q"' })).toMatchObject({ isError: true, text: expect.stringContaining('unknown escape "\\q"') });
  expect(await at.call("fs.read", { path: "" })).toMatchObject({ isError: true, text: expect.stringContaining("empty") });
  expect(await at.call("fs.read", { path: "a\0b" })).toMatchObject({ isError: true, text: expect.stringContaining("NUL") });
});

test("a list of nothing but hidden names says so", async () => {
  using at = fixture();
  expect((await at.call("fs.list", {})).text).toBe("(empty)");
  for (const path of [".gitignore", ".env"]) await at.call("fs.write", { path, content: "x" });
  expect([(await at.call("fs.list", {})).text, (await at.call("fs.list", { pattern: "*.md" })).text]).toEqual(["(nothing but hidden names: .env, .gitignore)", "(empty)"]);
});

test("a list: order, folders, hidden names, pattern, depth, limit", async () => {
  using at = fixture();
  for (const path of ["b.md", "a.md", "c/d.md", "c/e.txt", ".hidden", ".git/config", "node_modules/x.md"]) await at.call("fs.write", { path, content: "x" });
  await at.call("fs.write", { path: ".gitignore", content: "node_modules\n" });
  symlinkSync("c", join(at.workspace, "link"));
  const plain = await at.call("fs.list", {});
  expect(plain).toMatchObject({ text: "a.md\nb.md\nc/\nlink/\nnode_modules/\n[in these folders: c/d.md, c/e.txt]", details: { path: at.workspace, entries: 5, covers: [{ path: "c" }] } });
  expect(Object.keys(plain.details)).toEqual(["path", "entries", "covers", "largest", "smallest"]);
  for (let index = 0; index < 20; index += 1) await at.call("fs.write", { path: `c/many/${index}`, content: "x" });
  expect((await at.call("fs.list", {})).text).toBe("a.md\nb.md\nc/\nlink/\nnode_modules/");
  await at.call("fs.trash", { paths: ["c/many"] });
  expect((await at.call("fs.list", { pattern: "*.md" })).text).toBe("a.md\nb.md");
  expect((await at.call("fs.list", { hidden: true })).text).toContain(".git/\n.gitignore\n.hidden");
  expect((await at.call("fs.list", { recursive: true })).text).toBe("a.md\nb.md\nc/\nc/d.md\nc/e.txt\nlink/");
  expect((await at.call("fs.list", { path: "node_modules", recursive: true })).text).toBe("x.md");
  expect(await at.call("fs.list", { limit: 2 })).toMatchObject({ text: "a.md\nb.md\n[2 shown, 3 more; narrow it with pattern or path]", details: { path: at.workspace, entries: 2, limitReached: true } });
  expect(await at.call("fs.list", { path: "a.md" })).toMatchObject({ isError: true, text: "a.md is a file, not a folder; use fs.read" });
  expect(await at.call("fs.list", { path: "nothing/here" })).toMatchObject({ isError: true, text: expect.stringContaining("does not exist") });
});

test("a list: numbers in names count by their value", async () => {
  using at = fixture();
  for (const name of ["10_c", "9_b", "2_a", "v1.10", "v1.9", "a"]) writeFileSync(join(at.workspace, name), "");
  expect((await at.call("fs.list", {})).text).toBe("2_a\n9_b\n10_c\na\nv1.9\nv1.10");
});

test("find: of a name that some folders have, those without it", async () => {
  using at = fixture();
  for (const folder of ["p/one", "p/two", "p/three/src", "docs"]) mkdirSync(join(at.workspace, folder), { recursive: true });
  for (const path of ["README.md", "p/one/README.md", "p/two/README.md", "p/three/main.ts"]) writeFileSync(join(at.workspace, path), "");
  expect((await at.call("fs.find", { pattern: "README.md" })).text).toBe("README.md\np/one/README.md\np/two/README.md\n[none in p/three]");
  expect((await at.call("fs.find", { pattern: "*.md" })).text).not.toContain("none in");
});

test("find: globs, ignore files, the workspace's own paths", async () => {
  using at = fixture();
  for (const path of ["src/a.ts", "src/deep/b.ts", "dist/c.ts", "src/skip/d.ts", "a[1].ts", ".dot/e.ts"]) await at.call("fs.write", { path, content: "x" });
  await at.call("fs.write", { path: ".gitignore", content: "dist/\n" });
  await at.call("fs.write", { path: "src/.gitignore", content: "skip\n" });
  expect(await at.call("fs.find", { pattern: "*.ts" })).toMatchObject({ text: "a[1].ts\nsrc/a.ts\nsrc/deep/b.ts", details: { matches: 3 } });
  expect((await at.call("fs.find", { pattern: "*.ts", path: "src" })).text).toBe("src/a.ts\nsrc/deep/b.ts");
  expect((await at.call("fs.find", { pattern: "src/**/*.ts" })).text).toBe("src/a.ts\nsrc/deep/b.ts");
  expect((await at.call("fs.find", { pattern: "deep/*.ts" })).text).toBe("src/deep/b.ts");
  expect((await at.call("fs.find", { pattern: "a[1].ts" })).text).toBe("a[1].ts");
  expect((await at.call("fs.find", { pattern: "deep" })).text).toBe("src/deep/");
  expect((await at.call("fs.find", { pattern: "e.ts", hidden: true })).text).toBe(".dot/e.ts");
  expect(await at.call("fs.find", { pattern: "*.rs" })).toMatchObject({ text: "(no file has such a name; fs.grep searches the text in files)", details: { matches: 0 } });
  expect(await at.call("fs.find", { pattern: "*.ts", limit: 1 })).toMatchObject({ text: "a[1].ts\n[the first 1 are shown; narrow it with pattern or path]", details: { matches: 1, limitReached: true } });
});

test("find: what can only be a regular expression is one, of the name; what may be a glob stays one", async () => {
  using at = fixture();
  for (const path of ["a.bak", "abak", "deep/b.bak", "c.txt~", "cost$", ".env"]) await at.call("fs.write", { path, content: "x" });
  const found = async (pattern: string): Promise<string> => (await at.call("fs.find", { pattern })).text;
  expect(await found("~$|\\.bak$")).toBe("a.bak\nc.txt~\ndeep/b.bak");
  expect(await found("^a.*\\.bak$")).toBe("a.bak");
  expect(await found("cost$")).toBe("cost$");
  for (const harmless of ["(a+)+\\.b$", "a*a*a*a*\\.b$", "^(", "\\.["]) expect(await found(harmless)).toStartWith("(no file");
});

test("a workspace that is the root of the file system keeps every segment", async () => {
  using at = fixture();
  at.context.workspace = "/";
  expect((await at.call("fs.find", { pattern: "hosts", path: "etc" })).text.split("\n")).toContain("etc/hosts");
  expect((await at.call("fs.read", { path: "etc/hosts" })).isError).toBe(false);
});

test("read: stretches, notes, BOM, empty files", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "ten"), `${Array.from({ length: 10 }, (_, index) => `l${index + 1}`).join("\n")}\n`);
  expect(await at.call("fs.read", { path: "ten" })).toMatchObject({ text: "l1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\nl10\n", details: { path: join(at.workspace, "ten"), totalLines: 10 } });
  const part = await at.call("fs.read", { path: "ten", offset: 3, limit: 2 });
  expect(part.text).toBe("l3\nl4\n\n[lines 3-4 of 10; continue with offset 5]");
  expect(Object.keys(part.details)).toEqual(["path", "totalLines"]);
  expect((await at.call("fs.read", { path: "ten", offset: 9 })).text).toBe("l9\nl10\n");
  expect(await at.call("fs.read", { path: "ten", offset: 11 })).toMatchObject({ isError: true, text: "ten has 10 lines; line 11 is past its end" });
  writeFileSync(join(at.workspace, "bom"), bytes("\xef\xbb\xbfx=1\n"));
  expect((await at.call("fs.read", { path: "bom" })).text).toBe("x=1\n");
  writeFileSync(join(at.workspace, "none"), "");
  expect((await at.call("fs.read", { path: "none" })).text).toBe("(empty file)");
  writeFileSync(join(at.workspace, "latin"), bytes("caf\xe9\n"));
  expect((await at.call("fs.read", { path: "latin" })).text).toBe("caf\uFFFD\n");
});

test("read: long files keep their head and say how to go on", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "many"), "x\n".repeat(5000));
  const many = await at.call("fs.read", { path: "many" });
  expect(many.text).toEndWith("x\n\n[lines 1-2000 of 5000; continue with offset 2001]");
  expect(many.details["truncation"]).toEqual({ truncated: true, truncatedBy: "lines", totalLines: 5000, totalBytes: 10_000, outputLines: 2000, outputBytes: 4000, maxLines: 2000, maxBytes: 51_200 });
  writeFileSync(join(at.workspace, "wide"), `${"é".repeat(100)}\n`.repeat(1000));
  const wide = await at.call("fs.read", { path: "wide" });
  expect(Buffer.byteLength(wide.text)).toBeLessThanOrEqual(51_200);
  expect(wide.details["truncation"]).toMatchObject({ truncatedBy: "bytes", outputLines: 252, totalLines: 1000 });
  expect(wide.text).toEndWith("\n[lines 1-252 of 1000; continue with offset 253]");
  expect((await at.call("fs.read", { path: "wide", offset: 253 })).text).toStartWith("é".repeat(100));
  const last = await at.call("fs.read", { path: "wide", offset: 990 });
  expect(last.details["truncation"]).toBeUndefined();
  expect(last.text.split("\n").length).toBe(12);
});

test("read: one line of 20 MB is bounded and says what was left out", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "long"), Buffer.alloc(20_000_000, "é"));
  const long = await at.call("fs.read", { path: "long" });
  expect(Buffer.byteLength(long.text)).toBeLessThanOrEqual(51_200);
  expect(long.text).toContain("[line 1 of long is too long: its first 50800 bytes are shown, the file has 20000000.");
  expect(long.text).not.toContain("\uFFFD");
  expect(long.details["truncation"]).toMatchObject({ lastLinePartial: true, totalLines: 1, totalBytes: 20_000_000 });
});

test("read: what is no text file has its own clear answer, at once", async () => {
  using at = fixture();
  const file = (name: string) => join(at.workspace, name);
  writeFileSync(file("binary"), bytes("ab\0cd"));
  writeFileSync(file("wide"), bytes("\xff\xfea\0b\0"));
  writeFileSync(file("picture"), bytes("\x89PNG\r\n\x1a\nrest"));
  symlinkSync("nowhere", file("dangling"));
  symlinkSync("loop", file("loop"));
  mkdirSync(file("folder"));
  await Bun.spawn(["mkfifo", file("fifo")]).exited;
  const socket = Bun.listen({ unix: file("socket"), socket: { data() {} } });
  const text = async (path: string) => {
    const called = await at.call("fs.read", { path });
    expect(called.isError).toBe(true);
    expect(called.details).toEqual({});
    return called.text;
  };
  expect(await text("binary")).toBe("binary is a binary file (5 bytes), not text");
  expect(await text("wide")).toContain("UTF-16");
  expect(await text("dangling")).toBe("nowhere does not exist: the symbolic link dangling leads to nowhere, and nothing is there");
  expect(await text("loop")).toContain("too many symbolic links");
  expect(await text("folder")).toBe("folder is a folder; use fs.list to see what is in it");
  expect(await text("fifo")).toBe("fifo is a FIFO (named pipe), not a file");
  expect(await text("socket")).toBe("socket is a socket, not a file");
  expect(await text("/dev/null")).toBe("/dev/null is a device, not a file");
  expect(await text("bimary")).toContain("did you mean binary?");
  expect(await text("binary/x")).toContain("is a file, not a folder");
  socket.stop(true);
  const image = await at.call("fs.read", { path: "picture" });
  expect(image.result.content[1]).toEqual({ type: "image", data: bytes("\x89PNG\r\n\x1a\nrest").toString("base64"), mimeType: "image/png" });
  expect(image.details).toEqual({ path: file("picture"), mimeType: "image/png" });
});

test.if(process.getuid?.() !== 0)("read: a file without permission", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "closed"), "x");
  chmodSync(join(at.workspace, "closed"), 0);
  expect(await at.call("fs.read", { path: "closed" })).toMatchObject({ isError: true, text: expect.stringContaining("permission denied") });
});

test("write: makes folders, adds no BOM, keeps mode, links and other names of a file", async () => {
  using at = fixture();
  const file = (name: string) => join(at.workspace, name);
  const made = await at.call("fs.write", { path: "a/b/g", content: "é" });
  expect(made).toMatchObject({ text: "wrote 2 bytes to a/b/g", details: { path: file("a/b/g"), bytes: 2, created: true } });
  expect(Object.keys(made.details)).toEqual(["path", "bytes", "created"]);
  expect(readFileSync(file("a/b/g"))).toEqual(bytes("\xc3\xa9"));
  chmodSync(file("a/b/g"), 0o755);
  expect((await at.call("fs.write", { path: "a/b/g", content: "new" })).details).toMatchObject({ created: false });
  expect(statSync(file("a/b/g")).mode & 0o777).toBe(0o755);
  expect((await at.call("fs.write", { path: "a/b/g", content: "er\r\n", mode: "append" })).text).toBe("appended 4 bytes to a/b/g");
  expect(readFileSync(file("a/b/g"), "utf8")).toBe("newer\r\n");
  linkSync(file("a/b/g"), file("same"));
  symlinkSync("a/b/g", file("link"));
  await at.call("fs.write", { path: "link", content: "x" });
  expect(readFileSync(file("same"), "utf8")).toBe("x");
  expect(lstatSync(file("link")).isSymbolicLink()).toBe(true);
  symlinkSync("a/new/target", file("ahead"));
  expect((await at.call("fs.write", { path: "ahead", content: "x" })).text).toBe("wrote 1 byte to a/new/target");
  expect((await at.call("fs.list", { path: "a/b", hidden: true })).text).toBe("g");
  expect(await at.call("fs.write", { path: "a", content: "x" })).toMatchObject({ isError: true, text: expect.stringContaining("is a folder") });
  expect(await at.call("fs.write", { path: "same/x", content: "x" })).toMatchObject({ isError: true, text: expect.stringContaining("is a file") });
  expect(await at.call("fs.write", { path: `${"n".repeat(256)}`, content: "x" })).toMatchObject({ isError: true, text: expect.stringContaining("too long") });
});
