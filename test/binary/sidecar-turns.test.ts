// Turns of the executable: orders, ceilings, batches, notes, ends (sidecar.md 3.4, 5.4 to 5.9, 11; S-28 to S-39).
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { answer, endsWell, list, ok, opening, payloadsOf, question, read, replied, reply, shell, stateOf, turnsOf, write } from "../support/sidecar-calls.ts";
import { checkSeen, type Frame, hostOfExecutable, type SidecarHost } from "../support/sidecar-host.ts";

const deltasOf = (host: SidecarHost): string => payloadsOf(host, "assistant_delta").map(({ text }) => String(text)).join("");
/** Neither warned of nor stopped for what a test does on purpose. */
const unguarded = { agent: { loop: { wanderWarnAt: 99, wanderStopAt: 99, warnAt: 99, vetoAt: 99 } } };

test("S-28 a plain reply: the exact order of 5.4, turnCount 1, and deltas that sum up to it", async () => {
  using host = hostOfExecutable();
  await host.start([[{ thinking: "hm, well", chunk: 4 }, { text: "Hello, you", chunk: 5 }]]);
  const response = await host.turn("hi");
  expect(host.order(response.correlationId ?? "")).toEqual([...opening, "reasoning_delta", "reasoning_delta", "assistant_delta", "assistant_delta", "llm_response", ...replied, "step_finished", "turn_finished(reply)", "R(reply)"]);
  expect(response.payload).toMatchObject({ reason: "reply", turnCount: 1, stepCount: 1, turnIndex: 0 });
  expect(Object.keys(response.payload ?? {}).toSorted()).toEqual(["reason", "stepCount", "turnCount", "turnIndex", "usage"]);
  expect(payloadsOf(host, "user_message")).toEqual([{ sessionId: host.sessionId, text: "hi" }]);
  expect(payloadsOf(host, "assistant_reply")).toEqual([{ sessionId: host.sessionId, text: "Hello, you", stepIndex: 0 }]);
  expect(payloadsOf(host, "tool_call_started").map(({ args, tool }) => [tool, args])).toEqual([["reply", { text: "Hello, you" }]]);
  expect([deltasOf(host), payloadsOf(host, "reasoning_delta").map(({ text }) => text).join("")]).toEqual(["Hello, you", "hm, well"]);
  expect((await turnsOf(host)).map(({ kind, text }) => [kind, text])).toEqual([["user", "hi"], ["assistant_reply", "Hello, you"]]);
  await endsWell(host);
});

test("S-29 every event of a turn carries the id of its request, a text and a number alike", async () => {
  using host = hostOfExecutable();
  await host.start([[list], [{ text: "ok" }], [write("a")], ok]);
  for (const id of ["a text", 7]) {
    const before = host.frames.length;
    host.send("send_message", { sessionId: host.sessionId, text: "go" }, id);
    if (id === 7) await answer(host, 0, { approved: true });
    await host.response(id);
    const own = host.frames.slice(before).filter(({ kind, type }) => kind === "event" && type !== "log" && type !== "metric");
    expect([own.length > 10, own.filter(({ correlationId }) => correlationId !== id)]).toEqual([true, []]);
  }
  const started = await host.ask("start_session", { workingDir: host.workingDir, model: host.script([]) });
  expect(host.frames.findLast(({ type }) => type === "session_started")?.correlationId).toBe(started.correlationId ?? "");
  await endsWell(host);
});

test("S-30 messages at once: each begins behind the response of the one before, and they are answered in order", async () => {
  using host = hostOfExecutable();
  await host.start([[{ delayMs: 50 }, { text: "one" }], [{ text: "two" }], [{ text: "three" }]]);
  const ids = host.sendAll(["a", "b", "c"].map((text) => ["send_message", { sessionId: host.sessionId, text }]));
  for (const id of ids) expect((await host.response(id)).payload?.["reason"]).toBe("reply");
  const places = ids.map((id) => ["user_message", "turn_finished", undefined].map((type) => host.frames.findIndex((frame) => frame.correlationId === id && frame.type === type)));
  expect(places.flat()).toEqual(places.flat().toSorted((a, b) => a - b));
  expect(payloadsOf(host, "turn_started").map(({ turnIndex }) => turnIndex)).toEqual([0, 1, 2]);
  await endsWell(host);
});

