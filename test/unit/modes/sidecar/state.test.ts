// What `get_session` tells beside the texts (sidecar.md section 8): facts, answers, lines read, details, and the context.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { checkSeen, hostInProcess, listOf } from "../../../support/sidecar-host.ts";

const filler = "a line of the file that nobody needs any more\n";

test("8 rows say who allowed a call and which lines it showed; the last result has its details; kept texts are known facts", async () => {
  using host = hostInProcess({ files: { "a.txt": "one\ntwo\nthree\n" } });
  await host.start([
    [{ call: "fs.read", args: { path: "a.txt", offset: 2, limit: 1 } }],
    [{ call: "fs.write", args: { path: "new", content: "x" } }, { call: "fs.write", args: { path: "other", content: "x" } }],
    [{ text: "done" }],
  ]);
  const id = host.message("do it\n<keepContext>\nThe port is 7431.\n</keepContext>");
  const first = await host.event("approval_request", { reason: `replace 1 bytes into ${join(host.workingDir, "new")}` });
  await host.ask("approval_response", { approvalId: first.payload?.["approvalId"], approved: true });
  const second = await host.event("approval_request", { reason: `replace 1 bytes into ${join(host.workingDir, "other")}` });
  await host.ask("approval_response", { approvalId: second.payload?.["approvalId"], approved: false });
  await host.response(id);
  const state = (await host.ask("get_session", { sessionId: host.sessionId })).payload;
  expect(state?.["knownFacts"]).toEqual([{ text: "The port is 7431.", source: "user" }]);
  const rows = listOf<{ kind: string; read?: object; approvals?: { at: number; verdict: string; category: string }[] }>(state, "turns").filter(({ kind }) => kind === "tool_result");
  expect(rows.map(({ approvals, read }) => ({ read: read !== undefined, approvals: approvals?.map(({ at, ...rest }) => ({ ...rest, isLate: at > 1_700_000_000_000 })) }))).toEqual([
    { read: true, approvals: undefined },
    { read: false, approvals: [{ verdict: "approved", category: "fs_write_workspace", isLate: true }] },
    { read: false, approvals: [{ verdict: "denied", category: "fs_write_workspace", isLate: true }] },
  ]);
  expect(rows[0]?.read).toMatchObject({ path: join(host.workingDir, "a.txt"), startLine: 2, endLine: 2, numbered: false });
  expect(state?.["latestResult"]).toMatchObject({ tool: "fs.write", status: "error", details: { denied: true, category: "fs_write_workspace" } });
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("8 the context: its cap is the threshold of compactions, and what one replaced is counted", async () => {
  using host = hostInProcess({ files: { "a.txt": filler.repeat(150) } });
  const steps = [[{ call: "fs.read", args: { path: "a.txt" } }], [{ text: "It is long." }], [{ text: "Yes." }], [{ text: "Still known." }]];
  await host.start(steps, {}, { contextWindow: 8192, compaction: ["5,140\n"] });
  for (const text of ["what does the file hold?", "all of it?"]) await host.turn(text);
  const usageOf = async (): Promise<unknown> => (await host.ask("get_session", { sessionId: host.sessionId })).payload?.["contextUsage"];
  expect(await usageOf()).toMatchObject({ contextWindow: 8192, conversationCap: 6144, droppedTurns: 0, droppedPairs: 0, conversationPairs: 2 });
  expect((await host.ask("compact_session", { sessionId: host.sessionId })).payload).toMatchObject({ status: "compacted" });
  await host.turn("and now?");
  const state = (await host.ask("get_session", { sessionId: host.sessionId })).payload;
  const { compaction, conversationPackStart } = state as { compaction: { calls: number; usage: { totalTokens: number } }; conversationPackStart: number };
  expect(compaction.calls).toBe(1);
  expect(compaction.usage.totalTokens).toBeGreaterThan(0);
  expect(conversationPackStart).toBeGreaterThan(3);
  expect(await usageOf()).toMatchObject({ droppedTurns: conversationPackStart, droppedPairs: 1, conversationPairs: 2 });
  expect(state?.["compactionWarning"]).toBeUndefined();
  await host.start([]);
  expect((await host.ask("compact_session", { sessionId: host.sessionId })).payload).toMatchObject({ status: "noop" });
  expect((await host.ask("get_session", { sessionId: host.sessionId })).payload?.["compactionWarning"]).toBeString();
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("8 an answer that was cut and made again stands there once", async () => {
  using host = hostInProcess({});
  await host.start([[{ text: "Half an ans" }, { stop: "length" }], [{ text: "A whole answer." }]]);
  await host.turn("what is it?");
  const replies = listOf<{ kind: string; text?: string }>((await host.ask("get_session", { sessionId: host.sessionId })).payload, "turns").filter(({ kind }) => kind === "assistant_reply");
  expect(replies.map(({ text }) => text)).toEqual(["A whole answer."]);
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("the independent checker takes all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
