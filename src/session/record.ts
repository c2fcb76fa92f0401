// The stored side of one running session: made or resumed, then appended to. The row of a new one is written only when it
// is opened, so that a stream's first line waits for no disk.
import type { AgentMessage, ThinkingLevel } from "../core/message.ts";
import { contextOf, interruptedResult, openCalls, pathOf, settingsOf } from "./context.ts";
import type { EntryBody } from "./entry.ts";
import { openStore } from "./store.ts";

export interface SessionIdentity {
  /** UUID, version 7. */
  id: string;
  /** ISO 8601 UTC with milliseconds. */
  created: string;
  parent?: string;
}

export interface SessionRecord {
  identity: SessionIdentity;
  resumed: boolean;
  /** What the session was called. */
  name?: string;
  /** What it was left with. */
  model?: { provider: string; modelId: string };
  thinkingLevel?: string;
  /** Time of the last entry, milliseconds since the epoch: what comes must not be older. */
  lastMs: number;
  /** Makes a new session's row; does nothing for a resumed one. @throws AgentError `storage_full`, `state_unusable` */
  open(): void;
  /** What was said before this process. */
  messages: readonly AgentMessage[];
  /** Commits a message. @throws AgentError `storage_full` */
  store(message: AgentMessage): void;
  /** Notes with what the session goes on. @throws AgentError `storage_full` */
  storeModel(provider: string, modelId: string): void;
  storeThinkingLevel(level: ThinkingLevel): void;
  close(): void;
}

export interface RecordOptions {
  /** The store's file; undefined = nothing is stored. */
  path: string | undefined;
  workspace: string;
  now: () => number;
}

export function newRecord({ path, workspace, now }: RecordOptions): SessionRecord {
  const identity = { id: Bun.randomUUIDv7(), created: new Date(now()).toISOString() };
  // A file that is no store has to be known before the stream begins.
  const store = path === undefined ? undefined : openStore(path);
  return {
    identity,
    resumed: false,
    lastMs: 0,
    messages: [],
    open() {
      store?.createSession({ cwd: workspace, ...identity });
    },
    ...appending((entry) => void store?.appendEntry(identity.id, entry)),
    close: () => store?.close(),
  };
}

/** @throws AgentError `session_unknown`, `session_busy` */
export function resumedRecord(id: string, options: RecordOptions & { path: string }): SessionRecord {
  const store = openStore(options.path);
  const session = store.resumeSession(id);
  if (session.cwd !== options.workspace) store.setCwd(session.id, options.workspace);
  for (const call of openCalls(pathOf(store.entries(session.id)))) {
    store.appendEntry(session.id, { type: "message", message: interruptedResult(call, options.now()) });
  }
  const entries = store.entries(session.id);
  const path = pathOf(entries);
  const { model, name, thinkingLevel } = settingsOf(entries, path);
  return {
    identity: { id: session.id, created: session.created, ...(session.parent === undefined ? {} : { parent: session.parent }) },
    resumed: entries.length > 0,
    lastMs: Date.parse(entries.at(-1)?.timestamp ?? "") || 0,
    ...(name ? { name } : {}),
    ...(model ? { model } : {}),
    ...(thinkingLevel ? { thinkingLevel } : {}),
    messages: contextOf(path),
    open: () => {},
    ...appending((entry) => void store.appendEntry(session.id, entry)),
    close: () => store.close(),
  };
}

/** The newest session of the workspace, or a new one. */
export function continuedRecord(options: RecordOptions & { path: string }): SessionRecord {
  const store = openStore(options.path);
  const newest = store.newestSession(options.workspace);
  store.close();
  return newest ? resumedRecord(newest.id, options) : newRecord(options);
}

function appending(append: (entry: EntryBody) => void): Pick<SessionRecord, "store" | "storeModel" | "storeThinkingLevel"> {
  return {
    store: (message) => append({ type: "message", message }),
    storeModel: (provider, modelId) => append({ type: "model_change", provider, modelId }),
    storeThinkingLevel: (thinkingLevel) => append({ type: "thinking_level_change", thinkingLevel }),
  };
}
