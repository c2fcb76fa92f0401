// What a small model hardly means is refused with how to write what it may mean.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fixture } from "../tools/fixture.ts";
import { bench } from "./guide-bench.ts";

test("a file that would lose most of its lines is written anew only at the second try; one made in the turn at the first", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f.txt"), "a\nb\nc\n");
  const { offer, step } = bench(at, "Add d to f.txt.", "change: create");
  await offer();
  await step("fs.read", { path: "f.txt" });
  expect(await step("fs.write", { path: "f.txt", content: "a\nb\nc\nd\n" })).toBe("");
  await step("fs.write", { path: "new.txt", content: "1\n2\n3\n" });
  expect(await step("fs.write", { path: "new.txt", content: "x\n" })).toBe("");

  const other = bench(at, "Add e to f.txt.", "change: create");
  await other.offer();
  await other.step("fs.read", { path: "f.txt" });
  expect(await other.step("fs.write", { path: "f.txt", content: "e\n" })).toStartWith("nothing was written: 4 of the 4 lines that f.txt has would be gone.");
  expect(await other.step("fs.write", { path: "f.txt", content: "e\n" })).toBe("");
});

test("a call that is hardly meant is told once how to write what may be", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.jpg"), "a");
  mkdirSync(join(at.workspace, "old"));
  const { offer, step } = bench(at, "Put the pictures into a folder photos.", "change: move");
  await offer();
  expect(await step("fs.move", { from: "a.jpg", to: "photos" })).toBe('nothing was moved: a file photos would be made. Into a folder of that name write "to":"photos/a.jpg"; for the name photos write the same again');
  expect(await step("fs.move", { from: "a.jpg", to: "photos" })).toBe("");
  expect(await step("fs.move", { from: "a.jpg", to: "old" })).toBe("");
});

test("a file that is renamed stays in its folder, unless that is insisted on", async () => {
  using at = fixture();
  mkdirSync(join(at.workspace, "poems"));
  for (const name of ["a.txt", "b.txt"]) writeFileSync(join(at.workspace, "poems", name), name);
  const { offer, step } = bench(at, "Please rename the file poems/a.txt to tide.txt.", "change: move");
  await offer();
  const objection = 'nothing was moved: tide.txt would be at the top. To leave it in its folder write "to":"poems/tide.txt"; for the top write the same again';
  expect(await step("fs.move", { from: "poems/a.txt", to: "tide.txt" })).toBe(objection);
  // What it was told to write is not taken for the same try again.
  expect((await offer()).forbidden.get("fs.move") ?? []).toEqual([]);
  expect(await step("fs.move", { from: "poems/a.txt", to: "poems/tide.txt" })).toBe("");
});

test("what is deleted are the folders of the name that the request calls them by", async () => {
  using at = fixture();
  for (const path of ["docs/cache.md", "site/cache/i.html", "tools/cache/p.json"]) {
    mkdirSync(join(at.workspace, path, ".."), { recursive: true });
    writeFileSync(join(at.workspace, path), "x");
  }
  const { offer, step } = bench(at, "There are two folders named cache. Delete both.", "change: delete");
  await offer();
  expect(await step("fs.trash", { paths: ["docs/cache.md", "site/cache/i.html"] })).toBe("nothing was deleted: the request speaks of the folders site/cache, tools/cache, not of docs/cache.md");
  expect(await step("fs.trash", { paths: ["site/cache", "tools/cache"] })).toBe("");
});

test("of files with a word of the request in their names those without it are deleted only at the second try", async () => {
  using at = fixture();
  for (const name of ["2022-11.log", "2022-12.log", "2023-01.log"]) writeFileSync(join(at.workspace, name), "x");
  const { offer, step } = bench(at, "The logs of 2022 can go.", "change: delete");
  await offer();
  const paths = ["2022-11.log", "2022-12.log", "2023-01.log"];
  expect(await step("fs.trash", { paths })).toBe("nothing was deleted: the names of 2023-01.log do not say 2022, as those of the others do. Leave them out, or write the same again");
  expect(await step("fs.trash", { paths })).toBe("");
});

test("a command that prints what the model wrote itself answers no question", async () => {
  using at = fixture();
  const { offer, step } = bench(at, "What happens when the queue is full?", "answer: run");
  await offer();
  expect(await step("shell.run", { command: "echo 'it fails'" })).toStartWith("nothing was run: it would print what you wrote yourself");
  expect(await step("shell.run", { command: "echo $HOME" })).toBe("");
  const asked = bench(at, "What does echo hi print?", "answer: run");
  await asked.offer();
  expect(await asked.step("shell.run", { command: "echo hi" })).toBe("");
});

