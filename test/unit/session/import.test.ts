import { describe, expect, test } from "bun:test";
import { AgentError } from "../../../src/core/error.ts";
import type { AnyEntry } from "../../../src/session/entry.ts";
import { exportLines } from "../../../src/session/export.ts";
import { importSession, parseExport } from "../../../src/session/import.ts";
import { openStore, type SessionStore } from "../../../src/session/store.ts";

const id = "0199aa00-0000-7000-8000-000000000001";
const header = { type: "session", version: 3, id, timestamp: "2026-01-02T03:04:05.678Z", cwd: "/work" };
const time = "2026-01-02T03:04:06.000Z";
const entry = (entryId: string, parentId: string | null, data: unknown = entryId) => ({ type: "custom", id: entryId, parentId, timestamp: time, customType: "t", data });
const jsonl = (...records: unknown[]): string => records.map((record) => `${typeof record === "string" ? record : JSON.stringify(record)}\n`).join("");
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const freshId = () => "0199ff00-0000-7000-8000-00000000ffff";

function parse(text: string | Uint8Array) {
  return parseExport(typeof text === "string" ? bytesOf(text) : text, freshId);
}

function exported(store: SessionStore, sessionId: string): string {
  return jsonl(...exportLines(store, store.loadSession(sessionId)));
}

function failureOf(action: () => unknown): AgentError {
  try {
    action();
  } catch (error) {
    if (error instanceof AgentError) return error;
    throw error;
  }
  throw new Error("expected a failure");
}

const shape = (entries: readonly { entry: AnyEntry }[]) => entries.map(({ entry: { id: entryId, parentId } }) => [entryId, parentId]);

describe("export and import", () => {
  test("give the same lines, whatever the entries are", () => {
    const source = openStore(":memory:");
    const { id: made } = source.createSession({ cwd: "/wörk", parent: "0199" });
    source.appendEntry(made, { type: "message", message: { role: "user", content: "a\u2028\ud800\u0000😀", timestamp: 1 } });
    source.appendEntry(made, { type: "compaction", summary: "s", firstKeptEntryId: null, tokensBefore: 5, details: { strategy: "verbatim-lines" } });
    source.setName(made, "name");
    source.appendEntry(made, { type: "custom", customType: "t", data: null }, { parentId: null });
    const first = exported(source, made);
    const target = openStore(":memory:");
    expect(importSession(target, bytesOf(first))).toEqual({ id: made, stored: true, entryCount: 4, warnings: [] });
    expect(exported(target, made)).toBe(first);
    expect(target.entries(made)).toEqual(source.entries(made));
    source.close();
    target.close();
  });

  test("keep foreign records byte for byte: unknown types, large numbers, spaces", () => {
    const text = jsonl(header, `{"type":"x_future","id":"00000001","parentId":null,"timestamp":"${time}","big":12345678901234567890,"n":1.0, "2":1,"1":2}`, entry("00000002", "00000001"));
    const store = openStore(":memory:");
    expect(importSession(store, bytesOf(text)).warnings).toEqual([]);
    expect(exported(store, id)).toBe(text);
    store.close();
  });

  test("drop nothing but the additive fields of the header", () => {
    const store = openStore(":memory:");
    importSession(store, bytesOf(jsonl({ ...header, parentSession: "p", provider: "x", agentVersion: "1" })));
    expect(exported(store, id)).toBe(jsonl({ ...header, parentSession: "p" }));
    store.close();
  });

  test("of the same session twice store it once; other content under its id becomes a fork", () => {
    const store = openStore(":memory:");
    const text = jsonl(header, entry("00000001", null));
    importSession(store, bytesOf(text));
    expect(importSession(store, bytesOf(text))).toEqual({ id, stored: false, entryCount: 1, warnings: [] });
    const fork = importSession(store, bytesOf(jsonl(header, entry("00000001", null, "other"))), freshId);
    expect(fork).toEqual({ id: freshId(), stored: true, entryCount: 1, warnings: [] });
    expect(exported(store, freshId())).toBe(jsonl({ ...header, id: freshId(), parentSession: id }, entry("00000001", null, "other")));
    expect(exported(store, id)).toBe(text);
    store.close();
  });
});

