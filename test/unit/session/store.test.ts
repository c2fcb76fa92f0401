import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { AgentError } from "../../../src/core/error.ts";
import { pruneSessions } from "../../../src/session/retention.ts";
import { openStore } from "../../../src/session/store.ts";
import { makeWorkspace } from "../../support/workspace.ts";

function failureOf(action: () => unknown): AgentError {
  try {
    action();
  } catch (error) {
    if (error instanceof AgentError) return error;
    throw error;
  }
  throw new Error("expected a failure");
}

const note = (text: string) => ({ type: "custom", customType: "test", data: text }) as const;

describe("entries", () => {
  test("are chained, keep their order over a restart, and never go back in time", () => {
    using folder = makeWorkspace();
    const path = folder.at("sessions.sqlite");
    const times = [1000, 2000, 1500, 900];
    const store = openStore(path, { now: () => times.shift() ?? 0 });
    const session = store.createSession({ cwd: "/work" });
    const made = ["a", "b", "c"].map((text) => store.appendEntry(session.id, note(text)));
    store.close();

    const again = openStore(path, { now: () => 500 });
    expect(again.resumeSession(session.id)).toEqual({ id: session.id, cwd: "/work", created: "1970-01-01T00:00:01.000Z" });
    made.push(again.appendEntry(session.id, note("d")));
    const branch = again.appendEntry(session.id, note("branch"), { parentId: made[0]?.id ?? null });
    const root = again.appendEntry(session.id, note("root"), { parentId: null });
    expect(again.entries(session.id)).toEqual([...made, branch, root] as never);
    expect(made.map(({ parentId }) => parentId)).toEqual([null, ...made.slice(0, -1).map(({ id }) => id)]);
    expect([branch.parentId, root.parentId]).toEqual([made[0]?.id ?? "", null]);
    expect([...made, branch, root].map(({ timestamp }) => Date.parse(timestamp))).toEqual([2000, 2000, 2000, 2000, 2000, 2000]);
    for (const { id } of made) expect(id).toMatch(/^[0-9a-f]{8}$/);
    expect(Object.keys(JSON.parse(again.lines(session.id)[0] ?? "{}"))).toEqual(["type", "id", "parentId", "timestamp", "customType", "data"]);
    again.close();
  });

  test("hold what a line can't: separators and lone surrogates are escaped", () => {
    const store = openStore(":memory:");
    const { id } = store.createSession({ cwd: "/" });
    store.appendEntry(id, note("a\u2028b\u2029c\ud800d\u0000"));
    expect(store.lines(id)[0]).toEndWith(String.raw`"data":"a\u2028b\u2029c\ud800d\u0000"}`);
    expect(store.entries(id)[0]?.["data"]).toBe("a\u2028b\u2029c\ud800d\u0000");
    store.close();
  });

  test("only the owner appends", () => {
    const store = openStore(":memory:");
    const { id } = store.createSession({ cwd: "/" });
    store.release(id);
    expect(() => store.appendEntry(id, note("x"))).toThrow(`session ${id} is not owned by this process`);
    expect(store.entries(id)).toEqual([]);
    store.close();
  });
});

