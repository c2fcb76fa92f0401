// Approvals on the sidecar's wire: asked, answered, refused, void (sidecar.md 5.6, 7, 13).
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ScriptItem } from "../../../support/scripted.ts";
import { checkSeen, type Frame, hostInProcess, type SidecarHost } from "../../../support/sidecar-host.ts";

const write = (content: string): ScriptItem => ({ call: "fs.write", args: { path: "a.txt", content } });
const ok: ScriptItem[] = [{ text: "ok" }];

async function endsWell(host: SidecarHost): Promise<void> {
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
}

const answer = async (host: SidecarHost, asked: Frame, fields: { [name: string]: unknown }): Promise<unknown> => (await host.ask("approval_response", { approvalId: asked.payload?.["approvalId"], ...fields })).payload;

test("S-50 a write at level 1 is asked for with reason, preview and places; a yes writes the file", async () => {
  using host = hostInProcess();
  await host.start([[write("hello")], ok]);
  const turn = host.message();
  const asked = await host.event("approval_request");
  const path = join(host.workingDir, "a.txt");
  expect(asked.payload).toMatchObject({ tool: "fs.write", category: "fs_write_workspace", affectedResources: [path], grantable: true });
  expect(String(asked.payload?.["reason"])).toContain(path);
  expect(String(asked.payload?.["preview"])).toContain("hello");
  expect(existsSync(path)).toBe(false);
  expect(await answer(host, asked, { approved: true })).toEqual({ resolved: true, grant: "once" });
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  expect(readFileSync(path, "utf8")).toBe("hello");
  await endsWell(host);
});

test("S-51 a no with a reason is the tool's error, and the turn goes on; without a reason the text ends after the tool", async () => {
  using host = hostInProcess();
  await host.start([[write("a")], [{ expect: { contains: "use b.txt" } }, write("b")], ok]);
  const turn = host.message();
  expect(await answer(host, await host.event("approval_request"), { approved: false, reason: "use b.txt" })).toEqual({ resolved: true });
  const second = await host.frame(({ type, payload }) => type === "approval_request" && String(payload?.["preview"]).includes("b"), "the second question");
  await answer(host, second, { approved: false });
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  expect(host.frames.filter(({ type, payload }) => type === "tool_call_result" && payload?.["tool"] === "fs.write").map(({ payload }) => payload?.["summary"])).toEqual(["approval denied for fs.write: use b.txt", "approval denied for fs.write"]);
  expect(existsSync(join(host.workingDir, "a.txt"))).toBe(false);
  await endsWell(host);
});

test("S-52 a second answer and an unknown id resolve nothing; an answer of the wrong type leaves the question open", async () => {
  using host = hostInProcess();
  await host.start([[write("a")], ok]);
  expect((await host.ask("approval_response", { approvalId: "none", approved: true })).payload).toEqual({ resolved: false });
  const turn = host.message();
  const asked = await host.event("approval_request");
  for (const approved of ["false", undefined, 1]) expect((await host.ask("approval_response", { approvalId: asked.payload?.["approvalId"], approved })).error?.field).toBe("approved");
  expect(await answer(host, asked, { approved: true })).toEqual({ resolved: true, grant: "once" });
  expect(await answer(host, asked, { approved: true })).toEqual({ resolved: false });
  await host.response(turn);
  await endsWell(host);
});

test("S-53 A01 a question expires after approvals.timeoutMs, a late answer resolves nothing, and the turn goes on", async () => {
  using host = hostInProcess({ config: { approvals: { timeoutMs: 100 } } });
  await host.start([[write("a")], ok]);
  const turn = host.message();
  const asked = await host.event("approval_request");
  expect(Number(asked.payload?.["expiresAt"])).toBeGreaterThan(Date.now() - 60_000);
  expect((await host.event("approval_withdrawn")).payload).toMatchObject({ approvalId: asked.payload?.["approvalId"], reason: "expired" });
  expect(await answer(host, asked, { approved: true })).toEqual({ resolved: false });
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  expect((await host.event("tool_call_result", { tool: "fs.write" })).payload).toMatchObject({ status: "error", summary: "approval expired for fs.write" });
  await endsWell(host);
});

test("S-55 a grant for the session silences its key until the session ends", async () => {
  using host = hostInProcess();
  const steps: ScriptItem[][] = [[write("a")], [write("b")], [{ call: "fs.trash", args: { paths: ["a.txt"] } }], ok];
  await host.start([...steps]);
  const turn = host.message();
  expect(await answer(host, await host.event("approval_request"), { approved: true, grant: "session" })).toEqual({ resolved: true, grant: "session" });
  await answer(host, await host.event("approval_request", { tool: "fs.trash" }), { approved: false });
  await host.response(turn);
  expect(host.frames.filter(({ type }) => type === "approval_request").length).toBe(2);
  await host.start(steps.slice(0, 1), { resumeSessionId: host.sessionId });
  host.message();
  await host.frame((frame) => frame.type === "approval_request" && host.frames.indexOf(frame) > host.frames.findLastIndex(({ type }) => type === "session_started"), "a question in the resumed session");
  await endsWell(host);
});

test("S-50 approvalLevel of start_session decides for that session", async () => {
  using host = hostInProcess();
  await host.start([[write("a")], ok], { approvalLevel: 2 });
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  expect(host.frames.some(({ type }) => type === "approval_request")).toBe(false);
  await endsWell(host);
});

test("the independent checker takes all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
