// Providers that fail, by the executable: the sidecar and text mode go on with the next one, JSON mode keeps its own (config.md).
import { expect, test } from "bun:test";
import { runAtomic } from "../support/atomic.ts";
import { type ChatServer, says, startChatServer } from "../support/chat-server.ts";
import type { Answer } from "../support/fault-server.ts";
import { makePlace, runJson } from "../support/json-run.ts";
import { hostOfExecutable } from "../support/sidecar-host.ts";

const busy: Answer = { status: 503, body: { error: { message: "too much to do" } } };
const fine = says({ text: ["all well"] });

function configured(first: ChatServer, second: ChatServer): { [name: string]: unknown } {
  const providers = [first, second].map(({ url }, index) => ({ id: ["first", "second"][index], kind: "openai-compatible", url, defaultChatModel: "m", contextWindow: 32_768 }));
  return { defaultProvider: "first", defaultModel: "m", llm: { providers, retry: { baseDelayMs: 1 } } };
}

test("the sidecar: the turn is answered by the next provider, and a warning says so", async () => {
  await using first = await startChatServer([busy]);
  await using second = await startChatServer([fine]);
  using host = hostOfExecutable({ config: configured(first, second) });
  host.sessionId = String((await host.ask("start_session", { workingDir: host.workingDir })).payload?.["sessionId"]);
  expect((await host.turn()).payload).toMatchObject({ reason: "reply" });
  expect([first.chats().length, second.chats().length]).toEqual([3, 1]);
  expect(host.frames.some(({ type, payload }) => type === "log" && String(payload?.["message"]).endsWith("second/m is used from now on"))).toBe(true);
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
});

test("text mode does the same; JSON mode keeps its provider and fails", async () => {
  await using first = await startChatServer([busy]);
  await using second = await startChatServer([fine]);
  using place = makePlace();
  place.configure(configured(first, second));
  const told = await runAtomic(["run", "hi"], { home: place.home, cwd: place.workspace.path });
  expect({ exitCode: told.exitCode, text: told.text }).toEqual({ exitCode: 0, text: "all well\n" });
  expect(told.stderr).toContain("second/m is used from now on");
  const asked = second.chats().length;
  const run = await runJson(place, ["hi"]);
  expect(run.settled["outcome"]).toBe("error");
  expect(second.chats().length).toBe(asked);
});
