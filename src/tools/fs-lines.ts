// fs.insert and fs.cut: whole lines put into a file below a line that it has, or taken out of it.
import { z } from "zod";
import { ToolError } from "../core/error.ts";
import type { Tool } from "../core/tool.ts";
import { changesFile, type FileChange } from "./change-file.ts";
import { refuseOddRow, refuseSecondValue } from "./change-notice.ts";
import { absentFailure, excerpt } from "./file-edit.ts";
import type { Place } from "./path.ts";
import { linesOf, type Scope } from "./text-edit.ts";
import type { ToolOptions } from "./tool-options.ts";

export const FsInsertArguments = z.strictObject({
  path: z.string().meta({ existing: "file", seen: true }),
  below: z.string().meta({ mayBeEmpty: true, asked: true }).describe("the line of the file below which they go; empty for the top of the file"),
  text: z.string().min(1).describe("the new lines"),
});
type FsInsertArguments = z.infer<typeof FsInsertArguments>;

export const FsCutArguments = z.strictObject({
  path: z.string().meta({ existing: "file", seen: true }),
  which: z.enum(["one", "all", "section"]).describe("one line, all lines that hold the text, or a Markdown heading with its section"),
  line: z.string().min(1).meta({ oneLine: true, asked: true }).describe("the line that goes, or a text in it"),
});
type FsCutArguments = z.infer<typeof FsCutArguments>;

export function fsInsert(options: ToolOptions): Tool<typeof FsInsertArguments> {
  return {
    name: "fs.insert",
    description: "Put new lines into a file, below a line that it has.",
    schema: FsInsertArguments,
    serves: ["insert"],
    isSpecial: true,
    quotes: { file: "path", text: "below" },
    ...changesFile<FsInsertArguments>("fs.insert", options, inserted),
  };
}

export function fsCut(options: ToolOptions): Tool<typeof FsCutArguments> {
  return {
    name: "fs.cut",
    description: "Take one line out of a file, all lines that hold a text, or a section of Markdown.",
    schema: FsCutArguments,
    serves: ["cut", "delete"],
    isSpecial: true,
    quotes: { file: "path", text: "line" },
    ...changesFile<FsCutArguments>("fs.cut", options, cut),
  };
}

function inserted(before: Buffer, { below, text }: FsInsertArguments, place: Place): FileChange {
  const lines = rawLines(before);
  const above = below === "" ? 0 : onlyStretch(before, below, place, "below").last;
  const lineEnd = before.includes("\r\n") ? "\r\n" : "\n";
  const section = above > 0 && /\.(?:md|markdown)"?$/i.test(place.shown) ? sectionEnd(lines, above, text) : undefined;
  const last = section ?? above;
  // A section stands between blank lines.
  const written = (section !== undefined && !isBlank(lines[last - 1]) ? "\n" : "") + text.replace(/\r?\n$/, "") + (section !== undefined && last < lines.length ? "\n" : "");
  const added = written.split(/\r?\n/).join(lineEnd);
  const [head, tail] = [lines.slice(0, last), lines.slice(last)];
  const follows = Buffer.concat(tail).toString("utf8");
  if (follows === added || follows.startsWith(added + lineEnd)) return { bytes: before, done: "", shown: () => "" };
  const isOpen = tail.length === 0 && head.at(-1)?.at(-1) !== 0x0a;
  const bytes = Buffer.concat([...head, Buffer.from(isOpen ? lineEnd + added : added + lineEnd, "utf8"), ...tail]);
  refuseOddRow(place, before, bytes);
  refuseSecondValue(place, before, bytes);
  return { bytes, done: "added lines", shown: (firstLine) => excerpt(bytes, firstLine, added) };
}

/** Below a heading another section would take its text away: it goes to that one's end. undefined where no section is added. */
function sectionEnd(lines: readonly Buffer[], last: number, text: string): number | undefined {
  const levels = headingLevels(lines.map((line) => line.toString("utf8")));
  const level = levels[last - 1] ?? Infinity;
  const [added = Infinity] = headingLevels(text.split("\n").filter((line) => line.trim() !== ""));
  if (level === Infinity || added > level) return undefined;
  const next = levels.findIndex((other, index) => index >= last && other <= level);
  return next < 0 ? lines.length : next;
}