test("after a change that the request speaks of, one that it does not speak of is refused once, and only a reply is left", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.json"), "{}");
  const { offer, step } = bench(at, "Set the language to de and turn the sound off in a.json.", "change: set");
  await offer();
  await step("fs.read", { path: "a.json" });
  const told: unknown[] = [];
  for (const key of ["ui.language", "soundOn", "volume"]) told.push(await step("fs.set", { path: "a.json", key, value: "x" }));
  expect(told).toEqual(["", "", "nothing more was changed: the request says nothing of volume. Tell the user what you did before that"]);
  expect((await offer()).tools.length).toBe(0);
  expect(await step("fs.set", { path: "a.json", key: "volume", value: "x" })).toBe("");

  writeFileSync(join(at.workspace, "g.md"), "# Cabin\nDogs may come in.\n## Way\n");
  const wrong = bench(at, "Remove the line about the dog.", "change: cut");
  await wrong.offer();
  await wrong.step("fs.read", { path: "g.md" });
  expect(await wrong.step("fs.cut", { path: "g.md", which: "one", line: "## Way" })).toBe("nothing was changed: the request says nothing of this line. It speaks of what stands here: Dogs may come in.");
  expect(await wrong.step("fs.cut", { path: "g.md", which: "one", line: "## Way" })).toBe("");

  const lines = bench(at, "Take all lines with # out of f.conf.", "change: cut");
  writeFileSync(join(at.workspace, "f.conf"), "# one\nx = 1\n# two\n");
  await lines.offer();
  await lines.step("fs.read", { path: "f.conf" });
  expect([await lines.step("fs.cut", { path: "f.conf", which: "one", line: "# one" }), await lines.step("fs.cut", { path: "f.conf", which: "one", line: "# two" }), await lines.step("fs.cut", { path: "f.conf", which: "one", line: "x = 1" })]).toEqual(["", "", "nothing more was changed: the request says nothing of x = 1. Tell the user what you did before that"]);
});

test("a test that tells what is right is not changed to make it pass, unless it is insisted on", async () => {
  using at = fixture();
  for (const name of ["stats.py", "test_stats.py"]) writeFileSync(join(at.workspace, name), "x = 1\n");
  const { offer, step } = bench(at, "test_stats.py fails, fix stats.py.", "change: run, edit");
  expect((await offer()).tools.some(({ class: kind }) => kind === "write")).toBe(false);
  await step("fs.read", { path: "test_stats.py" });
  expect((await offer()).options.names?.files).toEqual(["stats.py"]);
  await step("fs.read", { path: "stats.py" });
  expect((await offer()).tools.map(({ name }) => name)).toEqual(["shell.run"]);
  await step("shell.run", { command: "python3 test_stats.py; false" });
  expect((await offer()).tools.some(({ name }) => name === "fs.edit")).toBe(true);
  const args = { path: "test_stats.py", oldText: "x = 1", newText: "x = 2" };
  expect([await step("fs.edit", args), await step("fs.edit", args)]).toEqual(["nothing was changed: test_stats.py is the test, and it tells what is right. Change stats.py", ""]);
});

test("what goes to the end of a list is written as an item of it, unless it is insisted on", async () => {
  using at = fixture();
  const told = async (content: string, text: string): Promise<unknown[]> => {
    writeFileSync(join(at.workspace, "l.md"), content);
    const { offer, step } = bench(at, "Add it to l.md.", "change: append");
    await offer();
    await step("fs.read", { path: "l.md" });
    return [await step("fs.append", { path: "l.md", text }), await step("fs.append", { path: "l.md", text })];
  };
  const objection = (written: string): string => `nothing was added: l.md ends with a list. To go on with it write ${JSON.stringify(written)}; for a text of its own write the same again`;
  expect(await told("1. a\n2. b\n\n", "\nc")).toEqual([objection("3. c"), ""]);
  expect(await told("# L\n- [x] a\n", "c\n")).toEqual([objection("- [ ] c"), ""]);
  expect(await told("1. a\n", "\n- b")).toEqual([objection("2. b"), ""]);
  expect(await told("* a\n", "\n- b\n")).toEqual([objection("* b"), ""]);
  expect(await told("- [ ] a\n", "- [x] b\n")).toEqual(["", expect.anything()]);
  for (const [content, text] of [["- a\n", "- b"], ["a\n", "b"], ["- a\n", "\n## New"], ["- a\n", "b\nc"]] as const) expect((await told(content, text))[0]).toBe("");
});