describe("looking up", () => {
  test("by id, unique prefix and the sidecar's form", () => {
    const ids = ["0199aa00-0000-7000-8000-000000000001", "0199aa00-0000-7000-8000-000000000002", "0199bb00-0000-7000-8000-000000000003"];
    const store = openStore(":memory:", { newId: () => ids.shift() ?? "" });
    const [first, second, third] = [1, 2, 3].map(() => store.createSession({ cwd: "/" }).id);
    expect([first, `s-${first}`, "0199b", "s-0199b"].map((id) => store.loadSession(id ?? "").id)).toEqual([first ?? "", first ?? "", third ?? "", third ?? ""]);
    const several = failureOf(() => store.loadSession("0199a"));
    expect([several.code, several.message]).toEqual(["session_unknown", `several sessions begin with 0199a: ${first}, ${second}`]);
    for (const id of ["", "s-", "%", "0199aa00-0000-7000-8000-0000000000011", "9"]) expect(failureOf(() => store.loadSession(id)).code).toBe("session_unknown");
    store.close();
  });

  test("the newest session of a workspace is the one appended to last; empty ones don't count", () => {
    const store = openStore(":memory:");
    const [a, b, elsewhere] = ["/w", "/w", "/x"].map((cwd) => store.createSession({ cwd }).id) as [string, string, string];
    expect(store.newestSession("/w")).toBeUndefined();
    for (const id of [a, b, elsewhere]) store.appendEntry(id, note("x"));
    expect(store.newestSession("/w")?.id).toBe(b);
    store.appendEntry(a, note("y"));
    store.createSession({ cwd: "/w" });
    expect(store.newestSession("/w")?.id).toBe(a);
    store.setCwd(elsewhere, "/w");
    store.appendEntry(elsewhere, note("z"));
    expect([store.newestSession("/w")?.id, store.newestSession("/x")]).toEqual([elsewhere, undefined]);
    store.close();
  });

  test("the list is sorted by last use and shows names", () => {
    let now = 1000;
    const store = openStore(":memory:", { now: () => (now += 1000) });
    const [a, b, c] = ["/w", "/w", "/x"].map((cwd) => store.createSession({ cwd }).id) as [string, string, string];
    store.appendEntry(a, { type: "message", message: { role: "user", content: "hi", timestamp: 1 } });
    store.setName(a, "first");
    store.setName(b, "gone");
    store.setName(b, "");
    expect(store.listSessions().map(({ id, name, messageCount, entryCount }) => [id, name, messageCount, entryCount])).toEqual([
      [b, undefined, 0, 2],
      [a, "first", 1, 2],
      [c, undefined, 0, 0],
    ]);
    expect(store.listSessions({ cwd: "/w", limit: 1 }).map(({ id }) => id)).toEqual([b]);
    store.close();
  });
});

describe("removing", () => {
  test("takes entries and lock along", () => {
    using folder = makeWorkspace();
    const store = openStore(folder.at("sessions.sqlite"));
    const { id } = store.createSession({ cwd: "/w" });
    store.appendEntry(id, note("plain words"));
    store.remove(id);
    expect([store.listSessions(), store.entries(id), readdirSync(folder.at("session-owners"))]).toEqual([[], [], []]);
    store.close();
    expect(readFileSync(folder.at("sessions.sqlite")).includes("plain words")).toBe(false);
  });

  test("retention spares what is owned, young or among the newest", () => {
    using folder = makeWorkspace();
    let now = Date.parse("2026-01-01T00:00:00Z");
    const day = 86_400_000;
    const store = openStore(folder.at("sessions.sqlite"), { now: () => now });
    const [old, owned, young] = [0, 1, 2].map(() => {
      const { id } = store.createSession({ cwd: "/w" });
      now += day;
      return id;
    }) as [string, string, string];
    store.release(old);
    store.release(young);
    expect(pruneSessions(store, { maxAgeDays: 2 }, now)).toEqual([old]);
    expect(store.listSessions().map(({ id }) => id)).toEqual([young, owned]);
    expect(pruneSessions(store, { maxSessions: 1 }, now)).toEqual([]);
    store.release(owned);
    expect(pruneSessions(store, { maxSessions: 1 }, now)).toEqual([owned]);
    expect(store.listSessions().map(({ id }) => id)).toEqual([young]);
    store.close();
  });
});

