// fs.sort: puts the lines of a file, or the rows of a table in it, in order. Every line stays as it stands, a header on top.
import { z } from "zod";
import { ToolError } from "../core/error.ts";
import type { Tool } from "../core/tool.ts";
import { changesFile, type FileChange } from "./change-file.ts";
import { excerpt } from "./file-edit.ts";
import type { Place } from "./path.ts";
import { inOrder } from "./table/compute.ts";
import { delimitedTable } from "./table/delimited.ts";
import { columnAt, columnsText, type Row, rowsText, type Table } from "./table/table.ts";
import type { ToolOptions } from "./tool-options.ts";

export const FsSortArguments = z.strictObject({
  path: z.string().meta({ existing: "file", seen: true }),
  column: z.string().optional().meta({ existing: "column" }).describe("of a table: the column that decides"),
  order: z.enum(["ascending", "descending"]).default("ascending"),
});
type FsSortArguments = z.infer<typeof FsSortArguments>;

export function fsSort(options: ToolOptions): Tool<typeof FsSortArguments> {
  return {
    name: "fs.sort",
    description: "Put the lines of a file, or the rows of a table, in order.",
    schema: FsSortArguments,
    serves: ["sort"],
    isSpecial: true,
    ...changesFile<FsSortArguments>("fs.sort", options, sorted),
  };
}

function sorted(before: Buffer, { column, order }: FsSortArguments, { shown }: Place): FileChange {
  // Bytes that are no UTF-8 stay as they are: each is then one character of the text.
  const encoding = Buffer.from(before.toString("utf8"), "utf8").equals(before) ? "utf8" : "latin1";
  const whole = before.toString(encoding);
  const mark = whole.startsWith("\uFEFF") ? "\uFEFF" : "";
  const text = whole.slice(mark.length);
  const table = tableOf(text, shown);
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const rows = inOrder(table.rows, columnOf(table, column), order === "descending");
  const lines = [...(table.header === undefined ? [] : [table.header]), ...rows.map(({ source }) => source)];
  const bytes = Buffer.from(mark + lines.join(lineEnd) + (text.endsWith("\n") ? lineEnd : ""), encoding);
  return { bytes, done: `sorted ${rowsText(rows.length)}`, shown: () => excerpt(bytes, 1, bytes.toString("utf8")) };
}

const unsorted = /\.(json|jsonl|toml|ya?ml|ini|html?|xml)"?$/i;

/** The rows are all that the file holds. @throws ToolError when that can't be: in another order the file would mean something else */
function tableOf(text: string, shown: string): Table {
  if (unsorted.test(shown)) throw new ToolError(`the lines of ${shown} can't be sorted without changing what they say`);
  const table = /\.md"?$/i.test(shown) ? undefined : delimitedTable(text, /\.tsv"?$/i.test(shown) ? ["\t"] : [",", ";", "\t", "|"]);
  return table ?? { columns: ["line"], rows: linesOf(text, shown) };
}

function linesOf(text: string, shown: string): Row[] {
  const lines = text.replace(/\r?\n$/, "").split(/\r?\n/);
  if (lines.some((line) => line.trim() === "")) throw new ToolError(`${shown} has blank lines: it is more than one list. Change the lines with fs.edit`);
  return lines.map((line) => ({ cells: [line], source: line }));
}

function columnOf(table: Table, column: string | undefined): number {
  if (table.columns.length === 1) return 0;
  if (column === undefined || column.trim() === "") throw new ToolError(`fs.sort needs a column. ${columnsText(table)}`);
  return columnAt(table, column);
}
