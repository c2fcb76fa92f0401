// fs.count: how many lines, words and characters a text file has, how many files a folder has, how many lines hold a text.
import { closeSync, readFileSync } from "node:fs";
import { z } from "zod";
import { ToolError } from "../core/error.ts";
import { languages } from "../core/languages.ts";
import { limits } from "../core/limits.ts";
import type { Tool, ToolContext, ToolResult } from "../core/tool.ts";
import { sizeText } from "./clip.ts";
import { fileKind } from "./file-kind.ts";
import { type FoundLine, searchFile } from "./file-search.ts";
import { unreadableNote } from "./fs-list.ts";
import { globMatcher } from "./glob.ts";
import { type LineMatcher, lineMatcher, matcherOrText } from "./line-matcher.ts";
import { fitLines } from "./line-list.ts";
import { checkJudged, openForReading, rememberJudged } from "./open.ts";
import { missingFailure } from "./path-failure.ts";
import { rawPath } from "./path-text.ts";
import { locate, nameOf, type Place, readNeeds, shortPath } from "./path.ts";
import { tally, tallyTexts } from "./tally.ts";
import { countText, type TextCounts } from "./text-counts.ts";
import type { ToolOptions } from "./tool-options.ts";
import { walk, type WalkReport } from "./walk.ts";

export const FsCountArguments = z.strictObject({
  what: z.enum(["files", "lines", "words"]).default("lines"),
  path: z.string().default(".").meta({ existing: "any" }),
  pattern: z.string().min(1).optional().describe("counts only lines that hold it; JavaScript regular expression"),
  glob: z.string().min(1).optional().describe("only files that fit, such as *.py").meta({ advanced: true }),
});
type FsCountArguments = z.infer<typeof FsCountArguments>;

export function fsCount(options: ToolOptions): Tool<typeof FsCountArguments> {
  return {
    name: "fs.count",
    description: "Count the lines or words of a file, or the files, lines or words in a folder with all folders below; with a pattern only the lines that hold it.",
    schema: FsCountArguments,
    serves: ["count"],
    isSpecial: true,
    class: "read",
    async needs(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      rememberJudged(args, [place.real]);
      return readNeeds(place, context, options);
    },
    async run(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      checkJudged(args, [place.real]);
      if (!place.stats) throw missingFailure(place.real, place.shown, place.dangling);
      const pattern = args.pattern === undefined ? undefined : matcherOrText(args.pattern, { tool: "fs.count", literal: false, ignoreCase: false });
      const matchers = pattern && { exact: pattern.matcher, ...(isPlain(args.pattern ?? "") ? { loose: lineMatcher(args.pattern ?? "", { literal: true, ignoreCase: true }) } : {}) };
      const counted = place.stats.isDirectory() ? await countFolder(place, args, matchers, context) : await countFile(place, args, matchers, context);
      return { ...counted, content: [{ type: "text", text: counted.text + (pattern?.note ?? "") }] };
    },
  };
}

interface Matchers {
  exact: LineMatcher;
  /** With any capitals; absent for what is no plain text. */
  loose?: LineMatcher;
}

function isPlain(pattern: string): boolean {
  return /\p{L}/u.test(pattern) && !/[\\^$.*+?()[\]{}|\r\n]/.test(pattern);
}

interface Counted {
  text: string;
  details: NonNullable<ToolResult["details"]>;
}

interface FileCounts {
  real: string;
  shown: string;
  bytes: number;
  /** Absent for what is no text. */
  counts?: TextCounts;
  /** Lines that hold the pattern. */
  hits: number;
  /** Lines that hold it with other capitals, by how it is written there. */
  otherwise: Map<string, number>;
}

