// The place in a text that most resembles a text that is not in it, for the message of a failed edit.

export interface NearestLine {
  /** From 1. */
  line: number;
  text: string;
}

/** The line most like the first line of `wanted` that says something; undefined when none resembles it. */
export function nearestLine(lines: readonly string[], wanted: string): NearestLine | undefined {
  const wantedLine = wanted.split("\n").find((line) => /\S/.test(line)) ?? wanted;
  const target = squeeze(wantedLine);
  const exact = lines.findIndex((line) => squeeze(line) === target);
  if (exact >= 0) return { line: exact + 1, text: lines[exact] ?? "" };
  const pairs = pairsOf(target);
  let best = -1;
  let bestScore = likenessMin;
  for (const [index, line] of lines.slice(0, linesComparedMax).entries()) {
    const score = likeness(pairs, pairsOf(squeeze(line.slice(0, lineCharsMax))));
    if (score > bestScore) [best, bestScore] = [index, score];
  }
  return best < 0 ? undefined : { line: best + 1, text: lines[best] ?? "" };
}

const likenessMin = 0.3;
const linesComparedMax = 50_000;
const lineCharsMax = 500;

/** Without white space and letter case, which is where such texts differ most. */
function squeeze(line: string): string {
  return line.replace(/\s+/g, "").toLowerCase();
}

function pairsOf(text: string): Map<string, number> {
  const pairs = new Map<string, number>();
  for (let at = 0; at + 1 < text.length; at++) {
    const pair = text.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** Share of common pairs of neighbouring characters (Dice), 0 to 1. */
function likeness(a: Map<string, number>, b: Map<string, number>): number {
  let common = 0;
  let total = 0;
  for (const [pair, count] of a) {
    total += count;
    common += Math.min(count, b.get(pair) ?? 0);
  }
  for (const count of b.values()) total += count;
  return total === 0 ? 0 : (2 * common) / total;
}
