// A watch whose signals and parent are the test's.
import type { EndSignal, EndWatch } from "../../../src/modes/signals.ts";

export interface FakeWatch extends EndWatch {
  signal(signal: EndSignal): void;
  loseParent(): void;
  /** Statuses that the mode wanted to end with at once. */
  exits: number[];
  /** Listeners that are still there. */
  listening(): number;
}

export function fakeWatch(): FakeWatch {
  const signalListeners = new Set<(signal: EndSignal) => void>();
  const parentListeners = new Set<() => void>();
  const exits: number[] = [];
  return {
    onSignal(listener) {
      signalListeners.add(listener);
      return () => void signalListeners.delete(listener);
    },
    onParentGone(listener) {
      parentListeners.add(listener);
      return () => void parentListeners.delete(listener);
    },
    exitNow: (code) => void exits.push(code),
    signal: (signal) => {
      for (const listener of signalListeners) listener(signal);
    },
    loseParent: () => {
      for (const listener of parentListeners) listener();
    },
    exits,
    listening: () => signalListeners.size + parentListeners.size,
  };
}
