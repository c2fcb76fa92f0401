// Paired measurement: both sides in turn, so that what disturbs the machine disturbs both; the ratio is the median of pairs.

export interface Paired {
  /** Medians, in the unit measured. */
  ours: number;
  reference: number;
  /** Median of ours / reference, pair by pair. */
  ratio: number;
  pairs: number;
}

/** Runs one unmeasured pair first, then `pairs` measured ones; which side begins alternates. */
export async function measurePairs(pairs: number, ours: () => Promise<number>, reference: () => Promise<number>): Promise<Paired> {
  await ours();
  await reference();
  const taken: { ours: number; reference: number }[] = [];
  for (let index = 0; index < pairs; index++) {
    if (index % 2 === 0) {
      const first = await ours();
      taken.push({ ours: first, reference: await reference() });
    } else {
      const first = await reference();
      taken.push({ ours: await ours(), reference: first });
    }
  }
  return { ours: median(taken.map((pair) => pair.ours)), reference: median(taken.map((pair) => pair.reference)), ratio: median(taken.map((pair) => pair.ours / pair.reference)), pairs };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
