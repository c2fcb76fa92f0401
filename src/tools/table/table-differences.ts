// How two tables of the same columns differ, row by row as their first cells say: of two lists of rows a small model takes a
// changed row for one that is new, and does not see which number is higher.
import { ToolError } from "../../core/error.ts";
import { delimitedTable } from "./delimited.ts";
import { compareQuantities, decimalMarkOf, type Quantity, quantityOf, quantityText, sumOf } from "./quantity.ts";
import { type Row, type Table, valueCounts } from "./table.ts";

export interface NamedText {
  shown: string;
  text: string;
}

/** undefined where they are no such tables, or where a first cell says not which row it is. */
export function tableDifferences(one: NamedText, other: NamedText): string[] | undefined {
  const [before, after] = [one, other].map(({ shown, text }) => (/\.[ct]sv"?$/i.test(shown) ? delimitedTable(text, [",", ";", "\t"]) : keyedLines(text)));
  if (!before || !after || !isKeyed(before) || !isKeyed(after) || before.columns.join("\n") !== after.columns.join("\n")) return undefined;
  const rowsAfter = new Map(after.rows.map((row) => [keyOf(row), row]));
  const kept = new Set(before.rows.map(keyOf));
  const changes = before.rows.flatMap((row) => {
    const now = rowsAfter.get(keyOf(row));
    return now ? changedCells(row, now, before, after).map((change) => ({ ...change, key: keyOf(row) })) : [];
  });
  const changed = changes.map(({ by, column, key, next, old }) => `${key}: ${column}${column === "" ? "" : " is "}${old || "empty"} in ${one.shown} and ${next || "empty"} in ${other.shown}${by === undefined ? "" : `, ${sizeOf(by)} ${by.digits < 0n ? "lower" : "higher"} there`}`);
  const gone = before.rows.filter((row) => !rowsAfter.has(keyOf(row)));
  const come = after.rows.filter((row) => !kept.has(keyOf(row)));
  return [...changed, ...mostText(changes), ...gone.map(({ source }) => `only in ${one.shown}: ${source}`), ...come.map(({ source }) => `only in ${other.shown}: ${source}`)];
}

/** A text of lines such as `Ann Lee, violin`: the first part says which line it is. undefined for any other text. */
function keyedLines(text: string): Table | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const rows = lines.map((line): Row => ({ cells: /^\s*([^,;:]{1,40})[,;:]\s+(\S.*)$/.exec(line)?.slice(1) ?? [], source: line }));
  return rows.length < keyedMin || rows.some(({ cells }) => cells.length === 0) ? undefined : { columns: ["name", ""], rows, header: "" };
}

const keyedMin = 3;

function isKeyed(table: Table): boolean {
  return table.header !== undefined && table.columns.length > 1 && table.rows.length > 0 && valueCounts(table.rows, 0).every(([value, count]) => value.trim() !== "" && count === 1);
}

function keyOf({ cells }: Row): string {
  return cells[0] ?? "";
}

interface Change {
  column: string;
  old: string;
  next: string;
  /** Of numbers: how much more the second is; never nothing. */
  by: Quantity | undefined;
}

function changedCells(row: Row, now: Row, before: Table, after: Table): Change[] {
  return before.columns.flatMap((column, index) => {
    const [old, next] = [row.cells[index] ?? "", now.cells[index] ?? ""];
    return old === next ? [] : [{ column, old, next, by: difference([old, next], [before, after].flatMap(({ rows }) => rows.map(({ cells }) => cells[index] ?? ""))) }];
  });
}

/** Of one column of numbers: the rows that rose and fell most. */
function mostText(changes: readonly (Change & { key: string })[]): string[] {
  const counted = changes.flatMap(({ by, column, key }) => (by ? [{ by, column, key }] : []));
  if (counted.length < 2 || new Set(counted.map(({ column, by }) => `${column} ${by.unit}`)).size > 1) return [];
  const sorted = counted.toSorted((a, b) => compareQuantities(a.by, b.by));
  const [fallen, risen] = [sorted[0], sorted.at(-1)];
  const told = [...(fallen && fallen.by.digits < 0n ? [`lower by most: ${fallen.key} (${sizeOf(fallen.by)})`] : []), ...(risen && risen.by.digits > 0n ? [`higher by most: ${risen.key} (${sizeOf(risen.by)})`] : [])];
  return [`[${told.join("; ")}]`];
}

function sizeOf(by: Quantity): string {
  return quantityText({ ...by, digits: by.digits < 0n ? -by.digits : by.digits });
}

/** undefined for what is no number, and for the same one. */
function difference([old, next]: readonly [string, string], column: readonly string[]): Quantity | undefined {
  const mark = decimalMarkOf(column);
  const [a, b] = [quantityOf(old, mark), quantityOf(next, mark)];
  try {
    const by = a && b && sumOf([b, { ...a, digits: -a.digits }]);
    return by && by.digits !== 0n ? by : undefined;
  } catch (error) {
    if (error instanceof ToolError) return undefined;
    throw error;
  }
}
