// The gate in front of every call: levels, questions, grants, binding, denials, withdrawal and expiry. Tools are the real ones.
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Approvals } from "../../../src/agent/approvals/approvals.ts";
import type { ApprovalAnswer, ApprovalCategory, ApprovalLevel, ApprovalRequest, Asker } from "../../../src/core/approval.ts";
import { ToolError } from "../../../src/core/error.ts";
import type { AgentEvent } from "../../../src/core/event.ts";
import { fixture, type Fixture } from "../tools/fixture.ts";

const levels: ApprovalLevel[] = [1, 2, 3, 4, 5];
const yes: ApprovalAnswer = { approved: true, grant: "once" };
const forSession: ApprovalAnswer = { approved: true, grant: "session" };

interface Gate {
  approvals: Approvals;
  events: AgentEvent[];
  requests: ApprovalRequest[];
  /** Undefined when the call may run, else the refusal. */
  check(tool: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<ToolError | undefined>;
}

function gate(at: Fixture, options: { level?: ApprovalLevel; asker?: Asker; timeoutMs?: number } = {}): Gate {
  const events: AgentEvent[] = [];
  const requests: ApprovalRequest[] = [];
  let count = 0;
  const approvals = new Approvals({
    level: options.level ?? 1,
    asker: options.asker,
    timeoutMs: options.timeoutMs ?? 0,
    emit: (event) => {
      events.push(event);
      if (event.type === "approval_requested") requests.push(event.request);
    },
    runtime: { now: () => 1000, id: () => `id-${++count}` },
  });
  return {
    approvals,
    events,
    requests,
    async check(name, args, signal = new AbortController().signal) {
      const tool = at.tool(name);
      const parsed = tool.schema.parse(args);
      try {
        await approvals.check({ type: "toolCall", id: "call", name, arguments: args }, tool, parsed, { ...at.context, signal });
        return undefined;
      } catch (error) {
        if (error instanceof ToolError) return error;
        throw error;
      }
    },
  };
}

const answering = (...answers: ApprovalAnswer[]): Asker => async () => answers.shift() ?? { approved: false };

const table: [category: ApprovalCategory, silentFrom: number, tool: string, args: Record<string, unknown>][] = [
  ["fs_write_workspace", 2, "fs.write", { path: "new", content: "x" }],
  ["fs_write_workspace", 2, "fs.edit", { path: "f", oldText: "a", newText: "b" }],
  ["fs_write_home", 3, "fs.write", { path: "~/new", content: "x" }],
  ["fs_write_home", 3, "fs.edit", { path: "~/h", oldText: "a", newText: "b" }],
  ["fs_trash", 2, "fs.trash", { paths: ["f"] }],
  ["fs_trash", 3, "fs.trash", { paths: ["f", "~/h"] }],
  ["shell", 2, "shell.run", { command: "ls" }],
  ["shell", 4, "shell.run", { command: "rm -rf x" }],
  ["script", 4, "shell.run", { command: "sh ~/.atomic/skills/pdf/scripts/run.sh" }],
  ["proc_kill", 4, "shell.run", { command: "kill 1" }],
  ["git_remote", 4, "shell.run", { command: "git push" }],
  ["publish", 4, "shell.run", { command: "npm publish" }],
  ["browser_nonweb", 5, "shell.run", { command: "xdg-open x.pdf" }],
  ["trust_config", 5, "fs.write", { path: "~/.atomic/config.json", content: "x" }],
  ["trust_config", 5, "fs.edit", { path: "to-config", oldText: "a", newText: "b" }],
  ["trust_config", 5, "fs.trash", { paths: ["~/.atomic/.env"] }],
  ["trust_config", 5, "shell.run", { command: "echo x > ~/.atomic/config.json" }],
  ["email", 5, "shell.run", { command: "mail a@b" }],
  ["fs_read_outside", 5, "fs.read", { path: "out/secret" }],
  ["fs_read_outside", 5, "fs.list", { path: "out" }],
  ["fs_read_outside", 5, "fs.find", { path: "out", pattern: "*" }],
  ["fs_read_outside", 5, "fs.grep", { path: "out", pattern: "x" }],
  ["other", 5, "fs.write", { path: "out/new", content: "x" }],
  ["other", 5, "fs.trash", { paths: ["out/secret"] }],
];
test.each(table)("%s is silent from level %d: %s %j", async (category, silentFrom, tool, args) => {
  using at = withFiles();
  for (const level of levels) {
    const refused = await gate(at, { level }).check(tool, args);
    expect([level, refused === undefined]).toEqual([level, level >= silentFrom]);
    if (refused === undefined) continue;
    expect(refused.details).toEqual({ denied: true, category, level: silentFrom });
    expect(refused.message).toEndWith(`: not allowed at approval level ${level} (${category} needs level ${silentFrom})`);
  }
});

test("the sandbox and the network decide from where commands are silent", async () => {
  const silentFrom = async (shell: Parameters<typeof fixture>[0]) => {
    using at = fixture(shell ?? {});
    return (await at.needs("shell.run", { command: "ls" }))[0]?.silentFrom;
  };
  expect(await silentFrom({ shell: { sandbox: "off" } })).toBe(4);
  expect(await silentFrom({ shell: { network: true } })).toBe(4);
});

test("the hardline is refused at every level without a question; the safe list is silent at every level", async () => {
  using at = withFiles();
  for (const level of levels) {
    const gated = gate(at, { level, asker: answering(yes) });
    expect((await gated.check("shell.run", { command: "sudo rm -rf /" }))?.message).toBe("blocked by shell guard: recursive removal of the root folder or of the home");
    expect((await gated.check("shell.run", { command: "sh -c 'mkfs.ext4 /dev/sda'" }))?.message).toStartWith("blocked by shell guard: ");
    expect(await gated.check("shell.run", { command: "date && whoami" })).toBeUndefined();
    expect(gated.requests).toEqual([]);
  }
});

test("a question shows what will happen, with absolute paths and nothing that deceives", async () => {
  using at = withFiles();
  const gated = gate(at, { asker: answering(yes, yes, yes, yes) });
  await gated.check("fs.write", { path: "a\u202eb", content: "x\u001b[31m\u202ey" });
  await gated.check("shell.run", { command: "make\u0007 all" });
  await gated.check("fs.read", { path: "out/secret" });
  await gated.check("fs.trash", { paths: ["f"] });
  expect(gated.requests.map(({ need, id }) => ({ id, reason: need.reason, preview: need.preview, affected: need.affectedResources }))).toEqual([
    { id: "id-1", reason: `replace 9 bytes into ${at.workspace}/a\\u202eb`.replace("9", String(Buffer.byteLength("x\u001b[31m\u202ey"))), preview: "x\\x1b[31m\\u202ey", affected: [`${at.workspace}/a\\u202eb`] },
    { id: "id-2", reason: `run a command in ${at.workspace}`, preview: "make\\x07 all", affected: [at.workspace] },
    { id: "id-3", reason: `read ${at.outside}/secret — outside the working directory`, preview: undefined, affected: [at.outside] },
    { id: "id-4", reason: "move 1 path(s) to Trash", preview: `${at.workspace}/f`, affected: [`${at.workspace}/f`] },
  ]);
  for (const { commandHash } of gated.requests) expect(commandHash).toMatch(/^[0-9a-f]{64}$/);
});

test("a denial carries the person's words, is remembered in the turn, and forgotten after steering", async () => {
  using at = withFiles();
  const gated = gate(at, { asker: answering({ approved: false, reason: "use b" }, { approved: false }, yes) });
  const call = () => gated.check("fs.write", { path: "new", content: "x" });
  expect((await call())?.message).toBe("approval denied for fs.write: use b");
  expect((await call())?.message).toContain("was denied before in this turn");
  expect(gated.requests.length).toBe(1);
  expect((await gated.check("fs.write", { path: "new", content: "y" }))?.message).toBe("approval denied for fs.write");
  gated.approvals.forgetDenials();
  expect(await call()).toBeUndefined();
});

test("a grant for the session covers its key and no more", async () => {
  using at = withFiles();
  const gated = gate(at, { asker: async () => forSession });
  const asks = async (tool: string, args: Record<string, unknown>) => {
    const before = gated.requests.length;
    expect(await gated.check(tool, args)).toBeUndefined();
    return gated.requests.length - before;
  };
  expect(await asks("fs.write", { path: "a", content: "x" })).toBe(1);
  expect(await asks("fs.edit", { path: "f", oldText: "a", newText: "b" })).toBe(0);
  expect(await asks("fs.write", { path: "~/a", content: "x" })).toBe(1);
  expect(await asks("fs.copy", { from: "f", to: "out/new" })).toBe(1);
  expect(await asks("fs.copy", { from: "out/secret", to: "out/copy" })).toBe(1);
  expect(await asks("fs.copy", { from: "out/secret", to: "out/copy" })).toBe(0);
  expect(await asks("shell.run", { command: "git status" })).toBe(1);
  expect(await asks("shell.run", { command: "git status" })).toBe(0);
  for (const command of ["git status; id", "git status\nid", "git status & id", "git status $(id)", "git status `id`", "git status <(id)", "git status\u2028id", "git -c core.pager=id status", "find . -exec id +", "env id", "printenv", `git log --output=${at.outside}/x`]) expect([command, await asks("shell.run", { command })]).toEqual([command, 1]);
  for (const command of ["rm -rf x", "mail a@b"]) for (const _ of [1, 2]) expect(await asks("shell.run", { command })).toBe(1);
  for (const _ of [1, 2]) expect(await asks("fs.write", { path: "~/.atomic/.env", content: "x" })).toBe(1);
});

test("a script that changed is asked for again, and the reason says that it can do anything", async () => {
  using at = withFiles();
  writeFileSync(join(at.workspace, "run.py"), "print(1)");
  const gated = gate(at, { asker: async () => forSession });
  for (const command of ["python3 run.py", "python3 run.py", "python3 -c 'print(1)'", "python3 -c 'import os; os.remove(\"x\")'"]) await gated.check("shell.run", { command });
  expect(gated.requests.length).toBe(3);
  for (const { need } of gated.requests) expect(need.reason).toContain("starts python3, which can run anything");
  writeFileSync(join(at.workspace, "run.py"), "print(2)");
  await gated.check("shell.run", { command: "python3 run.py" });
  expect(gated.requests.length).toBe(4);
});

test("what changed between question and answer is not run", async () => {
  using at = withFiles();
  const changing = (path: string): Asker => async () => {
    writeFileSync(path, "changed a");
    return yes;
  };
  const path = join(at.workspace, "f");
  expect((await gate(at, { asker: changing(path) }).check("fs.edit", { path: "f", oldText: "a", newText: "b" }))?.message).toBe(`changed after approval: ${path}`);
  writeFileSync(path, "a");
  expect((await gate(at, { asker: changing(path) }).check("fs.write", { path: "f", content: "b" }))?.message).toBe(`changed after approval: ${path}`);
  const script = join(at.workspace, "s.sh");
  writeFileSync(script, "ls");
  for (const command of ["./s.sh", "sh s.sh"]) {
    writeFileSync(script, "ls");
    expect((await gate(at, { asker: changing(script) }).check("shell.run", { command }))?.message).toBe(`changed after approval: ${script}`);
  }
});

test("several questions are open at once; each id takes one answer", async () => {
  using at = withFiles();
  const gated = gate(at, { asker: "reader" });
  const calls = [gated.check("fs.read", { path: "out/secret" }), gated.check("fs.list", { path: "out" })];
  while (gated.requests.length < 2) await Promise.resolve();
  expect(gated.approvals.pending().map(({ id }) => id)).toEqual(["id-1", "id-2"]);
  expect(gated.approvals.answer("id-2", forSession)).toEqual({ grant: "session" });
  expect(gated.approvals.answer("id-2", yes)).toBeUndefined();
  expect(gated.approvals.answer("unknown", yes)).toBeUndefined();
  expect(gated.approvals.answer("id-1", { approved: false, reason: "no" })).toEqual({});
  const [read, list] = await Promise.all(calls);
  expect([read?.message, list]).toEqual(["approval denied for fs.read: no", undefined]);
  expect(gated.approvals.pending()).toEqual([]);
});

test("a grant that can't be given counts as once", async () => {
  using at = withFiles();
  const gated = gate(at, { asker: "reader" });
  const call = gated.check("fs.write", { path: "~/.atomic/config.json", content: "x" });
  while (gated.requests.length < 1) await Promise.resolve();
  expect(gated.requests[0]?.need.grant).toBeUndefined();
  expect(gated.approvals.answer("id-1", forSession)).toEqual({ grant: "once" });
  expect(await call).toBeUndefined();
});

test("a cancelled turn, a disposed session and time make a question void", async () => {
  using at = withFiles();
  const controller = new AbortController();
  const gated = gate(at, { asker: "reader", timeoutMs: 20 });
  const call = (signal?: AbortSignal) => gated.check("fs.write", { path: "new", content: "x" }, signal);
  const first = call(controller.signal);
  while (gated.requests.length < 1) await Promise.resolve();
  controller.abort();
  expect((await first)?.message).toStartWith("cancelled");
  const second = call();
  while (gated.requests.length < 2) await Promise.resolve();
  gated.approvals.withdraw("session_disposed");
  await second;
  expect((await call())?.message).toBe("approval expired for fs.write");
  expect(gated.requests.map(({ expiresAt }) => expiresAt)).toEqual([1020, 1020, 1020]);
  expect(gated.events.filter(({ type }) => type === "approval_withdrawn")).toEqual([
    { type: "approval_withdrawn", approvalId: "id-1", reason: "cancelled" },
    { type: "approval_withdrawn", approvalId: "id-2", reason: "session_disposed" },
    { type: "approval_withdrawn", approvalId: "id-3", reason: "expired" },
  ]);
  expect(gated.approvals.answer("id-3", yes)).toBeUndefined();
  expect((await call(AbortSignal.abort()))?.message).toContain("denied before");
  expect(gated.requests.length).toBe(3);
});

function withFiles(): Fixture {
  const at = fixture();
  writeFileSync(join(at.workspace, "f"), "a");
  writeFileSync(join(at.options.home, "h"), "a");
  writeFileSync(join(at.outside, "secret"), "s");
  writeFileSync(join(at.options.stateFolder, "config.json"), "{a}");
  writeFileSync(join(at.options.stateFolder, ".env"), "A=1");
  mkdirSync(join(at.options.stateFolder, "skills/pdf/scripts"), { recursive: true });
  writeFileSync(join(at.options.stateFolder, "skills/pdf/scripts/run.sh"), "ls");
  symlinkSync(at.outside, join(at.workspace, "out"));
  symlinkSync(join(at.options.stateFolder, "config.json"), join(at.workspace, "to-config"));
  expect(readFileSync(join(at.workspace, "f"), "utf8")).toBe("a");
  return at;
}
