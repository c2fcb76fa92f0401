// docs/json-mode.md against the code: its tables name what the schemas define, and the places that really cause an event.
import { describe, expect, test } from "bun:test";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { z } from "zod";
import { AssistantMessageEvent, JsonEvent, Outcome, StdinCommand } from "../../../src/wire/json/schema.ts";

const root = resolve(import.meta.dir, "../../..");
const text = readFileSync(join(root, "docs/json-mode.md"), "utf8");
const projection = readFileSync(join(root, "src/wire/json/project.ts"), "utf8");

/** Cells of the rows of the first table after a heading, without its head. */
function tableAfter(heading: string): string[][] {
  const section = text.slice(text.indexOf(`${heading}\n`)).split("\n");
  const first = section.findIndex((line) => line.startsWith("|"));
  const end = section.findIndex((line, index) => index > first && !line.startsWith("|"));
  return section.slice(first + 2, end).map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
}

const quoted = (cell = ""): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);

/** `a, b?` for the fields of an object beside its type. */
function fieldsOf({ shape }: z.ZodObject): string {
  const names = Object.entries(shape).filter(([name]) => name !== "type");
  // What takes anything is no optional field unless it says so.
  return names.map(([name, schema]) => (schema._zod.optout === "optional" && schema._zod.def.type === "optional" ? `${name}?` : name)).join(", ") || "–";
}

function typesOf({ shape }: z.ZodObject): string[] {
  const type = shape["type"] as z.ZodLiteral<string> | z.ZodEnum<Record<string, string>>;
  return "options" in type ? type.options.map(String) : [...type.values].map(String);
}

/** Files of src that make an event or line of this type. */
function placesOf(type: string): string[] {
  const files = globSync("src/**/*.ts", { cwd: root }).map((path) => path.replaceAll("\\", "/")).filter((path) => !/^src\/(core|wire)\//.test(path));
  return files.filter((path) => readFileSync(join(root, path), "utf8").includes(`type: "${type}"`)).toSorted();
}

describe("the table of events", () => {
  const rows = tableAfter("## Events");

  test("has every event of the schema with its fields, in the same order", () => {
    const documented = rows.map(([type, fields]) => [quoted(type)[0], fields]);
    expect(documented).toEqual(JsonEvent.options.map((option) => [typesOf(option)[0], fieldsOf(option)]));
  });

  test("names for each event all places that cause it, and what it is called there", () => {
    for (const [type = "", , cause = ""] of rows) {
      const [event = ""] = quoted(type);
      const [first = "", ...others] = quoted(cause);
      // The header and the last line have no inside event; exports begin with a header too.
      if (first.includes("/")) {
        expect([event, placesOf(event)]).toEqual([event, expect.arrayContaining([first, ...others])]);
        continue;
      }
      expect([event, others]).toEqual([event, placesOf(first)]);
      const entry = new RegExp(`^  ${first}: [\\s\\S]*?(?=^  \\w+: |^};)`, "m").exec(projection)?.[0] ?? "";
      expect([event, entry.includes(`type: "${event}"`)]).toEqual([event, true]);
    }
  });
});

test("the table of updates has every variant with its fields", () => {
  const documented = tableAfter("### Growth of an answer").map(([types, fields]) => [quoted(types), fields]);
  expect(documented).toEqual(AssistantMessageEvent.options.map((option) => [typesOf(option), fieldsOf(option)]));
});

test("the table of outcomes has each of them", () => {
  expect(tableAfter("## How it ended").map(([outcome]) => quoted(outcome)[0] ?? "")).toEqual([...Outcome.options]);
});

test("the table of commands has each of them, as it is accepted", () => {
  const lines = tableAfter("## Commands while it runs").map(([line]) => JSON.parse(quoted(line)[0] ?? "") as { type: string });
  expect(lines.map((line) => StdinCommand.safeParse(line).success)).toEqual(lines.map(() => true));
  expect(lines.map(({ type }) => type)).toEqual(StdinCommand.options.flatMap((option) => typesOf(option)));
});
