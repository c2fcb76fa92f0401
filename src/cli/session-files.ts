// What a session leaves on disk beside its entries, as the configuration asks: its trace, and the end of old sessions.
import type { LoadedConfig } from "../config/load.ts";
import { secretsOf } from "../config/secrets.ts";
import { messageOf } from "../core/error.ts";
import type { Emit } from "../core/event.ts";
import type { Runtime } from "../core/runtime.ts";
import { pruneSessions } from "../session/retention.ts";
import { openStore } from "../session/store.ts";
import { openTrace, removeTrace } from "../session/trace.ts";

export interface TracedEmit {
  emit: Emit;
  close: () => void;
}

/** Each event is in the trace before it goes out; without `tracing.trace.enabled` just the emit itself. */
export function traced({ config, paths, variable }: LoadedConfig, id: string, emit: Emit, { log, now }: Pick<Runtime, "log" | "now">): TracedEmit {
  const { enabled, maxBytesPerSession } = config.tracing.trace;
  if (enabled !== true) return { emit, close: () => undefined };
  const trace = openTrace({ folder: paths.traces, id, bytesMax: maxBytesPerSession, secrets: secretsOf({ config, variable }), now, warn: (message) => log("warn", message) });
  return {
    emit: (event) => {
      trace.add(event);
      return emit(event);
    },
    close: () => trace.close(),
  };
}

/** Removes what `sessions.retention` no longer keeps. A store that can't be cleaned is only told of. */
export function applyRetention({ config, paths }: LoadedConfig, log: Runtime["log"]): void {
  const { enabled, maxAgeDays, maxRows } = config.sessions.retention;
  if (!enabled) return;
  try {
    const store = openStore(paths.sessions);
    try {
      for (const id of pruneSessions(store, { maxAgeDays, ...(maxRows === null ? {} : { maxSessions: maxRows }) })) removeTrace(paths.traces, id);
    } finally {
      store.close();
    }
  } catch (error) {
    log("warn", `old sessions could not be removed: ${messageOf(error)}`);
  }
}
