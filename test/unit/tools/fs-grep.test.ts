// fs.grep: what is found and how it is shown, in files of any size, with bounded time and memory.
import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fixture } from "./fixture.ts";

test("matches and context, sorted, with the paths of the workspace", async () => {
  using at = fixture();
  await at.call("fs.write", { path: "b.txt", content: "one\ntwo\nthree\nfour\nfive\nsix\nseven\n" });
  await at.call("fs.write", { path: "a/c.txt", content: "\uFEFFtwo\r\nlast" });
  const plain = await at.call("fs.grep", { pattern: "two|last" });
  expect(plain).toMatchObject({ text: "a/c.txt:1: two\na/c.txt:2: last\nb.txt:2: two", details: { matches: 3, files: 2 } });
  expect(Object.keys(plain.details)).toEqual(["matches", "files"]);
  expect((await at.call("fs.grep", { pattern: "^two$", context: 1 })).text).toBe("a/c.txt:1: two\na/c.txt-2- last\n--\nb.txt-1- one\nb.txt:2: two\nb.txt-3- three");
  expect((await at.call("fs.grep", { pattern: "one|two|six", path: "b.txt", context: 1 })).text).toBe(
    "b.txt:1: one\nb.txt:2: two\nb.txt-3- three\n--\nb.txt-5- five\nb.txt:6: six\nb.txt-7- seven",
  );
  expect((await at.call("fs.grep", { pattern: "six", path: "b.txt", context: 2 })).text).toBe("b.txt-4- four\nb.txt-5- five\nb.txt:6: six\nb.txt-7- seven");
  expect((await at.call("fs.grep", { pattern: "TWO", ignoreCase: true, glob: "*.txt", path: "a", context: 0 })).text).toBe("a/c.txt:1: two");
  expect(await at.call("fs.grep", { pattern: "absent" })).toMatchObject({ isError: false, text: "(no line matches; fs.read shows a whole file)", details: { matches: 0, files: 0 } });
  expect(await at.call("fs.grep", { pattern: "e", limit: 2, path: "b.txt" })).toMatchObject({
    text: "b.txt:1: one\nb.txt:3: three\n[stopped after 2 matches; narrow it with pattern, path or glob]",
    details: { matches: 2, files: 1, limitReached: true },
  });
  expect((await at.call("fs.grep", { pattern: "seven", limit: 1, path: "b.txt" })).details).toEqual({ matches: 1, files: 1 });
});

test("few matches are shown with what stands right below them", async () => {
  using at = fixture();
  await at.call("fs.write", { path: "bills.txt", content: "Bill 1\n  due: May\n\nBill 2\n  sum: 3\n  due: June\n\nBill 3\n" });
  expect(await at.call("fs.grep", { pattern: "Bill 2" })).toMatchObject({ text: "bills.txt:4: Bill 2\nbills.txt-5-   sum: 3\nbills.txt-6-   due: June", details: { matches: 1, files: 1 } });
  expect((await at.call("fs.grep", { pattern: "due" })).text).toBe("bills.txt:2:   due: May\nbills.txt:6:   due: June");
  expect((await at.call("fs.grep", { pattern: "Bill" })).text).toBe("bills.txt:1: Bill 1\nbills.txt:4: Bill 2\nbills.txt:8: Bill 3");
  expect((await at.call("fs.grep", { pattern: "Bill 2", context: 0 })).text).toBe("bills.txt:4: Bill 2");
});

test("patterns that look like options, that are no expressions, and that are literal", async () => {
  using at = fixture();
  await at.call("fs.write", { path: "f", content: "- [ ] task\na -> x\nf(a\nab\na.b\n" });
  expect((await at.call("fs.grep", { pattern: "-> x", context: 0 })).text).toBe("f:2: a -> x");
  expect((await at.call("fs.grep", { pattern: "- [ ]", context: 0 })).text).toBe("f:1: - [ ] task\n[as a regular expression the pattern matches nothing; these match it as plain text]");
  expect((await at.call("fs.grep", { pattern: "f(a", context: 0 })).text).toStartWith("f:3: f(a\n[no regular expression (");
  expect((await at.call("fs.grep", { pattern: "a.b", literal: true })).text).toBe("f:5: a.b");
  await at.call("fs.write", { path: "g", content: "import { f } from './format.js';\nimport { g } from './formats.js';\n" });
  for (const pattern of ["import from format.js", "from '(.*)' import format\\.js$"]) expect((await at.call("fs.grep", { pattern, context: 0 })).text).toBe("g:1: import { f } from './format.js';\n[no line has the pattern; these have all its words]");
  expect((await at.call("fs.grep", { pattern: "import nothing" })).text).toStartWith("(no line matches");
  await at.call("fs.trash", { paths: ["g"] });
  expect((await at.call("fs.grep", { pattern: "A.B", literal: true, ignoreCase: true })).text).toBe("f:5: a.b");
  expect(await at.call("fs.grep", { pattern: "a\nb" })).toMatchObject({ isError: true, text: expect.stringContaining("one line at a time") });
});