describe("the file", () => {
  test("is private, also its companions", () => {
    using folder = makeWorkspace();
    const store = openStore(folder.at("sessions.sqlite"));
    store.createSession({ cwd: "/w" });
    const modes = readdirSync(folder.path).map((name) => [name, (statSync(folder.at(name)).mode & 0o777).toString(8)]);
    expect(Object.fromEntries(modes)).toEqual({ "session-owners": "700", "sessions.sqlite": "600", "sessions.sqlite-shm": "600", "sessions.sqlite-wal": "600" });
    store.close();
    expect(readdirSync(folder.path).toSorted()).toEqual(["session-owners", "sessions.sqlite"]);
  });

  test("that can't be used is named, with what to do", () => {
    using folder = makeWorkspace({ "noise.sqlite": "no database at all, only text. ".repeat(200), "folder.sqlite/": "", "file.txt": "" });
    const failures = ["noise.sqlite", "folder.sqlite", "file.txt/x.sqlite", "missing/x.sqlite"].map((name) => failureOf(() => openStore(folder.at(name))));
    expect(failures.map(({ code }) => code)).toEqual(["state_unusable", "state_unusable", "state_unusable", "state_unusable"]);
    expect(failures[0]?.message).toStartWith(`${folder.at("noise.sqlite")} is damaged (file is not a database)`);
    for (const [index, name] of ["noise.sqlite", "folder.sqlite", "file.txt/x.sqlite", "missing/x.sqlite"].entries()) expect(failures[index]?.message).toContain(folder.at(name));
  });

  test("of a newer program is refused and left alone", () => {
    using folder = makeWorkspace();
    const path = folder.at("sessions.sqlite");
    openStore(path).close();
    using database = new Database(path);
    database.run("PRAGMA user_version = 99");
    expect(failureOf(() => openStore(path)).message).toBe(`${path} was made by a newer version of this program (schema 99, known up to 1): update the program`);
    expect(database.query("PRAGMA user_version").get()).toEqual({ user_version: 99 });
  });
});

function smallDisk(path: string): Disposable | undefined {
  mkdirSync(path, { recursive: true });
  const mounted = process.getuid?.() === 0 && Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", path]).exitCode === 0;
  if (!mounted) return undefined;
  return {
    [Symbol.dispose]() {
      const { exitCode, stderr } = Bun.spawnSync(["umount", path]);
      if (exitCode !== 0) throw new Error(stderr.toString());
    },
  };
}

const canMount = (() => {
  using folder = makeWorkspace();
  const disk = smallDisk(folder.at("probe"));
  disk?.[Symbol.dispose]();
  return disk !== undefined;
})();

describe.skipIf(!canMount)("a full disk", () => {
  test("is told by name; acknowledged rows stay, and after space is freed the session goes on", () => {
    using folder = makeWorkspace();
    using _disk = smallDisk(folder.at("disk"));
    const path = folder.at("disk/sessions.sqlite");
    writeFileSync(folder.at("disk/ballast"), Buffer.alloc(300_000));
    const store = openStore(path);
    const { id } = store.createSession({ cwd: "/w" });
    const acknowledged: string[] = [];
    const failure = failureOf(() => {
      for (let index = 0; index < 1000; index++) acknowledged.push(store.appendEntry(id, note("x".repeat(5000))).id);
    });
    expect([failure.code, failure.message]).toEqual(["storage_full", `no space is left for ${path}: free some and try again`]);
    expect(failureOf(() => store.appendEntry(id, note("x".repeat(50_000)))).code).toBe("storage_full");
    expect(acknowledged.length).toBeGreaterThan(10);
    expect(store.entries(id).map((entry) => entry.id)).toEqual(acknowledged);

    rmSync(folder.at("disk/ballast"));
    acknowledged.push(store.appendEntry(id, note("after")).id);
    store.close();
    const again = openStore(path);
    expect(again.resumeSession(id).id).toBe(id);
    expect(again.entries(id).map((entry) => entry.id)).toEqual(acknowledged);
    again.close();
    using database = new Database(path);
    expect(database.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  });

  test("from the start is told by name", () => {
    using folder = makeWorkspace();
    using _disk = smallDisk(folder.at("disk"));
    expect(() => writeFileSync(folder.at("disk/ballast"), Buffer.alloc(2_000_000))).toThrow();
    expect(failureOf(() => openStore(folder.at("disk/sessions.sqlite"))).code).toBe("storage_full");
  });
});
