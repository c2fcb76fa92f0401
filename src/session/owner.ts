// One writer per session: a lock that the kernel takes back when its holder dies, however it dies.
// The lock is SQLite's own on an empty file, so that it works wherever the store does: no clock and no process id counts.
// The file stays as long as its session: of a file that comes and goes two could be held at once, since file numbers are
// used again.
import { Database, SQLiteError } from "bun:sqlite";
import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { AgentError, messageOf } from "../core/error.ts";

export interface Ownership {
  release(): void;
}

/**
 * Takes the lock at a path; the file is made when it is not there.
 * @returns undefined when somebody else holds it, this process included
 */
export function takeOwnership(path: string): Ownership | undefined {
  create(path);
  const held = lock(path);
  if (held === "busy") return undefined;
  if (held instanceof Error) throw new AgentError("state_unusable", `${path} cannot be locked: ${messageOf(held)}`, { cause: held });
  return { release: () => held.close() };
}

/** Removes the file of a session that is no more. */
export function removeOwnership(path: string): void {
  rmSync(path, { force: true });
}

/** Whether somebody holds the lock at a path. */
export function isOwned(path: string): boolean {
  if (!existsSync(path)) return false;
  const probe = lock(path);
  if (probe instanceof Database) probe.close();
  return probe === "busy";
}

function lock(path: string): Database | "busy" | Error {
  let database: Database | undefined;
  try {
    database = new Database(path, { readwrite: true, create: false });
    database.run("PRAGMA busy_timeout = 0");
    // Nothing is ever written; a journal beside the file would only be one more thing to come and go.
    database.run("PRAGMA journal_mode = MEMORY");
    database.run("BEGIN IMMEDIATE");
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof SQLiteError && error.code === "SQLITE_BUSY") return "busy";
    if (error instanceof Error) return error;
    throw error;
  }
}

/** An existing file is never opened by us directly: closing it would drop a lock that this process holds on it. */
function create(path: string): void {
  if (existsSync(path)) return;
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}
