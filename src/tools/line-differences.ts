// The lines in which two texts differ, from a patch without context: those that were changed side by side, the others by where
// they are. What only stands elsewhere is in both.
import { wordsIn } from "./line-matcher.ts";

export interface LineDifferences {
  text: string[];
  count: number;
}

interface Hunk {
  /** Line of the first text, from 1. */
  line: number;
  before: string[];
  after: string[];
}

/** @param patch the lines of the hunks of a unified diff */
export function lineDifferences(patch: readonly string[], shown: string, otherShown: string): LineDifferences {
  const hunks = hunksOf(patch);
  const moved = movedLines(hunks);
  const pairs: string[] = [];
  const [before, after]: [string[], string[]] = [[], []];
  for (const hunk of hunks) {
    const isPaired = hunk.before.length === hunk.after.length && hunk.before.every((line, index) => !moved.has(line) && areAlike(line, hunk.after[index] ?? ""));
    if (isPaired) pairs.push(...hunk.before.map((line, index) => `line ${hunk.line + index} differs: ${JSON.stringify(line)} in ${shown}, ${JSON.stringify(hunk.after[index])} in ${otherShown}`));
    else {
      before.push(...hunk.before);
      after.push(...hunk.after);
    }
  }
  const [onlyBefore, onlyAfter] = withoutShared(before, after);
  const movedCount = after.length - onlyAfter.length;
  const note = movedCount > 0 ? [`(${movedCount} ${movedCount === 1 ? "line is" : "lines are"} in both, at another place)`] : [];
  return { text: [...pairs, ...onlyLines(shown, onlyBefore), ...onlyLines(otherShown, onlyAfter), ...note], count: 2 * pairs.length + onlyBefore.length + onlyAfter.length + movedCount };
}

function hunksOf(patch: readonly string[]): Hunk[] {
  const hunks: Hunk[] = [];
  for (const line of patch) {
    const start = /^@@ -(\d+)/.exec(line)?.[1];
    if (start !== undefined) hunks.push({ line: Number(start), before: [], after: [] });
    else if (line.startsWith("-")) hunks.at(-1)?.before.push(line.slice(1));
    else if (line.startsWith("+")) hunks.at(-1)?.after.push(line.slice(1));
  }
  return hunks;
}

/** Lines that go in one place and come in another. */
function movedLines(hunks: readonly Hunk[]): Set<string> {
  const come = new Set(hunks.flatMap(({ after }) => after));
  return new Set(hunks.flatMap(({ before }) => before.filter((line) => come.has(line))));
}

/** Half of their words: of two lists other lines stand side by side by chance. */
function areAlike(one: string, other: string): boolean {
  const [words, others] = [wordsIn(one), wordsIn(other)];
  return 2 * words.filter((word) => others.includes(word)).length >= Math.max(1, words.length, others.length);
}

function withoutShared(before: readonly string[], after: readonly string[]): [string[], string[]] {
  const left = [...before];
  const come = after.filter((line) => {
    const at = left.indexOf(line);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return [left, come];
}

/** Each line says where it is: of lists below a heading a small model takes both for one. */
function onlyLines(shown: string, lines: readonly string[]): string[] {
  const times = Map.groupBy(lines, (line) => line);
  return [...times].map(([line, { length }]) => `only in ${shown}${length === 1 ? "" : ` (${length} times)`}: ${line}`);
}
