// fs.replace: a word or text replaced wherever it is in a file, or in all text files of a folder. Where it stands alone as a word,
// the places inside longer words stay.
import { z } from "zod";
import type { ApprovalNeed } from "../core/approval.ts";
import { ToolError } from "../core/error.ts";
import type { Tool, ToolContext, ToolResult } from "../core/tool.ts";
import { changeNotice } from "./change-notice.ts";
import { bindingOf } from "./content-mark.ts";
import { contentOf, diffOf, firstChangedLine, linesAt } from "./file-edit.ts";
import { fitLines } from "./line-list.ts";
import { checkJudged, rememberJudged } from "./open.ts";
import { showPath } from "./path-text.ts";
import { isInside, locate, type Place, writeNeeds } from "./path.ts";
import { saveFile } from "./save.ts";
import { type Edit, linesOf, standsAlone } from "./text-edit.ts";
import { editOf, type TextPair } from "./text-pair.ts";
import type { ToolOptions } from "./tool-options.ts";
import { walk, type WalkReport } from "./walk.ts";

export const FsReplaceArguments = z.strictObject({
  path: z.string().meta({ existing: "file" }).describe("a file, or a folder for all files in it and below"),
  oldText: z.string().min(1).describe("text that is in the file now, exactly"),
  newText: z.string().describe("text to put in its place"),
});
type FsReplaceArguments = z.infer<typeof FsReplaceArguments>;

export function fsReplace(options: ToolOptions): Tool<typeof FsReplaceArguments> {
  const placesOf = async (args: FsReplaceArguments, context: ToolContext): Promise<Place[]> => {
    const place = locate(args.path, context.workspace, options.home);
    return place.stats?.isDirectory() ? filesWith(args.oldText, place, context, options) : [place];
  };
  return {
    name: "fs.replace",
    description: "Replace a word or text everywhere in a file.",
    schema: FsReplaceArguments,
    serves: ["replace"],
    identity: ["path", "oldText"],
    class: "write",
    quotes: { file: "path", text: "oldText" },
    takesFolder: true,
    async needs(args, context) {
      const places = await placesOf(args, context);
      rememberJudged(args, places.map(({ real }) => real));
      return needsOf(places, args, context, options);
    },
    binding: async (args, context) => bindingOf(await placesOf(args, context), context.workspace),
    async run(args, context): Promise<ToolResult> {
      const places = await placesOf(args, context);
      checkJudged(args, places.map(({ real }) => real));
      const [only] = places;
      return places.length === 1 && only ? replacedInOne(only, args) : replacedInAll(places, args, context);
    },
  };
}

interface Replacement {
  place: Place;
  before: Buffer;
  edit: Edit;
}

function planned(place: Place, pair: TextPair): Replacement {
  const before = contentOf(place, "fs.replace");
  return { place, before, edit: editOf(place, before, pair, "words") };
}

/** For the question to the user. Outside the workspace a failure waits for the answer: it would tell what is in the file. */
function needsOf(places: readonly Place[], pair: TextPair, context: ToolContext, options: ToolOptions): ApprovalNeed[] {
  const needs = places.map((place) => {
    try {
      const { before, edit } = planned(place, pair);
      return { count: edit.lines.length, diff: diffOf(place.absolute, before, edit.bytes), place };
    } catch (error) {
      if (isInside(place, [context.workspace]) || !(error instanceof ToolError)) throw error;
      return { count: 0, diff: "", place };
    }
  });
  const count = needs.reduce((total, one) => total + one.count, 0);
  const where = places.length === 1 ? (places[0]?.absolute ?? "") : `${places.length} files`;
  const diff = needs.map((one) => one.diff).join("");
  return needs.flatMap(({ place }) => writeNeeds(place, context, options, `replace ${count} occurrence(s) in ${where}`, diff));
}

