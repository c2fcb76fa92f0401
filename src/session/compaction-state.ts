// The newest compaction of a session as the sidecar shows it (sidecar.md 3.6, 8), read off its stored entries.
import { createHash } from "node:crypto";
import type { CompactionReason } from "../core/event.ts";
import type { Usage } from "../core/message.ts";
import type { SessionCompaction } from "../wire/sidecar/schema.ts";
import { pathOf } from "./context.ts";
import { type AnyEntry, type EntryBody, jsonLine } from "./entry.ts";

const noteType = "compaction_note";

/** What the boundary itself does not say; follows it. */
export interface CompactionNote {
  reason: CompactionReason;
  model: string;
  /** What the planner used, and its requests. */
  usage?: Usage | undefined;
  calls?: number | undefined;
}

export function compactionEntry(note: CompactionNote): EntryBody {
  return { type: "custom", customType: noteType, data: note };
}

/** The boundary on the path to the last entry; undefined when nothing was compacted. */
export function boundaryOf(entries: readonly AnyEntry[]): { entry: AnyEntry; firstKept: number } | undefined {
  const path = pathOf(entries);
  const entry = path.findLast(({ details, type }) => type === "compaction" && isRecord(details) && details["strategy"] === "verbatim-lines");
  if (entry === undefined) return undefined;
  const kept = entries.findIndex(({ id }) => id === entry["firstKeptEntryId"]);
  return { entry, firstKept: kept === -1 ? entries.indexOf(entry) : kept };
}

/**
 * @param turnsBefore rows of `turns` that come from the entries before this index
 * @returns `coveredThrough` is the position in `turns` of the last row that the summary stands for, -1 for none;
 *   `boundaryHash` is taken over the entries up to there as JSON Lines
 */
export function sessionCompactionOf(entries: readonly AnyEntry[], turnsBefore: (index: number) => number): SessionCompaction | undefined {
  const boundary = boundaryOf(entries);
  if (boundary === undefined) return undefined;
  const { entry, firstKept } = boundary;
  const details = isRecord(entry["details"]) ? entry["details"] : {};
  const stats = isRecord(details["stats"]) ? details["stats"] : {};
  const note = entries.slice(entries.indexOf(entry)).find(({ customType, type }) => type === "custom" && customType === noteType)?.["data"] as Partial<CompactionNote> | undefined;
  const hash = createHash("sha256");
  for (const covered of entries.slice(0, firstKept)) hash.update(`${jsonLine(covered)}\n`);
  return {
    version: 1,
    summary: String(entry["summary"] ?? ""),
    coveredThrough: turnsBefore(firstKept) - 1,
    boundaryHash: hash.digest("hex"),
    createdAt: Date.parse(entry.timestamp) || 0,
    reason: note?.reason ?? "threshold",
    model: note?.model ?? "",
    tokensBefore: countOf(stats["tokensBefore"]),
    tokensAfter: countOf(stats["tokensAfter"]),
    ...(note?.usage === undefined ? {} : { usage: { ...note.usage } }),
    ...(note?.calls === undefined ? {} : { calls: note.calls }),
  };
}

function countOf(value: unknown): number {
  return typeof value === "number" ? Math.max(0, Math.round(value)) : 0;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
