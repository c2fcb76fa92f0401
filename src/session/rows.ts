// What the store tells of a session, and how that is read from its tables.

export interface StoredSession {
  /** UUID, version 7, where it was made here. */
  id: string;
  cwd: string;
  /** ISO 8601, UTC, milliseconds. */
  created: string;
  /** The session that this one was forked from. */
  parent?: string;
}

export interface SessionSummary extends StoredSession {
  /** Time of the last entry, else of the creation. */
  updated: string;
  name?: string;
  entryCount: number;
  messageCount: number;
}

export interface SessionRow {
  id: string;
  cwd: string;
  created: string;
  parent: string | null;
}

export interface SummaryRow extends SessionRow {
  updated: string;
  name: string | null;
  entryCount: number;
  messageCount: number;
}

/** Parameters: `$cwd` (null: any), `$limit` (-1: all). */
export const summaries = `
  SELECT s.*,
    coalesce((SELECT timestamp FROM entries WHERE session = s.id ORDER BY sequence DESC LIMIT 1), s.created) AS updated,
    (SELECT CASE WHEN json_valid(json) THEN json_extract(json, '$.name') END FROM entries WHERE session = s.id AND type = 'session_info' ORDER BY sequence DESC LIMIT 1) AS name,
    (SELECT count(*) FROM entries WHERE session = s.id) AS entryCount,
    (SELECT count(*) FROM entries WHERE session = s.id AND type = 'message') AS messageCount
  FROM sessions s
  WHERE $cwd IS NULL OR s.cwd = $cwd
  ORDER BY updated DESC, s.id DESC
  LIMIT $limit`;

export function sessionOf({ id, cwd, created, parent }: SessionRow): StoredSession {
  return { id, cwd, created, ...(parent === null ? {} : { parent }) };
}

export function summaryOf(row: SummaryRow): SessionSummary {
  const { updated, name, entryCount, messageCount } = row;
  return { ...sessionOf(row), updated, ...(typeof name === "string" && name !== "" ? { name } : {}), entryCount, messageCount };
}
