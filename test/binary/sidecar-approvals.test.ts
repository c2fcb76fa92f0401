// Approvals between the executable and a host: several questions, answers by id, expiry, cancel, grants (sidecar.md 5.6, 7).
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ScriptItem } from "../support/scripted.ts";
import { type Frame, hostOfExecutable, type SidecarHost } from "../support/sidecar-host.ts";

const done: ScriptItem[] = [{ text: "done" }];
const write = (path: string, content = "x"): ScriptItem => ({ call: "fs.write", args: { path, content } });

async function endsWell(host: SidecarHost): Promise<void> {
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
}

const requestsOf = (host: SidecarHost): Frame[] => host.frames.filter(({ type }) => type === "approval_request");
const resultsOf = (host: SidecarHost): unknown[] => host.frames.filter(({ type, payload }) => type === "tool_call_result" && payload?.["tool"] !== "reply").map(({ payload }) => [payload?.["status"], payload?.["summary"]]);

/** The question number `index`, when it is there. */
async function question(host: SidecarHost, index: number): Promise<{ [name: string]: unknown }> {
  await host.frame(() => requestsOf(host).length > index, `question ${index}`);
  return requestsOf(host)[index]?.payload ?? {};
}

const answer = async (host: SidecarHost, index: number, payload: { [name: string]: unknown }): Promise<unknown> => (await host.ask("approval_response", { approvalId: (await question(host, index))["approvalId"], ...payload })).payload;

test("A01, S-53 a question without an answer expires, and a late answer counts no more", async () => {
  using host = hostOfExecutable({ config: { approvals: { timeoutMs: 200 } } });
  await host.start([[write("x")], done]);
  const turn = await host.turn();
  expect(turn.payload).toMatchObject({ reason: "reply" });
  const asked = await question(host, 0);
  expect(asked["expiresAt"]).toBeNumber();
  await host.event("approval_withdrawn", { approvalId: asked["approvalId"], reason: "expired" });
  expect(resultsOf(host)).toEqual([["error", expect.stringContaining("approval expired for fs.write")]]);
  expect(await answer(host, 0, { approved: true })).toEqual({ resolved: false });
  expect(existsSync(join(host.workingDir, "x"))).toBe(false);
  await endsWell(host);
});

test("A02 three calls: each waits for its own yes, and a denied one stops no other", async () => {
  using host = hostOfExecutable();
  await host.start([[write("a"), { call: "fs.trash", args: { paths: ["keep"] } }, { call: "shell.run", args: { command: "echo ran > c" } }], done]);
  writeFileSync(join(host.workingDir, "keep"), "keep");
  const turn = host.message();
  expect(await question(host, 0)).toMatchObject({ tool: "fs.write", category: "fs_write_workspace", reason: `replace 1 bytes into ${join(host.workingDir, "a")}`, preview: "x", affectedResources: [join(host.workingDir, "a")], grantable: true });
  expect(existsSync(join(host.workingDir, "a"))).toBe(false);
  expect(await host.ask("approval_response", { approvalId: (await question(host, 0))["approvalId"], approved: "false" })).toMatchObject({ ok: false });
  expect(await answer(host, 0, { approved: true })).toEqual({ resolved: true, grant: "once" });
  expect(await answer(host, 1, { approved: false, reason: "keep it" })).toEqual({ resolved: true });
  expect(await answer(host, 2, { approved: true })).toEqual({ resolved: true, grant: "once" });
  expect((await host.response(turn)).payload).toMatchObject({ reason: "reply" });
  expect(resultsOf(host)).toEqual([["ok", expect.any(String)], ["error", expect.stringContaining("approval denied for fs.trash: keep it")], ["ok", expect.any(String)]]);
  expect(new Set(requestsOf(host).map(({ payload }) => payload?.["approvalId"])).size).toBe(3);
  expect([readFileSync(join(host.workingDir, "keep"), "utf8"), readFileSync(join(host.workingDir, "c"), "utf8")]).toEqual(["keep", "ran\n"]);
  await endsWell(host);
});

test("S-53 cancel makes the question void", async () => {
  using host = hostOfExecutable();
  const sessionId = await host.start([[write("x")], done]);
  const turn = host.message();
  const { approvalId } = await question(host, 0);
  expect((await host.ask("cancel", { sessionId })).payload).toMatchObject({ cancelled: true });
  await host.event("approval_withdrawn", { approvalId, reason: "cancelled" });
  expect((await host.response(turn)).payload).toMatchObject({ reason: "cancelled" });
  expect(await answer(host, 0, { approved: true })).toEqual({ resolved: false });
  expect(existsSync(join(host.workingDir, "x"))).toBe(false);
  await endsWell(host);
});

test("S-54 a file that changed between question and answer is not written", async () => {
  using host = hostOfExecutable();
  mkdirSync(host.workingDir, { recursive: true });
  const path = join(host.workingDir, "f");
  writeFileSync(path, "a");
  await host.start([[{ call: "fs.edit", args: { path: "f", oldText: "a", newText: "b" } }], done]);
  const turn = host.message();
  await question(host, 0);
  writeFileSync(path, "a, changed");
  expect(await answer(host, 0, { approved: true })).toMatchObject({ resolved: true });
  await host.response(turn);
  expect(resultsOf(host)).toEqual([["error", expect.stringContaining(`changed after approval: ${path}`)]]);
  expect(readFileSync(path, "utf8")).toBe("a, changed");
  await endsWell(host);
});

test("S-55 a grant for the session covers its key, and ends with the session; the settings can't be granted", async () => {
  using host = hostOfExecutable();
  const steps = [[write("a")], [write("b")], done];
  await host.start(steps);
  const first = host.message();
  expect(await answer(host, 0, { approved: true, grant: "session" })).toEqual({ resolved: true, grant: "session" });
  expect((await host.response(first)).payload).toMatchObject({ reason: "reply" });
  expect(requestsOf(host).length).toBe(1);
  await host.start([[write("c")], [{ call: "shell.run", args: { command: "mail a@b" } }], done]);
  const second = host.message();
  expect(await answer(host, 1, { approved: true })).toMatchObject({ resolved: true });
  expect(await question(host, 2)).toMatchObject({ category: "email", grantable: false });
  expect(await answer(host, 2, { approved: true, grant: "session" })).toEqual({ resolved: true, grant: "once" });
  await host.response(second);
  await endsWell(host);
});

test("S-59, S-57 the same call that was denied is not asked for again; the hardline is never asked", async () => {
  using host = hostOfExecutable();
  await host.start([[write("a")], [write("a")], [{ call: "shell.run", args: { command: "sudo rm -rf ~" } }], done]);
  const turn = host.message();
  expect(await answer(host, 0, { approved: false })).toEqual({ resolved: true });
  await host.response(turn);
  expect(requestsOf(host).length).toBe(1);
  expect(resultsOf(host)).toEqual([["error", expect.stringContaining("approval denied for fs.write")], ["error", expect.stringContaining("denied before in this turn")], ["error", expect.stringContaining("blocked by shell guard: ")]]);
  await endsWell(host);
});
