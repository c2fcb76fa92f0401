// One holder a file among all processes. The lock is the kernel's, taken by SQLite on an empty file on every platform,
// so it dies with its holder, also after kill -9. The empty file stays: removing it would let two holders in.
import { Database } from "bun:sqlite";
import { AgentError, messageOf } from "../core/error.ts";
import { throwIfAborted } from "./folder.ts";

export interface Lock {
  release(): void;
}

/** Takes the lock, or says that another has it. @throws AgentError `state_unusable` */
export function tryLock(path: string): Lock | undefined {
  let database: Database | undefined;
  try {
    database = new Database(path);
    database.run("PRAGMA journal_mode = MEMORY"); // no second file
    database.run("BEGIN EXCLUSIVE");
    const held = database;
    return { release: () => held.close() };
  } catch (error) {
    database?.close();
    if (error instanceof Error && "code" in error && error.code === "SQLITE_BUSY") return undefined;
    throw new AgentError("state_unusable", `cannot lock ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** Waits until the lock is free; `onWait` is called once when it is not. @throws AgentError `aborted`, `state_unusable` */
export async function waitForLock(path: string, signal: AbortSignal | undefined, onWait: () => void): Promise<Lock> {
  for (let tries = 0; ; tries++) {
    throwIfAborted(signal);
    const lock = tryLock(path);
    if (lock) return lock;
    if (tries === 0) onWait();
    await Bun.sleep(pollMs);
  }
}

const pollMs = 100;
