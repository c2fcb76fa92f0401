// One writer per session: a lock that the kernel takes back when its holder dies, however it dies.
// The lock is SQLite's own on an empty file, so that it works wherever the store does: no clock and no process id counts.
import { Database, SQLiteError } from "bun:sqlite";
import { closeSync, openSync, rmSync, statSync } from "node:fs";
import { AgentError, messageOf } from "../core/error.ts";

export interface Ownership {
  release(): void;
}

const triesMax = 100;

/**
 * Takes the lock at a path; the file is made, and removed on release.
 * @returns undefined when somebody else holds it, this process included
 */
export function takeOwnership(path: string): Ownership | undefined {
  let failure: unknown;
  for (let tries = 0; tries < triesMax; tries++) {
    // An existing file is never opened by us directly: closing it would drop a lock that this process holds on it.
    const before = fileNumber(path) ?? create(path);
    if (before === undefined) continue;
    const held = lock(path);
    if (held === "busy") return undefined;
    if (held instanceof Error) {
      failure = held; // removed under our hands, or a fault that stays
      continue;
    }
    // A holder removes the file before it lets go: whoever then gets a lock on the removed file starts again.
    if (fileNumber(path) !== before) {
      held.close();
      continue;
    }
    return {
      release() {
        // Windows keeps open files; there the empty file stays, which harms nobody.
        if (process.platform !== "win32") rmSync(path, { force: true });
        held.close();
      },
    };
  }
  throw new AgentError("state_unusable", `${path} cannot be locked: ${messageOf(failure)}`, { cause: failure });
}

/** Whether somebody holds the lock at a path. */
export function isOwned(path: string): boolean {
  if (fileNumber(path) === undefined) return false;
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

function create(path: string): bigint | undefined {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
  return fileNumber(path);
}

function fileNumber(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}