async function countFile(place: Place, { pattern }: FsCountArguments, matchers: Matchers | undefined, context: ToolContext): Promise<Counted> {
  const file = await look(place, matchers, context);
  const { bytes, counts, hits } = file;
  if (!counts) throw new ToolError(`${place.shown} is no text file (${sizeText(bytes)}); fs.count counts text only`);
  const { characters, lines, words } = counts;
  const text = pattern === undefined ? `${place.shown}: ${plural(lines, "line")}, ${plural(words, "word")}, ${plural(characters, "character")}, ${plural(bytes, "byte")}` : `${hits} of ${plural(lines, "line")} in ${place.shown} ${hits === 1 ? "holds" : "hold"} ${JSON.stringify(pattern)}`;
  const others = otherwiseText([file]);
  return { text: [text, ...others, ...(hits === 0 && others.length === 0 ? tallyOf(place, bytes) : [])].join("\n"), details: pattern === undefined ? { path: place.absolute, lines, words, characters, bytes } : { path: place.absolute, lines, hits } };
}

/** Where no pattern says what is counted, whatever can be. */
function tallyOf(place: Place, bytes: number): string[] {
  return bytes > limits.tableBytesMax ? [] : tally(textOf(place), place.shown);
}

function folderTally(files: readonly FileCounts[]): string[] {
  const texts = files.filter(({ counts }) => counts);
  return texts.length < 2 || sum(texts, ({ bytes }) => bytes) > limits.tableBytesMax ? [] : tallyTexts(texts.map((file) => ({ shown: file.shown, text: textOf(file) }))).map((line) => `in all files: ${line}`);
}

