// A file that a question names is read whole where it is short, also after a search found some lines of it; a long one is not, and
// none where its place, or that of a line in it, is what is asked for.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fixture } from "../tools/fixture.ts";
import { bench } from "./guide-bench.ts";

test.each([[1, false], [2000, true]])("%d times its lines", async (times, mayReply) => {
  using at = fixture();
  writeFileSync(join(at.workspace, "menu.html"), "<li>Waldorf salad N</li>\n<p>N nuts</p>\n".repeat(times));
  const { offer, step } = bench(at, "Which dishes of menu.html hold nuts?", "answer: search");
  await offer();
  await step("fs.grep", { pattern: "p>N nuts" });
  expect((await offer()).mayReply).toBe(mayReply);
  await step("fs.read", { path: "menu.html" });
  expect((await offer()).mayReply).toBe(true);
});

test.each(["p>N nuts", "hazelnut"])("behind a search for %p and the whole file there is only the reply", async (pattern) => {
  using at = fixture();
  writeFileSync(join(at.workspace, "menu.html"), "<li>Waldorf salad N</li>\n<p>N nuts</p>\n");
  const { offer, step } = bench(at, "Which dishes of menu.html hold nuts?", "answer: search");
  await offer();
  await step("fs.grep", { pattern });
  expect((await offer()).tools.length).toBeGreaterThan(0);
  await step("fs.read", { path: "menu.html" });
  expect(await offer()).toMatchObject({ mayReply: true, tools: [] });
});

test.each([
  ["Which dishes of menu.html hold nuts?", "answer: search", ["fs.grep", { pattern: "N nuts" }], "fs.read"],
  ["In which line of menu.html are the nuts?", "answer: search", ["fs.grep", { pattern: "N nuts" }], "reply"],
  ["where is menu.html?", "answer: find", ["fs.find", { pattern: "menu.html" }], "reply"],
] as const)("what comes after a search that found something: %s", async (request, plan, [tool, args], next) => {
  using at = fixture();
  writeFileSync(join(at.workspace, "menu.html"), "<li>Waldorf salad N</li>\n<p>N nuts</p>\n");
  const { offer, step } = bench(at, request, plan);
  await offer();
  await step(tool, args);
  const { mayReply, tools } = await offer();
  expect(mayReply).toBe(next === "reply");
  if (next !== "reply") expect(tools.map(({ name }) => name)).toEqual([next]);
});

test.each([
  ["How hot is the oven for the scones?", true],
  ["How hot is the sun?", false],
])("what is taken for talk is looked up where a file is called so: %s", async (request, looks) => {
  using at = fixture();
  writeFileSync(join(at.workspace, "scones.md"), "Heat the oven to 210 degrees.\n");
  const { offer } = bench(at, request, "answer: talk");
  expect((await offer()).tools.some(({ name }) => name === "fs.read")).toBe(looks);
});

test("what a question speaks of is read before it is answered, where few files are called so", async () => {
  using at = fixture();
  const files = { "rota.txt": "Week 34: Gareth\n", "swaps.txt": "Maureen takes week 34\n", "rules.txt": "Water in the evening.\n" };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(at.workspace, name), text);
  const { offer, step } = bench(at, "Whose turn is it in week 34? There were some swaps.", "answer: read");
  const first = await offer();
  expect([first.mayReply, first.options.names?.files]).toEqual([false, ["swaps.txt"]]);
  await step("fs.read", { path: "swaps.txt" });
  const second = await offer();
  expect([second.mayReply, second.tools]).toEqual([true, []]);
});
