// From the lines that go to the text that stays (json-mode.md 7.6): a kept line is byte for byte the old one.
import { markedLines, markerLine, type RegionLine } from "./region.ts";

export interface Rebuilt {
  text: string;
  linesDeleted: number;
  /** Markers written. */
  rangeCount: number;
}

/** Each run of lines that go becomes one marker; an old marker that touches it is taken in, and its number with it. */
export function rebuild(lines: readonly RegionLine[], plan: ReadonlySet<number>): Rebuilt {
  const gone = withTouchingMarkers(lines, plan);
  const kept: string[] = [];
  let count = 0;
  let rangeCount = 0;
  const closeRange = (): void => {
    if (count === 0) return;
    kept.push(markerLine(count));
    rangeCount++;
    count = 0;
  };
  for (const [index, { text }] of lines.entries()) {
    if (gone.has(index)) {
      count += markedLines(text) ?? 1;
      continue;
    }
    closeRange();
    kept.push(text);
  }
  closeRange();
  return { text: kept.join("\n"), linesDeleted: gone.size, rangeCount };
}

function withTouchingMarkers(lines: readonly RegionLine[], plan: ReadonlySet<number>): Set<number> {
  const gone = new Set(plan);
  const takeMarker = (index: number, neighbour: number): void => {
    const line = lines[index];
    if (line && !line.isProtected && gone.has(neighbour) && markedLines(line.text) !== undefined) gone.add(index);
  };
  for (let index = 1; index < lines.length; index++) takeMarker(index, index - 1);
  for (let index = lines.length - 2; index >= 0; index--) takeMarker(index, index + 1);
  return gone;
}
