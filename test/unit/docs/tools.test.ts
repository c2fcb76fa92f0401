// docs/tools.md against the tools: their names, their arguments, their operations.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { operations } from "../../../src/tools/table/compute.ts";
import { builtinTools } from "../../../src/tools/index.ts";
import { fixture } from "../tools/fixture.ts";

const text = readFileSync(join(resolve(import.meta.dir, "../../.."), "docs/tools.md"), "utf8");

function rowsOf(head: string): string[][] {
  const lines = text.slice(text.indexOf(head)).split("\n");
  return lines.slice(2, lines.indexOf("")).map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
}

test("each tool is in the table with its arguments, special ones are marked", () => {
  using at = fixture({ skills: { list: () => [], ofScript: () => undefined, trust: () => {} } });
  const isOptional = (schema: unknown): boolean => typeof schema === "object" && schema !== null && "safeParse" in schema && typeof schema.safeParse === "function" && schema.safeParse(undefined).success;
  const tools = builtinTools(at.options).map(({ isSpecial = false, name, schema }) => {
    const args = Object.entries(schema.shape).map(([argument, value]) => (isOptional(value) ? `${argument}?` : argument));
    return { name: `\`${name}\``, args: `\`${args.join(", ")}\``, isSpecial };
  });
  expect(rowsOf("| tool |").map(([name = "", args = "", does = ""]) => ({ name, args, isSpecial: does.startsWith("special;") }))).toEqual(tools);
});

test("each operation of table.compute is in its table", () => {
  expect(rowsOf("| operation |").flatMap(([cell = ""]) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name))).toEqual([...operations]);
});
