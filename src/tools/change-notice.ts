// What a change would break, or did: a file that its own parser can't read any more, rows unlike the others, lines that are gone.
import { ToolError } from "../core/error.ts";
import { settingsEndings, settingsIn } from "./settings/read.ts";
import { delimitedTable } from "./table/delimited.ts";
import type { Place } from "./path.ts";

/** @throws ToolError when a file that its own parser could read would be one that it can't */
export function refuseBroken({ shown }: Place, before: Buffer, after: Buffer): void {
  const parse = parserOf(shown);
  const reason = parse && before.length > 0 && failureOf(parse, before) === undefined ? failureOf(parse, after) : undefined;
  if (reason !== undefined) throw new ToolError(`nothing was changed: ${shown} could not be read by its own format any more: ${reason}. Make the whole change in one call`);
}

/** @throws ToolError when rows that go into a table are not like those which it has */
export function refuseOddRow({ shown }: Place, before: Buffer, after: Buffer): void {
  const odd = oddRow(shown, before, after);
  if (odd) throw new ToolError(`nothing was added: the row ${odd.row} is not written like the others of ${shown}: ${odd.like}${odd.right === undefined ? "" : `. Write ${odd.right}`}`, { details: { advice: odd.right ?? odd.like } });
}

/** @throws ToolError when lines that go into a configuration file give a setting that it has a second value */
export function refuseSecondValue({ shown }: Place, before: Buffer, after: Buffer): void {
  const [old, now] = [before, after].map((content) => content.toString("utf8").replaceAll("\r\n", "\n"));
  const known = isLines(shown) ? settingsIn(old ?? "", shown) : undefined;
  const added = known && settingsIn(now ?? "", shown);
  const [key, value] = [...(added ?? [])].find(([name, one]) => known?.has(name) && known.get(name) !== one) ?? [];
  if (key !== undefined) throw new ToolError(`nothing was added: ${shown} has ${key} already, with the value ${known?.get(key)}. To give it another one: fs.set {"path":${JSON.stringify(shown)},"key":${JSON.stringify(key)},"value":${JSON.stringify(value)}}`, { details: { advice: key } });
}

function isLines(shown: string): boolean {
  return settingsEndings.some((ending) => !ending.startsWith(".json") && shown.toLowerCase().endsWith(ending));
}

/**
 * Notices to put behind the text of a result, each on a line of its own; "" when there is nothing to tell.
 * @param before what the file held; undefined when it was made
 */
export function changeNotice({ shown }: Place, before: Buffer | undefined, after: Buffer): string {
  const parse = parserOf(shown);
  const reason = parse && (before === undefined || before.length === 0) ? failureOf(parse, after) : undefined;
  if (reason !== undefined) return `\n[${shown} can't be read by its own format now: ${reason}]`;
  const odd = oddRow(shown, before, after);
  return odd ? `\n[the row ${odd.row} is not written like the others of ${shown}: ${odd.like}]` : "";
}

/** The first new row of a table that is not like those which it had: other cells, blanks before them. */
function oddRow(shown: string, before: Buffer | undefined, after: Buffer): { row: string; like: string; right?: string } | undefined {
  const delimiters = /\.csv"?$/i.test(shown) ? [";", ","] : /\.tsv"?$/i.test(shown) ? ["\t"] : undefined;
  const old = delimiters && before && delimitedTable(before.toString("utf8"), delimiters);
  const now = delimiters && delimitedTable(after.toString("utf8"), delimiters);
  if (!delimiters || !old) return undefined;
  const known = new Set([old.header, ...old.rows.map(({ source }) => source)]);
  // With a row of one cell it is no table any more: then each line is a row.
  const rows = now?.rows ?? linesOf(after).map((source) => ({ source }));
  const added = rows.filter(({ source }) => !known.has(source));
  const like = old.header ?? old.rows[0]?.source ?? "";
  if (like.includes('"')) return undefined;
  const delimiter = delimiters.find((one) => like.includes(one)) ?? ",";
  const hasBlanks = (source: string): boolean => source.includes(`${delimiter} `);
  const mayHaveBlanks = hasBlanks(like) || old.rows.some(({ source }) => hasBlanks(source));
  const width = like.split(delimiter).length;
  // A table whose own rows differ says nothing of a new one.
  if (old.rows.some(({ source }) => !source.includes('"') && source.split(delimiter).length !== width)) return undefined;
  const odd = added.find(({ source }) => !source.includes('"') && (source.split(delimiter).length !== width || (hasBlanks(source) && !mayHaveBlanks)));
  if (!odd) return undefined;
  const cells = odd.source.trim().split(delimiter);
  return { row: odd.source.trim(), like: like.trim(), ...(cells.length === width ? { right: cells.map((cell) => cell.trim()).join(delimiter) } : {}) };
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

function parserOf(shown: string): ((text: string) => unknown) | undefined {
  return parsers.find(([ending]) => shown.toLowerCase().endsWith(ending))?.[1];
}

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