function textOf(place: Pick<Place, "real" | "shown" | "dangling">): string {
  const { descriptor } = openForReading(place);
  try {
    return new TextDecoder().decode(readFileSync(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

async function countFolder(place: Place, args: FsCountArguments, matchers: Matchers | undefined, context: ToolContext): Promise<Counted> {
  const report: WalkReport = { unreadable: [], limitReached: false };
  const workspace = rawPath(context.workspace);
  const fits = args.glob === undefined ? () => true : globMatcher(args.glob, place.absolute);
  const files: FileCounts[] = [];
  let folders = 0;
  for await (const entry of walk({ root: place.real, workspace, recursive: true, hidden: args.pattern !== undefined, signal: context.signal }, report)) {
    if (entry.stats.isDirectory()) folders += 1;
    if (!entry.stats.isFile() || !fits(entry.relative)) continue;
    try {
      files.push(await look({ real: entry.path, shown: shortPath(entry.path, workspace) }, matchers, context));
    } catch (error) {
      if (!(error instanceof ToolError) || error.cause === undefined) throw error;
      report.unreadable.push(entry.relative);
    }
  }
  const more = (report.limitReached ? `\n[stopped after ${limits.searchedEntriesMax} files; narrow it with path]` : "") + unreadableNote(report);
  const inAll = args.what === "files" ? filesText(place, files, folders) : sizesText(place, files, args.what);
  // A small model writes what the names hold, where lines are looked at.
  const lines = args.pattern === undefined ? inAll : [...hitsText(place, files, args.pattern), ...(args.what === "files" && files.every(({ hits }) => hits === 0) ? inAll : [])];
  const others = otherwiseText(files);
  const isUntold = args.what === "lines" && others.length === 0 && files.every(({ hits }) => hits === 0);
  const list = fitLines([...lines, ...others, ...(isUntold ? folderTally(files) : [])], context);
  return { text: list.text + more, details: { path: place.absolute, files: files.length, ...(args.pattern === undefined ? { folders } : { hits: sum(files, ({ hits }) => hits) }), ...(report.limitReached ? { limitReached: true } : {}) } };
}

async function look(place: Pick<Place, "real" | "shown" | "dangling">, matchers: Matchers | undefined, context: ToolContext): Promise<FileCounts> {
  const { descriptor, stats } = openForReading(place);
  try {
    const kind = fileKind(descriptor);
    const found: FileCounts = { real: place.real, shown: place.shown, bytes: stats.size, hits: 0, otherwise: new Map() };
    if (kind.kind !== "text") return found;
    if (matchers) await searchFile(descriptor, kind.bomBytes, { matcher: matchers.exact, context: 0, signal: context.signal, onLine: () => (found.hits += 1) > 0 });
    if (matchers?.loose) await searchFile(descriptor, kind.bomBytes, { matcher: matchers.loose, context: 0, signal: context.signal, onLine: (line) => noteOtherwise(found.otherwise, line, matchers.exact) });
    return { ...found, counts: await countText(descriptor, kind.bomBytes, context.signal) };
  } finally {
    closeSync(descriptor);
  }
}

function noteOtherwise(otherwise: Map<string, number>, { hit, text }: FoundLine, exact: LineMatcher): true {
  const written = text.slice(hit?.index, (hit?.index ?? 0) + (hit?.length ?? 0));
  if (!exact.find(text)) otherwise.set(written, (otherwise.get(written) ?? 0) + 1);
  return true;
}

/** A small model counts what a log writes in capitals by its own word for it. */
function otherwiseText(files: readonly FileCounts[]): string[] {
  const all = new Map<string, number>();
  for (const [written, count] of files.flatMap(({ otherwise }) => [...otherwise])) all.set(written, (all.get(written) ?? 0) + count);
  return [...all].slice(0, otherwiseMax).map(([written, count]) => `${plural(count, "line")} ${count === 1 ? "holds" : "hold"} it written ${JSON.stringify(written)}`);
}

const otherwiseMax = 3;

/** By the end of the name and in all: of several numbers in one line a small model takes the last. */
function filesText(place: Place, files: readonly FileCounts[], folders: number): string[] {
  const kinds = kindsOf(files).map(([end, group]) => `${kindText(end)}: ${group.length}`);
  return [...(kinds.length > 1 ? kinds : []), `${kinds.length > 1 ? "all files" : plural(files.length, "file")} in ${place.shown}${folders === 0 ? "" : ` and the ${plural(folders, "folder")} below`}${kinds.length > 1 ? `: ${files.length}` : kinds.length === 0 ? "" : `, ${kindText(kindsOf(files)[0]?.[0] ?? "")}`}`];
}

function kindText(end: string): string {
  const language = languages.get(end);
  if (language !== undefined) return `${language} files (${end})`;
  return end.startsWith(".") ? `${end} files` : `files ${end}`;
}

function sizesText(place: Place, files: readonly FileCounts[], what: "lines" | "words"): string[] {
  const noun = what === "lines" ? "line" : "word";
  const of = (group: readonly FileCounts[]): number => sum(group, ({ counts }) => counts?.[what] ?? 0);
  const kinds = kindsOf(files);
  const lines = [`${plural(of(files), noun)} in ${plural(files.length, "file")} in ${place.shown}`];
  if (kinds.length > 1) lines.push(...kinds.map(([end, group]) => `${plural(of(group), noun)} in ${group.length} ${end}`));
  if (files.length <= limits.countedFilesShownMax) lines.push(...files.map(({ counts, shown }) => `${shown}: ${counts ? plural(counts[what], noun) : "no text"}`));
  return lines;
}

/** By the end of the name, most files first. */
function kindsOf(files: readonly FileCounts[]): [end: string, files: FileCounts[]][] {
  const ends = Map.groupBy(files, ({ shown }) => /.(\.[^./"]+)"?$/.exec(nameOf(shown))?.[1] ?? "without ending");
  return [...ends].toSorted(([, a], [, b]) => b.length - a.length);
}

function hitsText(place: Place, files: readonly FileCounts[], pattern: string): string[] {
  const holding = files.filter(({ hits }) => hits > 0).toSorted((a, b) => b.hits - a.hits);
  const shown = holding.slice(0, limits.countedFilesShownMax);
  const more = holding.length > shown.length ? [`and ${holding.length - shown.length} more files`] : [];
  const total = sum(files, ({ hits }) => hits);
  return [`${plural(total, "line")} in ${holding.length} of ${plural(files.length, "file")} in ${place.shown} ${total === 1 ? "holds" : "hold"} ${JSON.stringify(pattern)}`, ...shown.map(({ hits, shown: path }) => `${path}: ${plural(hits, "line")}`), ...more];
}

function sum(files: readonly FileCounts[], of: (file: FileCounts) => number): number {
  return files.reduce((total, file) => total + of(file), 0);
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
