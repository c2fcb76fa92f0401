// What a compaction leaves behind, exactly as json-mode.md 3.6 writes it. Key order is part of the contract.
import { z } from "zod";
import { ThinkingLevel } from "./message.ts";

export const CompactionReason = z.enum(["manual", "threshold", "overflow"]);
export type CompactionReason = z.infer<typeof CompactionReason>;

export const CompactionStats = z.object({
  linesBefore: z.int().min(0),
  linesDeleted: z.int().min(0),
  linesKept: z.int().min(0),
  rangeCount: z.int().min(0),
  /** Both token numbers by one estimator over region and tail. */
  tokensBefore: z.int().min(0),
  tokensAfter: z.int().min(0),
  /** Rounded to 0.1; may be negative. */
  percentReduction: z.number(),
});
export type CompactionStats = z.infer<typeof CompactionStats>;

export const VerbatimCompactionResult = z.object({
  /** Retained lines plus markers. */
  compactedText: z.string(),
  /** First entry of the kept tail; null = the tail was dropped too. */
  firstKeptEntryId: z.string().nullable(),
  /** The context measure that triggered the compaction. */
  tokensBefore: z.int().min(0),
  stats: CompactionStats,
  parameters: z.object({
    compression_ratio: z.number(),
    preserve_recent: z.int().min(0),
    query: z.string(),
  }),
  promptVersion: z.literal(3),
  rung: z.enum(["planned", "extension", "fresh"]),
  /** Only if the planner was not the session model. */
  plannerModel: z.object({ provider: z.string(), id: z.string(), thinkingLevel: ThinkingLevel.optional() }).optional(),
  /** Who chose the ranges of a `planned` result. */
  planner: z.enum(["model", "mechanical"]).optional(),
});
export type VerbatimCompactionResult = z.infer<typeof VerbatimCompactionResult>;
