// One writer per session: a lock that the kernel takes back when its holder dies, however it dies.
// The lock is SQLite's own on an empty file, so that it works wherever the store does: no clock and no process id counts.
import { Database, SQLiteError } from "bun:sqlite";
import { closeSync, openSync, rmSync, statSync } from "node:fs";
import { AgentError } from "../core/error.ts";

export interface Ownership {
  release(): void;
}

const triesMax = 100;

/**
 * Takes the lock at a path; the file is made, and removed on release.
 * @returns undefined when somebody else holds it, this process included
 */
export function takeOwnership(path: string): Ownership | undefined {
  for (let tries = 0; tries < triesMax; tries++) {
    // An existing file is never opened by us directly: closing it would drop a lock that this process holds on it.
    const before = fileNumber(path) ?? create(path);
    if (before === undefined) continue;
    const held = lock(path);
    if (held === "busy") return undefined;
    if (held === "gone") continue;
    // A holder removes the file before it lets go: whoever then gets a lock on the removed file starts again.
    if (fileNumber(path) !== before) {
      held.close();
      continue;
    }
    return {
      release() {
        rmSync(path, { force: true });
        held.close();
      },
    };
  }
  throw new AgentError("internal", `${path} was replaced ${triesMax} times while it was locked`);
}

/** Whether somebody holds the lock at a path. */
export function isOwned(path: string): boolean {
  if (fileNumber(path) === undefined) return false;
  const probe = lock(path);
  if (typeof probe !== "string") probe.close();
  return probe === "busy";
}

function lock(path: string): Database | "busy" | "gone" {
  let database: Database | undefined;
  try {
    database = new Database(path, { readwrite: true, create: false });
    database.run("PRAGMA busy_timeout = 0");
    database.run("BEGIN IMMEDIATE");
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof SQLiteError && error.code === "SQLITE_BUSY") return "busy";
    if (fileNumber(path) === undefined) return "gone";
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
