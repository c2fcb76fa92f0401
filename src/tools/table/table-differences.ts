// How two tables of the same columns differ, row by row as their first cells say: of two lists of rows a small model takes a
// changed row for one that is new, and does not see which number is higher.
import { ToolError } from "../../core/error.ts";
import { delimitedTable } from "./delimited.ts";
import { compareQuantities, decimalMarkOf, quantityOf } from "./quantity.ts";
import { type Row, type Table, valueCounts } from "./table.ts";

export interface NamedText {
  shown: string;
  text: string;
}

/** undefined where they are no such tables, or where a first cell says not which row it is. */
export function tableDifferences(one: NamedText, other: NamedText): string[] | undefined {
  const [before, after] = [one, other].map(({ shown, text }) => (/\.[ct]sv"?$/i.test(shown) ? delimitedTable(text, [",", ";", "\t"]) : undefined));
  if (!before || !after || !isKeyed(before) || !isKeyed(after) || before.columns.join("\n") !== after.columns.join("\n")) return undefined;
  const rowsAfter = new Map(after.rows.map((row) => [keyOf(row), row]));
  const kept = new Set(before.rows.map(keyOf));
  const changed = before.rows.flatMap((row) => {
    const now = rowsAfter.get(keyOf(row));
    return now ? changedCells(row, now, before, after).map((cell) => `${keyOf(row)}: ${cell(one.shown, other.shown)}`) : [];
  });
  const gone = before.rows.filter((row) => !rowsAfter.has(keyOf(row)));
  const come = after.rows.filter((row) => !kept.has(keyOf(row)));
  return [...changed, ...gone.map(({ source }) => `only in ${one.shown}: ${source}`), ...come.map(({ source }) => `only in ${other.shown}: ${source}`)];
}

function isKeyed(table: Table): boolean {
  return table.header !== undefined && table.columns.length > 1 && table.rows.length > 0 && valueCounts(table.rows, 0).every(([value, count]) => value.trim() !== "" && count === 1);
}

function keyOf({ cells }: Row): string {
  return cells[0] ?? "";
}

function changedCells(row: Row, now: Row, before: Table, after: Table): ((one: string, other: string) => string)[] {
  return before.columns.flatMap((column, index) => {
    const [old, next] = [row.cells[index] ?? "", now.cells[index] ?? ""];
    if (old === next) return [];
    const more = ["lower", "", "higher"][1 + orderOf([old, next], [before, after].flatMap(({ rows }) => rows.map(({ cells }) => cells[index] ?? "")))] ?? "";
    return [(one: string, other: string): string => `${column} is ${old || "empty"} in ${one} and ${next || "empty"} in ${other}${more === "" ? "" : `, ${more} there`}`];
  });
}

/** 1 where the second is more; 0 also for what is no number. */
function orderOf([old, next]: readonly [string, string], column: readonly string[]): -1 | 0 | 1 {
  const mark = decimalMarkOf(column);
  const [a, b] = [quantityOf(old, mark), quantityOf(next, mark)];
  try {
    return a && b ? (compareQuantities(b, a) as -1 | 0 | 1) : 0;
  } catch (error) {
    if (error instanceof ToolError) return 0;
    throw error;
  }
}
