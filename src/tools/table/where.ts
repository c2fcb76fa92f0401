// Which rows a condition such as `age > 30 and city != Oslo` is about. Comparisons joined by `and` and `or`, nothing more:
// no brackets, no arithmetic.
import { ToolError } from "../../core/error.ts";
import { type DecimalMark, compareQuantities, decimalMarkOf, quantityOf } from "./quantity.ts";
import { columnAt, columnsText, type Row, type Table } from "./table.ts";

export interface Filter {
  accepts: (row: Row) => boolean;
  /** Columns that the condition names. */
  columns: readonly number[];
}

/** @throws ToolError when it is no condition, or names a column that is not there */
export function filterOf(text: string, table: Table): Filter {
  const alternatives = split(text, /\s+or\s+|\s*\|\|\s*/i).map((part) => split(part, /\s+and\s+|\s*&&\s*/i).map((one) => conditionOf(one, table)));
  return {
    accepts: (row) => alternatives.some((all) => all.every(({ holds }) => holds(row))),
    columns: [...new Set(alternatives.flat().flatMap(({ column }) => (column === undefined ? [] : [column])))],
  };
}

/** Whether one text comes before the other, numbers in them by their size. */
export const compareTexts: (a: string, b: string) => number = new Intl.Collator("en", { numeric: true }).compare;

interface Condition {
  /** Absent = any column. */
  column?: number;
  holds: (row: Row) => boolean;
}

const comparison = /^\s*(.+?)(?:\s*(<=|>=|==|!=|<>|≤|≥|≠|=|<|>)\s*|\s+(is\s+not|is|not\s+contains|contains|includes|like|starts?\s?with|ends?\s?with)\s+)(.*)$/is;

/** A part that is no comparison belongs to the value before it: `name = salt and pepper`. */
function split(text: string, between: RegExp): string[] {
  const parts = text.split(between);
  return parts.every((part) => comparison.test(part)) ? parts : [text];
}

function conditionOf(text: string, table: Table): Condition {
  const match = comparison.exec(text);
  if (!match) return anyColumnHolds(unquoted(text), table);
  const [, name = "", sign, word, rest = ""] = match;
  const value = unquoted(rest);
  const subject = unquoted(name).toLowerCase();
  if (table.isLines && !table.columns.includes(subject)) return lineSpeaksOf(subject, value);
  const column = columnAt(table, unquoted(name));
  const mark = decimalMarkOf(table.rows.map(({ cells }) => cells[column] ?? ""));
  const test = testOf((sign ?? word ?? "=").toLowerCase().replace(/\s+/g, " "), value, mark);
  return { column, holds: ({ cells }) => test(cells[column] ?? "") };
}

function anyColumnHolds(value: string, table: Table): Condition {
  if (value === "" || table.columns.some((column) => column.toLowerCase() === value.toLowerCase())) {
    throw new ToolError(`where has to compare a column with a value, such as ${table.columns[0] ?? "name"} = something, or ${table.columns.at(-1) ?? "size"} > 5. ${columnsText(table)}`);
  }
  const wanted = value.toLowerCase();
  return { holds: ({ cells }) => cells.some((cell) => cell.toLowerCase().includes(wanted)) };
}

/** In a text without columns `flour > 0` and `flour = 300` are about the lines with flour. */
function lineSpeaksOf(subject: string, value: string): Condition {
  const wanted = value.toLowerCase();
  return { holds: ({ cells: [line = ""] }) => line.toLowerCase().includes(subject) && (/^[-\d.,]*$/.test(wanted) || line.toLowerCase().includes(wanted)) };
}

function testOf(operator: string, value: string, mark: DecimalMark): (cell: string) => boolean {
  const wanted = value.toLowerCase();
  switch (operator) {
    case "contains":
    case "includes":
      return (cell) => cell.toLowerCase().includes(wanted);
    case "not contains":
      return (cell) => !cell.toLowerCase().includes(wanted);
    case "like":
      return likeTest(wanted);
    case "=":
    case "==":
    case "is":
      return (cell) => isEqual(cell, value, mark);
    case "!=":
    case "<>":
    case "≠":
    case "is not":
      return (cell) => !isEqual(cell, value, mark);
    default:
      if (operator.startsWith("start")) return (cell) => cell.toLowerCase().startsWith(wanted);
      if (operator.startsWith("end")) return (cell) => cell.toLowerCase().endsWith(wanted);
      return (cell) => cell !== "" && isOrdered(operator, compareCells(cell, value, mark));
  }
}

/** `%` stands for any text, at either end. */
function likeTest(pattern: string): (cell: string) => boolean {
  const expression = new RegExp(`^${pattern.split("%").map(RegExp.escape).join(".*")}$`, "s");
  return (cell) => expression.test(cell.toLowerCase());
}

function isEqual(cell: string, value: string, mark: DecimalMark): boolean {
  if (cell.toLowerCase() === value.toLowerCase() || isDayIn(cell, value)) return true;
  const [said, wanted] = [truthOf(cell), truthOf(value)];
  if (said !== undefined && wanted !== undefined) return said === wanted;
  const [a, b] = [quantityOf(cell, mark), quantityOf(value, mark) ?? quantityOf(value, ".")];
  return a !== undefined && b !== undefined && (a.unit === b.unit || b.unit === "") && compareQuantities(a, b) === 0;
}

/** A month or a year has the days in it: `date = 2024-03`. */
function isDayIn(cell: string, value: string): boolean {
  return /^\d{4}(?:[-/.]\d{2})?$/.test(value) && /^\d{4}([-/.])\d{2}\1\d{2}(?!\d)/.test(cell) && cell.startsWith(value);
}

/** Small models ask for `paid = false` where the cells are yes and no. */
function truthOf(text: string): boolean | undefined {
  if (/^(?:yes|y|true|on|✓|x)$/i.test(text)) return true;
  return /^(?:no|n|false|off|✗)$/i.test(text) ? false : undefined;
}

function compareCells(cell: string, value: string, mark: DecimalMark): number | undefined {
  const wanted = quantityOf(value, mark) ?? quantityOf(value, ".");
  if (wanted === undefined) return compareTexts(cell, value);
  const found = quantityOf(cell, mark);
  return found && compareQuantities(found, wanted);
}

/** What can't be compared is neither smaller nor greater. */
function isOrdered(operator: string, order: number | undefined): boolean {
  if (order === undefined) return false;
  if (operator === "<") return order < 0;
  if (operator === ">") return order > 0;
  return operator === "<=" || operator === "≤" ? order <= 0 : order >= 0;
}

function unquoted(text: string): string {
  const trimmed = text.trim();
  return /^(["'`])(.*)\1$/s.exec(trimmed)?.[2] ?? trimmed;
}
