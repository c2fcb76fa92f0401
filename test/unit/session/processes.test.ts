// Several processes on one store: owners, killed writers, four at once.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { AgentError } from "../../../src/core/error.ts";
import { openStore } from "../../../src/session/store.ts";
import { makeWorkspace } from "../../support/workspace.ts";

const writer = join(import.meta.dir, "writer-process.ts");

function start(...args: string[]) {
  return Bun.spawn([process.execPath, writer, ...args], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
}

async function firstLine(process: ReturnType<typeof start>): Promise<string> {
  let text = "";
  for await (const chunk of process.stdout) {
    text += new TextDecoder().decode(chunk);
    if (text.includes("\n")) break;
  }
  return text.slice(0, text.indexOf("\n"));
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

function integrityOf(path: string): unknown {
  using database = new Database(path);
  return database.query("PRAGMA integrity_check").all();
}

test("a session has one owner; a killed owner is taken over at once, also when its process id lives on elsewhere", async () => {
  using folder = makeWorkspace();
  const path = folder.at("sessions.sqlite");
  const store = openStore(path);
  const { id } = store.createSession({ cwd: "/work" });
  store.release(id);

  const holder = start("hold", path, id);
  expect(await firstLine(holder)).toBe("held");
  expect(store.isBusy(id)).toBe(true);
  expect(readdirSync(folder.at("session-owners"))).toEqual([`${id}.lock`]);
  const refused = failureOf(() => store.resumeSession(id));
  expect([refused.code, refused.message]).toEqual(["session_busy", `session ${id} is in use by process ${holder.pid}`]);
  expect(failureOf(() => store.remove(id)).code).toBe("session_busy");

  holder.kill("SIGKILL");
  await holder.exited;
  // The note of the dead owner names a process that lives: this one, as after a reuse of its number.
  using database = new Database(path);
  database.run("UPDATE owners SET pid = ?", [process.pid]);
  expect(store.isBusy(id)).toBe(false);
  expect(store.resumeSession(id).id).toBe(id);
  store.close();
});

test("an owner in the same process counts too, and a lost contest leaves the owner its lock", async () => {
  using folder = makeWorkspace();
  const path = folder.at("sessions.sqlite");
  const store = openStore(path);
  const second = openStore(path);
  const { id } = store.createSession({ cwd: "/work" });
  expect(failureOf(() => second.resumeSession(id)).message).toBe(`session ${id} is in use by process ${process.pid}`);
  expect(failureOf(() => store.resumeSession(id)).code).toBe("session_busy");
  const other = start("write", path, id, "1");
  expect(await firstLine(other)).toStartWith("session_busy: ");
  store.appendEntry(id, { type: "session_info", name: "still mine" });
  store.release(id);
  expect(second.resumeSession(id).id).toBe(id);
  store.close();
  second.close();
});

test("no two of four contending processes are ever inside at once", async () => {
  using folder = makeWorkspace();
  const contenders = [1, 2, 3, 4].map(() => start("exclude", folder.at("lock"), folder.at("mark"), "100"));
  expect(await Promise.all(contenders.map(({ exited }) => exited))).toEqual([0, 0, 0, 0]);
  expect(folder.snapshot()).toEqual({ lock: "" });
});

test("four processes at once on a fresh state directory", async () => {
  using folder = makeWorkspace();
  const path = folder.at("sessions.sqlite");
  const writers = [1, 2, 3, 4].map(() => start("write", path, "new", "25"));
  expect(await Promise.all(writers.map(({ exited }) => exited))).toEqual([0, 0, 0, 0]);
  const store = openStore(path);
  expect(store.listSessions().map(({ entryCount }) => entryCount)).toEqual([25, 25, 25, 25]);
  expect(integrityOf(path)).toEqual([{ integrity_check: "ok" }]);
  const ids = store.listSessions().map(({ id }) => id);
  store.close();
  expect(Object.keys(folder.snapshot()).toSorted()).toEqual([...ids.map((id) => `session-owners/${id}.lock`), "sessions.sqlite"].toSorted());
  const again = openStore(path);
  for (const id of ids) again.remove(id);
  again.close();
  expect(Object.keys(folder.snapshot())).toEqual(["sessions.sqlite"]);
});

test("after kill -9 at any moment everything acknowledged is there and the session goes on", async () => {
  using folder = makeWorkspace();
  const path = folder.at("sessions.sqlite");
  const store = openStore(path);
  const { id } = store.createSession({ cwd: "/work" });
  store.release(id);
  for (let round = 0; round < 8; round++) {
    const process = start("write", path, id);
    const decoder = new TextDecoder();
    const wanted = 1 + Math.floor(Math.random() * 40);
    let text = "";
    let isKilled = false;
    for await (const chunk of process.stdout) {
      text += decoder.decode(chunk, { stream: true });
      if (isKilled || text.split("\n").length <= wanted) continue;
      process.kill("SIGKILL");
      isKilled = true;
    }
    await process.exited;
    const acknowledged = text.split("\n").slice(1, -1);
    expect(integrityOf(path)).toEqual([{ integrity_check: "ok" }]);
    const entries = store.entries(id);
    expect(entries.map((entry) => entry.id)).toEqual(expect.arrayContaining(acknowledged));
    expect(entries.map(({ parentId }) => parentId)).toEqual([null, ...entries.map((entry) => entry.id)].slice(0, entries.length));
  }
  store.resumeSession(id);
  const last = store.appendEntry(id, { type: "custom", customType: "test" });
  expect(store.entries(id).at(-1)).toEqual(last as never);
  store.close();
});
