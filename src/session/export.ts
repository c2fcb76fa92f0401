// A session as JSON Lines, version 3 (json-mode.md 11.2): the header, then every entry as it is stored.
import { jsonLine, type SessionHeader, sessionVersion } from "./entry.ts";
import type { SessionStore, StoredSession } from "./store.ts";

/** The lines of an export, without LF. */
export function exportLines(store: SessionStore, session: StoredSession): string[] {
  return [jsonLine(headerOf(session)), ...store.lines(session.id)];
}

export function headerOf({ id, created, cwd, parent }: StoredSession): SessionHeader {
  return { type: "session", version: sessionVersion, id, timestamp: created, cwd, ...(parent === undefined ? {} : { parentSession: parent }) };
}
