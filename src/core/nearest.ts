// The known word that is closest to a mistyped one, for messages that end in "did you mean …?".

/**
 * @returns the candidate with the fewest edits (insert, delete, replace, swap of neighbours; letter case is free), or
 *   undefined when none is close enough to be a likely slip: more edits than a third of the word, and at least 2 allowed.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let fewest = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase(), fewest);
    if (distance < fewest) [best, fewest] = [candidate, distance];
  }
  return best;
}

/** Optimal string alignment distance; stops at `enough`, which is then what it returns. */
function editDistance(a: string, b: string, enough: number): number {
  if (Math.abs(a.length - b.length) >= enough) return enough;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const changed = Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(swapped ? Math.min(changed, (beforePrevious[column - 2] ?? 0) + 1) : changed);
    }
    if (Math.min(...current) >= enough) return enough;
    [beforePrevious, previous] = [previous, current];
  }
  return previous[b.length] ?? enough;
}
