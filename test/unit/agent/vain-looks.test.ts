// A look that failed after a question had what it needs is left out of what the model replies to; what tells something is not.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fixture } from "../tools/fixture.ts";
import { bench } from "./guide-bench.ts";

test.each([
  ["a look that failed", "answer: count", ["fs.count", { path: "jobs.yaml" }], ["table.compute", { path: ".", operation: "sum" }], ["fs.count"]],
  ["a command that failed stays", "answer: read, run", ["fs.read", { path: "jobs.yaml" }], ["shell.run", { command: "exit 3" }], ["fs.read", "shell.run"]],
  ["a search without a match stays", "answer: read", ["fs.read", { path: "jobs.yaml" }], ["fs.grep", { pattern: "absent" }], ["fs.read", "fs.grep"]],
] as const)("%s", async (_name, plan, first, second, left) => {
  using at = fixture();
  writeFileSync(join(at.workspace, "jobs.yaml"), "- name: a\n  on: false\n- name: b\n  on: false\n");
  const { conversation, offer, step } = bench(at, "How many jobs of jobs.yaml are off? Try it.", plan);
  await offer();
  await step(first[0], first[1]);
  await offer();
  await step(second[0], second[1]);
  await offer();
  expect(conversation.messages.flatMap((message) => (message.role === "toolResult" ? [message.toolName] : []))).toEqual([...left]);
  expect(conversation.messages.filter(({ role }) => role === "assistant").length).toBe(left.length);
});
