// Lines that a planner can't let go, since small models can't tell what they are worth among hundreds: what was done, and
// what speaks of the focus. Held to a share of what stays. The mechanical order doesn't know them.
import type { RegionLine } from "./region.ts";

/** Indexes of the lines. @param keep lines that should stay: each of the two kinds takes a quarter of them at most */
export function sparedLines(lines: readonly RegionLine[], keep: number, query: string): Set<number> {
  const linesMax = Math.floor(keep / 4);
  const calls = lines.flatMap(({ kind, text }, index) => (kind === "toolCalls" && text !== "" && text.length <= callCharsMax ? [index] : []));
  return new Set([...calls.toReversed().slice(0, linesMax), ...focusedLines(lines, query).slice(0, linesMax)]);
}

/** A longer call carries content, which is not worth its place here. */
const callCharsMax = 200;

/** Those with most words of the focus first, the newer of equals before the older. */
function focusedLines(lines: readonly RegionLine[], query: string): number[] {
  const texts = lines.map(({ text }) => text.toLowerCase());
  const words = focusWords(query, texts);
  const scored = texts.map((text, index) => ({ index, score: words.filter((word) => text.includes(word)).length }));
  return scored.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score || b.index - a.index).map(({ index }) => index);
}

const focusWordCharsMin = 4;

/** Words of the focus that are rare in the record: those that tell lines apart. */
function focusWords(query: string, texts: readonly string[]): string[] {
  const words = new Set((query.toLowerCase().match(/[\p{L}\p{N}_.-]+/gu) ?? []).map((word) => word.replace(/^[.-]+|[.-]+$/g, "")));
  const linesMax = Math.max(2, Math.floor(texts.length / 20));
  return [...words].filter((word) => {
    if (word.length < focusWordCharsMin) return false;
    const count = texts.filter((text) => text.includes(word)).length;
    return count > 0 && count <= linesMax;
  });
}
