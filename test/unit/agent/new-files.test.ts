// A file that is not there yet is written apart from the conversation, once what it is made of was looked at.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rewriteChat } from "../../../src/agent/rewrite.ts";
import { fixture } from "../tools/fixture.ts";
import { bench } from "./guide-bench.ts";

test.each([
  ["a name", "Write leap.py that tells leap years.", ["leap.py"]],
  ["a path", "Write src/leap.py.", ["src/leap.py"]],
  ["a folder that is to be made with it", "Make a folder notes/2026 and put plan.md into it.", ["notes/2026/plan.md"]],
  ["a folder that is there", "Write plan.md into notes.", ["plan.md", "notes/plan.md"]],
])("a file that is to be made is written apart at once: %s", async (_name, request, places) => {
  using at = fixture();
  mkdirSync(join(at.workspace, "notes"));
  const { offer, step } = bench(at, request, "change: create");
  expect((await offer()).rewrite).toMatchObject({ path: places[0], places, beside: [], found: [] });
  await step("fs.write", { path: places.at(-1), content: "x\n" });
  expect((await offer()).tools).toEqual([]);
});

test("what it is made of is looked at first", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "tasks.txt"), "a done\nb\n");
  const { offer, step } = bench(at, "Put the finished tasks into done.txt and take them out of tasks.txt.", "change: create, cut");
  expect((await offer()).rewrite).toBeUndefined();
  await step("fs.read", { path: "tasks.txt" });
  expect((await offer()).rewrite).toMatchObject({ path: "done.txt", beside: [{ path: "tasks.txt" }] });
  await step("fs.write", { path: "done.txt", content: "a done\n" });
  expect((await offer()).rewrite).toMatchObject({ path: "tasks.txt", content: "a done\nb\n", beside: [], made: ["a done\n"] });
  await step("fs.write", { path: "tasks.txt", content: "b\n" });
  expect((await offer()).tools).toEqual([]);
});

test("what is to be found out first is told when it is known", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "days.csv"), "day,degrees\nMon,20\nTue,31\n");
  const { offer, step } = bench(at, "Find the hottest day in days.csv and write it into hot.txt.", "change: compute, create");
  await offer();
  await step("fs.read", { path: "days.csv" });
  expect((await offer()).rewrite).toBeUndefined();
  await step("table.compute", { path: "days.csv", operation: "max", column: "degrees" });
  const one = (await offer()).rewrite;
  expect(one?.found?.[0]).toContain("31");
  expect(one && rewriteChat(one)[1]?.text).toContain("31");
});

test("where nothing that the request speaks of was looked at the step is as any other", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "trip.txt"), "We go to Rome.\n");
  writeFileSync(join(at.workspace, "food.txt"), "Pizza.\n");
  const { offer, step } = bench(at, "Write a summary of the trip into summary.txt.", "change: create");
  expect((await offer()).rewrite).toBeUndefined();
  await step("fs.read", { path: "trip.txt" });
  expect((await offer()).rewrite).toMatchObject({ path: "summary.txt", beside: [{ path: "trip.txt", content: "We go to Rome.\n" }] });
});

test("a program finds out by itself what a plan would have looked up", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "text.txt"), "An owl.\n");
  const { offer, step } = bench(at, "Write a script vowels.py that counts the vowels in text.txt.", "change: count, create");
  expect((await offer()).tools.map(({ name }) => name)).not.toContain("fs.count");
  await step("fs.read", { path: "text.txt" });
  expect((await offer()).rewrite).toMatchObject({ path: "vowels.py", beside: [{ path: "text.txt" }] });
});

test("what it is made of has to fit beside it", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "talk.txt"), "We met and spoke.\n".repeat(400));
  writeFileSync(join(at.workspace, "other.txt"), "Nothing.\n");
  const { offer, step } = bench(at, "Write a summary of talk.txt into short.txt.", "change: create");
  await offer();
  for (const path of ["talk.txt", "other.txt"]) await step("fs.read", { path });
  const { rewrite: one, tools } = await offer();
  expect([one, tools.some(({ name }) => name === "fs.write")]).toEqual([undefined, true]);
});
