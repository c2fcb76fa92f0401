// The sidecar without a session: boot, answers, and every way to end.
import { describe, expect, test } from "bun:test";
import type { SidecarParts } from "../../../src/modes/sidecar/routes.ts";
import { runSidecar } from "../../../src/modes/sidecar.ts";
import { SidecarEvent, SidecarResponse, responsePayloads } from "../../../src/wire/sidecar/schema.ts";
import { type FakeWatch, fakeWatch } from "./fake-watch.ts";

type Frame = { kind: string; type?: string; correlationId?: unknown; ok?: boolean; payload: unknown; error?: { message: string; field?: string } };

interface Run {
  frames: Frame[];
  send(text: string): void;
  end(): void;
  watch: FakeWatch;
  exit: Promise<number>;
}

function start(write?: (bytes: Uint8Array, offset: number) => Promise<number>): Run {
  const frames: Frame[] = [];
  const watch = fakeWatch();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const input = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  const keep = async (bytes: Uint8Array, offset: number) => {
    for (const line of Buffer.from(bytes.slice(offset)).toString().trimEnd().split("\n")) frames.push(JSON.parse(line) as Frame);
    return bytes.length - offset;
  };
  const exit = runSidecar({ input, output: write ?? keep, llamaUrl: "http://127.0.0.1:1", stateDir: "/state", agentVersion: "9.9.9", sandbox: "none", logLevel: "info", loadParts: async () => parts, watch, warn: () => {} });
  return { frames, send: (text) => controller?.enqueue(Buffer.from(text)), end: () => controller?.close(), watch, exit };
}

/** Nothing here is ever used: there is no session. */
const parts = { skills: { list: () => [] }, desk: { llamaUrl: "http://127.0.0.1:1" }, close: async () => {} } as unknown as SidecarParts;

const request = (id: unknown, type: string, payload?: unknown) => `${JSON.stringify({ kind: "request", id, type, payload })}\n`;

async function answers(text: string): Promise<Frame[]> {
  const run = start();
  run.send(text);
  run.end();
  expect(await run.exit).toBe(0);
  expect([run.watch.listening(), run.watch.exits]).toEqual([0, []]);
  return run.frames;
}

