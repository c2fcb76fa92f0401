// What a reply attaches, over the sidecar's wire (sidecar.md 4, 8, 11, 13).
import { expect, test } from "bun:test";
import type { ScriptItem } from "../../../support/scripted.ts";
import { checkSeen, type Frame, hostInProcess, listOf, type SidecarHost } from "../../../support/sidecar-host.ts";

const reply = (text: string, attachments?: unknown): ScriptItem => ({ call: "reply", args: { text, ...(attachments === undefined ? {} : { attachments }) } });
const files = { "a.txt": "a", "sub/b c.txt": "b" };

async function endsWell(host: SidecarHost): Promise<void> {
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
}

const payloads = (host: SidecarHost, type: string): Frame["payload"][] => host.frames.filter((frame) => frame.type === type).map(({ payload }) => payload);
const turnsOf = async (host: SidecarHost): Promise<{ kind: string; [name: string]: unknown }[]> => listOf((await host.ask("get_session", { sessionId: host.sessionId })).payload, "turns");

test("S-38 existing files come as absolute paths, each once; without any the key is absent, on the wire and in the state", async () => {
  using host = hostInProcess({ files });
  await host.start([[reply("two", ["a.txt", "./a.txt", "sub/b c.txt"])], [reply("none")], [reply("empty", [])]]);
  for (const text of ["one", "two", "three"]) expect((await host.turn(text)).payload?.["reason"]).toBe("reply");
  const paths = ["a.txt", "sub/b c.txt"].map((name) => host.folder.at(`workspace/${name}`));
  const shown = payloads(host, "assistant_reply").map((payload) => [payload?.["text"], payload?.["attachments"]]);
  expect(shown).toEqual([["two", paths], ["none", undefined], ["empty", undefined]]);
  expect((await turnsOf(host)).filter(({ kind }) => kind === "assistant_reply").map(({ attachments, text }) => [text, attachments])).toEqual(shown);
  expect(payloads(host, "tool_call_started")[0]?.["args"]).toEqual({ text: "two", attachments: ["a.txt", "./a.txt", "sub/b c.txt"] });
  await endsWell(host);
});

test.each([
  ["a missing file", ["a.txt", "gone.txt"], "gone.txt"],
  ["a folder", ["sub"], "is no file"],
  ["no list", "a.txt", "expected a list"],
  ["other things than paths", [1], "expected a list"],
  ["too many", Array.from({ length: 11 }, () => "a.txt"), "at most 10"],
])("S-38 %s is a tool error that the model reads, the text is void, and the turn goes on", async (_what, attachments, says) => {
  using host = hostInProcess({ files });
  await host.start([[reply("first", attachments)], [{ expect: { contains: "The reply was not sent: attachments" } }, reply("second", ["a.txt"])]]);
  const turn = host.message();
  expect((await host.response(turn)).payload).toMatchObject({ reason: "reply", stepCount: 2 });
  const refused = ["tool_call_started(reply)", "tool_call_result(reply,error)", "assistant_reset", "step_finished", "step_started"];
  expect(host.order(turn).join(" ")).toContain(refused.join(" "));
  const summary = payloads(host, "tool_call_result")[0]?.["summary"];
  expect(String(summary)).toContain(says);
  expect(payloads(host, "assistant_reply").map((payload) => payload?.["text"])).toEqual(["second"]);
  expect((await turnsOf(host)).slice(0, 3)).toMatchObject([{ kind: "user" }, { kind: "assistant_tool_call", tool: "reply" }, { kind: "tool_result", status: "error", summary }]);
  await endsWell(host);
});

test("a progress note attaches too; a bad one there is refused and the work beside it done", async () => {
  using host = hostInProcess({ files });
  const list: ScriptItem = { call: "fs.list", args: {} };
  await host.start([[reply("note", ["a.txt"]), list], [reply("bad", ["gone"]), { call: "fs.read", args: { path: "a.txt" } }], [{ expect: { contains: "was not sent" } }, reply("done")]]);
  const turn = host.message();
  expect((await host.response(turn)).payload).toMatchObject({ reason: "reply", stepCount: 3 });
  expect(payloads(host, "assistant_reply")).toMatchObject([{ text: "note", attachments: [host.folder.at("workspace/a.txt")], progressNote: true }, { text: "done" }]);
  expect(payloads(host, "tool_call_result").map((payload) => `${payload?.["tool"]} ${payload?.["status"]}`)).toEqual(["fs.list ok", "reply ok", "fs.read ok", "reply error", "reply ok"]);
  await endsWell(host);
});

test("a refused reply on the last permitted step ends as max_steps", async () => {
  using host = hostInProcess({ files });
  await host.start([[reply("first", ["gone"])]]);
  expect((await host.turn("go", { maxSteps: 1 })).payload).toMatchObject({ reason: "max_steps", stepCount: 1 });
  await endsWell(host);
});

test("the independent checker takes all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
