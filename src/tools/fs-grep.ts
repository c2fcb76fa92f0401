// fs.grep: lines that hold a pattern, in a file or in all text files below a folder.
import { closeSync } from "node:fs";
import { z } from "zod";
import { ToolError } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import type { Tool, ToolContext, ToolResult } from "../core/tool.ts";
import { isCommonWord } from "../core/words.ts";
import { fileKind } from "./file-kind.ts";
import { searchFile } from "./file-search.ts";
import { unreadableNote } from "./fs-list.ts";
import { globMatcher } from "./glob.ts";
import { type Around, GrepText } from "./grep-text.ts";
import { anyWordMatcher, type LineMatcher, lineMatcher, matcherOrText, wordsIn, wordsMatcher } from "./line-matcher.ts";
import { checkJudged, openForReading, rememberJudged } from "./open.ts";
import { missingFailure } from "./path-failure.ts";
import { rawPath } from "./path-text.ts";
import { locate, type Place, readNeeds, shortPath } from "./path.ts";
import type { ToolOptions } from "./tool-options.ts";
import { walk, type WalkReport } from "./walk.ts";

export const FsGrepArguments = z.strictObject({
  pattern: z.string().min(1).describe("JavaScript regular expression"),
  path: z.string().default(".").meta({ advanced: true, existing: "any" }),
  glob: z.string().optional().describe("only files that fit, such as *.py").meta({ advanced: true }),
  ignoreCase: z.boolean().optional().meta({ advanced: true }),
  literal: z.boolean().optional().describe("the pattern is plain text").meta({ advanced: true }),
  context: z.int().min(0).max(20).optional().describe("lines around each match").meta({ advanced: true }),
  limit: z.int().min(1).max(1000).default(100).meta({ advanced: true }),
});
export type FsGrepArguments = z.infer<typeof FsGrepArguments>;

export function fsGrep(options: ToolOptions): Tool<typeof FsGrepArguments> {
  return {
    name: "fs.grep",
    description: "Find the lines in files that hold a text.",
    schema: FsGrepArguments,
    serves: ["search", "count"],
    class: "read",
    hint: ({ details }) => (details?.["limitReached"] || typeof details?.["matches"] !== "number" ? undefined : `${details["matches"]} ${details["matches"] === 1 ? "match" : "matches"}, in ${String(details["files"])} ${details["files"] === 1 ? "file" : "files"}`),
    async needs(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      rememberJudged(args, [place.real]);
      return readNeeds(place, context, options);
    },
    async run(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      checkJudged(args, [place.real]);
      if (!place.stats) throw missingFailure(place.real, place.shown, place.dangling);
      const { matcher, note } = matcherOrText(args.pattern, { tool: "fs.grep", literal: args.literal === true, ignoreCase: args.ignoreCase === true });
      const result = await search(place, args, matcher, context);
      const literal = { literal: true, ignoreCase: args.ignoreCase === true };
      if (result.matches > 0 || args.literal === true) return resultOf(await withBlocks(result, place, args, matcher, context), note);
      const capitals = args.ignoreCase === true || note !== "" ? undefined : await inOtherCapitals(place, args, context);
      if (capitals) return capitals;
      const words = wordsMatcher(args.pattern);
      const near = words && (await search(place, args, words, context));
      if (words && near && near.matches > 0) return resultOf(await withBlocks(near, place, args, words, context), "\n[no line has the pattern; these have all its words]");
      const apart = await inSameFiles(place, args, context);
      if (apart) return apart;
      if (matcher.needle || note !== "") return resultOf(result, note);
      const second = await search(place, args, lineMatcher(args.pattern, literal), context);
      return second.matches > 0 ? resultOf(second, "\n[as a regular expression the pattern matches nothing; these match it as plain text]") : resultOf(result, note);
    },
  };
}

interface Searched {
  text: GrepText;
  matches: number;
  /** Those with a match. */
  files: string[];
  report: WalkReport;
}

/** A small model writes a name without its capitals. */
async function inOtherCapitals(place: Place, args: FsGrepArguments, context: ToolContext): Promise<ToolResult | undefined> {
  const matcher = lineMatcher(args.pattern.replace(/\r?\n$/, "$"), { literal: false, ignoreCase: true });
  const found = await search(place, args, matcher, context);
  return found.matches === 0 ? undefined : resultOf(await withBlocks(found, place, args, matcher, context), "\n[no line has the pattern; these have it in other capitals]");
}

