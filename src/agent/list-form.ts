// How an item that goes to the end of a list has to be written: as the ones before it.

const item = /^(\s*)(?:([-*+])( \[[ xX]\])? |(\d+)([.)]) )/;

/**
 * @param lines the lines of the file that are not blank
 * @returns the text as an item of the list with which the file ends; undefined where it ends with none, or the text is one, or more than one line
 */
export function asListItem(lines: readonly string[], text: string): string | undefined {
  const [, indent = "", sign, box, number, mark] = item.exec(lines.at(-1) ?? "") ?? [];
  const line = text.trim();
  if ((sign === undefined && number === undefined) || line === "" || line.includes("\n") || item.test(line) || /^[#|>`]/.test(line)) return undefined;
  if (number !== undefined) return `${indent}${Number(number) + 1}${mark} ${line}`;
  return `${indent}${sign}${box === undefined ? "" : " [ ]"} ${line}`;
}
