// When a failed generation is tried again, and after what wait (json-mode.md section 8).
import type { EngineFailure } from "../core/engine.ts";
import type { ErrorKind } from "../core/message.ts";

export interface RetrySettings {
  enabled: boolean;
  maxRetries: number;
  baseDelayMs: number;
}

const retriedKinds: ReadonlySet<ErrorKind> = new Set(["network", "timeout", "rate_limit", "server", "empty"]);
const waitMaxMs = 60_000;
/** A longer timer fires at once. */
const timerMsMax = 2 ** 31 - 1;

export function isRetried(failure: EngineFailure): boolean {
  return failure.retryable ?? retriedKinds.has(failure.kind);
}

/** Milliseconds before attempt number `attempt` (from 1); a longer wait that the server asked for replaces it, up to a minute. */
export function retryDelayMs(settings: RetrySettings, attempt: number, failure: EngineFailure): number {
  const ownMs = Math.min(settings.baseDelayMs * 2 ** (attempt - 1), timerMsMax);
  const askedMs = Math.min(failure.retryAfterMs ?? 0, waitMaxMs);
  return Math.max(ownMs, askedMs);
}

/** Resolves after the wait, or at once when the signal fires. */
export async function wait(delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, delayMs);
  const onAbort = (): void => resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);
}
