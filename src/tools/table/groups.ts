// Sums by the values of a column, such as the hours of each person: asked who has most in all a small model looks for the largest row.
import { ToolError } from "../../core/error.ts";
import { compareQuantities, decimalMarkOf, type Quantity, quantityOf, quantityText, sumOf } from "./quantity.ts";
import { type Row, shortText, type Table } from "./table.ts";

const groupsMax = 12;
const columnsMax = 6;

/** One line for each column of which a value stands in several rows, the largest sum first. */
export function sumsByGroup({ columns }: Table, rows: readonly Row[], column: number): string[] {
  const mark = decimalMarkOf(rows.map(({ cells }) => cells[column] ?? ""));
  const numberOf = ({ cells }: Row, index: number): Quantity | undefined => quantityOf(cells[index] ?? "", mark);
  const lines = columns.flatMap((name, index) => {
    const groups = [...Map.groupBy(rows, ({ cells }) => cells[index] ?? "")];
    const tells = index !== column && groups.length > 1 && groups.length <= groupsMax && groups.length < rows.length && !rows.some((row) => numberOf(row, index));
    const sums = tells ? sumsOf(groups.map(([value, some]) => [value, some.flatMap((row) => numberOf(row, column) ?? [])])) : [];
    return sums.length === 0 ? [] : [`sum of ${columns[column]} by ${name}: ${sums.map(([value, sum]) => `${shortText(value, 40) || "(empty)"} ${quantityText(sum)}`).join(", ")}`];
  });
  return lines.slice(0, columnsMax);
}

/** None where units differ. */
function sumsOf(groups: readonly (readonly [value: string, numbers: readonly Quantity[]])[]): [string, Quantity][] {
  try {
    return groups.flatMap(([value, numbers]): [string, Quantity][] => (numbers.length === 0 ? [] : [[value, sumOf(numbers)]])).toSorted(([, a], [, b]) => compareQuantities(b, a));
  } catch (error) {
    if (error instanceof ToolError) return [];
    throw error;
  }
}
