// How often things occur in a text: the values of each column of a table, the beginnings and the words of other lines. A small
// model asked how many there are of something finds it here, where it would not think of a pattern for it.
import { isProgram } from "../core/named-files.ts";
import { isCommonWord } from "../core/words.ts";
import { readTables } from "./table/read-tables.ts";
import { rowsText, shortText, type Table, valueCounts } from "./table/table.ts";

const tableNames = /\.(?:csv|tsv|tab|json|jsonl|ndjson)"?$/i;
const shownMax = 24;
/** A column of more different values tells them apart rather than groups them. */
const valuesMax = 12;
/** A sign of a list with its box, or the first word of the line. */
const beginning = /^\s*([-*+] \[[ xX]\]|\S+)/;
const word = /[\p{L}_][\p{L}\p{N}_]*/gu;

/** Lines of text; none where nothing occurs twice. @param shown the file's name, which says whether it is a table */
export function tally(text: string, shown: string): string[] {
  const path = shown.replace(/"$/, "");
  const tables = tableNames.test(shown) ? tablesIn(text, shown) : [];
  return tables.length > 0 ? tables.flatMap(tableTally) : textTally(isProgram(path) ? withoutComments(text, path) : text);
}

/** Of several files together, those that are no tables. */
export function tallyTexts(files: readonly { text: string; shown: string }[]): string[] {
  const texts = files.filter(({ shown }) => !tableNames.test(shown)).map(({ shown, text }) => (isProgram(shown) ? withoutComments(text, shown) : text));
  return textTally(texts.join("\n"));
}

const hashComments = /\.(?:php|pl|ps1|py|r|rb|sh)$/i;

/** Whole lines of them: what they speak of is not there. */
function withoutComments(text: string, path: string): string {
  const comment = hashComments.test(path) ? /^[ \t]*#.*$/gm : /\.lua$/i.test(path) ? /^[ \t]*--.*$/gm : /^[ \t]*(?:\/\/|\/\*|\*(?=[ \t/\r]|$)).*$/gm;
  return text.replace(comment, "");
}

function tablesIn(text: string, shown: string): Table[] {
  try {
    return readTables(text, shown);
  } catch {
    // A file that is none in spite of its name is a text.
    return [];
  }
}

function tableTally(table: Table): string[] {
  const counts = table.columns.map((column, index) => ({ column, values: valueCounts(table.rows, index) }));
  const groups = counts.filter(({ values }) => values.length <= valuesMax && values.length < table.rows.length);
  return [`${table.name === undefined ? "" : `${table.name}: `}${rowsText(table.rows.length)}`, ...groups.map(({ column, values }) => `${column}: ${listed(values)}`)];
}

function textTally(text: string): string[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const beginnings = frequent(lines.flatMap((line) => beginning.exec(line)?.[1] ?? []), 1);
  const words = frequent(lines.flatMap((line) => [...new Set(line.match(word))].filter((one) => !isCommonWord(one))), 2);
  const whole = frequent(lines.map((line) => line.trim()), 2).filter(([line]) => /\p{L}/u.test(line) && /[^\p{L}\p{N}_]/u.test(line));
  const isTelling = beginnings.length > 0 && beginnings.length <= valuesMax && beginnings.length < lines.length;
  return [...(isTelling ? [linesWith("begin", beginnings)] : []), ...(words.length > 0 ? [linesWith("hold", words)] : []), ...(whole.length > 0 && whole.length <= valuesMax ? [linesWith("are", whole)] : [])];
}

/** `3 lines begin with - [ ], which is an open box; 1 with #` */
function linesWith(verb: "begin" | "hold" | "are", counts: readonly (readonly [string, number])[]): string {
  const [first, ...others] = counts.slice(0, shownMax);
  const between = verb === "begin" ? "with " : "";
  const told = (text: string): string => `${between}${JSON.stringify(shortText(text, 40))}${boxes.find(([box]) => box.test(text))?.[1] ?? ""}`;
  const more = counts.length > shownMax ? `; and ${counts.length - shownMax} more` : "";
  return first === undefined ? "" : [`${first[1]} ${first[1] === 1 ? "line" : "lines"} ${verb}${first[1] === 1 && verb !== "are" ? "s" : ""} ${told(first[0])}`, ...others.map(([text, count]) => `${count} ${told(text)}`)].join("; ") + more;
}

/** Of Markdown and of code, in words. */
const boxes: readonly (readonly [RegExp, string])[] = [
  [/^[-*+] \[ \]/, " (open, not done)"],
  [/^[-*+] \[[xX]\]/, " (ticked, done)"],
  [/^(?:def|fn|func|function)$/, " (functions)"],
  [/^class$/, " (classes)"],
];

function frequent(texts: readonly string[], timesMin: number): [string, number][] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].filter(([, count]) => count >= timesMin).toSorted(([, a], [, b]) => b - a);
}

function listed(counts: readonly (readonly [string, number])[]): string {
  const more = counts.length > shownMax ? `, and ${counts.length - shownMax} more` : "";
  return counts.slice(0, shownMax).map(([text, count]) => `${shortText(text, 40) || "(empty)"} ${count}`).join(", ") + more;
}
