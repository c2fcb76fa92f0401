// Tables inside JSON and Markdown.
import { ToolError, messageOf } from "../../core/error.ts";
import type { Row, Table } from "./table.ts";

/** The lists of a JSON text; where there is none, the members of its object. @throws ToolError when it is no JSON */
export function jsonTables(text: string, shown: string): Table[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ToolError(`${shown} is no valid JSON: ${messageOf(error)}`, { cause: error });
  }
  const lists = listsIn(value, "", 0);
  if (lists.length > 0) return lists.map(({ name, items }) => tableOfItems(items, lists.length > 1 ? name : ""));
  if (!isRecord(value)) throw new ToolError(`${shown} holds a single value, no list: fs.read shows it`);
  return [tableOfMembers(value)];
}

/** One JSON value a line; undefined when a line is none. */
export function jsonLinesTable(text: string): Table | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  try {
    const values = lines.map((line): unknown => JSON.parse(line));
    return values.length > 0 && values.every(isRecord) ? tableOfItems(values, "") : undefined;
  } catch {
    // Not of this kind; it is read as something else.
    return undefined;
  }
}

/** Every table of a Markdown text, named by the heading above it when there are several. */
export function markdownTables(text: string): Table[] {
  const tables: Table[] = [];
  const lines = text.split(/\r?\n/);
  let heading = "";
  for (let at = 0; at < lines.length; at += 1) {
    heading = /^#+\s+(.*?)\s*#*$/.exec(lines[at] ?? "")?.[1] ?? heading;
    if (!isTableLine(lines[at]) || !/^[\s|:-]*-[\s|:-]*$/.test(lines[at + 1] ?? "") || !isTableLine(lines[at + 1])) continue;
    const columns = cellsOf(lines[at] ?? "").map((cell, index) => cell || `column${index + 1}`);
    const header = `${lines[at]}\n${lines[at + 1]}`;
    const rows: Row[] = [];
    for (at += 2; isTableLine(lines[at]); at += 1) {
      const cells = cellsOf(lines[at] ?? "");
      rows.push({ cells: columns.map((_, index) => cells[index] ?? ""), source: lines[at] ?? "" });
    }
    at -= 1;
    tables.push({ ...(heading === "" ? {} : { name: heading }), columns, rows, header });
  }
  return tables.length > 1 ? tables : tables.map(({ name: _name, ...table }) => table);
}

const depthMax = 4;

/** Lists of objects; a list of plain values only where nothing is around it. */
function listsIn(value: unknown, name: string, depth: number): { name: string; items: unknown[] }[] {
  if (Array.isArray(value)) return value.some(isRecord) || depth === 0 ? [{ name, items: value }] : [];
  if (!isRecord(value) || depth === depthMax) return [];
  return Object.entries(value).flatMap(([key, inner]) => listsIn(inner, name === "" ? key : `${name}.${key}`, depth + 1));
}

function tableOfItems(items: readonly unknown[], name: string): Table {
  const columns = [...new Set(items.flatMap((item) => (isRecord(item) ? Object.keys(item) : ["value"])))];
  const rows = items.map((item) => ({ cells: columns.map((column) => cellText(isRecord(item) ? own(item, column) : column === "value" ? item : undefined)), source: JSON.stringify(item) }));
  return { ...(name === "" ? {} : { name }), columns, rows };
}

function tableOfMembers(value: Record<string, unknown>): Table {
  const entries = Object.entries(value);
  const inner = [...new Set(entries.flatMap(([, member]) => (isRecord(member) ? Object.keys(member) : ["value"])))];
  const rows = entries.map(([key, member]) => ({
    cells: [key, ...inner.map((column) => cellText(isRecord(member) ? own(member, column) : column === "value" ? member : undefined))],
    source: `${JSON.stringify(key)}: ${JSON.stringify(member)}`,
  }));
  return { columns: ["key", ...inner], rows, note: "each member of the object is a row; its name is the column key" };
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function own(item: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(item, key) ? item[key] : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTableLine(line: string | undefined): boolean {
  return line !== undefined && line.includes("|") && line.trim() !== "";
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|").replace(/^(\*\*|__|`)(.*)\1$/, "$2"));
}
