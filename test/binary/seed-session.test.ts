// The protocol page's minimal session, frame by frame as it stands there: the same ids, the same payloads but for the folder.
// Each answer must have the keys that the page shows, in its order, though there may be more of them.
import { expect, test } from "bun:test";
import { createInterface } from "node:readline";
import { symlinkSync } from "node:fs";
import { spawn } from "node:child_process";
import { executablePath } from "../support/atomic.ts";
import { writeScript } from "../support/scripted.ts";
import { makeWorkspace } from "../support/workspace.ts";

interface Frame {
  kind: string;
  type?: string;
  correlationId?: string;
  ok?: boolean;
  payload: { [name: string]: unknown };
}

test("ping, start_session, send_message, as the page shows them", async () => {
  using place = makeWorkspace({ "state/": "" });
  const model = writeScript(place.at("script.json"), { steps: [[{ text: "There is nothing here yet.", chunk: 4 }]] });
  const program = place.at("atomic-agent-sidecar");
  symlinkSync(executablePath(), program);
  const child = spawn(program, [], { stdio: ["pipe", "pipe", "pipe"], env: { PATH: process.env["PATH"], HOME: place.path, ATOMIC_AGENT_STATE_DIR: place.at("state"), ATOMIC_AGENT_DEFAULT_MODEL: model } });
  const frames: Frame[] = [];
  const waiting = new Map<string | undefined, (frame: Frame) => void>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const frame = JSON.parse(line) as Frame;
    frames.push(frame);
    if (frame.kind === "response") waiting.get(frame.correlationId)?.(frame);
  });
  const exchange = async (id: string, line: string): Promise<Frame> => {
    const answered = new Promise<Frame>((resolve) => waiting.set(id, resolve));
    child.stdin.write(`${line}\n`);
    return await answered;
  };

  const ping = await exchange("1", '{"kind":"request","id":"1","type":"ping","payload":{}}');
  expect(Object.keys(ping)).toEqual(["kind", "id", "correlationId", "ok", "payload"]);
  expect([ping.ok, ping.payload["ok"]]).toEqual([true, true]);

  const started = await exchange("2", `{"kind":"request","id":"2","type":"start_session","payload":{"workingDir":${JSON.stringify(place.path)}}}`);
  const sessionId = String(started.payload["sessionId"]);
  expect(started).toMatchObject({ ok: true, payload: { sessionId: expect.stringMatching(/^s-/) } });
  const event = frames.findIndex(({ type }) => type === "session_started");
  expect(frames[event]?.payload).toMatchObject({ sessionId, workingDir: place.path });
  // The event stands before the response.
  expect(event).toBeLessThan(frames.indexOf(started));

  const sentAt = frames.length;
  const turn = await exchange("3", `{"kind":"request","id":"3","type":"send_message","payload":{"sessionId":"${sessionId}","text":"…"}}`);
  expect(turn).toMatchObject({ ok: true, payload: { reason: "reply", turnCount: 1, stepCount: 1 } });
  const shown = frames.slice(sentAt).filter(({ type = "" }) => ["turn_started", "assistant_delta", "assistant_reply"].includes(type));
  const types = shown.map(({ type }) => type);
  expect([types[0], types.at(-1), new Set(types.slice(1, -1))]).toEqual(["turn_started", "assistant_reply", new Set(["assistant_delta"])]);
  expect(types.length).toBeGreaterThan(4);
  expect(shown.filter(({ type }) => type === "assistant_delta").map(({ payload }) => payload["text"]).join("")).toBe("There is nothing here yet.");
  expect(frames.at(-1)).toEqual(turn);

  const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
  expect((await exchange("4", '{"kind":"request","id":"4","type":"shutdown","payload":{}}')).payload).toEqual({ ok: true });
  child.stdin.end();
  expect(await exited).toBe(0);
});
