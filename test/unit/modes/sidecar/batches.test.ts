// Calls of one step in time (sidecar.md 11, 13): shown by questions, which stay open as long as their call does.
import { expect, test } from "bun:test";
import type { ScriptItem } from "../../../support/scripted.ts";
import { checkSeen, type Frame, hostInProcess, type SidecarHost } from "../../../support/sidecar-host.ts";

const ok: ScriptItem[] = [{ text: "ok" }];
const write = (path: string): ScriptItem => ({ call: "fs.write", args: { path, content: path } });

/** The question of a tool about a path. */
const question = (host: SidecarHost, path: string): Promise<Frame> => host.frame(({ payload, type }) => type === "approval_request" && JSON.stringify(payload?.["affectedResources"]).includes(path), `the question about ${path}`);
const approve = (host: SidecarHost, asked: Frame): Promise<Frame> => host.ask("approval_response", { approvalId: asked.payload?.["approvalId"], approved: true });
const told = (host: SidecarHost): string[] => host.frames.flatMap(({ payload, type }) => (type === "approval_request" ? ["asked"] : type === "tool_call_result" && payload?.["tool"] !== "reply" ? [`ended ${String(payload?.["batchIndex"])}`] : []));

test("S-39 two reads of a batch are under way at the same time, and end in any order", async () => {
  using host = hostInProcess();
  host.folder.write({ "one/a.txt": "first", "two/b.txt": "second" });
  await host.start([["one/a.txt", "two/b.txt"].map((path): ScriptItem => ({ call: "fs.read", args: { path: host.folder.at(path) } })), ok]);
  const turn = host.message();
  const [first, second] = [await question(host, host.folder.at("one")), await question(host, host.folder.at("two"))];
  expect(told(host)).toEqual(["asked", "asked"]);
  await approve(host, second);
  await host.event("tool_call_result", { batchIndex: 1 });
  await approve(host, first);
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  expect(told(host)).toEqual(["asked", "asked", "ended 1", "ended 0"]);
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("S-39 two writes of a batch are not, and a read after them waits for both", async () => {
  using host = hostInProcess();
  await host.start([[write("a"), write("b"), { call: "fs.read", args: { path: "b" } }], ok], { approvalLevel: 1 });
  const turn = host.message();
  await approve(host, await question(host, "workspace/a"));
  const second = await question(host, "workspace/b");
  expect(told(host)).toEqual(["asked", "ended 0", "asked"]);
  await approve(host, second);
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  expect(told(host)).toEqual(["asked", "ended 0", "asked", "ended 1", "ended 2"]);
  expect((await host.event("tool_call_result", { batchIndex: 2 })).payload).toMatchObject({ status: "ok", summary: "b" });
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("the independent checker takes all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
