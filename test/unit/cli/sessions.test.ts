import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { runSessions } from "../../../src/cli/sessions.ts";
import { usageOf } from "../../../src/core/message.ts";
import { openStore } from "../../../src/session/store.ts";
import { makeWorkspace, type Workspace } from "../../support/workspace.ts";

function run(folder: Workspace, ...argv: string[]): { exit: number; stdout: string; stderr: string } {
  const result = { exit: 0, stdout: "", stderr: "" };
  result.exit = runSessions(argv, {
    stdout: (text) => void (result.stdout += text),
    stderr: (text) => void (result.stderr += text),
    env: { ATOMIC_AGENT_STATE_DIR: folder.at("state") },
  });
  return result;
}

const id = "0199aa00-0000-7000-8000-000000000001";
const time = "2026-01-02T03:04:05.678Z";
const lines = [
  { type: "session", version: 3, id, timestamp: time, cwd: "/work" },
  { type: "message", id: "00000001", parentId: null, timestamp: time, message: { role: "user", content: [{ type: "text", text: "look" }], timestamp: 1 } },
  { type: "message", id: "00000002", parentId: "00000001", timestamp: time, message: { role: "assistant", content: [{ type: "toolCall", id: "c", name: "fs.list", arguments: { path: "." } }], api: "", provider: "p", model: "m", usage: usageOf({}), stopReason: "toolUse", timestamp: 2 } },
].map((record) => `${JSON.stringify(record)}\n`);

test("import, list, show, name, export and rm", () => {
  using folder = makeWorkspace({ "in.jsonl": lines.join("") });
  expect(run(folder, "list")).toEqual({ exit: 0, stdout: "", stderr: "" });
  expect(run(folder, "import", folder.at("in.jsonl"))).toEqual({ exit: 0, stdout: `${id}\n`, stderr: "atomic: imported 2 entries\n" });
  expect(run(folder, "import", folder.at("in.jsonl")).stderr).toBe("atomic: nothing to do: this very session is stored already\n");
  expect(run(folder, "export", "0199").stdout).toBe(lines.join(""));
  expect(run(folder, "name", "s-0199", "two\nlines")).toEqual({ exit: 0, stdout: "", stderr: "" });
  expect(run(folder, "list", "--cwd", "/work").stdout).toMatch(new RegExp(`^${id}  20\\S+Z     2 messages  /work  two lines\n$`));
  expect(run(folder, "list", "--cwd", "/other").stdout).toBe("");
  expect(run(folder, "show", id).stdout).toBe(
    `id: ${id}\nmade: ${time}\nworkspace: /work\nname: two lines\nentries: 3\n\n[user]\nlook\n\n[assistant]\n(call) fs.list {"path":"."}\n\n[toolResult]\ninterrupted: the program stopped before this call ended; it may have had effects\n`,
  );
  expect(run(folder, "export", id, "--output", folder.at("out.jsonl"))).toEqual({ exit: 0, stdout: "", stderr: "" });
  expect(folder.read("out.jsonl")).toStartWith(lines.join(""));
  expect(statSync(folder.at("out.jsonl")).mode & 0o777).toBe(0o600);
  expect(run(folder, "rm", id, "0199aa")).toEqual({ exit: 0, stdout: "", stderr: "" });
  expect(run(folder, "list").stdout).toBe("");
});

test("a damaged file is imported with one warning, what is no session not at all", () => {
  using folder = makeWorkspace({ "cut.jsonl": lines.join("").slice(0, -20), "other.jsonl": "{}\n" });
  expect(run(folder, "import", folder.at("cut.jsonl"))).toEqual({ exit: 0, stdout: `${id}\n`, stderr: `atomic: ${folder.at("cut.jsonl")}: line 3 is dropped: it is incomplete\natomic: imported 1 entry\n` });
  expect(run(folder, "import", folder.at("other.jsonl"))).toEqual({ exit: 1, stdout: "", stderr: "atomic: this is no exported session: its first record is no session header\n" });
  expect(run(folder, "import", folder.at("missing.jsonl")).exit).toBe(1);
  expect(run(folder, "import", folder.path).exit).toBe(1);
});

test("a session in use is neither named nor removed", () => {
  using folder = makeWorkspace({ "in.jsonl": lines.join("") });
  run(folder, "import", folder.at("in.jsonl"));
  const store = openStore(folder.at("state/sessions.sqlite"));
  store.resumeSession(id);
  const refused = { exit: 1, stdout: "", stderr: `atomic: session ${id} is in use by process ${process.pid}\n` };
  expect(run(folder, "rm", id)).toEqual(refused);
  expect(run(folder, "name", id, "x")).toEqual(refused);
  expect(run(folder, "export", id).stdout).toBe(lines.join(""));
  store.close();
});

test("a wrong command line says what is wrong and exits with 2", () => {
  using folder = makeWorkspace();
  expect(run(folder, "lsit")).toMatchObject({ exit: 2, stdout: "" });
  expect(run(folder, "lsit").stderr).toStartWith('atomic: unknown command "lsit"; did you mean list?\nusage: ');
  expect(run(folder).stderr).toStartWith("atomic: sessions needs a command\n");
  expect(run(folder, "list", "--limt", "3")).toEqual({ exit: 2, stdout: "", stderr: "atomic: unknown flag --limt; did you mean --limit?\n" });
  expect(run(folder, "list", "--limit", "0")).toEqual({ exit: 2, stdout: "", stderr: 'atomic: --limit: expected an integer from 1, found "0"\n' });
  expect(run(folder, "export").stderr).toBe("atomic: sessions export: it takes 1 arguments, not 0\n");
  expect(run(folder, "show", "nope")).toEqual({ exit: 2, stdout: "", stderr: 'atomic: unknown session "nope"; `atomic sessions list` shows those that exist\n' });
  expect(run(folder, "--help").exit).toBe(0);
});

test("a state directory that can't be used exits with 3", () => {
  using folder = makeWorkspace({ state: "a file" });
  const { exit, stdout, stderr } = run(folder, "list");
  expect([exit, stdout]).toEqual([3, ""]);
  expect(stderr).toMatch(/^atomic: the state directory \S+ cannot be used: .*; set ATOMIC_AGENT_STATE_DIR to a directory that can be written\n$/);
});