const wordsMax = 4;

/** The words of a pattern that no line has all of: the files that have each of them somewhere; undefined where there are none. */
async function inSameFiles(place: Place, args: FsGrepArguments, context: ToolContext): Promise<ToolResult | undefined> {
  const words = wordsIn(args.pattern).filter((word) => !isCommonWord(word));
  if (words.length < 2 || words.length > wordsMax || place.stats?.isDirectory() !== true) return undefined;
  let files: readonly string[] | undefined;
  for (const word of words) {
    const found = await search(place, args, anyWordMatcher([word]), context);
    if (found.text.full || found.report.limitReached) return undefined;
    files = files ? files.filter((file) => found.files.includes(file)) : found.files;
  }
  if (!files || files.length === 0) return undefined;
  const lines = await search(place, args, anyWordMatcher(words), context, "nothing", files);
  const all = words.map((word) => JSON.stringify(word)).join(" and ");
  return resultOf(lines, `\n[no line has ${all} together; ${files.length === 1 ? "this file has" : `these ${files.length} files have`} them on different lines: ${files.join(", ")}]`);
}

const blockMatchesMax = 2;
const blockLines = 6;

/** Few matches with what stands right below them: what is looked for is often the head of it. */
async function withBlocks(found: Searched, place: Place, args: FsGrepArguments, matcher: LineMatcher, context: ToolContext): Promise<Searched> {
  if (args.context !== undefined || found.matches > blockMatchesMax || found.text.full || found.report.limitReached) return found;
  return search(place, { ...args, context: blockLines }, matcher, context, "block");
}

async function search(place: Place, args: FsGrepArguments, matcher: LineMatcher, context: ToolContext, around: Around = args.context ? "lines" : "nothing", only?: readonly string[]): Promise<Searched> {
  const report: WalkReport = { unreadable: [], limitReached: false };
  const text = new GrepText(context, args.limit, around);
  const workspace = rawPath(context.workspace);
  const fits = args.glob === undefined ? () => true : globMatcher(args.glob, place.absolute);
  const searched: Searched = { text, matches: 0, files: [], report };
  if (!place.stats?.isDirectory()) {
    await searchOne(place, args, matcher, searched, context);
    return searched;
  }
  for await (const entry of walk({ root: place.real, workspace, recursive: true, hidden: true, signal: context.signal }, report)) {
    if (!entry.stats.isFile() || !fits(entry.relative) || only?.includes(shortPath(entry.path, workspace)) === false) continue;
    try {
      await searchOne({ real: entry.path, shown: shortPath(entry.path, workspace) }, args, matcher, searched, context, true);
    } catch (error) {
      if (!(error instanceof ToolError) || error.cause === undefined) throw error;
      report.unreadable.push(entry.relative);
    }
    if (text.full) break;
  }
  return searched;
}

async function searchOne(
  place: Pick<Place, "real" | "shown" | "dangling">,
  args: FsGrepArguments,
  matcher: LineMatcher,
  searched: Searched,
  context: ToolContext,
  skipBinary = false,
): Promise<void> {
  const { descriptor } = openForReading(place);
  try {
    const kind = fileKind(descriptor);
    if (kind.kind !== "text") {
      if (skipBinary) return;
      throw new ToolError(`${place.shown} is no text file; fs.grep searches text only`);
    }
    const before = searched.text.matches;
    searched.text.beginFile(place.shown);
    const onLine = searched.text.add.bind(searched.text);
    await searchFile(descriptor, kind.bomBytes, { matcher, context: args.context ?? 0, signal: context.signal, onLine });
    searched.matches = searched.text.matches;
    if (searched.matches > before) searched.files.push(place.shown);
  } finally {
    closeSync(descriptor);
  }
}

function resultOf(searched: Searched, note: string): ToolResult {
  const { text, matches, files, report } = searched;
  const limitReached = text.full || report.limitReached;
  const more = text.full ? `\n[stopped after ${matches} matches; narrow it with pattern, path or glob]` : report.limitReached ? `\n[stopped after ${limits.searchedEntriesMax} files; narrow it with path]` : "";
  return {
    content: [{ type: "text", text: (matches === 0 ? "(no line matches; fs.read shows a whole file)" : text.joined()) + note + more + unreadableNote(report) }],
    details: { matches, files: files.length, ...(limitReached ? { limitReached } : {}), ...(text.linesTruncated ? { linesTruncated: true } : {}) },
  };
}
