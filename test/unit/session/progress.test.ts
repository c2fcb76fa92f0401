import { expect, test } from "bun:test";
import { contextOf, pathOf } from "../../../src/session/context.ts";
import { type EndedTurn, metadataEntry, progressOf, turnEndedEntry, turnStartedEntry } from "../../../src/session/progress.ts";
import { openStore } from "../../../src/session/store.ts";

function progressAfter(turns: readonly (EndedTurn | "open")[], isBusy = false) {
  const store = openStore(":memory:");
  const { id } = store.createSession({ cwd: "/w" });
  store.appendEntry(id, metadataEntry({ title: "old" }));
  for (const [index, turn] of turns.entries()) {
    store.appendEntry(id, turnStartedEntry(index));
    store.appendEntry(id, { type: "message", message: { role: "user", content: "a", timestamp: 1 } });
    if (turn !== "open") store.appendEntry(id, turnEndedEntry(turn));
  }
  store.appendEntry(id, metadataEntry({ title: "t" }));
  const entries = store.entries(id);
  expect(progressOf(store.entries(id, "custom"), { isBusy })).toEqual(progressOf(entries, { isBusy }));
  expect(contextOf(pathOf(entries)).length).toBe(turns.length);
  store.close();
  return progressOf(entries, { isBusy });
}

test("counters are sums over all turns, status and error those of the last one", () => {
  const reply: EndedTurn = { turnIndex: 0, reason: "reply", stepCount: 3 };
  const common = { turnCount: 2, stepCount: 5, metadata: { title: "t" } };
  expect(progressAfter([])).toEqual({ turnCount: 0, stepCount: 0, status: "pending", lastError: null, metadata: { title: "t" } });
  expect(progressAfter([reply, { turnIndex: 1, reason: "reply", stepCount: 2 }])).toEqual({ ...common, status: "pending", lastError: null });
  expect(progressAfter([reply, { turnIndex: 1, reason: "finish", stepCount: 2 }])).toEqual({ ...common, status: "completed", lastError: null });
  expect(progressAfter([reply, { turnIndex: 1, reason: "cancelled", stepCount: 2 }])).toEqual({ ...common, status: "cancelled", lastError: null });
  expect(progressAfter([reply, { turnIndex: 1, reason: "max_steps", stepCount: 2, cause: "time_ceiling" }])).toEqual({ ...common, status: "stalled", lastError: "task_stopped:time_ceiling: 2 steps without reply" });
  expect(progressAfter([reply, { turnIndex: 1, reason: "failed", stepCount: 2, message: "no model" }])).toEqual({ ...common, status: "failed", lastError: "no model" });
});

test("a turn that never ended runs while its owner lives, and was interrupted afterwards", () => {
  const open = [{ turnIndex: 0, reason: "failed", stepCount: 3, message: "x" }, "open"] as const;
  expect(progressAfter(open, true)).toEqual({ turnCount: 2, stepCount: 3, status: "running", lastError: "x", metadata: { title: "t" } });
  expect(progressAfter(open, false)).toMatchObject({ status: "cancelled", lastError: "turn interrupted: the agent stopped before it finished" });
});
