// The sessions on disk. Entries are only ever appended, each in a transaction that is done when the call returns.
// Only the owner of a session may append to it; reading needs no owner.
import type { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { AgentError } from "../core/error.ts";
import { guarded, makeDurable, openDatabase } from "./database.ts";
import { type AnyEntry, type EntryBody, jsonLine, type SessionEntry } from "./entry.ts";
import { isOwned, type Ownership, removeOwnership, takeOwnership } from "./owner.ts";
import { type SessionRow, type SessionSummary, type StoredSession, sessionOf, summaries, summaryOf, type SummaryRow } from "./rows.ts";

export type { SessionSummary, StoredSession };

export interface StoreOptions {
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** A fresh session id. */
  newId?: () => string;
}

/** What the owner of a session knows without asking the disk. */
interface Owned {
  ownership: Ownership | undefined;
  /** Of the last entry; 0 when there is none. */
  sequence: number;
  leafId: string | null;
  timestampMs: number;
}

/** @throws AgentError `state_unusable`, `storage_full` */
export function openStore(path: string, options: StoreOptions = {}): SessionStore {
  return new SessionStore(path, openDatabase(path), options);
}

/** Every method may throw AgentError `storage_full` or `state_unusable`, naming the path. */
export class SessionStore {
  readonly path: string;
  readonly #database: Database;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #owned = new Map<string, Owned>();
  #isDurable = false;

  constructor(path: string, database: Database, { now = Date.now, newId = Bun.randomUUIDv7 }: StoreOptions) {
    this.path = path;
    this.#database = database;
    this.#now = now;
    this.#newId = () => newId();
  }

  /** Makes a session and owns it; id and time are fresh ones unless they were told before. */
  createSession({ cwd, parent, id = this.#newId(), created = new Date(this.#now()).toISOString() }: { cwd: string; parent?: string; id?: string; created?: string }): StoredSession {
    const session: StoredSession = { id, cwd, created, ...(parent === undefined ? {} : { parent }) };
    return this.#guarded(() => {
      this.#own(session.id, () => this.#insertSession(session));
      return session;
    });
  }

  /**
   * Looks a session up; owns nothing.
   * @param id whole or a unique prefix, with or without the sidecar's `s-`
   * @throws AgentError `session_unknown`, also when several fit
   */
  loadSession(id: string): StoredSession {
    return this.#guarded(() => this.#lookUp(id));
  }

  /** The session with exactly this id. */
  sessionById(id: string): StoredSession | undefined {
    const row = this.#guarded(() => this.#database.query<SessionRow, [string]>("SELECT * FROM sessions WHERE id = ?").get(id));
    return row === null ? undefined : sessionOf(row);
  }

  /**
   * Looks a session up and owns it, also when its last owner died.
   * @throws AgentError `session_unknown`, `session_busy` naming the process
   */
  resumeSession(id: string): StoredSession {
    return this.#guarded(() => {
      const session = this.#lookUp(id);
      this.#own(session.id, () => undefined);
      return session;
    });
  }

  /** Gives a session up; nothing happens when it is not owned. */
  release(id: string): void {
    this.#owned.get(id)?.ownership?.release();
    this.#owned.delete(id);
  }

  /** Whether a live process, this one included, owns the session. */
  isBusy(id: string): boolean {
    return this.#owned.has(id) || (this.path !== ":memory:" && this.#guarded(() => isOwned(this.#lockPath(id))));
  }

  /**
   * Appends to an owned session, as a child of the last entry unless another parent is named.
   * The time of the entry is never before that of the last one, whatever the clock says.
   * @returns the entry as it is stored
   */
  appendEntry<Body extends EntryBody>(sessionId: string, body: Body, { parentId }: { parentId?: string | null } = {}): SessionEntry & Body {
    const owned = this.#owned.get(sessionId);
    if (owned === undefined) throw new AgentError("internal", `session ${sessionId} is not owned by this process`);
    const timestampMs = Math.max(this.#now(), owned.timestampMs);
    const parent = parentId === undefined ? owned.leafId : parentId;
    const { type, ...fields } = body;
    const timestamp = new Date(timestampMs).toISOString();
    return this.#guarded(() => {
      if (!this.#isDurable) makeDurable(this.#database);
      this.#isDurable = true;
      const id = this.#freshEntryId(sessionId);
      const entry = { type, id, parentId: parent, timestamp, ...fields } as unknown as SessionEntry & Body;
      this.#database.transaction(() => this.#insertEntry(sessionId, owned.sequence + 1, entry, jsonLine(entry))).immediate();
      Object.assign(owned, { sequence: owned.sequence + 1, leafId: id, timestampMs });
      return entry;
    });
  }

  /** The entries in the order of their making, all or those of one type. */
  entries(sessionId: string, type?: string): AnyEntry[] {
    return this.lines(sessionId, type).map((line) => JSON.parse(line) as AnyEntry);
  }

  /** The same as lines of JSON, without LF. */
  lines(sessionId: string, type: string | null = null): string[] {
    return this.#guarded(() =>
      this.#database
        .query<{ json: string }, { sessionId: string; type: string | null }>("SELECT json FROM entries WHERE session = $sessionId AND ($type IS NULL OR type = $type) ORDER BY sequence")
        .all({ sessionId, type })
        .map(({ json }) => json),
    );
  }

  /** The session of a workspace that was appended to last; undefined when none has entries. */
  newestSession(cwd: string): StoredSession | undefined {
    return this.#guarded(() => {
      const row = this.#database
        .query<SessionRow, [string]>("SELECT s.* FROM sessions s JOIN entries e ON e.session = s.id WHERE s.cwd = ? GROUP BY s.id ORDER BY max(e.position) DESC LIMIT 1")
        .get(cwd);
      return row === null ? undefined : sessionOf(row);
    });
  }

  /** Newest `updated` first, then id descending. */
  listSessions({ limit = 50, cwd }: { limit?: number; cwd?: string } = {}): SessionSummary[] {
    return this.#guarded(() =>
      this.#database.query<SummaryRow, { cwd: string | null; limit: number }>(summaries).all({ cwd: cwd ?? null, limit }).map(summaryOf),
    );
  }

  /** Names an owned session; an empty name takes the name away. */
  setName(sessionId: string, name: string): void {
    this.appendEntry(sessionId, name === "" ? { type: "session_info" } : { type: "session_info", name });
  }

  /** Moves an owned session to another workspace. */
  setCwd(sessionId: string, cwd: string): void {
    this.#guarded(() => this.#database.query("UPDATE sessions SET cwd = ? WHERE id = ?").run(cwd, sessionId));
  }

  /**
   * Stores a whole session made elsewhere, or nothing of it; owns it not.
   * @param entries with their lines, parents before children
   */
  addSession(session: StoredSession, entries: Iterable<{ entry: AnyEntry; line: string }>): void {
    this.#guarded(() =>
      this.#database
        .transaction(() => {
          this.#insertSession(session);
          let sequence = 0;
          for (const { entry, line } of entries) this.#insertEntry(session.id, ++sequence, entry, line);
        })
        .immediate(),
    );
  }

  /**
   * Removes a session with all its entries.
   * @throws AgentError `session_busy` when another process owns it
   */
  remove(sessionId: string): void {
    this.#guarded(() => {
      const mine = this.#owned.has(sessionId);
      if (!mine) this.#own(sessionId, () => undefined);
      try {
        this.#database.query("DELETE FROM sessions WHERE id = ?").run(sessionId);
      } finally {
        this.release(sessionId);
      }
      removeOwnership(this.#lockPath(sessionId));
    });
  }

  /** Gives up every session and closes the file. */
  close(): void {
    for (const id of this.#owned.keys()) this.release(id);
    this.#database.close();
  }

  #guarded<Result>(access: () => Result): Result {
    return guarded(this.path, access);
  }

  #lookUp(id: string): StoredSession {
    const find = this.#database.query<SessionRow, { id: string }>("SELECT * FROM sessions WHERE substr(id, 1, length($id)) = $id ORDER BY id = $id DESC, id LIMIT 3");
    for (const wanted of id.startsWith("s-") ? [id, id.slice(2)] : [id]) {
      const [first, second, third] = wanted === "" ? [] : find.all({ id: wanted });
      if (first === undefined) continue;
      if (second === undefined || first.id === wanted) return sessionOf(first);
      throw new AgentError("session_unknown", `several sessions begin with ${id}: ${first.id}, ${second.id}${third === undefined ? "" : ", …"}`);
    }
    throw new AgentError("session_unknown", `unknown session ${JSON.stringify(id)}; \`atomic sessions list\` shows those that exist`);
  }

  /** Owns a session; `first` runs in the transaction that notes the owner. */
  #own(id: string, first: () => void): void {
    const ownership = this.path === ":memory:" ? undefined : this.#lock(id);
    try {
      this.#database
        .transaction(() => {
          first();
          // Only for the message that others get; the lock decides.
          this.#database.query("INSERT OR REPLACE INTO owners (session, pid) VALUES (?, ?)").run(id, process.pid);
        })
        .immediate();
      const last = this.#database
        .query<{ sequence: number; id: string; timestamp: string }, [string]>("SELECT sequence, id, timestamp FROM entries WHERE session = ? ORDER BY sequence DESC LIMIT 1")
        .get(id);
      this.#owned.set(id, { ownership, sequence: last?.sequence ?? 0, leafId: last?.id ?? null, timestampMs: Date.parse(last?.timestamp ?? "") || 0 });
    } catch (error) {
      ownership?.release();
      throw error;
    }
  }

  #lock(id: string): Ownership {
    mkdirSync(dirname(this.#lockPath(id)), { recursive: true, mode: 0o700 });
    const note = this.#database.query<{ pid: number }, [string]>("SELECT pid FROM owners WHERE session = ?");
    for (let tries = 1; ; tries++, Bun.sleepSync(5)) {
      const ownership = takeOwnership(this.#lockPath(id));
      if (ownership !== undefined) return ownership;
      // Somebody who only looks holds the lock for a moment; a new owner writes its note a moment after it has the lock.
      const pid = note.get(id)?.pid;
      const isNoted = pid !== undefined && isAlive(pid);
      if (tries < (isNoted ? 3 : 20)) continue;
      throw new AgentError("session_busy", `session ${id} is in use by ${isNoted ? `process ${pid}` : "another process"}`);
    }
  }

  #lockPath(id: string): string {
    return join(dirname(this.path), "session-owners", `${id}.lock`);
  }

  #freshEntryId(sessionId: string): string {
    const taken = this.#database.query<unknown, [string, string]>("SELECT 1 FROM entries WHERE session = ? AND id = ?");
    for (;;) {
      const id = crypto.getRandomValues(new Uint32Array(1))[0]?.toString(16).padStart(8, "0") ?? "";
      if (taken.get(sessionId, id) === null) return id;
    }
  }

  #insertSession({ id, cwd, created, parent }: StoredSession): void {
    this.#database.query("INSERT INTO sessions (id, cwd, created, parent) VALUES (?, ?, ?, ?)").run(id, cwd, created, parent ?? null);
  }

  #insertEntry(sessionId: string, sequence: number, { id, parentId, type, timestamp }: { id: string; parentId: string | null; type: string; timestamp: string }, line: string): void {
    this.#database
      .query("INSERT INTO entries (session, sequence, id, parentId, type, timestamp, json) VALUES (?, ?, ?, ?, ?, ?, ?)")
      .run(sessionId, sequence, id, parentId, type, isoTime(timestamp), line);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Imported times may be written in other ways; the column is compared as text. */
function isoTime(timestamp: string): string {
  const time = new Date(timestamp);
  return Number.isNaN(time.getTime()) ? timestamp : time.toISOString();
}