test("what would have lost most of a file is offered again only when nothing else leads on", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "f.py"), "a\nb\nc\n");
  const { offer, step } = bench(at, "Implement b in f.py.", "change: create, delete");
  const writes = async (): Promise<boolean> => (await offer()).tools.some(({ name }) => name === "fs.write");
  await offer();
  await step("fs.read", { path: "f.py" });
  const before = await writes();
  await step("fs.write", { path: "f.py", content: "d\n" });
  const after = await writes();
  await step("fs.read", { path: "none" });
  expect([before, after, await writes()]).toEqual([true, false, true]);
});

test("a setting is emptied only at the second try", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.json"), '{"debug":true}');
  const { offer, step } = bench(at, "Remove debug from a.json.", "change: set");
  await offer();
  await step("fs.read", { path: "a.json" });
  const args = { path: "a.json", key: "debug", value: "" };
  expect([await step("fs.set", args), await step("fs.set", args)]).toEqual(['nothing was set: to take debug out use fs.unset {"path":"a.json","key":"debug"}; for an empty value write the same again', ""]);
});

test("a command that takes a name of the workspace for one at the top of the disk is not run, unless the request means that", async () => {
  using at = fixture();
  mkdirSync(join(at.workspace, "var/log"), { recursive: true });
  const first = async (text: string, command: string): Promise<string | undefined> => {
    const { offer, step } = bench(at, text, "answer: run");
    await offer();
    return step("shell.run", { command });
  };
  expect(await first("Count what is in var.", "ls /var && ls ./var /variable a/var")).toBe("nothing was run: /var is at the top of the disk, and what is here is called var. Write: ls var && ls ./var /variable a/var");
  expect(await first("Count what is in /var.", "cat /var")).not.toContain("nothing was run");
  mkdirSync(join(at.workspace, "bin"));
  expect(await first("Count what is in var.", "/bin/echo var /var/none")).not.toContain("nothing was run");
  expect(await first("Count what is in var.", "ls /var/log/")).toContain("Write: ls var/log/");
  expect(await first("Count what is in var.", "cat var/log ~/var /usr/var")).not.toContain("nothing was run");
});

test("what is to be the first line goes to the top", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "t.py"), "import sys\n");
  const { offer, step } = bench(at, "Add import os as the first line of t.py.", "change: insert");
  await offer();
  await step("fs.read", { path: "t.py" });
  expect(await step("fs.insert", { path: "t.py", below: "import sys", text: "import os" })).toBe('nothing was added: it would not be first. For the top of the file write "below":""');
  expect(await step("fs.insert", { path: "t.py", below: "", text: "import os" })).toBe("");
});

test("what is to be the last line goes below the last one", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "t.md"), "| a |\n| --- |\n| 1 |\n| 2 |\n\nend\n");
  const { offer, step } = bench(at, "Add 3 as the last row of the table in t.md.", "change: insert");
  await offer();
  await step("fs.read", { path: "t.md" });
  expect(await step("fs.insert", { path: "t.md", below: "| 1 |", text: "| 3 |" })).toBe('nothing was added: it would not be last. The last line there is "| 2 |"');
  expect(await step("fs.insert", { path: "t.md", below: "| 2 |", text: "| 3 |" })).toBe("");
});

test("what the request calls a folder is not written as a file", async () => {
  for (const [request, isRefused] of [["Put a.txt into a new folder called old.", true], ["put a.txt in the folder 'old'", true], ["Make an old folder for a.txt", true], ["Put the old notes in the folder x into old.", false], ["Write the text of the folder old.txt into old", false]] as const) {
    using at = fixture();
    writeFileSync(join(at.workspace, "a.txt"), "x\n");
    const { offer, step } = bench(at, request, "change: create");
    await offer();
    expect([request, (await step("fs.write", { path: "old", content: "a.txt" }))?.startsWith("nothing was written: the request calls old a folder.")]).toEqual([request, isRefused]);
  }
});

test("of places that read the same the one is told that the request speaks of", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "s.py"), [1, 11, 2].map((number) => `def step_${number}(x):\n    return x + 3\n`).join("\n"));
  const { offer, step } = bench(at, "In s.py make step_11 return x * 2.", "change: edit");
  await offer();
  await step("fs.read", { path: "s.py" });
  expect(await step("fs.edit", { path: "s.py", oldText: "return x + 3", newText: "return x * 2" })).toBe('nothing was changed: this stands in s.py 3 times. For the one that the request speaks of write "oldText":"def step_11(x):\\n    return x + 3"');
  expect(await step("fs.edit", { path: "s.py", oldText: "def step_11(x):\n    return x + 3", newText: "def step_11(x):\n    return x * 2" })).toBe("");
});
