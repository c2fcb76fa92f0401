// docs/models.md against the code: the table of the catalogue and the table of the events.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { formatBytes } from "../../../src/cli/models-progress.ts";
import { loadCatalog } from "../../../src/models/catalog.ts";
import { PullEvent } from "../../../src/models/pull-event.ts";

const text = readFileSync(join(import.meta.dir, "../../../docs/models.md"), "utf8");

/** Cells of the rows of the table under a heading, without its head. */
function tableAfter(heading: string): string[][] {
  const section = text.slice(text.indexOf(heading)).split("\n");
  const first = section.findIndex((line) => line.startsWith("|"));
  const end = section.findIndex((line, index) => index > first && !line.startsWith("|"));
  return section.slice(first + 2, end).map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
}

test("every model is in the table with its size and context", () => {
  const documented = tableAfter("## The catalogue").map(([name = "", size, context, thinks, run]) => [name.split("`")[1], size, context, thinks, run]);
  expect(documented).toEqual(
    loadCatalog().map((entry) => [entry.name, formatBytes(entry.bytes ?? 0), String(entry.contextWindow), entry.template?.thinking ? "can" : "no", entry.verified ? "yes" : "no"]),
  );
});

test("every event is in the table with its fields", () => {
  const documented = tableAfter("## For programs").map(([type = "", fields = ""]) => [type.replaceAll("`", ""), fields.replaceAll("`", "")]);
  const defined = PullEvent.options.map((option) => [
    option.shape.type.value,
    Object.entries(option.shape)
      .filter(([name]) => name !== "type")
      .map(([name, schema]) => (schema.safeParse(undefined).success ? `${name}?` : name))
      .join(", "),
  ]);
  expect(documented).toEqual(defined);
});
