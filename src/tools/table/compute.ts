// What is computed over the rows of a table: number, sum, average, extremes, order, different values. Says what it left out.
import { ToolError } from "../../core/error.ts";
import { sumsByGroup } from "./groups.ts";
import { averageOf, compareQuantities, type DecimalMark, decimalMarkOf, type Quantity, quantityOf, quantityText, sumOf } from "./quantity.ts";
import { columnAt, columnsText, type Row, rowsText, shortText, type Table, valueCounts } from "./table.ts";
import { compareTexts, filterOf } from "./where.ts";

export const operations = ["count", "sum", "average", "min", "max", "sort_ascending", "sort_descending", "distinct", "rows"] as const;
export type Operation = (typeof operations)[number];

export interface Question {
  operation: Operation;
  column?: string | undefined;
  where?: string | undefined;
}

export interface Answer {
  /** The first line is the answer; the others are rows or values. */
  lines: string[];
  notes: string[];
  /** Rows that the condition accepts. */
  rows: number;
  /** Of a sum the number alone. */
  total?: string;
  /** By the values of other columns. */
  sums?: readonly string[];
}

/** @throws ToolError when the table can't answer it */
export function compute(table: Table, { column, operation, where }: Question): Answer {
  const filter = where === undefined ? undefined : filterOf(where, table);
  const all = filter ? table.rows.filter(filter.accepts) : table.rows;
  const totals = needsNumbers(operation) ? totalRows(all) : [];
  const rows = all.filter((row) => !totals.includes(row));
  const selection: Selection = { table, rows, of: where === undefined ? rowsText(rows.length) : `${rows.length} of ${rowsText(table.rows.length)}`, condition: where === undefined ? "" : ` where ${shortText(where)}` };
  const answer = { rows: rows.length, notes: [...(table.note === undefined ? [] : [table.note]), ...totalsNote(totals)] };
  const named = column === undefined ? undefined : columnAt(table, column);
  if (rows.length === 0) {
    const [first] = filter?.columns ?? [];
    if (first !== undefined) answer.notes.push(`values of ${table.columns[first]}: ${valuesText(table, first)}`);
    return { ...answer, lines: [operation === "count" ? `count${selection.condition}: 0 of ${rowsText(table.rows.length)}` : `no row of ${table.rows.length}${selection.condition}`] };
  }
  if (operation === "count") return { ...answer, lines: [counted(selection, named), ...(filter && rows.length <= rowsOfCountMax ? listed(table, rows) : [])] };
  if (operation === "rows") return { ...answer, lines: [`${selection.of}${selection.condition}:`, ...listed(table, rows), ...(named === undefined ? [] : [`${table.columns[named]} alone: ${rows.map(({ cells }) => shortText(cells[named] ?? "", 100) || "(empty)").join(", ")}`])] };
  const chosen = named === undefined ? onlyColumn(selection, operation) : needsNumbers(operation) ? withNumbers(selection, named) : named;
  if (operation === "distinct") return { ...answer, lines: distinct(selection, chosen) };
  const { notes, ...found } = measured(selection, chosen, operation);
  const isAmount = operation === "sum" || operation === "max" || operation === "min";
  return { ...answer, ...found, notes: [...answer.notes, ...notes], ...(isAmount ? { sums: sumsByGroup(table, rows, chosen) } : {}) };
}

function totalsNote(totals: readonly Row[]): string[] {
  const shown = totals.slice(0, leftOutShownMax).map(({ source }) => shortText(source, 60));
  if (totals.length < 2) return shown.map((row) => `left out: the row ${row}, which is a total itself`);
  return [`left out: ${rowsText(totals.length)} that are totals themselves: ${shown.join(", ")}${totals.length > shown.length ? ", …" : ""}`];
}

/** In each file a last row that adds up the others, called so and nothing else: with it a sum would be twice as large. */
function totalRows(rows: readonly Row[]): Row[] {
  return [...Map.groupBy(rows, ({ file }) => file)].flatMap(([file, some]) => {
    const last = some.length > 2 ? some.at(-1) : undefined;
    const text = last?.source.slice(file === undefined ? 0 : file.length + 2) ?? "";
    return last && /^\P{L}*(?:grand |sub)?(?:total|sum|summe|gesamt)\P{L}*(?:\d[\s,;]*\p{L}{1,3}\P{L}*)?$/iu.test(text) ? [last] : [];
  });
}

