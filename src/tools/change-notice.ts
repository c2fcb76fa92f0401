// What a change broke, told with its result: a file that its own parser can't read any more, lines that are gone.
import { delimitedTable } from "./table/delimited.ts";
import type { Place } from "./path.ts";

/**
 * Notices to put behind the text of a result, each on a line of its own; "" when there is nothing to tell.
 * @param before what the file held; undefined when it was made
 */
export function changeNotice({ shown }: Place, before: Buffer | undefined, after: Buffer): string {
  const parse = parsers.find(([ending]) => shown.toLowerCase().endsWith(ending))?.[1];
  const reason = parse && (before === undefined || before.length === 0 || failureOf(parse, before) === undefined) ? failureOf(parse, after) : undefined;
  return reason === undefined ? tableNotice(shown, before, after) : `\n[${shown} can't be read by its own format now: ${reason}]`;
}

/** New rows of a table that are not like those which it had: other cells, blanks before them. */
function tableNotice(shown: string, before: Buffer | undefined, after: Buffer): string {
  const delimiters = /\.csv"?$/i.test(shown) ? [";", ","] : /\.tsv"?$/i.test(shown) ? ["\t"] : undefined;
  const old = delimiters && before && delimitedTable(before.toString("utf8"), delimiters);
  const now = delimiters && delimitedTable(after.toString("utf8"), delimiters);
  if (!delimiters || !old || !now) return "";
  const known = new Set(old.rows.map(({ source }) => source));
  const added = now.rows.filter(({ source }) => !known.has(source));
  const like = old.header ?? old.rows[0]?.source ?? "";
  if (like.includes('"')) return "";
  const delimiter = delimiters.find((one) => like.includes(one)) ?? ",";
  const hasBlanks = (source: string): boolean => source.includes(`${delimiter} `);
  const mayHaveBlanks = hasBlanks(like) || old.rows.some(({ source }) => hasBlanks(source));
  const width = like.split(delimiter).length;
  const odd = added.find(({ source }) => !source.includes('"') && (source.split(delimiter).length !== width || (hasBlanks(source) && !mayHaveBlanks)));
  return odd ? `\n[the row ${odd.source.trim()} is not written like the others of ${shown}: ${like.trim()}]` : "";
}

/** For a whole file written anew: whether most of what it held is gone. */
export function lossNotice({ shown }: Place, before: Buffer | undefined, after: Buffer): string {
  if (before === undefined) return "";
  const old = linesOf(before);
  const now = new Set(linesOf(after));
  const lost = old.filter((line) => !now.has(line)).length;
  return old.length < linesMin || lost * 2 <= old.length ? "" : `\n[${lost} of the ${old.length} lines that ${shown} had are gone]`;
}

const linesMin = 4;

const parsers: readonly [ending: string, parse: (text: string) => unknown][] = [
  [".json", JSON.parse],
  [".toml", (text) => Bun.TOML.parse(text)],
];

/** The parser's reason, in one line. */
function failureOf(parse: (text: string) => unknown, content: Buffer): string | undefined {
  try {
    parse(content.toString("utf8").replace(/^\uFEFF/, ""));
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).split("\n")[0];
  }
}

function linesOf(content: Buffer): string[] {
  return content.toString("utf8").split("\n").map((line) => line.trim()).filter((line) => line !== "");
}
