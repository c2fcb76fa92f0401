// The next provider when one fails (config.md `llm.fallback`, sidecar.md 11), against servers on loopback.
import { expect, test } from "bun:test";
import { type ChatServer, says, startChatServer } from "../../../support/chat-server.ts";
import type { Answer } from "../../../support/fault-server.ts";
import { checkSeen, hostInProcess, listOf, type SidecarHost } from "../../../support/sidecar-host.ts";

const busy: Answer = { status: 503, body: { error: { message: "too much to do" } } };
const refused: Answer = { status: 401, body: { error: { message: "who are you?" } } };
const fine = says({ text: ["all", " well"] });

function configured(servers: { [id: string]: ChatServer }, fallback: object = {}, others: object = {}): { [name: string]: unknown } {
  const providers = Object.entries(servers).map(([id, { url }]) => ({ id, kind: "openai-compatible", url, defaultChatModel: `m-${id}`, contextWindow: 32_768, ...others }));
  return { defaultProvider: "first", llm: { providers, retry: { baseDelayMs: 1 }, fallback }, agent: { providerWait: { enabled: false } } };
}

async function begin(host: SidecarHost): Promise<void> {
  host.sessionId = String((await host.ask("start_session", { workingDir: host.workingDir })).payload?.["sessionId"]);
}

const warnings = (host: SidecarHost): string[] => host.frames.flatMap(({ type, payload }) => (type === "log" && payload?.["level"] === "warn" ? [String(payload["message"])] : []));
const modelsAsked = (host: SidecarHost): unknown[] => host.frames.flatMap(({ type, payload }) => (type === "llm_request" ? [payload?.["model"]] : []));

test("after so many failures in a row the next provider answers, in the same step, and one warning says so", async () => {
  await using first = await startChatServer([busy]);
  await using second = await startChatServer([fine]);
  using host = hostInProcess({ config: configured({ first, second }) });
  await begin(host);
  const id = host.message();
  expect((await host.response(id)).payload).toMatchObject({ reason: "reply", stepCount: 1 });
  expect([first.chats().length, second.chats().length]).toEqual([3, 1]);
  expect(host.order(id).filter((token) => token.startsWith("error"))).toEqual(Array.from({ length: 3 }, () => "error(step_error:transport,true)"));
  expect(modelsAsked(host).at(-1)).toBe("m-second");
  expect(warnings(host).filter((text) => text.includes("is used from now on"))).toEqual([expect.stringMatching(/^first failed \(.*\): second\/m-second is used from now on$/) as string]);
  // What the host is told of the model is what serves.
  expect((await host.ask("ping")).payload).toMatchObject({ model: "m-second", engine: "openai-compatible" });
  expect((await host.ask("get_session", { sessionId: host.sessionId })).payload?.["model"]).toBe("m-second");
  const models = listOf<{ id: string; active: boolean }>((await host.ask("models_list")).payload, "models");
  expect(models.filter(({ active }) => active).map((model) => model.id)).toEqual(["second/m-second"]);
  // It stays for the session; the next session begins with the chosen one again.
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  expect([first.chats().length, second.chats().length]).toEqual([3, 2]);
  await begin(host);
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  expect([first.chats().length, second.chats().length]).toEqual([6, 3]);
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("a failure that would only come again is not waited for", async () => {
  await using first = await startChatServer([refused]);
  await using second = await startChatServer([fine]);
  using host = hostInProcess({ config: configured({ first, second }) });
  await begin(host);
  expect((await host.turn()).payload?.["reason"]).toBe("reply");
  expect([first.chats().length, second.chats().length]).toEqual([1, 1]);
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("failures count in a row: a success in between begins anew", async () => {
  await using first = await startChatServer([busy, busy, fine]);
  await using second = await startChatServer([fine]);
  using host = hostInProcess({ config: configured({ first, second }) });
  await begin(host);
  for (let turn = 0; turn < 2; turn++) expect((await host.turn()).payload?.["reason"]).toBe("reply");
  expect([first.chats().length, second.chats().length]).toEqual([4, 0]);
  expect(warnings(host)).toEqual([]);
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("when all have failed the turn fails with what the last one said", async () => {
  await using first = await startChatServer([busy]);
  await using second = await startChatServer([refused]);
  using host = hostInProcess({ config: configured({ first, second }, { failureThreshold: 1, appendLocal: false }) });
  await begin(host);
  const answer = (await host.turn()).payload;
  expect(answer).toMatchObject({ reason: "failed", error: { category: "transport" } });
  expect(JSON.stringify(answer)).toContain("who are you?");
  expect([first.chats().length, second.chats().length]).toEqual([1, 1]);
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("a provider whose key is not set is passed over", async () => {
  await using first = await startChatServer([refused]);
  await using second = await startChatServer([fine]);
  using host = hostInProcess({ config: configured({ first, second }, {}, { apiKeyEnvVar: "KEY_THAT_NOBODY_SET" }), env: { KEY_THAT_NOBODY_SET: "" } });
  host.sessionId = String((await host.ask("start_session", { workingDir: host.workingDir, model: "first/m-first" })).payload?.["sessionId"]);
  expect((await host.turn()).payload?.["reason"]).toBe("failed");
  expect(second.chats().length).toBe(0);
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("the independent checker takes all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
