// What tools that change a text file have in common: its content as bytes, what a change looks like, where it is.
import { closeSync, readFileSync } from "node:fs";
import { createTwoFilesPatch } from "diff";
import { ToolError } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import { sizeText } from "./clip.ts";
import { kindOf } from "./file-kind.ts";
import { nearestLine } from "./nearest-line.ts";
import { openForReading } from "./open.ts";
import type { Place } from "./path.ts";

/** @throws ToolError when it is no plain text, too large, or can't be read; it names the tool. */
export function contentOf(place: Place, tool: string): Buffer {
  const { descriptor, stats } = openForReading(place);
  try {
    if (stats.size > limits.editFileBytesMax) throw new ToolError(`${place.shown} has ${sizeText(stats.size)}; ${tool} takes at most ${sizeText(limits.editFileBytesMax)}`);
    const content = readFileSync(descriptor);
    const { kind } = kindOf(content);
    if (kind === "text") return content;
    throw new ToolError(`${place.shown} is ${kind === "utf-16" ? "UTF-16 text" : `${kind === "image" ? "an image" : "a binary file"}`}; ${tool} takes plain text only`);
  } finally {
    closeSync(descriptor);
  }
}

/** The text is not in the file: shows what is nearest to it. */
export function absentFailure(place: Place, before: Buffer, oldText: string): ToolError {
  const lines = textLines(before);
  const nearest = nearestLine(lines, oldText.replaceAll("\r\n", "\n"));
  const count = Math.min(oldText.split("\n").length, excerptLinesMax);
  const shown = nearest ? lines.slice(nearest.line - 1, nearest.line - 1 + count).map((text, index) => numbered(nearest.line + index, text)) : [];
  const help = nearest ? `the nearest is line ${nearest.line}:\n${shown.join("\n")}` : before.length === 0 ? "the file is empty" : "no line resembles it; read the file first";
  return new ToolError(`oldText is not in ${place.shown} (0 places), so nothing was changed; ${help}`);
}

/** The lines around a change, numbered. */
export function excerpt(after: Buffer, firstLine: number, newText: string): string {
  const lines = textLines(after);
  const from = Math.max(1, firstLine - excerptMarginLines);
  const wanted = newText.split("\n").length + 2 * excerptMarginLines;
  const shown = lines.slice(from - 1, from - 1 + Math.min(wanted, excerptLinesMax));
  if (shown.at(-1) === "" && from - 1 + shown.length === lines.length) shown.pop();
  return shown.length === 0 ? "(empty file)" : shown.map((text, index) => numbered(from + index, text)).join("\n");
}

/** The lines with these numbers, each once. */
export function linesAt(after: Buffer, numbers: readonly number[]): string {
  const lines = textLines(after);
  const distinct = [...new Set(numbers)];
  const shown = distinct.slice(0, excerptLinesMax).map((number) => numbered(number, lines[number - 1] ?? ""));
  return [...shown, ...(distinct.length > shown.length ? [`[${distinct.length - shown.length} more lines]`] : [])].join("\n");
}

/** The last lines, as they are. */
export function lastLines(content: Buffer): string {
  const lines = textLines(content);
  if (lines.at(-1) === "") lines.pop();
  return lines.slice(-lastLinesMax).map(clipped).join("\n");
}

function numbered(line: number, text: string): string {
  return `${line}: ${clipped(text)}`;
}

function clipped(text: string): string {
  return text.length > quotedCharsMax ? `${text.slice(0, quotedCharsMax)}…` : text;
}

function textLines(content: Buffer): string[] {
  return withoutCr(content).split("\n");
}

/** For reading only: the bytes of the file are never made from it. */
function withoutCr(content: Buffer): string {
  return content.toString("utf8").replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
}

/** A unified diff. */
export function diffOf(name: string, before: Buffer, after: Buffer): string {
  const [old, now] = [withoutCr(before), withoutCr(after)];
  const patch = createTwoFilesPatch(name, name, old, now, undefined, undefined, { context: 3, maxEditLength: diffEditsMax });
  if (patch === undefined) return `(more than ${diffEditsMax} changed lines)`;
  return patch.slice(patch.indexOf("--- "));
}

/** From 1. */
export function firstChangedLine(before: Buffer, after: Buffer): number {
  let line = 1;
  for (let at = 0; at < before.length && before[at] === after[at]; at++) if (before[at] === 0x0a) line++;
  return line;
}

const excerptLinesMax = 20;
const lastLinesMax = 4;
const excerptMarginLines = 2;
const quotedCharsMax = 200;
const diffEditsMax = 4000;