test("S-31 an unknown session is refused by its id, a blank or missing text by its field", async () => {
  using host = hostOfExecutable();
  expect((await host.ask("send_message", { sessionId: "s-0", text: "x" })).error).toEqual({ message: "no active session with id s-0", code: "handler_failed" });
  await host.start([]);
  expect((await host.ask("send_message", { sessionId: "s-1", text: "x" })).error).toEqual({ message: "no active session with id s-1", code: "handler_failed" });
  for (const text of ["", " \n\t", undefined, null]) expect((await host.ask("send_message", { sessionId: host.sessionId, text })).error).toMatchObject({ code: "handler_failed", field: "text" });
  expect(payloadsOf(host, "user_message")).toEqual([]);
  expect(await stateOf(host)).toMatchObject({ status: "pending", turnCount: 0, turns: [] });
  await endsWell(host);
});

test("S-32 a model that only calls tools makes 25 steps when maxSteps is omitted", async () => {
  using host = hostOfExecutable({ config: unguarded });
  await host.start(Array.from({ length: 30 }, (_, index) => [read(`missing-${index}`)]));
  const response = await host.turn();
  expect(response.payload).toMatchObject({ reason: "max_steps", stepCount: 25 });
  expect(payloadsOf(host, "step_finished").map(({ stepIndex }) => stepIndex)).toEqual(Array.from({ length: 25 }, (_, index) => index));
  expect(String(payloadsOf(host, "assistant_reply")[0]?.["text"])).toStartWith("(paused: ");
  expect(host.order(response.correlationId ?? "").slice(-6)).toEqual(["step_finished", "assistant_delta", "assistant_reply", "session_completed(max_steps)", "turn_finished(max_steps,step_ceiling)", "R(max_steps)"]);
  expect(await stateOf(host)).toMatchObject({ status: "stalled", lastError: "task_stopped:step_ceiling: 25 steps without reply" });
  await endsWell(host);
}, 60_000);

test("S-33 maxSteps 30 makes 30 steps and 1 makes one that offers reply and finish alone; 0, -1, 1.5 and text are refused; null is as omitted", async () => {
  using host = hostOfExecutable({ files: { "a.txt": "a" }, config: unguarded });
  await host.start([...Array.from({ length: 30 }, (_, index) => [list, read(`missing-${index}`)]), [{ expect: { tools: [] } }, list], [{ expect: { tools: [] } }, { text: "at once" }], ...Array.from({ length: 25 }, (_, index) => [read(`again-${index}`)])]);
  expect((await host.turn("a", { maxSteps: 30 })).payload).toMatchObject({ reason: "max_steps", stepCount: 30 });
  const refused = await host.turn("b", { maxSteps: 1 });
  expect(refused.payload).toMatchObject({ reason: "max_steps", stepCount: 31 });
  expect(host.order(refused.correlationId ?? "")).toContain("tool_call_result(fs.list,error)");
  expect((await host.turn("c", { maxSteps: 1 })).payload).toMatchObject({ reason: "reply", stepCount: 32 });
  for (const maxSteps of [0, -1, 1.5, "3"]) expect((await host.turn("d", { maxSteps })).error).toMatchObject({ code: "handler_failed", field: "maxSteps" });
  expect((await host.turn("e", { maxSteps: null })).payload).toMatchObject({ reason: "max_steps", stepCount: 57 });
  await endsWell(host);
}, 60_000);

test("S-34 a reply on the last permitted step is a reply, without a word of a pause", async () => {
  using host = hostOfExecutable();
  await host.start([[list], [{ text: "done" }]]);
  const response = await host.turn("a", { maxSteps: 2 });
  expect(response.payload).toMatchObject({ reason: "reply", stepCount: 2 });
  expect(payloadsOf(host, "assistant_reply").map(({ text }) => text)).toEqual(["done"]);
  expect(payloadsOf(host, "turn_finished").map(({ cause }) => cause)).toEqual([undefined]);
  expect(await stateOf(host)).toMatchObject({ status: "pending", lastError: null });
  await endsWell(host);
});

