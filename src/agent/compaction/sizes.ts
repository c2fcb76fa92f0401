// How much fits, from the window really allocated (json-mode.md 7.2). All values are tokens.

export interface CompactionSettings {
  /** False: only the manual kind. */
  enabled: boolean;
  /** Tokens kept free at the end of the window, at most a quarter of it. */
  reserveTokens: number;
  /** Share of the lines that is kept; outside of 0 to 1 it counts as 0.5. */
  compressionRatio: number;
  /** Newest messages that stay as they are. */
  preserveRecent: number;
  /** What the kept lines should be about; null = the last request. */
  query: string | null;
}

export interface Sizes {
  window: number;
  /** A context above this is compacted. */
  threshold: number;
  /** A request above this is not sent. */
  hardLimit: number;
  /** Room that a planner request leaves for its answer. */
  plannerAnswer: number;
  /** What a compaction frees at least (G1). */
  progressMin: number;
  /** Growth after which a compaction that freed too little may be tried again (G2). */
  growthMin: number;
}

export function sizesOf(window: number, { reserveTokens }: CompactionSettings): Sizes {
  return {
    window,
    threshold: window - Math.min(reserveTokens, Math.floor(0.25 * window)),
    hardLimit: window - Math.max(64, Math.min(1024, Math.floor(window / 16))),
    plannerAnswer: Math.min(4096, Math.floor(window / 8)),
    progressMin: Math.max(256, Math.ceil(window / 50)),
    growthMin: Math.ceil(window / 20),
  };
}

export function ratioOf({ compressionRatio }: CompactionSettings): number {
  return compressionRatio > 0 && compressionRatio < 1 ? compressionRatio : 0.5;
}
