// Bytes between a host and the executable: its start, lines in and out, a slow reader, one that leaves (sidecar.md 1; S-1 to S-9).
import { expect, test } from "bun:test";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { executablePath, runAtomic } from "../support/atomic.ts";
import { endsWell, payloadsOf, within } from "../support/sidecar-calls.ts";
import { checkSeen, type Frame, framesOf, hostOfExecutable, pingLine, spawnSidecar } from "../support/sidecar-host.ts";
import { type ByteReader, lineReader } from "../support/sidecar-pipe.ts";
import { until } from "../support/until.ts";
import { makeWorkspace } from "../support/workspace.ts";

/** What a host gets for these bytes, stdin closed right behind them. */
async function answers(bytes: string | Uint8Array): Promise<Frame[]> {
  const { text, exitCode } = await runAtomic(["sidecar"], { stdin: bytes });
  expect(exitCode).toBe(0);
  return framesOf(text).slice(1);
}

const parseErrors = (frames: readonly Frame[]): unknown[] => frames.filter(({ payload }) => payload?.["code"] === "parse_error").map(({ payload }) => payload?.["stack"]);
const answered = (frames: readonly Frame[]): unknown[] => frames.filter(({ kind }) => kind === "response").map(({ correlationId, error, ok }) => [correlationId, ok, ...(error?.field === undefined ? [] : [error.field])]);
const ask = (id: string, type: string, payload: unknown): string => `${JSON.stringify({ kind: "request", id, type, payload })}\n`;
const memoryMiB = (pid: number, name: "VmRSS" | "VmHWM"): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

test("S-1 the boot frame comes within a second and before any input, under both names, from a place with blanks and umlauts, at any log level", async () => {
  using place = makeWorkspace({ "ein Ordner mit Umläuten/": "" });
  const link = place.at("ein Ordner mit Umläuten/atomic-agent-sidecar");
  symlinkSync(executablePath(), link);
  for (const command of [[executablePath(), "sidecar"], [link]]) {
    for (const level of ["debug", "error"]) {
      await within(1000, async () => {
        const startedAt = performance.now();
        using run = spawnSidecar(command, { env: { ATOMIC_AGENT_LOG_LEVEL: level }, cwd: place.path });
        const { value } = await run.child.stdout.getReader().read();
        const durationMs = performance.now() - startedAt;
        const [boot] = framesOf(new TextDecoder().decode(value));
        expect({ ...boot, id: "" } as unknown).toEqual({ kind: "event", id: "", type: "log", payload: { level: "info", message: "atomic-agent sidecar booted", context: { llamaUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/), stateDir: run.home.state } } });
        run.child.stdin.end();
        expect(await run.child.exited).toBe(0);
        expect(existsSync(join(run.home.state, "sessions.sqlite"))).toBe(false);
        return durationMs;
      });
    }
  }
});

test("S-2 any argument is refused with 2 before the first frame, under both names", async () => {
  using place = makeWorkspace();
  const link = place.at("atomic-agent-sidecar");
  symlinkSync(executablePath(), link);
  for (const argument of ["--verbose", "--help", "--version", "x", ""]) {
    for (const { exitCode, stderr, text } of [await runAtomic(["sidecar", argument], { stdin: "" }), await runAtomic([argument], { executable: link, stdin: "" })]) {
      expect([argument, exitCode, text]).toEqual([argument, 2, ""]);
      expect(stderr).toContain(argument);
    }
  }
});