/** Of each line; Infinity for what is no heading, such as a comment in fenced code. */
function headingLevels(lines: readonly string[]): number[] {
  let fence: string | undefined;
  return lines.map((line) => {
    const [, mark] = /^ {0,3}(```|~~~)/.exec(line) ?? [];
    if (mark !== undefined && (fence === undefined || fence === mark)) fence = fence === undefined ? mark : undefined;
    return fence === undefined ? (/^(#{1,6}) \S/.exec(line)?.[1]?.length ?? Infinity) : Infinity;
  });
}

function isBlank(line: Buffer | undefined): boolean {
  return line === undefined || line.toString("utf8").trim() === "";
}

function cut(before: Buffer, { line, which }: FsCutArguments, place: Place): FileChange {
  const lines = rawLines(before);
  const stretches = which === "section" ? [sectionAt(before, line, place)] : which === "all" ? stretchesOf(before, line, place, "all") : [onlyStretch(before, line, place, "line")];
  const gone = new Set(stretches.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, index) => first - 1 + index)));
  const bytes = Buffer.concat(lines.filter((_, index) => !gone.has(index)));
  return { bytes, done: `took ${gone.size === 1 ? "1 line" : `${gone.size} lines`} out`, shown: (firstLine) => excerpt(bytes, firstLine, "") };
}

/** A heading with all that stands below it. @throws ToolError for any other line */
function sectionAt(before: Buffer, quoted: string, place: Place): Stretch {
  const { first } = onlyStretch(before, quoted, place, "line");
  const levels = headingLevels(before.toString("utf8").split("\n").map((line) => line.replace(/\r$/, "")));
  const level = levels[first - 1] ?? Infinity;
  if (level === Infinity) throw new ToolError(`line ${first} of ${place.shown} is no heading of Markdown, so that no section begins there; say "which":"one" for the line alone. Nothing was changed.`);
  const next = levels.findIndex((other, index) => index >= first && other <= level);
  const lines = rawLines(before);
  // At the end of the file the blank lines above it go too.
  const above = next < 0 ? lines.findLastIndex((one, index) => index < first - 1 && !isBlank(one)) + 2 : first;
  return { first: above, last: next < 0 ? lines.length : next };
}

/** With their line ends. */
function rawLines(content: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let at = 0; at < content.length; ) {
    const end = content.indexOf(0x0a, at);
    const next = end < 0 ? content.length : end + 1;
    lines.push(content.subarray(at, next));
    at = next;
  }
  return lines;
}

/** Lines from 1, both included. */
interface Stretch {
  first: number;
  last: number;
}

/** Where a quote stands. @throws ToolError when it is in no place */
function stretchesOf(before: Buffer, quoted: string, place: Place, scope: Scope): Stretch[] {
  const quote = quoted.replace(/^(?:\r?\n)+|(?:\r?\n)+$/g, "");
  const found = quote === "" ? [] : linesOf(before, quote, scope);
  if (found.length === 0) throw absentFailure(place, before, quoted);
  return [...new Set(found)].map((first) => ({ first, last: first + quote.split("\n").length - 1 }));
}

/** The only one; of several the one that is a whole line. @throws ToolError when it is in no place, or in several */
function onlyStretch(before: Buffer, quoted: string, place: Place, argument: "below" | "line"): Stretch {
  const stretches = stretchesOf(before, quoted, place, "one");
  const whole = new Set(wholeLines(before, quoted.replace(/^(?:\r?\n)+|(?:\r?\n)+$/g, "")));
  const [first, ...others] = stretches.length === 1 || whole.size !== 1 ? stretches : stretches.filter((stretch) => whole.has(stretch.first));
  if (first === undefined) throw absentFailure(place, before, quoted);
  if (others.length > 0) throw new ToolError(`${argument} is in ${place.shown} on lines ${stretches.slice(0, linesToldMax).map((stretch) => stretch.first).join(", ")}; quote the whole line${argument === "line" ? ', or, where every one of them is to go, say "which":"all"' : ""}. Nothing was changed.`);
  return first;
}

const linesToldMax = 20;

function wholeLines(before: Buffer, quote: string): number[] {
  return before.toString("utf8").split("\n").flatMap((line, index) => (line.replace(/\r$/, "") === quote ? [index + 1] : []));
}
