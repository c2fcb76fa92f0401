// The sidecar as a host meets it: the executable under both names, and bytes on pipes (sidecar.md 1, 2, 13).
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { executablePath, makeHome, runAtomic } from "../support/atomic.ts";
import type { ScriptItem } from "../support/scripted.ts";
import { checkSeen, type Frame, framesOf, hostOfExecutable, pingLine, type SidecarHost, spawnSidecar } from "../support/sidecar-host.ts";
import { makeWorkspace } from "../support/workspace.ts";

const hang: ScriptItem[] = [{ text: "half", chunk: 9 }, { hang: true }];

async function endsWell(host: SidecarHost): Promise<void> {
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
}

/** What a host gets for these bytes, stdin closed right behind them. */
async function answers(bytes: string | Uint8Array): Promise<Frame[]> {
  const { text, exitCode } = await runAtomic(["sidecar"], { stdin: bytes });
  expect(exitCode).toBe(0);
  return framesOf(text).slice(1);
}

describe("start", () => {
  test("S-1 the boot frame comes before any input, under both names, from a place with blanks and umlauts, at any log level", async () => {
    using place = makeWorkspace({ "ein Ordner mit Umläuten/": "" });
    const link = place.at("ein Ordner mit Umläuten/atomic-agent-sidecar");
    symlinkSync(executablePath(), link);
    for (const command of [[executablePath(), "sidecar"], [link]]) {
      using run = spawnSidecar(command, { env: { ATOMIC_AGENT_LOG_LEVEL: "error" }, cwd: place.path });
      const { value } = await run.child.stdout.getReader().read();
      const [boot] = framesOf(new TextDecoder().decode(value));
      expect(boot?.payload).toMatchObject({ level: "info", message: "atomic-agent sidecar booted", context: { stateDir: run.home.state } });
      run.child.stdin.end();
      expect(await run.child.exited).toBe(0);
      expect(existsSync(join(run.home.state, "sessions.sqlite"))).toBe(false);
    }
  });

  test("S-2 any argument is refused before the first frame", async () => {
    const { exitCode, stderr, text } = await runAtomic(["sidecar", "--verbose"], { stdin: "" });
    expect([exitCode, text]).toEqual([2, ""]);
    expect(stderr).toContain("--verbose");
  });

  test("S-65 a bad configuration ends it with 3 and says where; an unknown key is a warning; the environment beats the file; .env of the folder counts for nothing", async () => {
    for (const [config, code, said] of [['{\n  "agent": {"maxSteps": "x"} }', 3, /config\.json:2:\d+: /], ['{"agent":', 3, /config\.json:1:\d+: /], ['{"agent":{"maxStep":3}}', 0, /agent\.maxSteps/], ["{}", 0, /^$/]] as const) {
      using home = makeHome();
      home.folder.write({ "state/config.json": config });
      const { exitCode, stderr, text } = await runAtomic(["sidecar"], { home, stdin: "" });
      expect([config, exitCode, text === ""]).toEqual([config, code, code === 3]);
      expect(stderr).toMatch(said);
    }
    const { exitCode, stderr } = await runAtomic(["sidecar"], { stdin: "", env: { ATOMIC_AGENT_AGENT_MAX_STEPS: "many" } });
    expect([exitCode, stderr.includes("ATOMIC_AGENT_AGENT_MAX_STEPS")]).toEqual([3, true]);
    using folder = makeWorkspace({ ".env": "ATOMIC_AGENT_LOCAL_MODELS_URL=http://127.0.0.1:9\nATOMIC_AGENT_LOCAL_MODELS_MODE=external\n" });
    const { text } = await runAtomic(["sidecar"], { stdin: "", cwd: folder.path, env: { ATOMIC_AGENT_LOCAL_MODELS_MODE: "external", ATOMIC_AGENT_LOCAL_MODELS_URL: "http://127.0.0.1:7" } });
    expect(framesOf(text)[0]?.payload?.["context"]).toMatchObject({ llamaUrl: "http://127.0.0.1:7" });
  });
});

