// Notices that nobody reads a pipe or socket any more, also while nothing is written to it: an idle sidecar would otherwise
// learn of a closed stdout with its next frame only (sidecar.md 1.1). Asks the system without waiting; never writes.
import { pollOf } from "../descriptor-poll.ts";

/** Calls `onGone` once when the other end is closed. @returns what stops the looking; where the system can't be asked, nobody looks. */
export async function watchReader(descriptor: number, onGone: () => void): Promise<() => void> {
  const poll = await pollOf(descriptor);
  if (poll === undefined) return () => {};
  const timer = setInterval(() => {
    if (!poll().isClosed) return;
    clearInterval(timer);
    onGone();
  }, checkMs);
  timer.unref();
  return () => clearInterval(timer);
}

const checkMs = 250;
