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
  const numbers = (fits: (line: RegionLine, index: number) => boolean): string => rangeText(lines.flatMap((line, index) => (fits(line, index) ? [index + 1] : [])));
  const isProtected = numbers((line) => line.isProtected);
  const words = focusWords(query, lines);
  const focused = words.length === 0 ? "" : numbers(({ text, isProtected: kept }, index) => !kept && !withheld.has(index) && words.some((word) => text.toLowerCase().includes(word)));
  return {
    text: [
      `<record>\n${shown.join("\n")}\n</record>`,
      `${lines.length} lines. Keep about ${keep}, delete about ${Math.max(0, lines.length - keep - withheld.size)}.`,
      `Focus: ${query}`,
      ...(isProtected === "" ? [] : [`Protected, never delete: ${isProtected}`]),
      ...(focused === "" ? [] : [`These lines speak of the focus, keep them: ${focused}`]),
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

const focusWordCharsMin = 4;

/** Words of the focus that are rare in the record: those that tell lines apart. */
function focusWords(query: string, lines: readonly RegionLine[]): string[] {
  const words = new Set(query.toLowerCase().match(/[\p{L}\p{N}_.-]+/gu) ?? []);
  const linesMax = Math.max(2, Math.floor(lines.length / 20));
  return [...words].filter((word) => {
    if (word.length < focusWordCharsMin) return false;
    const count = lines.filter(({ text }) => text.toLowerCase().includes(word)).length;
    return count > 0 && count <= linesMax;
  });
}