interface Selection {
  table: Table;
  rows: readonly Row[];
  /** `3 rows`, `3 of 7 rows`. */
  of: string;
  /** ` where …`; "" without a condition. */
  condition: string;
}

const valuesShownMax = 10;
const rowsOfExtremeMax = 5;
/** Small models count the rows where they want to know what these hold. */
const rowsOfCountMax = 5;
const leftOutShownMax = 3;

function counted({ condition, of, rows }: Selection, column: number | undefined): string {
  const filled = column === undefined ? rows.length : rows.filter(({ cells }) => cells[column] !== "").length;
  return `count${condition}: ${of}${filled === rows.length ? "" : `, in ${filled} of them the column holds something`}`;
}

/** The column that can only be meant: the one with numbers, or the only one. */
function onlyColumn({ rows, table }: Selection, operation: Operation): number {
  const numeric = numericColumns(rows, table);
  const candidates = operation === "distinct" ? table.columns.map((_, index) => index) : numeric;
  const [only, ...others] = candidates;
  if (only === undefined || others.length > 0) throw new ToolError(`${operation} needs a column. ${columnsText(table)}`);
  return only;
}

function needsNumbers(operation: Operation): boolean {
  return operation === "sum" || operation === "average";
}

/** Of lines of text a small model names the text. */
function withNumbers({ rows, table }: Selection, named: number): number {
  const [only, ...others] = table.isLines ? numericColumns(rows, table).filter((column) => column !== named) : [];
  return only === undefined || others.length > 0 || quantified(rows, named).some(({ quantity }) => quantity) ? named : only;
}

function numericColumns(rows: readonly Row[], { columns }: Table): number[] {
  return columns.flatMap((_, index) => (rows.some(({ cells }) => quantityOf(cells[index] ?? "", ".")) ? [index] : []));
}

function distinct({ condition, of, rows, table }: Selection, column: number): string[] {
  const counts = valueCounts(rows, column);
  return [`${counts.length} different ${counts.length === 1 ? "value" : "values"} of ${table.columns[column]} in ${of}${condition}:`, ...counts.map(([value, count]) => `${shortText(value) || "(empty)"}: ${count}`)];
}

function valuesText(table: Table, column: number): string {
  const values = [...new Set(table.rows.map(({ cells }) => cells[column] ?? ""))];
  const more = values.length > valuesShownMax ? `, and ${values.length - valuesShownMax} more` : "";
  return values.slice(0, valuesShownMax).map((value) => shortText(value, 60) || "(empty)").join(", ") + more;
}

interface Measured {
  row: Row;
  quantity: Quantity | undefined;
}

/** Sums need numbers; order and extremes take texts as well where a column holds no number. */
function measured(selection: Selection, column: number, operation: Exclude<Operation, "count" | "rows" | "distinct">): Pick<Answer, "lines" | "notes" | "total"> {
  const { condition, rows, table } = selection;
  const all = quantified(rows, column);
  const numbers = all.flatMap(({ quantity, row }) => (quantity ? [{ quantity, row }] : []));
  const name = table.columns[column] ?? "";
  if (operation === "sort_ascending" || operation === "sort_descending") return { lines: sorted(selection, column, operation === "sort_descending"), notes: [] };
  const isText = numbers.length === 0;
  if (isText && needsNumbers(operation)) throw new ToolError(`the column ${name} holds no numbers: ${valuesText(table, column)}. ${columnsText(table)}`);
  const notes = isText ? [] : leftOut(all, column, name);
  if (isText || operation === "min" || operation === "max") {
    const filled = isText ? all.filter(({ row }) => row.cells[column] !== "") : numbers;
    const isMax = operation === "max";
    return { lines: [...extreme(selection, filled, column, isMax), ...(isText ? numericExtreme(selection, isMax) : [])], notes };
  }
  const sum = sumOf(numbers.map(({ quantity }) => quantity));
  const over = numbers.length === rows.length ? selection.of : `${numbers.length} of ${rowsText(rows.length)}`;
  const line = operation === "sum" ? `sum of ${name}${condition}: ${quantityText(sum)} (${over})` : `average of ${name}${condition}: ${quantityText(averageOf(sum, numbers.length))} (${over}, sum ${quantityText(sum)})`;
  return { lines: [line], notes, ...(operation === "sum" ? { total: quantityText(sum) } : {}) };
}