/** The text files of a folder of the workspace that hold the text, in the order of their names. */
async function filesWith(text: string, folder: Place, context: ToolContext, options: ToolOptions): Promise<Place[]> {
  if (!isInside(folder, [context.workspace])) throw new ToolError(`${folder.shown} is outside the workspace; name one file`);
  const report: WalkReport = { unreadable: [], limitReached: false };
  const found: { place: Place; isWord: boolean }[] = [];
  for await (const entry of walk({ root: folder.real, workspace: locate(".", context.workspace, options.home).real, recursive: true, hidden: false, signal: context.signal }, report)) {
    if (!entry.stats.isFile()) continue;
    const place = locate(showPath(entry.path), context.workspace, options.home);
    const content = textOf(place);
    if (content && linesOf(content, text, "words").length > 0) found.push({ place, isWord: standsAlone(content, text) });
  }
  if (report.limitReached || found.length > filesMax) throw new ToolError(`too many files in ${folder.shown} to replace in all of them; name a folder or a file in it. Nothing was changed`);
  if (found.length === 0) throw new ToolError(`oldText is in no text file of ${folder.shown}; nothing was changed`);
  // As in one file: where it is a word somewhere, it is not meant inside of longer ones.
  const words = found.filter(({ isWord }) => isWord);
  return (words.length > 0 ? words : found).map(({ place }) => place);
}

const filesMax = 200;

/** undefined for what is no plain text, or too large: it is left as it is. */
function textOf(place: Place): Buffer | undefined {
  try {
    return contentOf(place, "fs.replace");
  } catch (error) {
    if (error instanceof ToolError) return undefined;
    throw error;
  }
}

function replacedInOne(place: Place, args: FsReplaceArguments): ToolResult {
  const { before, edit } = planned(place, args);
  const { bytes, lines, capitals = 0 } = edit;
  const diff = diffOf(place.shown, before, bytes);
  saveFile(place, bytes);
  const left = linesOf(before, args.oldText, "all").length - (lines.length - capitals);
  return {
    content: [{ type: "text", text: `replaced ${placesText(lines.length)} in ${place.shown}${capitals > 0 ? `, ${capitals} with a capital letter` : ""}; it now reads:\n${changedLines(edit, args)}${leftNote(left, otherCapitals(capitals > 0 ? bytes : before, args.oldText))}${changeNotice(place, before, bytes)}` }],
    details: { path: place.absolute, replacements: lines.length, diff, firstChangedLine: firstChangedLine(before, bytes) },
  };
}

/** Worked out in every file before one is written. */
function replacedInAll(places: readonly Place[], args: FsReplaceArguments, context: ToolContext): ToolResult {
  const all = places.map((place) => planned(place, args));
  const done: string[] = [];
  for (const { edit, place } of all) {
    try {
      saveFile(place, edit.bytes);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      throw new ToolError(`${error.message}; replaced before that in ${done.length === 0 ? "no file" : done.join(", ")}`, { cause: error });
    }
    done.push(place.shown);
  }
  const total = all.reduce((sum, { edit }) => sum + edit.lines.length, 0);
  const lines = all.flatMap(({ edit, place }) => [`${place.shown}:`, ...changedLines(edit, args).split("\n")]);
  const list = fitLines(lines, context);
  return {
    content: [{ type: "text", text: `replaced ${placesText(total)} in ${all.length} files; they now read:\n${list.text}${list.complete ? "" : "\n[more is not shown]"}` }],
    details: { replacements: total, files: all.map(({ before, edit, place }) => ({ path: place.absolute, replacements: edit.lines.length, diff: diffOf(place.shown, before, edit.bytes) })) },
  };
}

function placesText(count: number): string {
  return `${count} ${count === 1 ? "place" : "places"}`;
}

function changedLines({ bytes, lines }: Edit, { newText, oldText }: TextPair): string {
  const growth = newText.split("\n").length - oldText.split("\n").length;
  return linesAt(bytes, lines.map((line, index) => line + index * growth));
}

function leftNote(insideWords: number, otherCapitals: readonly string[]): string {
  const inside = insideWords === 0 ? "" : `\n[${insideWords} inside longer words ${insideWords === 1 ? "was" : "were"} left]`;
  return otherCapitals.length === 0 ? inside : `${inside}\n[still there, with other capitals: ${otherCapitals.join(", ")}]`;
}

/** Words that differ from the text only in their capitals, each once. */
function otherCapitals(before: Buffer, text: string): string[] {
  if (!/^[\p{L}\p{N}_ -]+$/u.test(text)) return [];
  const found = before.toString("utf8").match(new RegExp(`(?<![\\p{L}\\p{N}_])${text}(?![\\p{L}\\p{N}_])`, "giu")) ?? [];
  return [...new Set(found)].filter((one) => one !== text);
}
