// Cells of a table that hold nothing: a small model takes what stands in the next row for what is missing.
import { delimitedTable } from "./delimited.ts";

const toldMax = 5;

/** `no phone of bakery`, one each; none where there are many. */
export function emptyCells(text: string): string[] {
  const table = delimitedTable(text, [",", ";", "\t"]);
  if (table?.header === undefined) return [];
  const empty = table.rows.flatMap(({ cells }) => cells.flatMap((cell, index) => (cell.trim() === "" && (cells[0] ?? "") !== "" ? [`no ${table.columns[index]} of ${cells[0]}`] : [])));
  return empty.length > toldMax ? [] : empty;
}
