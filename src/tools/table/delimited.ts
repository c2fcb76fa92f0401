// Tables whose cells stand between commas, semicolons, tabs or bars, quoted as RFC 4180 has it.
import { ToolError } from "../../core/error.ts";
import { limits } from "../../core/limits.ts";
import { quantityOf } from "./quantity.ts";
import type { Row, Table } from "./table.ts";

/** undefined when the text is no such table: no delimiter stands in every one of its first lines. */
export function delimitedTable(text: string, delimiters: readonly string[]): Table | undefined {
  const delimiter = delimiterOf(text, delimiters);
  const rows = delimiter === undefined ? undefined : records(text, delimiter);
  return rows && tableOf(rows);
}

/** One column, for a file that is a table by its name. @throws ToolError when a row has too many columns for any table */
export function singleColumn(text: string): Table {
  const rows = records(text, ",");
  if (!rows) throw new ToolError(`a row has more than ${limits.tableColumnsMax} columns`);
  return tableOf(rows);
}

const sampledRecords = 20;

function delimiterOf(text: string, delimiters: readonly string[]): string | undefined {
  let best: { delimiter: string; width: number } | undefined;
  for (const delimiter of delimiters) {
    const widths = (records(text, delimiter, sampledRecords) ?? []).map(({ cells }) => cells.length);
    const width = Math.min(...widths);
    if (widths.length > 0 && width > 1 && width > (best?.width ?? 0)) best = { delimiter, width };
  }
  return best?.delimiter;
}

/** Blank lines are no records; undefined when one has too many cells. */
function records(text: string, delimiter: string, recordsMax = Infinity): Row[] | undefined {
  const rows: Row[] = [];
  let cells: string[] = [];
  let start = 0;
  let at = 0;
  while (at < text.length && rows.length < recordsMax) {
    const cell = cellAt(text, at, delimiter);
    cells.push(cell.value);
    if (cells.length > limits.tableColumnsMax) return undefined;
    at = cell.end;
    if (text.startsWith(delimiter, at)) {
      at += delimiter.length;
      if (at < text.length) continue;
      cells.push("");
    }
    const source = text.slice(start, at);
    if (source.trim() !== "") rows.push({ cells, source });
    cells = [];
    at += text.startsWith("\r\n", at) ? 2 : 1;
    start = at;
  }
  return rows;
}

/** The cell that begins at `at`; `end` is at the delimiter, the line end, or the end of the text. */
function cellAt(text: string, at: number, delimiter: string): { value: string; end: number } {
  const opening = /[ \t]*/y;
  opening.lastIndex = at;
  const quote = delimiter === "\t" ? at : at + (opening.exec(text)?.[0].length ?? 0);
  if (text[quote] !== '"') {
    const end = plainEnd(text, at, delimiter);
    return { value: text.slice(at, end).trim(), end };
  }
  let value = "";
  for (let from = quote + 1; ; ) {
    const close = text.indexOf('"', from);
    if (close < 0) return { value: text.slice(quote + 1), end: text.length };
    value += text.slice(from, close);
    from = close + 2;
    if (text[close + 1] === '"') value += '"';
    else return { value, end: plainEnd(text, close + 1, delimiter) };
  }
}

function plainEnd(text: string, at: number, delimiter: string): number {
  const plain = plainCell[delimiter] ?? /[^,\n]*/y;
  plain.lastIndex = at;
  plain.exec(text);
  const end = plain.lastIndex;
  return text[end - 1] === "\r" && end > at && text[end] === "\n" ? end - 1 : end;
}

const plainCell: Record<string, RegExp> = { ",": /[^,\n]*/y, ";": /[^;\n]*/y, "\t": /[^\t\n]*/y, "|": /[^|\n]*/y };

/** The first record is a header unless a cell of it is a number; columns without a name are called by their position. */
function tableOf(all: readonly Row[]): Table {
  const [first, ...others] = all;
  const width = Math.max(1, ...new Set(all.map(({ cells }) => cells.length)));
  const isHeader = first !== undefined && first.cells.every((cell) => quantityOf(cell, ".") === undefined) && first.cells.some((cell) => cell !== "");
  const columns = Array.from({ length: width }, (_, index) => (isHeader && first.cells[index]) || `column${index + 1}`);
  const rows = (isHeader ? others : all).map(({ cells, source }) => ({ cells: columns.map((_, index) => cells[index] ?? ""), source }));
  return { columns, rows, ...(isHeader ? { header: first.source } : { note: "the file has no header; its columns are called column1, column2, …" }) };
}
