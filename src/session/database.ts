// Opens sessions.sqlite so that several processes can share it, and turns SQLite's failures into ours.
import { Database, SQLiteError } from "bun:sqlite";
import { closeSync, openSync } from "node:fs";
import { AgentError, messageOf } from "../core/error.ts";
import { migrate } from "./migrations.ts";

/** Wait for other processes' transactions, which take milliseconds. */
const busyTimeoutMs = 10_000;
const retryMs = 5;

/**
 * Opens or makes the database at a path, mode 0600; `:memory:` keeps everything in this process.
 * @throws AgentError `state_unusable`, `storage_full`
 */
export function openDatabase(path: string): Database {
  return guarded(path, () => {
    if (path !== ":memory:") closeSync(openSync(path, "a", 0o600));
    const database = new Database(path, { readwrite: true, create: true, strict: true });
    try {
      database.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
      // Enough to stay sound; what must outlast a power cut asks for more (`makeDurable`).
      database.run("PRAGMA synchronous = NORMAL");
      retryWhileBusy(() => useWriteAheadLog(database));
      database.run("PRAGMA foreign_keys = ON");
      // A removed session is overwritten, not only unlinked.
      database.run("PRAGMA secure_delete = ON");
      retryWhileBusy(() => migrate(database, path));
    } catch (error) {
      database.close();
      throw error;
    }
    return database;
  });
}

/** From now on a commit returns when its rows, and all before them, are on the disk. */
export function makeDurable(database: Database): void {
  database.run("PRAGMA synchronous = FULL");
}

/** Runs an access to the database; a failure of SQLite or of the disk becomes an AgentError that names the path. */
export function guarded<Result>(path: string, access: () => Result): Result {
  try {
    return access();
  } catch (cause) {
    if (cause instanceof AgentError) throw cause;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    if (code === "SQLITE_FULL" || code === "ENOSPC" || code === "EDQUOT") {
      throw new AgentError("storage_full", `no space is left for ${path}: free some and try again`, { cause });
    }
    if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")) {
      throw new AgentError("state_unusable", `${path} is damaged (${messageOf(cause)}): move it away, or restore it from a copy`, { cause });
    }
    if (cause instanceof SQLiteError || code.startsWith("E")) throw new AgentError("state_unusable", `${path} cannot be used: ${messageOf(cause)}`, { cause });
    throw cause;
  }
}

function useWriteAheadLog(database: Database): void {
  const mode = database.query<{ journal_mode: string }, []>("PRAGMA journal_mode").get()?.journal_mode;
  if (mode !== "wal" && mode !== "memory") database.run("PRAGMA journal_mode = WAL");
}

/** SQLite doesn't wait by itself while another process switches the journal or recovers it. */
function retryWhileBusy(action: () => void): void {
  for (const deadline = performance.now() + busyTimeoutMs; ; Bun.sleepSync(retryMs)) {
    try {
      return action();
    } catch (error) {
      const busy = error instanceof SQLiteError && (error.code ?? "").startsWith("SQLITE_BUSY");
      if (!busy || performance.now() > deadline) throw error;
    }
  }
}
