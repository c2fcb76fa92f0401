// From the text of a file to the tables in it: by the file's name, and by what it looks like where the name says nothing.
import { ToolError } from "../../core/error.ts";
import { delimitedTable, singleColumn } from "./delimited.ts";
import { jsonLinesTable, jsonTables, markdownTables } from "./markup-tables.ts";
import type { Table } from "./table.ts";

/** At least one. @throws ToolError when the file holds none */
export function readTables(text: string, shown: string): Table[] {
  if (text.trim() === "") throw new ToolError(`${shown} is empty`);
  const kind = /\.([a-z]+)"?$/i.exec(shown)?.[1]?.toLowerCase() ?? "";
  switch (kind) {
    case "csv":
      return [delimitedTable(text, [",", ";", "\t", "|"]) ?? singleColumn(text)];
    case "tsv":
    case "tab":
      return [delimitedTable(text, ["\t"]) ?? singleColumn(text)];
    case "json":
      return jsonTables(text, shown);
    case "jsonl":
    case "ndjson":
      return [jsonLinesTable(text) ?? linesTable(text)];
    default: {
      const tables = markdownTables(text);
      if (tables.length > 0) return tables;
      const table = jsonLinesTable(text) ?? (kind === "md" ? undefined : delimitedTable(text, ["\t", ";", "|", ","]));
      return [table?.header === undefined && table?.note !== undefined ? linesTable(text) : (table ?? linesTable(text))];
    }
  }
}

/** Each line that is not blank is a row. */
function linesTable(text: string): Table {
  const rows = text.split(/\r?\n/).filter((line) => line.trim() !== "").map((line) => ({ cells: [line.trim(), lastNumber(line)], source: line }));
  return { columns: ["line", "number"], rows, isLines: true, note: "each line is a row: its column line is the text, number the last number in it" };
}

/** With its sign, currency and unit where they stand right beside it; "" when there is none. */
function lastNumber(line: string): string {
  const found = line.match(/(?<![\p{L}\d.,])[-−]?[$€£¥₹]?\d+(?:[.,]\d+)*(?:\s?%|\s?[€£¥₹](?![\p{L}\d]))?/gu) ?? [];
  return found.at(-1) ?? "";
}
