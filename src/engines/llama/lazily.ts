// Opens something once, when it is first asked for, for all who ask; gives up only when all of them have. A failure is
// told to those who waited, and the next to ask tries again. Must not know what it opens.
import { AgentError } from "../../core/error.ts";

export interface Lazily<Thing, Progress> {
  /** @throws AgentError `aborted` when the signal fires first, else what opening throws */
  open(signal: AbortSignal, onProgress: (progress: Progress) => void): Promise<Thing>;
  /** What is open now. */
  current(): Thing | undefined;
  /** It is being opened, and somebody waits for it. */
  isOpening(): boolean;
  close(): Promise<void>;
}

interface Opening<Thing, Progress> {
  result: Promise<Thing>;
  controller: AbortController;
  listeners: Set<(progress: Progress) => void>;
}

export function lazily<Thing, Progress>(start: (signal: AbortSignal, onProgress: (progress: Progress) => void) => Promise<Thing>, stop: (thing: Thing) => Promise<void>): Lazily<Thing, Progress> {
  let opening: Opening<Thing, Progress> | undefined;
  let thing: Thing | undefined;

  const begin = (): Opening<Thing, Progress> => {
    const controller = new AbortController();
    const listeners = new Set<(progress: Progress) => void>();
    const result = start(controller.signal, (progress) => {
      for (const listener of listeners) listener(progress);
    });
    const begun = { result, controller, listeners };
    result.then(
      (opened) => (thing = opened),
      () => opening === begun && (opening = undefined),
    );
    return begun;
  };

  return {
    current: () => thing,
    isOpening: () => thing === undefined && opening?.controller.signal.aborted === false,
    async open(signal, onProgress) {
      if (thing !== undefined) return thing;
      signal.throwIfAborted();
      // One that was given up is not waited for by others; it ends before the next begins.
      if (opening?.controller.signal.aborted) await Promise.allSettled([opening.result]);
      opening ??= begin();
      const { result, controller, listeners } = opening;
      const listener = (progress: Progress): void => onProgress(progress);
      listeners.add(listener);
      const aborted = Promise.withResolvers<never>();
      const abort = (): void => aborted.reject(new AgentError("aborted", "Loading the model was cancelled."));
      signal.addEventListener("abort", abort, { once: true });
      try {
        return await Promise.race([result, aborted.promise]);
      } finally {
        signal.removeEventListener("abort", abort);
        listeners.delete(listener);
        if (listeners.size === 0 && thing === undefined) controller.abort();
      }
    },
    async close() {
      opening?.controller.abort();
      await Promise.allSettled([opening?.result]);
      const open = thing;
      thing = undefined;
      opening = undefined;
      if (open !== undefined) await stop(open);
    },
  };
}