test("S-3 F13 what is no JSON, nested too deep, or no UTF-8 is one parse_error with its line, and ping works after each", async () => {
  const deep = "[".repeat(100_000);
  const lines: (string | Uint8Array)[] = ["not json\n", pingLine(1), Uint8Array.of(0x22, 0xff, 0x22, 0x0a), pingLine(2), `${deep}\n`, pingLine(3), '{"a":"\0"}\n', pingLine(4), "{\"kind\":\"request\"\r\n", pingLine(5)];
  const frames = await answers(Buffer.concat(lines.map((line) => Buffer.from(line))));
  expect(parseErrors(frames)).toEqual(["not json", '"\ufffd"', deep, '{"a":"\0"}', '{"kind":"request"']);
  expect(answered(frames)).toEqual([1, 2, 3, 4, 5].map((id) => [id, true]));
  expect(frames.length).toBe(10);
  for (const { correlationId, payload, type } of frames.filter(({ kind }) => kind === "event")) {
    expect([type, correlationId]).toEqual(["error", undefined]);
    expect(String(payload?.["message"])).toStartWith("failed to parse NDJSON line: ");
  }
});

test("S-4 F01 BOM, blank and CRLF lines and a last line without LF make requests and no further frame; bytes one by one give the same frames as bytes at once", async () => {
  const frames = await answers(`\ufeff${pingLine("bom").trimEnd()}\r\n\n   \n\t\r\n${pingLine("crlf").trimEnd()}\r\n${pingLine("last").trimEnd()}`);
  expect(answered(frames)).toEqual([["bom", true], ["crlf", true], ["last", true]]);
  expect(frames.length).toBe(3);

  const seen: unknown[] = [];
  for (const cut of [1, 3, 1_000_000]) {
    using host = hostOfExecutable();
    await host.start([[{ text: "ok" }]], { metadata: { title: "😀 a\u2028b" } });
    const line = Buffer.from(ask("cut", "send_message", { sessionId: host.sessionId, text: "😀 ü a\u2028b\u2029c" }));
    for (let at = 0; at < line.length; at += cut) host.transport.write(line.subarray(at, at + cut));
    host.requests.push({ id: "cut", type: "send_message", line: line.toString().trimEnd() });
    expect((await host.response("cut")).payload?.["reason"]).toBe("reply");
    expect(payloadsOf(host, "user_message")).toEqual([{ sessionId: host.sessionId, text: "😀 ü a\u2028b\u2029c" }]);
    seen.push(host.order("cut"));
    await endsWell(host);
  }
  expect(seen).toEqual([seen[0], seen[0], seen[0]]);
});

test("S-5 JSON that is no request is dropped without a frame", async () => {
  const frames = await answers(`null\n1\n"x"\n[]\n{"kind":"event"}\n{}\n{"kind":"Request","id":1,"type":"ping"}\ntrue\n[{"kind":"request","id":1,"type":"ping"}]\n${pingLine("last")}`);
  expect(frames.length).toBe(1);
  expect(answered(frames)).toEqual([["last", true]]);
});

test("S-6 F04 a line over 16 MiB is one parse_error at once with its first 1024 bytes; memory stays bounded, and the next line works", async () => {
  using run = spawnSidecar([executablePath(), "sidecar"]);
  const output: ByteReader = lineReader(run.child.stdout);
  const send = async (bytes: string | Uint8Array): Promise<void> => void (run.child.stdin.write(bytes), await run.child.stdin.flush());
  await send(pingLine("first"));
  await output.until(({ correlationId }) => correlationId === "first");
  const before = memoryMiB(run.child.pid, "VmHWM");
  // Nothing but three-byte characters behind one letter: 1024 falls inside one.
  const mebibyte = Buffer.from("€".repeat(349_526)).subarray(0, 2 ** 20 - 1);
  await send("aa");
  for (let sent = 0; sent < 17; sent++) await send(mebibyte.subarray(0, mebibyte.length - (mebibyte.length % 3)));
  const [refused] = await output.until(({ type }) => type === "error");
  const stack = String(refused?.payload?.["stack"]);
  expect([refused?.payload?.["code"], Buffer.byteLength(stack), stack]).toEqual(["parse_error", 1022, `aa${"€".repeat(340)}`]);
  for (let sent = 0; sent < 200; sent++) await send(mebibyte.subarray(0, 2 ** 20 - 1 - ((2 ** 20 - 1) % 3)));
  await send(`\n${pingLine("next")}`);
  const rest = await output.until(({ correlationId }) => correlationId === "next");
  expect(rest.length).toBe(1);
  expect(memoryMiB(run.child.pid, "VmHWM") - before).toBeLessThan(96);
  await send(`"${"a".repeat(2 ** 24 - 2)}"\n${pingLine("most")}`);
  expect((await output.until(({ correlationId }) => correlationId === "most")).length).toBe(1);
  run.child.stdin.end();
  expect(await run.child.exited).toBe(0);
}, 60_000);

