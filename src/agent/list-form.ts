// How an item that goes to the end of a list has to be written: as the ones before it.

const item = /^(\s*)(?:([-*+]) (\[[ xX]\] )?|(\d+)([.)]) )/;

/**
 * @param lines the lines of the file that are not blank
 * @returns the text as an item of the list with which the file ends; undefined where it is that, where the file ends with no list,
 * and for what is more than one line or something else by its first sign
 */
export function asListItem(lines: readonly string[], text: string): string | undefined {
  const [, indent = "", sign, box, number, mark] = item.exec(lines.at(-1) ?? "") ?? [];
  const line = text.trim();
  if ((sign === undefined && number === undefined) || line === "" || line.includes("\n") || /^[#|>`]/.test(line)) return undefined;
  const own = item.exec(line)?.[3];
  const bare = line.replace(item, "");
  const written = number === undefined ? `${indent}${sign} ${box === undefined ? "" : (own ?? "[ ] ")}${bare}` : `${indent}${Number(number) + 1}${mark} ${bare}`;
  return text.replace(/\r?\n$/, "") === written ? undefined : written;
}