describe("damage", () => {
  const records = [header, entry("00000001", null), entry("00000002", "00000001", "zwei é"), entry("00000003", "00000002", "drei 😀")];
  const whole = bytesOf(jsonl(...records));
  const ends = [...whole.keys()].filter((index) => whole[index] === 0x0a);

  test("a file cut at every byte of its last two records keeps all whole ones and warns once", () => {
    for (let length = (ends[1] ?? 0) + 1; length <= whole.length; length++) {
      const kept = ends.filter((end) => end <= length).length - 1;
      const isCut = !ends.includes(length) && !ends.includes(length - 1);
      const store = openStore(":memory:");
      const { warnings } = importSession(store, whole.subarray(0, length));
      expect([length, warnings]).toEqual([length, isCut ? [`line ${kept + 2} is dropped: it is incomplete`] : []]);
      expect(exported(store, id)).toBe(jsonl(...records.slice(0, kept + 1)));
      store.close();
    }
  });

  const nuls = new Uint8Array(512);
  const place = (offset: number, replaced = 0) => Buffer.concat([whole.subarray(0, offset), nuls, whole.subarray(offset + replaced)]);
  const startOfThird = (ends[1] ?? 0) + 1;

  test("NUL bytes between records, inside one and over one cost only what they cover", () => {
    const warning = (offset: number, line: number, kept: number) => [`line ${line}, byte offset ${offset}: 512 NUL bytes are skipped; records kept from this line: ${kept}`];
    const before = parse(place(startOfThird));
    expect([before.entries.length, before.warnings]).toEqual([3, warning(startOfThird, 3, 1)]);
    const inside = parse(place(startOfThird + 10));
    expect([inside.entries.length, inside.warnings]).toEqual([3, warning(startOfThird + 10, 3, 1)]);
    const overLineEnd = parse(place(startOfThird - 1, 1));
    expect([overLineEnd.entries.length, overLineEnd.warnings]).toEqual([3, warning(startOfThird - 1, 2, 2)]);
    const over = parse(place(startOfThird + 10, 30));
    expect(shape(over.entries)).toEqual([["00000001", null], ["00000003", "00000001"]]);
    expect(over.warnings).toEqual(warning(startOfThird + 10, 3, 0));
  });

  test("bad lines are skipped with their numbers, blank ones and a byte order mark are nothing", () => {
    const text = Buffer.concat([bytesOf(`\uFEFF${jsonl(header, "", "  \r", "{", "5", "[]", '{"no":"type"}', header)}`), new Uint8Array([0xff, 0x0a]), bytesOf(jsonl(entry("00000001", null)).replace("\n", "\r\n"))]);
    const { entries, warnings } = parse(text);
    expect(shape(entries)).toEqual([["00000001", null]]);
    expect(warnings).toEqual([
      ...[4, 5, 6, 7].map((line) => `line ${line} is skipped: no JSON object with a type`),
      "line 9 is skipped: no JSON object with a type",
      "line 8 is skipped: a second header",
    ]);
  });

  test("without a header, or with a version of the future, nothing is stored", () => {
    for (const text of ["", "\n", jsonl(entry("00000001", null)), "garbage\n", jsonl({ ...header, version: 4 }), jsonl({ ...header, version: "3" })]) {
      const store = openStore(":memory:");
      expect(failureOf(() => importSession(store, bytesOf(text))).code).toBe("import_invalid");
      expect(store.listSessions()).toEqual([]);
      store.close();
    }
  });

  test("a header without id, time or folder gets what is missing", () => {
    const { session, warnings } = parse(jsonl({ type: "session", version: 3, id: "../x", timestamp: "yesterday" }));
    expect([session.id, session.cwd, Number.isNaN(Date.parse(session.created))]).toEqual([freshId(), "", false]);
    expect(warnings).toEqual(["the header has no usable id: the session gets a new one", "the header has no usable timestamp: it counts as made now"]);
  });
});

