// A file that a question names is read whole where it is short, also after a search found some lines of it; a long one is not.
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