test("S-7 U+2028, U+2029 and a lone surrogate leave escaped in one line and come back as they were", async () => {
  using host = hostOfExecutable();
  const said = "a\u2028b\u2029c \ud800 😀";
  await host.start([[{ text: said, chunk: 99 }], [{ call: "fs.write", args: { path: "a.txt", content: said } }], [{ text: "ok" }]], { approvalLevel: 2, metadata: { title: said } });
  expect((await host.turn(said)).payload?.["reason"]).toBe("reply");
  expect((await host.event("assistant_reply")).payload?.["text"]).toBe(said);
  expect((await host.event("user_message")).payload?.["text"]).toBe(said);
  await host.turn();
  expect((await host.event("tool_call_started", { tool: "fs.write" })).payload?.["args"]).toEqual({ path: "a.txt", content: said });
  expect((await host.ask("get_session", { sessionId: host.sessionId })).payload?.["metadata"]).toEqual({ title: said });
  await endsWell(host);
  const { text } = await host.process.result();
  expect([/[\u2028\u2029\ufffd]/.test(text), text.includes("\\u2028b\\u2029c \\ud800 😀")]).toEqual([false, true]);
  expect(framesOf(text).length).toBe(host.frames.length);
});

/** A hundred megabytes of 25 turns, read with these pauses between the turns: the frames, and the memory once the writer waits and at most. */
async function flood(piece: string, turns: number, pauseMs: number): Promise<{ frames: Frame[]; bytes: number; waitingMiB: number; peakMiB: number }> {
  using folder = makeWorkspace({ "workspace/": "" });
  const step = [{ repeat: 500, items: [{ thinking: piece, chunk: piece.length }] }, { text: "done" }];
  folder.write({ "script.json": JSON.stringify({ contextWindow: 1_000_000_000, steps: Array.from({ length: turns }, () => step) }) });
  using run = spawnSidecar([executablePath(), "sidecar"]);
  const output = lineReader(run.child.stdout);
  const send = (bytes: string): void => void (run.child.stdin.write(bytes), run.child.stdin.flush());
  send(ask("start", "start_session", { workingDir: folder.at("workspace"), model: `scripted:${folder.at("script.json")}` }));
  const [started] = (await output.until(({ correlationId, kind }) => kind === "response" && correlationId === "start")).slice(-1);
  const sessionId = started?.payload?.["sessionId"];
  for (let turn = 0; turn < turns; turn++) send(ask(`turn-${turn}`, "send_message", { sessionId, text: "go" }));
  let waitingMiB = 0;
  if (pauseMs > 0) {
    await until("the writer waits", async () => {
      const before = memoryMiB(run.child.pid, "VmRSS");
      await Bun.sleep(300);
      waitingMiB = memoryMiB(run.child.pid, "VmRSS");
      return Math.abs(waitingMiB - before) < 1;
    });
  }
  const frames: Frame[] = [];
  for (let turn = 0; turn < turns; turn++) {
    frames.push(...(await output.until(({ correlationId, kind }) => kind === "response" && correlationId === `turn-${turn}`)));
    await Bun.sleep(pauseMs);
  }
  const peakMiB = memoryMiB(run.child.pid, "VmHWM");
  run.child.stdin.end();
  expect(await run.child.exited).toBe(0);
  return { frames, bytes: output.bytes(), waitingMiB, peakMiB };
}