describe("the tree", () => {
  test("unknown, later and missing parents are joined to the entry before", () => {
    const { parentId: _, ...orphan } = entry("00000004", null);
    const { entries, warnings } = parse(jsonl(header, entry("00000001", "99999999"), entry("00000002", "00000003"), entry("00000003", "00000002"), orphan, entry("00000005", null)));
    expect(shape(entries)).toEqual([["00000001", null], ["00000002", "00000001"], ["00000003", "00000002"], ["00000004", "00000003"], ["00000005", null]]);
    expect(warnings).toEqual([2, 3, 5].map((line) => `line ${line} has an unknown parent: it is joined to the entry before it`));
  });

  test("a taken id is replaced, a repeated record is left out, a missing one is made", () => {
    const { id: __, ...nameless } = entry("x", "00000002");
    const { entries, warnings } = parse(jsonl(header, entry("00000001", null), entry("00000001", null), entry("00000001", null, "other"), entry("00000002", "00000001"), nameless));
    const [, second, third, fourth] = entries.map(({ entry: made }) => made);
    expect([entries.length, third?.parentId, fourth?.parentId]).toEqual([4, second?.id ?? "", "00000002"]);
    for (const made of [second, fourth]) expect(made?.id).toMatch(/^[0-9a-f]{8}$/);
    expect(warnings).toEqual(["line 3 is skipped: it repeats entry 00000001", `line 4 gets the new id ${second?.id}: 00000001 is taken`, `line 6 gets the new id ${fourth?.id}: it has none`]);
  });

  test("a missing time is that of the entry before", () => {
    const { entries, warnings } = parse(jsonl(header, entry("00000001", null), { ...entry("00000002", "00000001"), timestamp: 5 }));
    expect([entries[1]?.entry.timestamp, warnings]).toEqual([time, ["line 3 has no usable timestamp: it gets that of the entry before it"]]);
  });
});

describe("older versions", () => {
  test("1: entries are chained, positions become ids, the old roles their new names", () => {
    const old = jsonl(
      { type: "session", id, timestamp: header.timestamp, cwd: "/old", provider: "p" },
      { type: "message", timestamp: time, message: { role: "user", content: "a", timestamp: 1 } },
      { type: "message", timestamp: time, message: { role: "hookMessage", customType: "h", content: "b", display: true, timestamp: 2 } },
      { type: "compaction", timestamp: time, summary: "s", firstKeptEntryIndex: 2, tokensBefore: 9 },
      { type: "compaction", timestamp: time, summary: "s", firstKeptEntryIndex: 77, tokensBefore: 9 },
    );
    const store = openStore(":memory:");
    expect(importSession(store, bytesOf(old)).warnings).toEqual([]);
    const entries = store.entries(id);
    const ids = entries.map((made) => made.id);
    for (const made of ids) expect(made).toMatch(/^[0-9a-f]{8}$/);
    expect(entries.map(({ parentId }) => parentId)).toEqual([null, ...ids.slice(0, -1)]);
    expect(entries.slice(1).map(({ id: _, parentId: __, ...rest }) => rest) as unknown[]).toEqual([
      { type: "message", timestamp: time, message: { role: "custom", customType: "h", content: "b", display: true, timestamp: 2 } },
      { type: "compaction", timestamp: time, summary: "s", firstKeptEntryId: ids[1] ?? "", tokensBefore: 9 },
      { type: "compaction", timestamp: time, summary: "s", firstKeptEntryId: null, tokensBefore: 9 },
    ]);
    expect(Object.keys(entries[2] ?? {})).toEqual(["type", "id", "parentId", "timestamp", "summary", "firstKeptEntryId", "tokensBefore"]);
    const again = openStore(":memory:");
    importSession(again, bytesOf(exported(store, id)));
    expect(exported(again, id)).toBe(exported(store, id));
    again.close();
    store.close();
  });

  test("2: ids stay, hookMessage becomes custom, compactionSummary is kept", () => {
    const message = (entryId: string, parentId: string | null, role: string) => ({ type: "message", id: entryId, parentId, timestamp: time, message: { role, customType: "h", content: "b", summary: "s", display: true, timestamp: 2 } });
    const old = jsonl({ ...header, version: 2 }, message("00000001", null, "hookMessage"), message("00000002", "00000001", "compactionSummary"));
    const store = openStore(":memory:");
    importSession(store, bytesOf(old));
    expect(exported(store, id)).toBe(jsonl(header, message("00000001", null, "custom"), message("00000002", "00000001", "compactionSummary")));
    store.close();
  });
});