test("S-35 finish completes the session without a reply, and the next message works", async () => {
  using host = hostOfExecutable();
  await host.start([[{ call: "finish", args: { summary: "all done" } }], [{ text: "again" }], [list, { call: "finish", args: { summary: "late" } }]]);
  const response = await host.turn();
  expect(host.order(response.correlationId ?? "")).toEqual([...opening, "llm_response", "tool_call_started(finish)", "tool_call_result(finish,ok)", "step_finished", "session_completed(finish)", "turn_finished(finish)", "R(finish)"]);
  expect(payloadsOf(host, "assistant_reply")).toEqual([]);
  expect(await stateOf(host)).toMatchObject({ status: "completed", lastError: null });
  expect((await host.turn()).payload).toMatchObject({ reason: "reply", turnIndex: 1 });
  const mixed = await host.turn();
  expect(host.order(mixed.correlationId ?? "").slice(5, 9)).toEqual(["tool_call_started(fs.list)", "tool_call_started(finish)", "tool_call_result(fs.list,ok)", "tool_call_result(finish,ok)"]);
  expect(mixed.payload?.["reason"]).toBe("finish");
  await endsWell(host);
});

test("S-36 a single call has no batch fields; three have 0 to 2 of 3, all starts first; stepIndex -1, the real step, paired ids", async () => {
  using host = hostOfExecutable({ files: { "a.txt": "a" } });
  await host.start([[list], [list, read("a.txt"), read("missing")], ok]);
  const turn = host.order((await host.turn()).correlationId ?? "").filter((token) => token.startsWith("tool_call_")).map((token) => token.split("(")[0]);
  expect(turn).toEqual(["started", "result", "started", "started", "started", "result", "result", "result", "started", "result"].map((end) => `tool_call_${end}`));
  const places = (type: string): unknown[] => payloadsOf(host, type).map(({ batchIndex, batchSize, step, stepIndex, tool }) => [tool, stepIndex, step, batchIndex, batchSize]).toSorted((a, b) => Number(a[2]) - Number(b[2]) || Number(a[3]) - Number(b[3]));
  expect(places("tool_call_started")).toEqual([["fs.list", -1, 0, undefined, undefined], ["fs.list", -1, 1, 0, 3], ["fs.read", -1, 1, 1, 3], ["fs.read", -1, 1, 2, 3], ["reply", -1, 2, undefined, undefined]]);
  expect(places("tool_call_result")).toEqual(places("tool_call_started"));
  const ids = (type: string): unknown[] => payloadsOf(host, type).map(({ toolCallId }) => String(toolCallId)).toSorted();
  expect([new Set(ids("tool_call_started")).size, ids("tool_call_result")]).toEqual([5, ids("tool_call_started")]);
  await endsWell(host);
});

test("S-37 a reply beside work, and plain text beside calls, is a progress note, and further steps follow", async () => {
  using host = hostOfExecutable();
  await host.start([[reply("I look"), list], [{ text: "\n\n" }, { text: "more" }, { call: "fs.list", args: { path: ".", recursive: true } }], [{ text: "done" }]]);
  const response = await host.turn();
  expect(payloadsOf(host, "assistant_reply").map(({ progressNote, stepIndex, text }) => [text, progressNote, stepIndex])).toEqual([["I look", true, 0], ["more", true, 1], ["done", undefined, 2]]);
  const order = host.order(response.correlationId ?? "");
  const note = order.indexOf("assistant_reply(true)");
  expect(order.slice(note - 2, note + 3)).toEqual(["tool_call_result(fs.list,ok)", "tool_call_result(reply,ok)", "assistant_reply(true)", "step_finished", "step_started"]);
  expect(response.payload).toMatchObject({ reason: "reply", stepCount: 3 });
  expect((await turnsOf(host)).filter(({ kind }) => kind === "assistant_reply").map(({ progressNote, text }) => [text, progressNote])).toEqual([["I look", true], ["more", true], ["done", undefined]]);
  await endsWell(host);
});

