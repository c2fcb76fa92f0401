// Which slot of a llama-server belongs to which engine of this process: a session that keeps its slot finds its prompt
// in the cache, and two sessions never push each other out while there are slots for both.

const taken = new Map<string, Set<number>>();

/** What `/slots` tells of a slot. */
export interface SlotState {
  id: number;
  is_processing?: boolean | undefined;
  /** Only on a slot that has worked. */
  id_task?: number | undefined;
}

/** A slot for one engine: an unused one first, then an idle one; -1 when all are taken, so that the server chooses. */
export function takeSlot(url: string, states: readonly SlotState[]): number {
  const mine = taken.get(url) ?? new Set();
  taken.set(url, mine);
  const free = states.filter((state) => !mine.has(state.id));
  const unused = free.find((state) => !state.is_processing && (state.id_task ?? -1) < 0);
  const chosen = unused ?? free.find((state) => !state.is_processing) ?? free[0];
  if (!chosen) return -1;
  mine.add(chosen.id);
  return chosen.id;
}

export function releaseSlot(url: string, id: number): void {
  taken.get(url)?.delete(id);
}