describe("bytes", () => {
  test("S-3 S-4 S-5 F13 what is no request is told or dropped, and everything else is answered", async () => {
    const lines: (string | Uint8Array)[] = [
      `\ufeff${pingLine("bom").trimEnd()}\r\n`,
      "\n   \n\t\r\n",
      "not json\n",
      "[".repeat(100_000) + "\n",
      Uint8Array.of(0x22, 0xff, 0x22, 0x0a),
      '{"a":"\0"}\n',
      'null\n1\n"x"\n[]\n{"kind":"event"}\n{}\n',
      '{"kind":"request","id":"\\ud800","type":"ping"}\n',
      '{"kind":"request","id":"max","type":"send_message","payload":{"sessionId":"s","text":"t","maxSteps":1e999}}\n',
      '{"kind":"request","id":"proto","type":"cancel","payload":{"sessionId":"s","__proto__":{"polluted":1}}}\n',
      pingLine("last").trimEnd(),
    ];
    const frames = await answers(Buffer.concat(lines.map((line) => Buffer.from(line))));
    const errors = frames.filter(({ payload }) => payload?.["code"] === "parse_error").map(({ payload }) => String(payload?.["stack"]));
    expect(errors).toEqual(["not json", "[".repeat(100_000), '"\ufffd"', '{"a":"\0"}']);
    const answered = frames.filter(({ kind }) => kind === "response").map(({ correlationId, ok, error }) => [correlationId, ok, error?.field]);
    expect(answered).toEqual([["bom", true, undefined], ["\ud800", true, undefined], ["max", false, "maxSteps"], ["proto", true, undefined], ["last", true, undefined]]);
  });

  test("S-4 S-7 F01 any cut of the bytes gives the same; U+2028, U+2029 and lone surrogates are escaped and come back as they were", async () => {
    using host = hostOfExecutable();
    const said = "a\u2028b\u2029c \ud800 😀";
    await host.start([[{ text: said, chunk: 99 }]]);
    const line = Buffer.from(`${JSON.stringify({ kind: "request", id: "cut", type: "send_message", payload: { sessionId: host.sessionId, text: "😀 ü" } })}\n`);
    for (const byte of line) host.transport.write(Buffer.of(byte) as unknown as string);
    host.requests.push({ id: "cut", type: "send_message", line: line.toString().trimEnd() });
    expect((await host.response("cut")).payload?.["reason"]).toBe("reply");
    expect((await host.event("user_message")).payload?.["text"]).toBe("😀 ü");
    expect((await host.event("assistant_reply")).payload?.["text"]).toBe(said);
    await endsWell(host);
    const { stdout } = await host.process.result();
    expect([Buffer.from(stdout).includes("\u2028"), Buffer.from(stdout).includes("\u2029")]).toEqual([false, false]);
  });

  test("S-6 F04 a line of 17 MiB is one parse_error with the head of it, and the next line works", async () => {
    const frames = await answers(`${"a".repeat(17 * 1024 * 1024)}\n${pingLine(1)}`);
    expect(frames.map(({ kind, payload }) => [kind, payload?.["code"], String(payload?.["stack"] ?? "").length])).toEqual([["event", "parse_error", 1024], ["response", undefined, 0]]);
  });

  test("S-10 to S-17 F12 envelopes: unknown types, ids, payloads, extra fields", async () => {
    using host = hostOfExecutable();
    await host.start([[{ delayMs: 300 }, { text: "ok" }]]);
    const turn = host.send("send_message", { sessionId: host.sessionId, text: "x" }, "7");
    await host.event("llm_request");
    host.send("ping", {}, "7");
    const refused = await host.response("7");
    expect([refused.ok, refused.error]).toEqual([false, { message: "duplicate request id", code: "handler_failed" }]);
    expect((await host.frame(({ correlationId, kind, ok }) => correlationId === turn && kind === "response" && ok === true, "the turn's answer")).payload?.["reason"]).toBe("reply");
    const again = host.send("ping", {}, "7");
    await host.frame(({ correlationId, payload }) => correlationId === again && payload?.["version"] === "0.1.0", "the last ping");
    expect((await host.ask("run_step", {})).error).toEqual({ message: "no handler for request type: run_step", code: "unknown_request" });
    expect((await host.ask("cancel", [])).error?.field).toBe("payload");
    await endsWell(host);
    const frames = await answers('{"kind":"request","type":"ping"}\n{"kind":"request","id":7,"type":"nope","extra":1}\n{"kind":"request","id":8,"type":"ping","payload":[],"extra":{}}\n');
    expect(frames.map(({ correlationId, error, kind, ok }) => [kind, correlationId, ok, error?.code])).toEqual([
      ["response", "", false, "handler_failed"],
      ["event", undefined, undefined, undefined],
      ["response", 7, false, "unknown_request"],
      ["response", 8, true, undefined],
    ]);
  });

  test("S-8 8 MB for a reader that begins late are whole, and wait in the pipe, not in memory", async () => {
    using folder = makeWorkspace({ "state/": "", "workspace/": "" });
    const piece = "0123456789".repeat(400);
    folder.write({ "script.json": JSON.stringify({ steps: [[{ repeat: 2000, items: [{ thinking: piece, chunk: 4000 }] }, { text: "done" }]] }) });
    using run = spawnSidecar(["/bin/sh", "-c", 'exec 3<&0; { "$0" sidecar <&3 & echo $! >&2; wait; } | (sleep 2; cat)', executablePath()], { env: { ATOMIC_AGENT_STATE_DIR: folder.at("state") } });
    const pid = new TextDecoder().decode((await run.child.stderr.getReader().read()).value).trim();
    const ask = (id: string, type: string, payload: unknown): string => `${JSON.stringify({ kind: "request", id, type, payload })}\n`;
    run.child.stdin.write(ask("a", "start_session", { workingDir: folder.at("workspace"), model: `scripted:${folder.at("script.json")}` }));
    void run.child.stdin.flush();
    let text = "";
    let isAsked = false;
    let residentMax = 0;
    const decoder = new TextDecoder();
    for await (const bytes of run.child.stdout) {
      text += decoder.decode(bytes, { stream: true });
      const sessionId = /"sessionId":"(s-[^"]+)"/.exec(text.slice(0, 2000))?.[1];
      if (!isAsked && sessionId !== undefined) {
        isAsked = true;
        run.child.stdin.write(ask("b", "send_message", { sessionId, text: "go" }));
        void run.child.stdin.flush();
        // Now the reader is the slow one.
        await Bun.sleep(700);
        residentMax = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
      }
      if (text.slice(-2000).includes('"correlationId":"b","ok":true')) break;
    }
    const frames = framesOf(text);
    expect(frames.filter(({ type }) => type === "reasoning_delta").map(({ payload }) => String(payload?.["text"])).join("") === piece.repeat(2000)).toBe(true);
    expect(residentMax / 1024).toBeLessThan(400);
  }, 60_000);

  test("S-17 ping is answered at once while the model writes and while a tool runs", async () => {
    using host = hostOfExecutable({ config: { agent: { approvalLevel: 5 } } });
    await host.start([[{ call: "shell.run", args: { command: "sleep 0.7" } }], hang]);
    const turn = host.message();
    for (const phase of ["tool_call_started", "assistant_delta"]) {
      await host.event(phase);
      const startedAt = performance.now();
      expect((await host.ask("ping")).payload).toMatchObject({ ok: true, version: "0.1.0", protocol: { name: "atomic-agent-sidecar", revision: 1 }, engine: "scripted" });
      expect(performance.now() - startedAt).toBeLessThan(250);
    }
    await host.ask("cancel", { sessionId: host.sessionId });
    await host.response(turn);
    await endsWell(host);
  });
});

test("the independent checker takes all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