test("S-38 attachments: existing files as absolute paths, each once; a missing one is a tool error and the turn goes on; none, and the key is absent", async () => {
  using host = hostOfExecutable({ files: { "a.txt": "a", "sub/b c.txt": "b" } });
  await host.start([[reply("two", ["a.txt", "./a.txt", "sub/b c.txt"])], [reply("none")], [reply("first", ["a.txt", "gone.txt"])], [{ expect: { contains: "gone.txt" } }, reply("second", ["a.txt"])]]);
  for (const text of ["one", "two"]) expect((await host.turn(text)).payload?.["reason"]).toBe("reply");
  const missing = await host.turn("three");
  expect(missing.payload).toMatchObject({ reason: "reply", stepCount: 4 });
  expect(host.order(missing.correlationId ?? "").slice(4, 11)).toEqual(["assistant_delta", "llm_response", "tool_call_started(reply)", "tool_call_result(reply,error)", "assistant_reset", "step_finished", "step_started"]);
  const [a, b] = ["a.txt", "sub/b c.txt"].map((name) => host.folder.at(`workspace/${name}`));
  expect(payloadsOf(host, "assistant_reply").map((payload) => [payload["text"], "attachments" in payload, payload["attachments"]])).toEqual([["two", true, [a, b]], ["none", false, undefined], ["second", true, [a]]]);
  await endsWell(host);
});

/** The question of a tool about a path. */
const about = (host: SidecarHost, path: string): Promise<Frame> => host.frame(({ payload, type }) => type === "approval_request" && JSON.stringify(payload?.["affectedResources"]).includes(path), `the question about ${path}`);
const approve = (host: SidecarHost, asked: Frame): Promise<Frame> => host.ask("approval_response", { approvalId: asked.payload?.["approvalId"], approved: true });
const told = (host: SidecarHost): string[] => host.frames.flatMap(({ payload, type }) => (type === "approval_request" ? ["asked"] : type === "tool_call_result" && payload?.["tool"] !== "reply" ? [`ended ${String(payload?.["batchIndex"])}`] : []));

test("S-39 two reads of a batch overlap in time and end in any order", async () => {
  using host = hostOfExecutable();
  host.folder.write({ "one/a.txt": "first", "two/b.txt": "second" });
  await host.start([["one/a.txt", "two/b.txt"].map((path) => read(host.folder.at(path))), ok]);
  const turn = host.message();
  const [first, second] = [await about(host, host.folder.at("one")), await about(host, host.folder.at("two"))];
  expect(told(host)).toEqual(["asked", "asked"]);
  await approve(host, second);
  await host.event("tool_call_result", { batchIndex: 1 });
  await approve(host, first);
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  expect(told(host)).toEqual(["asked", "asked", "ended 1", "ended 0"]);
  await endsWell(host);
});

test("S-39 two writes and two commands of a batch do not overlap, and a read behind them waits", async () => {
  using host = hostOfExecutable();
  await host.start([[write("a"), write("b", "y"), shell("echo z >> b"), read("b")], ok]);
  const turn = host.message();
  for (let index = 0; index < 3; index++) {
    await question(host, index);
    expect(told(host)).toEqual(Array.from({ length: index }, (_, before) => ["asked", `ended ${before}`]).flat().concat("asked"));
    await answer(host, index, { approved: true });
  }
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  expect(told(host).slice(-2)).toEqual(["ended 2", "ended 3"]);
  expect(readFileSync(host.folder.at("workspace/b"), "utf8")).toBe("yz\n");
  expect((await host.event("tool_call_result", { batchIndex: 3 })).payload?.["summary"]).toContain("yz");
  await endsWell(host);
});

test("S-39 a command that exits with 3 is a result with status error and exitCode 3, and the turn goes on", async () => {
  using host = hostOfExecutable({ config: { agent: { approvalLevel: 5 } } });
  await host.start([[shell("echo before; exit 3")], [{ expect: { contains: "before" } }, { text: "ok" }]]);
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  expect(payloadsOf(host, "tool_call_result")[0]).toMatchObject({ tool: "shell.run", status: "error", exitCode: 3 });
  await endsWell(host);
});

test("the checkers take all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
