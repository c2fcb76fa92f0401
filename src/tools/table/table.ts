// A table as it was read out of a file, whatever the file's format, and its columns by the names that people give them.
import { ToolError } from "../../core/error.ts";
import { nearest } from "../../core/nearest.ts";

export interface Row {
  /** As many as there are columns; "" for what is not there. */
  cells: readonly string[];
  /** The row as it stands in the file, of several behind the file's name. */
  source: string;
  /** Where a table was joined of several files, the one that it stands in. */
  file?: string;
}

export interface Table {
  /** What the file calls it; absent when it is all there is. */
  name?: string;
  columns: readonly string[];
  rows: readonly Row[];
  /** The text of each row is a line of any text, and its columns are made up. */
  isLines?: boolean;
  /** What stands above the rows, as it stands there. */
  header?: string;
  /** What a model has to know of how it was read. */
  note?: string;
}

/** Position of a column; letter case, quotes and the signs between words are free. @throws ToolError that names the columns */
export function columnAt(table: Table, name: string): number {
  const exact = table.columns.indexOf(name);
  const found = exact >= 0 ? exact : table.columns.findIndex((column) => plain(column) === plain(name));
  if (found >= 0) return found;
  const near = nearest(name, table.columns);
  throw new ToolError(`there is no column ${JSON.stringify(name)}${near === undefined ? "." : `; did you mean ${near}?`} ${columnsText(table)}`);
}

/** `The columns are name, age and city.` */
export function columnsText({ columns, name }: Table): string {
  const shown = columns.slice(0, columnsShownMax);
  const more = columns.length > shown.length ? `, and ${columns.length - shown.length} more` : "";
  return `The columns${name === undefined ? "" : ` of ${name}`} are ${shown.join(", ")}${more}.`;
}

/** `3 rows`, `1 row`. */
export function rowsText(count: number): string {
  return `${count} ${count === 1 ? "row" : "rows"}`;
}

/** A cell or a row on one line, cut where it is long. */
export function shortText(text: string, charsMax = 200): string {
  const line = text.replace(/\s*\r?\n\s*/g, " ");
  return line.length > charsMax ? `${line.slice(0, charsMax).toWellFormed()}…` : line;
}

/** How often each value of a column occurs, the most frequent first. */
export function valueCounts(rows: readonly Row[], column: number): [value: string, count: number][] {
  const groups = Map.groupBy(rows, ({ cells }) => cells[column] ?? "");
  return [...groups].map(([value, { length }]): [string, number] => [value, length]).toSorted(([, a], [, b]) => b - a);
}

const columnsShownMax = 40;

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s"'`_[\]-]+/g, "");
}
