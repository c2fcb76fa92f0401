// The signals that end a process, and the loss of its parent (json-mode.md 9.5, sidecar.md 1.1). The only place below the
// entry that ends the process at once; everywhere else the exit status is set and the event loop drains.
import { readFileSync } from "node:fs";

export type EndSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

export const exitCodeOfSignal: Readonly<Record<EndSignal, number>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** Tells a mode that it has to end. Each function returns one that stops telling. */
export interface EndWatch {
  /** The first signal; a second one ends the process at once. */
  onSignal(listener: (signal: EndSignal) => void): () => void;
  /** The process that started this one is gone. Never told when SIGHUP was ignored at start or process 1 is the parent. */
  onParentGone(listener: () => void): () => void;
  /** Ends the process at once. For what can't end by itself: a reader that takes nothing, a tool that doesn't stop. */
  exitNow(code: number): void;
}

/** The watch of the real process. Call it early: it remembers who the parent is. */
export function watchProcess(): EndWatch {
  const parent = process.ppid;
  const hangUpIgnored = isHangUpIgnored();
  return {
    onSignal: (listener) => onSignal(listener, hangUpIgnored),
    onParentGone: (listener) => (hangUpIgnored || parent <= 1 ? () => {} : onParentGone(parent, listener)),
    exitNow: (code) => process.exit(code),
  };
}

const parentCheckMs = 250;
const hangUpBit = 1n;

function onSignal(listener: (signal: EndSignal) => void, hangUpIgnored: boolean): () => void {
  let first: EndSignal | undefined;
  const take = (signal: EndSignal) => {
    if (first !== undefined) process.exit(exitCodeOfSignal[first]);
    first = signal;
    listener(signal);
  };
  const handlers = (Object.keys(exitCodeOfSignal) as EndSignal[])
    .filter((signal) => signal !== "SIGHUP" || !hangUpIgnored)
    .map((signal) => ({ signal, handler: () => take(signal) }));
  for (const { signal, handler } of handlers) process.on(signal, handler);
  return () => {
    for (const { signal, handler } of handlers) process.off(signal, handler);
  };
}

/** An orphan gets another parent: process 1, or the nearest one that collects orphans. */
function onParentGone(parent: number, listener: () => void): () => void {
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    listener();
  }, parentCheckMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Whether whoever started this process wants it to outlive a hang-up, as nohup does. Known on Linux only. */
function isHangUpIgnored(): boolean {
  if (process.platform !== "linux") return false;
  try {
    const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    return ignored !== undefined && (BigInt(`0x${ignored}`) & hangUpBit) !== 0n;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return false;
  }
}