test("S-8 100 MB for a slow reader are whole but for joined deltas, and wait in the model and in the pipe, not in memory", async () => {
  const piece = "0123456789".repeat(800);
  const turns = 25;
  const { frames, bytes, waitingMiB, peakMiB } = await flood(piece, turns, 20);
  for (let turn = 0; turn < turns; turn++) {
    const own = frames.filter(({ correlationId }) => correlationId === `turn-${turn}`);
    const text = own.map(({ payload, type }) => (type === "reasoning_delta" ? String(payload?.["text"]) : "")).join("");
    expect([text.length, text === piece.repeat(500)]).toEqual([4_000_000, true]);
    expect(own.filter(({ type }) => type !== "reasoning_delta" && type !== "assistant_delta" && type !== "metric" && type !== "log").map(({ type }) => type ?? "response")).toEqual(["user_message", "turn_started", "step_started", "llm_request", "llm_response", "tool_call_started", "tool_call_result", "assistant_reply", "step_finished", "turn_finished", "response"]);
  }
  expect(bytes).toBeGreaterThan(100_000_000);
  // The conversation itself stays in memory, and the collector decides how much beside it: a reader without pauses is the measure.
  expect(waitingMiB).toBeLessThan(150);
  expect(peakMiB / (await flood(piece, turns, 0)).peakMiB).toBeLessThan(1.6);
}, 120_000);

test("S-8 answers for a reader that sleeps wait in the pipe as well: no further request is taken", async () => {
  using folder = makeWorkspace({ "workspace/": "" });
  folder.write({ "script.json": JSON.stringify({ contextWindow: 1_000_000_000, steps: [[{ text: "x".repeat(2_000_000), chunk: 100_000 }]] }) });
  using run = spawnSidecar([executablePath(), "sidecar"]);
  const output = lineReader(run.child.stdout);
  const send = (bytes: string): void => void (run.child.stdin.write(bytes), run.child.stdin.flush());
  send(ask("start", "start_session", { workingDir: folder.at("workspace"), model: `scripted:${folder.at("script.json")}` }));
  const [started] = (await output.until(({ correlationId, kind }) => kind === "response" && correlationId === "start")).slice(-1);
  const sessionId = started?.payload?.["sessionId"];
  send(ask("turn", "send_message", { sessionId, text: "go" }));
  await output.until(({ correlationId, kind }) => kind === "response" && correlationId === "turn");
  const before = memoryMiB(run.child.pid, "VmHWM");
  send(Array.from({ length: 50 }, (_, index) => ask(`state-${index}`, "get_session", { sessionId })).join(""));
  await Bun.sleep(1500);
  expect(memoryMiB(run.child.pid, "VmHWM") - before).toBeLessThan(120);
  const frames = await output.until(({ correlationId }) => correlationId === "state-49");
  expect(frames.map(({ correlationId }) => correlationId)).toEqual(Array.from({ length: 50 }, (_, index) => `state-${index}`));
  expect(output.bytes()).toBeGreaterThan(100_000_000);
  run.child.stdin.end();
  expect(await run.child.exited).toBe(0);
}, 120_000);

test("S-9 a host that closes stdout ends it with 0 within two seconds, whether or not it has something to say", async () => {
  for (const isIdle of [true, false]) {
    await within(2000, async () => {
      using run = spawnSidecar([executablePath(), "sidecar"]);
      const reader = run.child.stdout.getReader();
      await reader.read();
      await reader.cancel();
      const startedAt = performance.now();
      if (!isIdle) {
        run.child.stdin.write(pingLine(1));
        void run.child.stdin.flush();
      }
      expect(await run.child.exited).toBe(0);
      return performance.now() - startedAt;
    });
  }
});

test("the checkers take all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
