// S-15: a wrong value in each field of each request is refused by name and changes nothing (sidecar.md 3, 13).
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { HostRequestType } from "../../../../src/wire/sidecar/schema.ts";
import { checkSeen, hostInProcess, type SidecarHost } from "../../../support/sidecar-host.ts";

const missing = Symbol("missing");
const id = [1, null, missing, {}, []];
const text = [...id, ""];

/** Field by field what it must not hold; written off the contract, not off the schema. */
const wrong: { [Type in HostRequestType]?: { [field: string]: unknown[] } } = {
  start_session: { workingDir: text, metadata: ["x", 1, [], true], resumeSessionId: [1, "", {}], approvalLevel: [0, 6, 1.5, "2", true], model: [1, "", {}] },
  send_message: { sessionId: id, text: [...text, " \n"], maxSteps: [0, -1, 1.5, "3", true, {}] },
  steer_message: { sessionId: id, text: id },
  cancel: { sessionId: id },
  approval_response: { approvalId: id, approved: ["false", 1, null, missing], reason: [1, {}, []], grant: ["always", 1, true] },
  get_session: { sessionId: id },
  skill_install: { sourcePath: text, force: ["true", 1, {}] },
  skill_uninstall: { name: text },
  compact_session: { sessionId: id },
  get_compaction: { sessionId: id },
  list_sessions: { limit: [0, 501, 1.5, "5", true], workingDir: [1, {}, []] },
  set_model: { model: text, sessionId: [1, {}, []] },
};

let host: SidecarHost;
beforeAll(async () => {
  host = hostInProcess();
  await host.start([[{ text: "a" }]]);
  await host.turn();
});
afterAll(() => host[Symbol.dispose]());

const valid = (): { [Type in HostRequestType]?: { [field: string]: unknown } } => ({
  start_session: { workingDir: host.workingDir },
  send_message: { sessionId: host.sessionId, text: "x" },
  steer_message: { sessionId: host.sessionId, text: "x" },
  cancel: { sessionId: host.sessionId },
  approval_response: { approvalId: "x", approved: true },
  get_session: { sessionId: host.sessionId },
  skill_install: { sourcePath: "nowhere" },
  skill_uninstall: { name: "nothing" },
  compact_session: { sessionId: host.sessionId },
  get_compaction: { sessionId: host.sessionId },
  set_model: { model: "x" },
});

const state = async (): Promise<unknown[]> => Promise.all((["get_session", "skill_list", "list_sessions", "models_list", "ping"] as const).map(async (type) => (await host.ask(type, { sessionId: host.sessionId })).payload));

const cases = Object.entries(wrong).flatMap(([type, fields]) => Object.entries(fields).map(([field, values]) => [type as HostRequestType, field, values] as const));

test.each(cases)("S-15 %s: %s", async (type, field, values) => {
  const before = await state();
  for (const value of values) {
    const { [field]: _left, ...rest } = valid()[type] ?? {};
    const answer = await host.ask(type, value === missing ? rest : { ...rest, [field]: value });
    const shown = `${type} ${field} ${String(JSON.stringify(value))}`;
    expect([shown, answer.ok, answer.error?.code, answer.error?.field]).toEqual([shown, false, "handler_failed", field]);
    expect(answer.error?.message).toContain(field);
    const next = host.frames[host.frames.indexOf(answer) + 1];
    expect([next?.type, next?.payload?.["message"], next?.payload?.["code"]]).toEqual(["error", answer.error?.message, "handler_failed"]);
  }
  expect(await state()).toEqual(before);
});

test("the independent checker takes the stream", async () => {
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
  expect(checkSeen()).toEqual([]);
});
