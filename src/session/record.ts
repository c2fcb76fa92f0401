// The stored side of one running session: made or resumed, then appended to. A new one reaches the disk only when it is
// opened, so that a stream's first line waits for nothing.
import type { AgentMessage } from "../core/message.ts";
import { contextOf, interruptedResult, openCalls, pathOf, settingsOf } from "./context.ts";
import { openStore, type SessionStore } from "./store.ts";

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
  /** Makes a new session's row; does nothing for a resumed one. @throws AgentError `storage_full`, `state_unusable` */
  open(): void;
  /** What was said before this process. */
  messages: readonly AgentMessage[];
  /** Commits a message. @throws AgentError `storage_full` */
  store(message: AgentMessage): void;
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
  let store: SessionStore | undefined;
  return {
    identity,
    resumed: false,
    messages: [],
    open() {
      if (path === undefined || store) return;
      store = openStore(path);
      store.createSession({ cwd: workspace, ...identity });
    },
    store: (message) => void store?.appendEntry(identity.id, { type: "message", message }),
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
  const { name } = settingsOf(entries, path);
  return {
    identity: { id: session.id, created: session.created, ...(session.parent === undefined ? {} : { parent: session.parent }) },
    resumed: entries.length > 0,
    ...(name ? { name } : {}),
    messages: contextOf(path),
    open: () => {},
    store: (message) => void store.appendEntry(session.id, { type: "message", message }),
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