describe("frames", () => {
  test("the boot frame comes first, without any input", async () => {
    const [boot] = await answers("");
    expect(boot as unknown).toEqual({
      kind: "event",
      id: expect.any(String),
      type: "log",
      payload: { level: "info", message: "atomic-agent sidecar booted", context: { llamaUrl: "http://127.0.0.1:1", stateDir: "/state" } },
    });
  });

  test("ping tells who answers", async () => {
    const [, pong] = await answers(request("1", "ping"));
    expect(responsePayloads.ping.parse(pong?.payload) as unknown).toEqual(pong?.payload);
    expect(pong?.payload).toMatchObject({ ok: true, llamaUrl: "http://127.0.0.1:1", stateDir: "/state", version: "0.1.0", agentVersion: "9.9.9", sandbox: "none" });
  });

  test("without a session soft requests answer softly and hard ones are refused", async () => {
    const soft: [string, unknown, unknown][] = [
      ["steer_message", { sessionId: "s", text: "t" }, { steered: false }],
      ["cancel", { sessionId: "s" }, { cancelled: false }],
      ["approval_response", { approvalId: "a", approved: true, reason: null }, { resolved: false }],
      ["get_session", { sessionId: "s" }, null],
      ["skill_list", undefined, { skills: [] }],
    ];
    const hard: [string, unknown, string][] = [
      ["send_message", { sessionId: "s-1", text: "t" }, "no active session with id s-1"],
      ["skill_install", { sourcePath: "p" }, "no active session — call start_session first"],
      ["compact_session", { sessionId: "s" }, "no active session — call start_session first"],
    ];
    const frames = (await answers([...soft, ...hard].map(([type, payload], index) => request(index, type, payload)).join(""))).slice(1);
    const responses = frames.filter(({ kind }) => kind === "response");
    expect(responses.slice(0, soft.length).map(({ payload }) => payload)).toEqual(soft.map(([, , payload]) => payload));
    expect(responses.slice(soft.length).map(({ ok, error }) => [ok, error?.message])).toEqual(hard.map(([, , message]) => [false, message]));
    for (const frame of frames) expect(frame.kind === "event" ? SidecarEvent.parse(frame) : SidecarResponse.parse(frame)).toBeDefined();
  });

  test("a payload of the wrong shape names its field before any session rule", async () => {
    const rows: [string, unknown, string][] = [
      ["send_message", { sessionId: "s", text: "  " }, "text"],
      ["send_message", { text: "t" }, "sessionId"],
      ["send_message", { sessionId: "s", text: "t", maxSteps: 0 }, "maxSteps"],
      ["send_message", { sessionId: "s", text: "t", maxSteps: 1.5 }, "maxSteps"],
      ["start_session", { workingDir: "" }, "workingDir"],
      ["start_session", { workingDir: "/w", metadata: [] }, "metadata"],
      ["start_session", { workingDir: "/w", approvalLevel: 6 }, "approvalLevel"],
      ["approval_response", { approvalId: "a", approved: "yes" }, "approved"],
      ["list_sessions", { limit: 501 }, "limit"],
      ["skill_uninstall", {}, "name"],
    ];
    const text = rows.map(([type, payload], index) => request(index, type, payload)).join("") + '{"kind":"request","id":"x","type":"send_message","payload":{"sessionId":"s","text":"t","maxSteps":1e999}}\n';
    const responses = (await answers(text)).filter(({ kind }) => kind === "response");
    expect(responses.map(({ error }) => error?.field)).toEqual([...rows.map(([, , field]) => field), "maxSteps"]);
    for (const { error } of responses) expect(error?.message).toStartWith(`${error?.field}: `);
  });

  test("requests that arrive together are answered in arrival order", async () => {
    const types = ["cancel", "ping", "get_session", "ping", "steer_message", "skill_list"];
    const frames = await answers(types.map((type, index) => request(index, type, { sessionId: "s", text: "t" })).join(""));
    expect(frames.slice(1).map(({ correlationId }) => correlationId)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test("BOM, CRLF, blank lines and a last line without LF are fine", async () => {
    const frames = await answers(`\ufeff${request(1, "ping").trimEnd()}\r\n\n   \n\t\r\n${request(2, "ping").trimEnd()}`);
    expect(frames.slice(1).map(({ correlationId, ok }) => [correlationId, ok])).toEqual([[1, true], [2, true]]);
  });
});

describe("ends", () => {
  test("shutdown and ping in one piece before the end of stdin are both answered", async () => {
    const frames = await answers(request("1", "shutdown") + request("2", "ping"));
    expect(frames.slice(1).map(({ correlationId, ok }) => [correlationId, ok]).toSorted()).toEqual([["1", true], ["2", true]]);
  });

  test("after shutdown the host has two seconds to end stdin", async () => {
    const run = start();
    const started = performance.now();
    run.send(request("1", "shutdown"));
    run.send(request("2", "shutdown"));
    expect(await run.exit).toBe(0);
    expect(run.frames.slice(1).map(({ payload }) => payload)).toEqual([{ ok: true }, { ok: true }]);
    expect(performance.now() - started).toBeWithin(1900, 4000);
  });

  test("a signal decides the status", async () => {
    for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
      const run = start();
      run.watch.signal(signal);
      expect([await run.exit, run.frames.length]).toEqual([code, 1]);
    }
  });

  test("a lost parent and a lost reader end it with 0", async () => {
    const orphan = start();
    orphan.watch.loseParent();
    expect(await orphan.exit).toBe(0);
    const unread = start(async () => {
      throw Object.assign(new Error("EPIPE"), { code: "EPIPE" });
    });
    expect(await unread.exit).toBe(0);
  });

  test("a reader that takes nothing doesn't keep it", async () => {
    const run = start(() => new Promise(() => {}));
    const started = performance.now();
    run.end();
    expect([await run.exit, run.watch.exits]).toEqual([0, [0]]);
    expect(performance.now() - started).toBeLessThan(3000);
  });
});