test("binary files, ignored files and .git are skipped, links are not followed", async () => {
  using at = fixture();
  for (const path of [".git/x", "out/x", "kept", ".env.example"]) await at.call("fs.write", { path, content: "needle" });
  await at.call("fs.write", { path: ".gitignore", content: "out\n" });
  await at.call("fs.write", { path: "binary", content: "needle\0" });
  writeFileSync(join(at.outside, "secret.txt"), "needle");
  symlinkSync(at.outside, join(at.workspace, "link"));
  symlinkSync(join(at.outside, "secret.txt"), join(at.workspace, "file-link"));
  await Bun.spawn(["mkfifo", join(at.workspace, "fifo")]).exited;
  expect((await at.call("fs.grep", { pattern: "needle" })).text).toBe(".env.example:1: needle\nkept:1: needle");
  expect((await at.call("fs.grep", { pattern: "needle", path: "out" })).text).toBe("out/x:1: needle");
  expect(await at.call("fs.grep", { pattern: "needle", path: "binary" })).toMatchObject({ isError: true, text: "binary is no text file; fs.grep searches text only" });
  expect(await at.call("fs.grep", { pattern: "needle", path: "fifo" })).toMatchObject({ isError: true, text: "fifo is a FIFO (named pipe), not a file" });
});

test("a hit in a line of 20 MB is shown with text around it and its byte", async () => {
  using at = fixture();
  const content = Buffer.alloc(20_000_000, "x");
  content.write("needle", 10_000_000);
  writeFileSync(join(at.workspace, "long"), Buffer.concat([Buffer.from("first\n"), content, Buffer.from("\nneedle last\n")]));
  for (const pattern of ["needle", "ne+dle"]) {
    const found = await at.call("fs.grep", { pattern, context: 1 });
    const [, hit] = found.text.split("\n");
    expect(hit).toMatch(/^long:2: \[byte 10000000\] …x{247}needlex{247}…$/);
    expect(found.text).toEndWith("\nlong:3: needle last");
    expect(found.details).toEqual({ matches: 2, files: 1, linesTruncated: true });
    expect(Buffer.byteLength(found.text)).toBeLessThan(2000);
  }
});

test("hits and context across the borders of the buffer", async () => {
  using at = fixture();
  const lines = Array.from({ length: 400_000 }, (_, index) => `line ${index + 1}`);
  writeFileSync(join(at.workspace, "f"), lines.join("\n"));
  for (const pattern of ["line 399999", "line 39999[9]"]) {
    expect((await at.call("fs.grep", { pattern, context: 2 })).text).toBe("f-399997- line 399997\nf-399998- line 399998\nf:399999: line 399999\nf-400000- line 400000");
  }
  const all = await at.call("fs.grep", { pattern: "0000", limit: 1000 });
  expect(all.text.split("\n").map((line) => line.replace(/^f:(\d+): line \1$/, "same"))).toEqual(Array.from({ length: all.details["matches"] as number }, () => "same"));
  expect(all.details["matches"]).toBe(lines.filter((line) => line.includes("0000")).length);
});

test("results are bounded in bytes and lines", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f"), `${"é".repeat(490)}\n`.repeat(1000));
  const found = await at.call("fs.grep", { pattern: "é", limit: 1000 });
  expect(Buffer.byteLength(found.text)).toBeLessThanOrEqual(51_200);
  expect(found.details).toMatchObject({ limitReached: true, matches: 51 });
});

test("a pattern that takes exponential time ends with an error", async () => {
  using at = fixture();
  await at.call("fs.write", { path: "f", content: `${"a".repeat(60)}b\n`.repeat(100) });
  const began = performance.now();
  expect(await at.call("fs.grep", { pattern: "^(a|aa)+$" })).toMatchObject({ isError: true, text: expect.stringContaining("takes too long") });
  expect(performance.now() - began).toBeLessThan(10_000);
});

test("an abort stops a search", async () => {
  using at = fixture();
  mkdirSync(join(at.workspace, "d"));
  writeFileSync(join(at.workspace, "d/f"), Buffer.alloc(50_000_000, "x\n"));
  at.context.signal = AbortSignal.abort();
  expect(at.tool("fs.grep").run(at.tool("fs.grep").schema.parse({ pattern: "y" }), at.context)).rejects.toThrow();
});

test("a line end behind the pattern is the end of the line", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f"), "a 0\nb 10\nc 01\n");
  expect((await at.call("fs.grep", { pattern: " 0\n", context: 0 })).text).toBe("f:1: a 0");
});

test("a word that is only written with other capitals is found so", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.csv"), "name,reed\nPilar Reyes,2.5\nGreta,2\n");
  expect((await at.call("fs.grep", { pattern: "pilar", context: 0 })).text).toBe("a.csv:2: Pilar Reyes,2.5\n[no line has the pattern; these have it in other capitals]");
  expect((await at.call("fs.grep", { pattern: "pilar", literal: true })).text).toStartWith("(no line matches");
});

test("words that no line has together are found in the same files", async () => {
  using at = fixture();
  for (const [name, text] of [["quiche", "3 Eggs\n200 ml cream\n"], ["custard", "250 ml cream\n4 eggs\n"], ["meringue", "4 eggs\n"], ["fool", "300 ml cream\n"]] as const) writeFileSync(join(at.workspace, `${name}.txt`), text);
  const found = await at.call("fs.grep", { pattern: "eggs and cream" });
  expect(found).toMatchObject({ text: 'custard.txt:1: 250 ml cream\ncustard.txt:2: 4 eggs\nquiche.txt:1: 3 Eggs\nquiche.txt:2: 200 ml cream\n[no line has "eggs" and "cream" together; these 2 files have them on different lines: custard.txt, quiche.txt]', details: { matches: 4, files: 2 } });
  expect((await at.call("fs.grep", { pattern: "eggs flour" })).text).toBe("(no line matches; fs.read shows a whole file)");
});
