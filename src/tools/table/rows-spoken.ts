// Which rows of a table a request speaks of, by the values that it names: a small model that reads a table filters and counts it
// wrong.
import { isCommonWord, stemOf, wordsOf } from "../../core/words.ts";
import { delimitedTable } from "./delimited.ts";
import { rowsText, shortText, type Row, type Table, valueCounts } from "./table.ts";

const tableName = /\.[ct]sv$/i;
/** A column of more different values tells rows apart rather than groups them. */
const valuesMax = 8;
const shownMax = 15;
/** Nobody asks in so few rows for some of them. */
const rowsMin = 3;

/** `4 of 7 rows have answer yes: Ann Lee, Bo Ek, …`; undefined where the request names no value that groups rows, and for no table. */
export function rowsSpokenOf(path: string, text: string, request: string): string | undefined {
  const table = tableName.test(path) ? delimitedTable(text, [",", ";", "\t"]) : undefined;
  if (!table || table.header === undefined || table.rows.length < rowsMin) return undefined;
  const said = new Set(wordsOf(request).filter((word) => !isCommonWord(word)).map(stemOf));
  const named = table.columns.flatMap((column, index) => {
    const values = saidValues(table, index, said);
    return values.length === 0 ? [] : [{ column, index, values }];
  });
  const rows = table.rows.filter(({ cells }) => named.every(({ index, values }) => values.includes(cells[index] ?? "")));
  if (named.length === 0 || rows.length === 0 || rows.length === table.rows.length) return undefined;
  const conditions = named.map(({ column, values }) => `${column} ${values.join(" or ")}`).join(" and ");
  return `${rows.length} of ${rowsText(table.rows.length)} ${rows.length === 1 ? "has" : "have"} ${conditions}: ${listed(rows, named.map(({ index }) => index))}`;
}

/** Values of a column that groups rows. */
function saidValues(table: Table, column: number, said: ReadonlySet<string>): string[] {
  const values = valueCounts(table.rows, column).map(([value]) => value);
  if (values.length > valuesMax || values.length >= table.rows.length) return [];
  return values.filter((value) => {
    const words = /\p{L}/u.test(value) ? wordsOf(value).map(stemOf) : [];
    return words.length > 0 && words.every((word) => said.has(word));
  });
}

/** By their first cell that is none of the named ones. */
function listed(rows: readonly Row[], named: readonly number[]): string {
  const cells = rows.slice(0, shownMax).map(({ cells: all }) => shortText(all.find((cell, index) => !named.includes(index) && cell.trim() !== "") ?? "", 60));
  return cells.join(", ") + (rows.length > shownMax ? `, and ${rows.length - shownMax} more` : "");
}
