// What the planner is told (json-mode.md 7.5). Short, because it has to fit into the window beside what it is about.
import type { RegionLine } from "./region.ts";

export const plannerSystem = `You shorten the record of a job. Its lines are numbered. You only name ranges of lines to delete; all other lines stay word for word.
Rank lines by how useless they are for the focus. Useless: filler, repetition, long output that nobody needs any more. Useful: what the user asked for, facts, names and values that the focus needs, what was done, what is still open.`;

export interface PlannerPromptOptions {
  lines: readonly RegionLine[];
  /** Indexes of lines that are not shown: they go in any case. */
  withheld: ReadonlySet<number>;
  /** Lines that should stay. */
  keep: number;
  query: string;
  /** The answer to the first request was of no use; the same words would only bring it again. */
  isSecond: boolean;
}

export interface PlannerPrompt {
  text: string;
}

export function plannerPrompt({ lines, withheld, keep, query, isSecond }: PlannerPromptOptions): PlannerPrompt {
  const shown = lines.flatMap(({ text }, index) => (withheld.has(index) ? [] : [`${index + 1}→${text}`]));
  const protectedRanges = rangeText(lines.flatMap(({ isProtected }, index) => (isProtected ? [index + 1] : [])));
  return {
    text: [
      `<record>\n${shown.join("\n")}\n</record>`,
      `${lines.length} lines. Keep about ${keep}, delete about ${Math.max(0, lines.length - keep - withheld.size)}.`,
      `Focus: ${query}`,
      ...(protectedRanges === "" ? [] : [`Protected, never delete: ${protectedRanges}`]),
      "Answer with the ranges to delete, the most useless first, one start,end a line, nothing else. For example:\n31,58\n12,20",
      ...(isSecond ? ["An answer before this one named no line that can be deleted. Only numbers, a comma, and line ends."] : []),
    ].join("\n"),
  };
}

/** Ranges as `3-9, 12`. */
function rangeText(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(", ");
}
