// Reads exported sessions, versions 1 to 3 (json-mode.md 11.2), and stores them as version 3. What is sound is kept,
// unknown types included; every record that is left out or changed is told with its line.
import { AgentError } from "../core/error.ts";
import { type AnyEntry, jsonLine } from "./entry.ts";
import { exportLines } from "./export.ts";
import { type JsonRecord, readRecords } from "./records.ts";
import type { SessionStore, StoredSession } from "./store.ts";

export interface ImportOutcome {
  id: string;
  /** False when the store held the very same session already. */
  stored: boolean;
  entryCount: number;
  warnings: string[];
}

/**
 * Stores an exported session, whole or not at all. It keeps its id, unless a session with that id and other content
 * exists: then it gets a fresh one and the old id as its parent.
 * @throws AgentError `import_invalid` when the bytes begin with no session header
 */
export function importSession(store: SessionStore, bytes: Uint8Array, newId: () => string = Bun.randomUUIDv7): ImportOutcome {
  const { session, entries, warnings } = parseExport(bytes, () => newId());
  const outcome = (id: string, stored: boolean): ImportOutcome => ({ id, stored, entryCount: entries.length, warnings });
  const existing = store.sessionById(session.id);
  if (existing === undefined) {
    store.addSession(session, entries);
    return outcome(session.id, true);
  }
  const [, ...lines] = exportLines(store, existing);
  const same = Bun.deepEquals(existing, session) && lines.length === entries.length && entries.every(({ line }, index) => line === lines[index]);
  if (same) return outcome(session.id, false);
  const copy: StoredSession = { ...session, id: newId(), parent: session.id };
  store.addSession(copy, entries);
  return outcome(copy.id, true);
}

export interface ParsedExport {
  session: StoredSession;
  /** Parents before children. */
  entries: { entry: AnyEntry; line: string }[];
  warnings: string[];
}

/** @throws AgentError `import_invalid` */
export function parseExport(bytes: Uint8Array, newId: () => string): ParsedExport {
  const { records, warnings } = readRecords(bytes);
  const [first, ...rest] = records;
  if (first?.value.type !== "session") throw new AgentError("import_invalid", "this is no exported session: its first record is no session header");
  const version = first.value["version"] ?? 1;
  if (version !== 1 && version !== 2 && version !== 3) {
    throw new AgentError("import_invalid", `session version ${JSON.stringify(version)} is not supported; known are 1, 2 and 3`);
  }
  const isDamaged = warnings.length > 0;
  const session = sessionOf(first.value, newId, warnings);
  const reader = new EntryReader({ version, created: session.created, isDamaged, warnings });
  for (const record of rest) reader.read(record);
  return { session, entries: reader.entries, warnings };
}

function sessionOf(header: JsonRecord["value"], newId: () => string, warnings: string[]): StoredSession {
  const { id, timestamp, cwd, parentSession } = header;
  const goodId = typeof id === "string" && /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id);
  const goodTime = isTime(timestamp);
  if (!goodId) warnings.push("the header has no usable id: the session gets a new one");
  if (!goodTime) warnings.push("the header has no usable timestamp: it counts as made now");
  return {
    id: goodId ? id : newId(),
    cwd: typeof cwd === "string" ? cwd : "",
    created: goodTime ? timestamp : new Date().toISOString(),
    ...(typeof parentSession === "string" ? { parent: parentSession } : {}),
  };
}

/** Puts records into a tree, one after the other. */
class EntryReader {
  readonly entries: { entry: AnyEntry; line: string }[] = [];
  readonly #version: 1 | 2 | 3;
  readonly #warnings: string[];
  /** Records are known to be lost: that a parent is unknown is then no news. */
  readonly #isDamaged: boolean;
  readonly #lineById = new Map<string, string>();
  /** Ids by their position among all records, the header being 0: what version 1 refers to. */
  readonly #idsByIndex: (string | undefined)[] = [undefined];
  /** Fresh ids of entries whose own id was taken. */
  readonly #renamed = new Map<string, string>();
  #previousId: string | null = null;
  #previousTime: string;

  constructor({ version, created, isDamaged, warnings }: { version: 1 | 2 | 3; created: string; isDamaged: boolean; warnings: string[] }) {
    this.#version = version;
    this.#previousTime = created;
    this.#warnings = warnings;
    this.#isDamaged = isDamaged;
  }

  read({ number, text, value }: JsonRecord): void {
    if (value.type === "session") return this.#warn(number, "is skipped: a second header");
    const { type, id: givenId, parentId: givenParent, timestamp: givenTime, ...fields } = value;
    const keepsId = this.#version > 1 && typeof givenId === "string" && givenId !== "" && givenId.length <= 64;
    if (keepsId && this.#lineById.get(givenId) === text) return this.#warn(number, `is skipped: it repeats entry ${givenId}`);
    const isTaken = keepsId && this.#lineById.has(givenId);
    const id = keepsId && !isTaken ? givenId : this.#freshId();
    if (this.#version > 1 && id !== givenId) this.#warn(number, `gets the new id ${id}: ${isTaken ? `${givenId} is taken` : "it has none"}`);
    const parentId = this.#parentOf(number, givenParent);
    const timestamp = isTime(givenTime) ? givenTime : this.#previousTime;
    if (timestamp !== givenTime) this.#warn(number, "has no usable timestamp: it gets that of the entry before it");
    const updated = this.#updated(type, fields);
    const entry: AnyEntry = { type, id, parentId, timestamp, ...(updated ?? fields) };
    const isAsGiven = id === givenId && parentId === givenParent && timestamp === givenTime && updated === undefined;
    this.entries.push({ entry, line: isAsGiven ? text : jsonLine(entry) });
    if (isTaken) this.#renamed.set(givenId, id);
    this.#lineById.set(id, text);
    this.#idsByIndex.push(id);
    this.#previousId = id;
    this.#previousTime = timestamp;
  }

  #parentOf(number: number, given: unknown): string | null {
    if (this.#version === 1) return this.#previousId;
    if (given === null) return null;
    const parentId = typeof given === "string" ? (this.#renamed.get(given) ?? given) : undefined;
    if (parentId !== undefined && this.#lineById.has(parentId)) return parentId;
    if (!this.#isDamaged) this.#warn(number, "has an unknown parent: it is joined to the entry before it");
    return this.#previousId;
  }

  /** The fields in the form of version 3; undefined when they have it already. */
  #updated(type: string, fields: Record<string, unknown>): Record<string, unknown> | undefined {
    const message = fields["message"];
    if (this.#version < 3 && type === "message" && typeof message === "object" && message !== null && Reflect.get(message, "role") === "hookMessage") {
      return { ...fields, message: { ...message, role: "custom" } };
    }
    const index = fields["firstKeptEntryIndex"];
    if (this.#version > 1 || type !== "compaction" || typeof index !== "number") return undefined;
    const { firstKeptEntryIndex: _, summary, ...rest } = fields;
    return { summary, firstKeptEntryId: this.#idsByIndex[index] ?? null, ...rest };
  }

  #freshId(): string {
    for (;;) {
      const id = crypto.getRandomValues(new Uint32Array(1))[0]?.toString(16).padStart(8, "0") ?? "";
      if (!this.#lineById.has(id)) return id;
    }
  }

  #warn(number: number, problem: string): void {
    this.#warnings.push(`line ${number} ${problem}`);
  }
}

function isTime(value: unknown): value is string {
  return typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value));
}
