// Which lines go: a planner's answer read and checked, or the mechanical order (json-mode.md 7.5). A plan is the set of
// the indexes of the lines that go, from 0; no protected line is ever in it.
import type { LineKind, RegionLine } from "./region.ts";

/** What the planner writes; sent whenever the engine takes a grammar. */
export const planGrammar = 'root ::= record{1,512}\nrecord ::= num "," num "\\n"\nnum ::= [1-9][0-9]{0,6}\n';

/** Line numbers, from 1, both included, as they were written. */
export type Range = readonly [start: number, end: number];

export interface ParsedPlan {
  ranges: Range[];
  /** More lines could not be read than could. */
  isMalformed: boolean;
}

const fence = /^`{3,}\w*$/;
const listMark = /^(?:[-*•]\s+|\d+[.)]\s+(?=\d))/;
const record = /^[[(]?\s*(\d{1,7})(?:\s*(?:,|-|–)\s*(\d{1,7}))?\s*[\])]?[,.]?$/;

/** @param isCut the answer ended at its output limit: an unfinished last line is left out */
export function parsePlan(answer: string, isCut = false): ParsedPlan {
  const lines = answer.split("\n");
  if (isCut) lines.pop();
  const ranges: Range[] = [];
  let ignored = 0;
  for (const line of lines) {
    const text = line.trim().replace(listMark, "");
    if (text === "" || fence.test(text)) continue;
    const [, start, end = start] = record.exec(text) ?? [];
    if (start === undefined) ignored++;
    else ranges.push([Number(start), Number(end)]);
  }
  return { ranges, isMalformed: ignored > ranges.length };
}

/** The lines that the ranges name, in the given order, up to `most` of them; those in `gone` are not counted again. */
export function pickedLines(ranges: readonly Range[], lines: readonly RegionLine[], most: number, gone: ReadonlySet<number> = new Set()): Set<number> {
  const picked = new Set<number>();
  for (const [one, other] of ranges) {
    const first = Math.max(1, Math.min(one, other));
    const last = Math.min(lines.length, Math.max(one, other));
    for (let index = first - 1; index < last && picked.size < most; index++) {
      if (lines[index]?.isProtected === false && !gone.has(index)) picked.add(index);
    }
  }
  return picked;
}

const mechanicalOrder: readonly (readonly LineKind[])[] = [["toolResult", "unknown"], ["thinking"], ["toolCalls"], ["assistant"], ["user"]];

/** Up to `most` unprotected lines, oldest first, class by class. */
export function mechanicalLines(lines: readonly RegionLine[], most: number): Set<number> {
  const picked = new Set<number>();
  for (const kinds of mechanicalOrder) {
    for (const [index, line] of lines.entries()) {
      if (picked.size >= most) return picked;
      if (!line.isProtected && kinds.includes(line.kind)) picked.add(index);
    }
  }
  return picked;
}

/** Every line that may go. */
export function unprotectedLines(lines: readonly RegionLine[]): Set<number> {
  return mechanicalLines(lines, lines.length);
}
