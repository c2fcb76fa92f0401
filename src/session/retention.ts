// Removes old sessions where the configuration asks for it (`sessions.retention`).
import type { SessionStore } from "./store.ts";

/**
 * Removes sessions that nobody owns and that are older or more than allowed, the longest unused first.
 * @param maxAgeDays days since the last entry; undefined = any age
 * @param maxSessions how many are kept; undefined = all
 * @returns the ids of those that were removed
 */
export function pruneSessions(store: SessionStore, { maxAgeDays, maxSessions = Infinity }: { maxAgeDays?: number; maxSessions?: number }, nowMs = Date.now()): string[] {
  const oldest = maxAgeDays === undefined ? "" : new Date(nowMs - maxAgeDays * 86_400_000).toISOString();
  const outdated = store.listSessions({ limit: -1 }).filter(({ updated }, index) => updated < oldest || index >= maxSessions);
  const removable = outdated.filter(({ id }) => !store.isBusy(id));
  for (const { id } of removable) store.remove(id);
  return removable.map(({ id }) => id);
}
