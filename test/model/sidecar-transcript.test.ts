// A host's session with real weights: turns that may call tools, questions, a cancel, a compaction, a resumed session. Every
// frame is held against the schemas, the project's checker and the independent one. Must not judge what the model says.
import { expect, test } from "bun:test";
import { modelPath } from "../support/models.ts";
import { checkSeen, type Frame, hostOfExecutable, type SidecarHost } from "../support/sidecar-host.ts";
import { until } from "../support/until.ts";
import { makeWorkspace } from "../support/workspace.ts";

/** For one turn, also where other work keeps the cores busy. */
const turnLimitMs = 150_000;
/** Two threads that wait for each other are slow where other work keeps the cores busy; such a model may write without end. */
const config = { localModels: { completionMaxTokens: 64, managed: { threads: 1 } }, agent: { maxSteps: 2 } };

/** Waits for an answer; questions of the model are answered as told. */
async function answerTo(host: SidecarHost, id: string | number, approved = true): Promise<Frame> {
  const answered = new Set<unknown>();
  let found: Frame | undefined;
  await until(`there is a response to ${id}`, () => {
    for (const { payload, type } of host.frames) {
      const approvalId = payload?.["approvalId"];
      if (type !== "approval_request" || answered.has(approvalId)) continue;
      answered.add(approvalId);
      host.send("approval_response", { approvalId, approved });
    }
    found = host.frames.find(({ correlationId, kind }) => kind === "response" && correlationId === id);
    return found !== undefined;
  }, turnLimitMs);
  return found ?? { kind: "response", id: "", payload: null };
}

/** So small a model may write until it is cut; then the turn fails, and says so. */
function isEnd({ payload }: Frame): boolean {
  const { error, reason } = (payload ?? {}) as { error?: { category?: unknown }; reason?: unknown };
  return ["reply", "finish", "max_steps"].includes(String(reason)) || (reason === "failed" && error?.category === "model");
}

test("turns, questions, a cancel, a compaction and a resumed session keep the contract", async () => {
  using folder = makeWorkspace({ "workspace/notes.txt": "The meeting is on Tuesday.\n", "state/config.json": JSON.stringify(config) });
  const session = { workingDir: folder.at("workspace"), model: modelPath("smollm2-135m"), approvalLevel: 1 };
  let sessionId = "";
  let turns = 2;
  {
    using host = hostOfExecutable({ folder, timeoutMs: 6 * turnLimitMs });
    host.sessionId = sessionId = String((await answerTo(host, host.send("start_session", session))).payload?.["sessionId"]);
    const first = await answerTo(host, host.message("Read notes.txt and tell me the day of the meeting."));
    expect([isEnd(first), first.payload?.["turnIndex"]]).toEqual([true, 0]);
    expect(JSON.stringify(first.payload)).toMatch(/"completionTokens":[1-9]/);

    // No tool of such a model's choice is certain; a question that does come is answered, here with a no.
    await answerTo(host, host.message("Write the file a.txt with the text hello."), false);

    // One that is over before the cancel arrives tells nothing.
    for (let reason: unknown; reason !== "cancelled" && turns < 6; turns++) {
      const stopped = host.message("Write a long story about a fox.");
      await until("the model generates", () => host.frames.some(({ correlationId, type }) => correlationId === stopped && type === "llm_request"), turnLimitMs);
      await answerTo(host, host.send("cancel", { sessionId }));
      ({ reason } = (await answerTo(host, stopped)).payload ?? {});
      if (turns === 5) expect(reason).toBe("cancelled");
    }

    const compacted = await answerTo(host, host.send("compact_session", { sessionId }));
    expect(["compacted", "noop", "failed"]).toContain(String(compacted.payload?.["status"]));
    expect((await answerTo(host, host.send("get_compaction", { sessionId }))).ok).toBe(true);
    expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
  }
  using again = hostOfExecutable({ folder, timeoutMs: 2 * turnLimitMs });
  again.sessionId = sessionId;
  const resumed = await answerTo(again, again.send("start_session", { ...session, resumeSessionId: sessionId }));
  expect(resumed.payload).toEqual({ sessionId, resumed: true });
  const last = await answerTo(again, again.message("Hello.", { maxSteps: 1 }));
  expect([isEnd(last), last.payload?.["turnIndex"], last.payload?.["turnCount"]]).toEqual([true, turns, turns + 1]);
  expect(await again.end()).toEqual({ exitCode: 0, breaches: [] });
  expect(checkSeen()).toEqual([]);
}, 8 * turnLimitMs);
