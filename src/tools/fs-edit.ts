// fs.edit: replaces a piece of text in a file.
import { closeSync, readFileSync } from "node:fs";
import { createTwoFilesPatch } from "diff";
import { z } from "zod";
import { ToolError } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import type { Tool } from "../core/tool.ts";
import { sizeText } from "./clip.ts";
import { contentMark } from "./content-mark.ts";
import { kindOf } from "./file-kind.ts";
import { nearestLine } from "./nearest-line.ts";
import { checkJudged, openForReading, rememberJudged } from "./open.ts";
import { isInside, locate, type Place, writeNeeds } from "./path.ts";
import { saveFile } from "./save.ts";
import { type Edit, linesOf, replaceText } from "./text-edit.ts";
import type { ToolOptions } from "./tool-options.ts";

export const FsEditArguments = z.strictObject({
  path: z.string().meta({ existing: "file" }),
  oldText: z.string().min(1).describe("text that is in the file now, exactly"),
  newText: z.string().describe("text to put in its place"),
  replaceAll: z.boolean().default(false).meta({ advanced: true }),
});
export type FsEditArguments = z.infer<typeof FsEditArguments>;

export function fsEdit(options: ToolOptions): Tool<typeof FsEditArguments> {
  return {
    name: "fs.edit",
    description: "Replace a piece of text in a file.",
    schema: FsEditArguments,
    class: "write",
    identity: ["path", "oldText", "replaceAll"],
    quotes: { file: "path", text: "oldText" },
    async needs(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      rememberJudged(args, [place.real]);
      const { places, diff } = planned(place, args, isInside(place, [context.workspace]));
      return writeNeeds(place, context, options, `edit ${places} occurrence(s) in ${place.absolute}`, diff);
    },
    async binding(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      return { cwd: context.workspace, files: [{ path: place.absolute, content: contentMark(place) }] };
    },
    async run(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      checkJudged(args, [place.real]);
      const before = contentOf(place);
      const edit = editOf(place, before, args);
      const diff = diffOf(place.shown, before, edit.bytes);
      saveFile(place, edit.bytes);
      const count = edit.lines.length;
      const firstLine = firstChangedLine(before, edit.bytes);
      return {
        content: [{ type: "text", text: `replaced ${count} ${count === 1 ? "place" : "places"} in ${place.shown}; it now reads:\n${excerpt(edit.bytes, firstLine, args.newText)}` }],
        details: { path: place.absolute, replacements: count, diff, firstChangedLine: firstLine },
      };
    },
  };
}

const excerptLinesMax = 20;
const excerptMarginLines = 2;
const quotedCharsMax = 200;
const lineNumbersMax = 20;
const diffEditsMax = 4000;

/** For the question to the user. Outside the workspace a failure waits for the answer: it would tell what is in the file. */
function planned(place: Place, args: FsEditArguments, mayFail: boolean): { places: number; diff: string } {
  try {
    const before = contentOf(place);
    const edit = editOf(place, before, args);
    return { places: edit.lines.length, diff: diffOf(place.absolute, before, edit.bytes) };
  } catch (error) {
    if (mayFail) throw error;
    return { places: 0, diff: "" };
  }
}

function contentOf(place: Place): Buffer {
  const { descriptor, stats } = openForReading(place);
  try {
    if (stats.size > limits.editFileBytesMax) throw new ToolError(`${place.shown} has ${sizeText(stats.size)}; fs.edit takes at most ${sizeText(limits.editFileBytesMax)}`);
    const content = readFileSync(descriptor);
    const { kind } = kindOf(content);
    if (kind === "text") return content;
    throw new ToolError(`${place.shown} is ${kind === "utf-16" ? "UTF-16 text" : `${kind === "image" ? "an image" : "a binary file"}`}; fs.edit changes plain text only`);
  } finally {
    closeSync(descriptor);
  }
}

function editOf(place: Place, before: Buffer, args: FsEditArguments): Edit {
  const lines = linesOf(before, args.oldText, args.replaceAll);
  if (lines.length === 0) throw absentFailure(place, before, args.oldText);
  if (lines.length > 1 && !args.replaceAll) {
    const distinct = [...new Set(lines)];
    const some = distinct.slice(0, lineNumbersMax).join(", ") + (distinct.length > lineNumbersMax ? ", …" : "");
    throw new ToolError(`oldText is in ${place.shown} ${lines.length} times, on lines ${some}; add the lines around it to oldText, or set replaceAll. Nothing was changed.`);
  }
  const edit = replaceText(before, args.oldText, args.newText, args.replaceAll);
  if (edit.bytes.equals(before)) throw new ToolError(`newText is the same as oldText (line ends are kept as they are); ${place.shown} was not changed`);
  return edit;
}

function absentFailure(place: Place, before: Buffer, oldText: string): ToolError {
  const lines = textLines(before);
  const nearest = nearestLine(lines, oldText.replaceAll("\r\n", "\n"));
  const count = Math.min(oldText.split("\n").length, excerptLinesMax);
  const shown = nearest ? lines.slice(nearest.line - 1, nearest.line - 1 + count).map((text, index) => numbered(nearest.line + index, text)) : [];
  const help = nearest ? `the nearest is line ${nearest.line}:\n${shown.join("\n")}` : before.length === 0 ? "the file is empty" : "no line resembles it; read the file first";
  return new ToolError(`oldText is not in ${place.shown} (0 places), so nothing was changed; ${help}`);
}

function excerpt(after: Buffer, firstLine: number, newText: string): string {
  const lines = textLines(after);
  const from = Math.max(1, firstLine - excerptMarginLines);
  const wanted = newText.split("\n").length + 2 * excerptMarginLines;
  const shown = lines.slice(from - 1, from - 1 + Math.min(wanted, excerptLinesMax));
  if (shown.at(-1) === "" && from - 1 + shown.length === lines.length) shown.pop();
  return shown.length === 0 ? "(empty file)" : shown.map((text, index) => numbered(from + index, text)).join("\n");
}

function numbered(line: number, text: string): string {
  return `${line}: ${text.length > quotedCharsMax ? `${text.slice(0, quotedCharsMax)}…` : text}`;
}

function textLines(content: Buffer): string[] {
  return withoutCr(content).split("\n");
}

/** For reading only: the bytes of the file are never made from it. */
function withoutCr(content: Buffer): string {
  return content.toString("utf8").replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
}

function diffOf(name: string, before: Buffer, after: Buffer): string {
  const [old, now] = [withoutCr(before), withoutCr(after)];
  const patch = createTwoFilesPatch(name, name, old, now, undefined, undefined, { context: 3, maxEditLength: diffEditsMax });
  if (patch === undefined) return `(more than ${diffEditsMax} changed lines)`;
  return patch.slice(patch.indexOf("--- "));
}

function firstChangedLine(before: Buffer, after: Buffer): number {
  let line = 1;
  for (let at = 0; at < before.length && before[at] === after[at]; at++) if (before[at] === 0x0a) line++;
  return line;
}
