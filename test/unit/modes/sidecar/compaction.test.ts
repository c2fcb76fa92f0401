// A compaction that a host asks for (sidecar.md 3.6, 5.11, 8, 13).
import { expect, test } from "bun:test";
import { checkSeen, hostInProcess, type SidecarHost } from "../../../support/sidecar-host.ts";
import type { Script, ScriptItem } from "../../../support/scripted.ts";

const line = "a line of the file that nobody needs any more\n";
const read: ScriptItem = { call: "fs.read", args: { path: "a.txt" } };

async function withHistory(host: SidecarHost, compaction: Script["compaction"]): Promise<void> {
  await host.start([[read], [{ text: "It is long." }], [{ text: "Yes." }], [{ expect: { contains: "filtered" } }, { text: "Still known." }]], {}, { contextWindow: 8192, compaction: compaction ?? [] });
  for (const text of ["what does the file hold?", "all of it?"]) expect((await host.turn(text)).payload?.["reason"]).toBe("reply");
}

test("S-63 when idle it is told, done, kept and used: started … completed, the answer, get_compaction, the next prompt", async () => {
  using host = hostInProcess({ files: { "a.txt": line.repeat(150) } });
  await withHistory(host, ["5,140\n"]);
  const before = (await host.ask("get_session", { sessionId: host.sessionId })).payload;
  const asked = host.send("compact_session", { sessionId: host.sessionId });
  const answer = (await host.response(asked)).payload;
  expect(answer).toMatchObject({ status: "compacted", reason: "manual" });
  expect(Number(answer?.["tokensAfter"])).toBeLessThan(Number(answer?.["tokensBefore"]));
  const { reason, status, tokensAfter, tokensBefore } = answer ?? {};
  expect(host.order(asked).map((token) => token.split("(")[0])).toEqual(["compaction_started", "compaction_progress", "compaction_progress", "compaction_completed", "R"]);
  const progress = host.frames.filter(({ type }) => type === "compaction_progress").map(({ payload }) => payload);
  const sourceTokens = progress[0]?.["sourceTokens"];
  expect(progress).toEqual([0, 1].map((completedChunks) => ({ type: "compaction_progress", sessionId: host.sessionId, chunk: 1, chunks: 1, completedChunks, sourceTokens })));
  // What the planner is shown is the older part of what is compacted.
  expect(sourceTokens).toBeGreaterThan(Number(tokensBefore) / 2);
  expect(sourceTokens).toBeLessThanOrEqual(Number(tokensBefore));
  expect((await host.event("compaction_completed")).payload).toMatchObject({ type: "compaction_completed", status, reason, tokensBefore, tokensAfter });
  const compaction = (await host.ask("get_compaction", { sessionId: host.sessionId })).payload;
  expect(compaction).toMatchObject({ version: 1, reason: "manual", tokensBefore, tokensAfter });
  expect(String(compaction?.["model"])).toStartWith("scripted:");
  expect(String(compaction?.["summary"])).toContain("what does the file hold?");
  expect(String(compaction?.["summary"])).toContain("filtered");
  const after = (await host.ask("get_session", { sessionId: host.sessionId })).payload;
  expect(after?.["compaction"]).toEqual(compaction);
  expect(after?.["turns"]).toEqual(before?.["turns"]);
  expect((await host.turn("and now?")).payload?.["reason"]).toBe("reply");
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("S-63 a compaction that is cancelled changes nothing and answers so", async () => {
  using host = hostInProcess({ files: { "a.txt": line.repeat(150) } });
  await withHistory(host, [[{ hang: true }]]);
  const asked = host.send("compact_session", { sessionId: host.sessionId });
  await host.event("compaction_started");
  expect((await host.ask("compact_session", { sessionId: host.sessionId })).payload).toEqual({ status: "busy", reason: "manual" });
  expect((await host.ask("cancel", { sessionId: host.sessionId })).payload).toMatchObject({ cancelled: true, wasRunning: true });
  expect((await host.response(asked)).payload).toMatchObject({ status: "cancelled", reason: "manual" });
  expect(host.order(asked).map((token) => token.split("(")[0])).toEqual(["compaction_started", "compaction_progress", "compaction_failed", "R"]);
  expect((await host.ask("get_compaction", { sessionId: host.sessionId })).payload).toBeNull();
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("I-12 a cancel of the compaction behind a reply changes nothing: the turn ends as reply", async () => {
  using host = hostInProcess({ files: { "a.txt": line.repeat(150) } });
  await host.start([[read], [{ text: line.repeat(200), chunk: 500 }], [{ text: line.repeat(200), chunk: 500 }], [{ text: "Yes." }]], {}, { contextWindow: 8192, compaction: [[{ hang: true }]] });
  await host.turn("what is in the file?");
  const asked = host.message("what does the file hold?");
  await host.event("compaction_started");
  expect((await host.ask("cancel", { sessionId: host.sessionId })).payload).toMatchObject({ cancelled: true, wasRunning: true });
  expect((await host.response(asked)).payload).toMatchObject({ reason: "reply" });
  expect(host.order(asked).map((token) => token.split("(")[0]).slice(-6)).toEqual(["step_finished", "compaction_started", "compaction_progress", "compaction_failed", "turn_finished", "R"]);
  expect((await host.ask("get_session", { sessionId: host.sessionId })).payload).toMatchObject({ status: "pending", turnCount: 2 });
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("the independent checker takes all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
