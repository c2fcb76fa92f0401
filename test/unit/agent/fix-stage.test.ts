// How the guide of a turn has something mended that does not work: read, run, changed, run again.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fixture } from "../tools/fixture.ts";
import { bench } from "./guide-bench.ts";

test("what is to be mended is run first, and tried in other ways as long as it fails", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.py"), "x = 1\n");
  const { offer, step } = bench(at, "Run a.py, it fails: mend it.", "change: run, edit");
  await offer();
  await step("fs.read", { path: "a.py" });
  const first = await offer();
  expect([first.tools.map(({ name }) => name), first.mayReply, first.isVaried]).toEqual([["shell.run"], false, false]);
  await step("shell.run", { command: "false" });
  const second = await offer();
  expect([second.tools.map(({ name }) => name), second.mayReply, second.isVaried]).toEqual([["fs.edit"], false, false]);
  await step("fs.edit", { path: "a.py", oldText: "x = 1", newText: "x = 1" });
  expect((await offer()).isVaried).toBe(true);
  await step("fs.edit", { path: "a.py", oldText: "x = 1", newText: "x = 2" });
  expect((await offer()).tools.map(({ name }) => name)).toEqual(["shell.run"]);
  await step("shell.run", { command: "false" });
  const again = await offer();
  expect([again.tools.map(({ name }) => name), again.mayReply, again.isVaried]).toEqual([["fs.edit"], false, true]);
  await step("fs.edit", { path: "a.py", oldText: "x = 2", newText: "x = 3" });
  await step("shell.run", { command: "true" });
  const third = await offer();
  expect([third.mayReply, third.isVaried]).toEqual([true, false]);
});

test("what is to be mended without a tool that runs it is changed and told", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "a.py"), "x = 1\n");
  const { offer, step } = bench(at, "Run a.py, it fails: mend it.", "change: run, edit", undefined, ["fs.read", "fs.edit"]);
  await offer();
  await step("fs.read", { path: "a.py" });
  expect((await offer()).tools.map(({ name }) => name)).toContain("fs.edit");
  await step("fs.edit", { path: "a.py", oldText: "x = 1", newText: "x = 2" });
  expect((await offer()).mayReply).toBe(true);
});

test("where only the test is named, what it tests is looked for before anything is changed", async () => {
  using at = fixture();
  for (const name of ["test_a.py", "a.py"]) writeFileSync(join(at.workspace, name), "x = 1\n");
  const { offer, step } = bench(at, "test_a.py fails, mend the code.", "change: run, edit");
  await offer();
  await step("fs.read", { path: "test_a.py" });
  expect(await step("shell.run", { command: "python3 a.py" })).toBe("nothing was run: what is wrong is told by test_a.py. Run test_a.py");
  expect((await offer()).tools.map(({ name }) => name)).toEqual(["shell.run"]);
  await step("shell.run", { command: "python3 test_a.py; false" });
  const look = await offer();
  expect([look.tools.map(({ name }) => name), look.options.names?.files]).toEqual([["fs.read"], ["a.py"]]);
  await step("fs.read", { path: "a.py" });
  const edit = await offer();
  expect([edit.tools.map(({ name }) => name), edit.options.seen]).toEqual([["fs.edit"], ["a.py"]]);
});
