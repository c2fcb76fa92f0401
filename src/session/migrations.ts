// The schema of sessions.sqlite, one step a version. A step that was released is never changed.
import type { Database } from "bun:sqlite";
import { AgentError } from "../core/error.ts";

const steps: readonly string[] = [
  `CREATE TABLE sessions (
     id TEXT PRIMARY KEY,
     cwd TEXT NOT NULL,
     created TEXT NOT NULL,
     parent TEXT
   );
   CREATE TABLE entries (
     position INTEGER PRIMARY KEY AUTOINCREMENT,
     session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
     sequence INTEGER NOT NULL,
     id TEXT NOT NULL,
     parentId TEXT,
     type TEXT NOT NULL,
     timestamp TEXT NOT NULL,
     json TEXT NOT NULL,
     UNIQUE (session, sequence),
     UNIQUE (session, id)
   );
   CREATE INDEX entriesByType ON entries (session, type, sequence);
   CREATE INDEX sessionsByCwd ON sessions (cwd);
   CREATE TABLE owners (
     session TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
     pid INTEGER NOT NULL
   );`,
];

/**
 * Brings a database to the newest schema; several processes may do so at once.
 * @throws AgentError `state_unusable` when a newer program made it
 */
export function migrate(database: Database, path: string): void {
  if (versionOf(database) === steps.length) return;
  database.transaction(() => {
    const version = versionOf(database);
    if (version > steps.length) {
      throw new AgentError("state_unusable", `${path} was made by a newer version of this program (schema ${version}, known up to ${steps.length}): update the program`);
    }
    for (const step of steps.slice(version)) database.run(step);
    database.run(`PRAGMA user_version = ${steps.length}`);
  }).immediate();
}

function versionOf(database: Database): number {
  return database.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
}
