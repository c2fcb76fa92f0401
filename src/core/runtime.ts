// What the loop is handed instead of reaching for it: time, fresh ids, a log.

export type LogLevel = "debug" | "info" | "warn" | "error";
export type Log = (level: LogLevel, message: string, context?: Record<string, unknown>) => void;

export interface Runtime {
  /** Milliseconds since the epoch; never runs backwards inside a process. */
  now(): number;
  /** A fresh UUID, version 7. */
  id(): string;
  log: Log;
}

/** A clock that never runs backwards, also when the system's is set back, and never tells a time before `startMs`. */
export function steadyClock(startMs = 0, read: () => number = Date.now): () => number {
  let last = startMs;
  return () => (last = Math.max(last, Math.floor(read())));
}
