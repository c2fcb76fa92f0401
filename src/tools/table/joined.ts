// One table of the tables of several files, such as a folder with a file a week: with one more column, the file of a row.
import { ToolError } from "../../core/error.ts";
import { columnsText, type Table } from "./table.ts";

export interface FileTable {
  /** As a person calls the file. */
  file: string;
  table: Table;
}

/** @throws ToolError when the files do not hold the same columns */
export function joinedTable(parts: readonly FileTable[]): Table {
  const [first] = parts;
  if (!first) throw new ToolError("there is no table to join");
  const { columns, isLines } = first.table;
  const other = parts.find(({ table }) => table.columns.join("\n") !== columns.join("\n"));
  if (other) throw new ToolError(`the files hold different tables. ${first.file}: ${columnsText(first.table)} ${other.file}: ${columnsText(other.table)} Name one of the files`);
  const rows = parts.flatMap(({ file, table }) => table.rows.map(({ cells, source }) => ({ cells: [...cells, file], source: `${file}: ${source}`, file })));
  const notes = [`the rows of ${parts.length} files; their column file says of which`, ...(first.table.note === undefined ? [] : [first.table.note])];
  return { columns: [...columns, "file"], rows, ...(isLines ? { isLines } : {}), note: notes.join("; ") };
}
