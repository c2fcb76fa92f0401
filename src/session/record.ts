// The stored side of one running session: made or resumed, then appended to. The row of a new one is written only when it
// is opened, so that a stream's first line waits for no disk.
import type { VerbatimCompactionResult } from "../core/compaction.ts";
import type { AgentMessage, ThinkingLevel } from "../core/message.ts";
import { contextOf, interruptedResult, messagesOf, openCalls, pathOf, settingsOf } from "./context.ts";
import type { AnyEntry, EntryBody } from "./entry.ts";
import { openStore, type SessionStore, type StoredSession } from "./store.ts";

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
  /** The entry that holds a message as it is; undefined when none does. */
  entryIdOf(message: AgentMessage): string | undefined;
  /** Appends the boundary of a compaction. @throws AgentError `storage_full` */
  storeCompaction(result: VerbatimCompactionResult): void;
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
    ...appending((entry) => store?.appendEntry(identity.id, entry).id ?? unstoredId()),
    close: () => store?.close(),
  };
}

/** @throws AgentError `session_unknown`, `session_busy` */
export function resumedRecord(id: string, options: RecordOptions & { path: string }): SessionRecord {
  const store = openStore(options.path);
  const session = store.resumeSession(id);
  if (session.cwd !== options.workspace) store.setCwd(session.id, options.workspace);
  return { ...ownedRecord(store, session, options.now), close: () => store.close() };
}

/** Of a session that the store owns already; closing the record gives the session up and leaves the store open. */
export function ownedRecord(store: SessionStore, session: StoredSession, now: () => number): SessionRecord {
  for (const call of openCalls(pathOf(store.entries(session.id)))) {
    store.appendEntry(session.id, { type: "message", message: interruptedResult(call, now()) });
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
    ...appending((entry) => store.appendEntry(session.id, entry).id, path),
    close: () => store.release(session.id),
  };
}

/** The newest session of the workspace, or a new one. */
export function continuedRecord(options: RecordOptions & { path: string }): SessionRecord {
  const store = openStore(options.path);
  const newest = store.newestSession(options.workspace);
  store.close();
  return newest ? resumedRecord(newest.id, options) : newRecord(options);
}

type Appending = Pick<SessionRecord, "store" | "entryIdOf" | "storeCompaction" | "storeModel" | "storeThinkingLevel">;

/** @param append gives the id of the entry @param stored what was there before */
function appending(append: (entry: EntryBody) => string, stored: readonly AnyEntry[] = []): Appending {
  const ids = new WeakMap<AgentMessage, string>();
  for (const entry of stored) for (const message of messagesOf(entry)) ids.set(message, entry.id);
  return {
    store: (message) => void ids.set(message, append({ type: "message", message })),
    entryIdOf: (message) => ids.get(message),
    storeCompaction({ compactedText, firstKeptEntryId, tokensBefore, promptVersion, parameters, stats, rung, plannerModel, planner }) {
      const details = { strategy: "verbatim-lines", promptVersion, parameters, stats, rung, ...(plannerModel ? { plannerModel } : {}), ...(planner ? { planner } : {}) };
      append({ type: "compaction", summary: compactedText, firstKeptEntryId, tokensBefore, details });
    },
    storeModel: (provider, modelId) => void append({ type: "model_change", provider, modelId }),
    storeThinkingLevel: (thinkingLevel) => void append({ type: "thinking_level_change", thinkingLevel }),
  };
}

/** An id as the store would give it. */
function unstoredId(): string {
  return Bun.randomUUIDv7().slice(-8);
}
