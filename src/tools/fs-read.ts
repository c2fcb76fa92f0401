// fs.read: lines of a text file, or an image.
import { closeSync, readFileSync } from "node:fs";
import { z } from "zod";
import { ToolError } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import { contentText } from "../core/message.ts";
import type { Tool, ToolContext, ToolResult } from "../core/tool.ts";
import { characterStart, clipHead, sizeText, totalsOf } from "./clip.ts";
import { fileKind } from "./file-kind.ts";
import { checkJudged, type OpenFile, openForReading, rememberJudged } from "./open.ts";
import { locate, type Place, readNeeds } from "./path.ts";
import { readLines } from "./read-lines.ts";
import { emptyCells } from "./table/empty-cells.ts";
import { rowsSpokenOf } from "./table/rows-spoken.ts";
import type { ToolOptions } from "./tool-options.ts";

export const FsReadArguments = z.strictObject({
  path: z.string().meta({ existing: "file" }),
  offset: z.int().min(1).optional().describe("first line, from 1").meta({ advanced: true }),
  limit: z.int().min(1).optional().describe("number of lines").meta({ advanced: true }),
});
export type FsReadArguments = z.infer<typeof FsReadArguments>;

export function fsRead(options: ToolOptions): Tool<typeof FsReadArguments> {
  return {
    name: "fs.read",
    description: "Read a text file or an image.",
    schema: FsReadArguments,
    serves: ["read", "compute"],
    class: "read",
    hint: ({ content, details }, request) => (isWholeTable(details, contentText(content)) ? tableText(String(details?.["path"]), contentText(content), request) : undefined),
    async needs(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      rememberJudged(args, [place.real]);
      return readNeeds(place, context, options);
    },
    async run(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      checkJudged(args, [place.real]);
      const file = openForReading(place);
      const kind = fileKind(file.descriptor);
      if (kind.kind === "text") return readText(file, place, args, kind.bomBytes, context);
      try {
        if (kind.kind === "image") return readImage(file, place, kind.mimeType);
      } finally {
        closeSync(file.descriptor);
      }
      const size = sizeText(file.stats.size);
      if (kind.kind === "utf-16") throw new ToolError(`${place.shown} is UTF-16 text (${size}); show it with: iconv -f UTF-16 -t UTF-8`);
      throw new ToolError(`${place.shown} is a binary file (${size}), not text`);
    },
  };
}

function isWholeTable(details: ToolResult["details"], text: string): boolean {
  return typeof details?.["path"] === "string" && /\.[ct]sv$/i.test(details["path"]) && countLines(text) === details["totalLines"];
}

/** What a small model does not see in a table. */
function tableText(path: string, text: string, request: string): string | undefined {
  const empty = emptyCells(text);
  const told = [empty.length === 0 ? "" : `${empty.join(", ")}: ${empty.length === 1 ? "the cell is" : "these cells are"} empty`, rowsSpokenOf(path, text, request) ?? ""].filter(Boolean);
  return told.length === 0 ? undefined : told.join("; ");
}

async function readText(file: OpenFile, place: Place, args: FsReadArguments, bomBytes: number, context: ToolContext): Promise<ToolResult> {
  const offset = args.offset ?? 1;
  const lines = Math.min(args.limit ?? context.maxLines, context.maxLines);
  const collectMax = context.maxBytes + bomBytes;
  const { bytes, totals } = await readLines(file.descriptor, offset, lines, collectMax, context.signal);
  if (totals.bytes > 0 && offset > totals.lines) {
    throw new ToolError(`${place.shown} has ${totals.lines} ${totals.lines === 1 ? "line" : "lines"}; line ${offset} is past its end`);
  }
  const shown = offset === 1 ? bytes.subarray(bomBytes) : bytes;
  const whole = shown.length >= context.maxBytes ? shown.subarray(0, characterStart(shown, shown.length - 1)) : shown;
  const collected = whole.toString("utf8");
  // What the caller's own limit leaves out is no cut of ours.
  const asked = args.limit !== undefined && args.limit <= context.maxLines;
  const complete = bytes.length < collectMax && (asked || offset - 1 + countLines(collected) >= totals.lines);
  const { text, truncation } = clipHead(collected, context, complete ? totalsOf(collected) : totals);
  const shownLines = truncation?.outputLines ?? countLines(text);
  const details = { path: place.absolute, totalLines: totals.lines, ...(truncation ? { truncation: { ...truncation, totalLines: totals.lines, totalBytes: totals.bytes } } : {}) };
  const note = noteOf(place, offset, shownLines, totals, truncation?.lastLinePartial === true ? truncation.outputBytes : undefined);
  return { content: [{ type: "text", text: text === "" && totals.bytes === 0 ? "(empty file)" : text + note }], details };
}

function noteOf(place: Place, offset: number, shownLines: number, totals: { lines: number; bytes: number }, partialBytes: number | undefined): string {
  if (partialBytes !== undefined) {
    const rest = totals.lines > offset ? ` The next line is offset ${offset + 1}.` : "";
    return `\n[line ${offset} of ${place.shown} is too long: its first ${partialBytes} bytes are shown, the file has ${totals.bytes}.${rest} Find a place in it with fs.grep.]`;
  }
  const next = offset + shownLines;
  return next > totals.lines ? "" : `\n[lines ${offset}-${next - 1} of ${totals.lines}; continue with offset ${next}]`;
}

function countLines(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

function readImage(file: OpenFile, place: Place, mimeType: string): ToolResult {
  const { size } = file.stats;
  if (size > limits.imageBytesMax) throw new ToolError(`${place.shown} is an image of ${sizeText(size)}; at most ${sizeText(limits.imageBytesMax)} can be shown`);
  const data = readFileSync(file.descriptor).toString("base64");
  return {
    content: [{ type: "text", text: `${place.shown}: ${mimeType}, ${sizeText(size)}` }, { type: "image", data, mimeType }],
    details: { path: place.absolute, mimeType },
  };
}