/** Asked for the largest number a small model names the first column: where another one alone holds numbers, that is told too. */
function numericExtreme(selection: Selection, isMax: boolean): string[] {
  const { rows, table } = selection;
  const [only, ...others] = numericColumns(rows, table);
  return only === undefined || others.length > 0 ? [] : extreme(selection, quantified(rows, only).filter(({ quantity }) => quantity), only, isMax);
}

function leftOut(all: readonly Measured[], column: number, name: string): string[] {
  const without = all.filter(({ quantity }) => quantity === undefined);
  if (without.length === 0) return [];
  const some = [...new Set(without.map(({ row }) => row.cells[column] ?? ""))].slice(0, leftOutShownMax).map((value) => (value === "" ? "(empty)" : shortText(value, 40)));
  return [`left out: ${rowsText(without.length)} without a number in ${name}: ${some.join(", ")}`];
}

function extreme({ condition, of, table }: Selection, filled: readonly Measured[], column: number, isMax: boolean): string[] {
  const name = table.columns[column] ?? "";
  const [first, ...others] = filled;
  if (!first) throw new ToolError(`the column ${name} is empty in ${of}${condition}`);
  const best = others.reduce((found, one) => ((isMax ? order(one, found, column) : -order(one, found, column)) > 0 ? one : found), first);
  const equal = filled.filter((one) => order(one, best, column) === 0);
  const value = best.quantity ? quantityText(best.quantity) : shortText(best.row.cells[column] ?? "");
  const shown = equal.slice(0, rowsOfExtremeMax).map(({ row }) => `row: ${table.columns.map((one, index) => `${one}=${shortText(row.cells[index] ?? "", 100)}`).join(", ")}`);
  const more = equal.length > shown.length ? [`and ${equal.length - shown.length} more rows with the same value`] : [];
  return [`${isMax ? "max" : "min"} of ${name}${condition}: ${value} (${of})`, ...shown, ...more];
}

function sorted({ condition, of, rows, table }: Selection, column: number, isDescending: boolean): string[] {
  return [`${of}${condition} by ${table.columns[column]}, ${isDescending ? "largest" : "smallest"} first:`, ...listed(table, inOrder(rows, column, isDescending))];
}

/** Rows without a number stand last where there are numbers, as do empty cells of texts; equal ones keep their order. */
export function inOrder(rows: readonly Row[], column: number, isDescending: boolean): Row[] {
  const all = quantified(rows, column);
  const sign = isDescending ? -1 : 1;
  const hasNumbers = all.some(({ quantity }) => quantity);
  const isLast = ({ quantity, row }: Measured): boolean => (hasNumbers ? quantity === undefined : row.cells[column] === "");
  return all.toSorted((a, b) => Number(isLast(a)) - Number(isLast(b)) || sign * order(a, b, column)).map(({ row }) => row);
}

function quantified(rows: readonly Row[], column: number): Measured[] {
  const mark: DecimalMark = decimalMarkOf(rows.map(({ cells }) => cells[column] ?? ""));
  return rows.map((row) => ({ row, quantity: quantityOf(row.cells[column] ?? "", mark) }));
}

function order(a: Measured, b: Measured, column: number): number {
  if (a.quantity && b.quantity) return compareQuantities(a.quantity, b.quantity);
  return compareTexts(a.row.cells[column] ?? "", b.row.cells[column] ?? "");
}

/** As they stand in the file, so that they can be written back. */
function listed(table: Table, rows: readonly Row[]): string[] {
  return [...(table.header === undefined ? [] : [table.header]), ...rows.map(({ source }) => source)];
}
