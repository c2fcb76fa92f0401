// How the sidecar's process ends, and what it takes with it: signals, lost hosts, closed pipes (sidecar.md 1.1, 5.13, 13).
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { executablePath, runAtomic } from "../support/atomic.ts";
import type { ScriptItem } from "../support/scripted.ts";
import { checkSeen, framesOf, hostInProcess, hostOfExecutable, pingLine, type SidecarHost, spawnSidecar } from "../support/sidecar-host.ts";
import { until } from "../support/until.ts";
import { makeWorkspace } from "../support/workspace.ts";

const hang: ScriptItem[] = [{ text: "half", chunk: 9 }, { hang: true }];

async function endsWell(host: SidecarHost): Promise<void> {
  expect(await host.end()).toEqual({ exitCode: 0, breaches: [] });
}

/** Whether a process with this word in its command line lives. */
function isRunning(word: string): boolean {
  return readdirSync("/proc").some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    } catch {
      return false; // it ended while it was looked at
    }
  });
}

const sleeper = (): { word: string; call: ScriptItem } => {
  const word = `3${Math.floor(Math.random() * 1e9)}`;
  return { word, call: { call: "shell.run", args: { command: `sleep ${word} & sleep ${word}` } } };
};

describe("ends", () => {
  test("S-66 F05 shutdown: exit 0 when stdin closes, else within two seconds", async () => {
    using host = hostOfExecutable();
    await host.ask("shutdown");
    const startedAt = performance.now();
    expect(await host.transport.exit).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(3000);
    const { text } = await runAtomic(["sidecar"], { stdin: '{"kind":"request","id":1,"type":"shutdown"}\n{"kind":"request","id":2,"type":"ping"}\n' });
    const both = framesOf(text).slice(1);
    expect(both.map(({ correlationId, ok }) => [correlationId, ok]).toSorted()).toEqual([[1, true], [2, true]]);
  });

  test("S-9 a host that closes stdout ends it with 0", async () => {
    using run = spawnSidecar([executablePath(), "sidecar"]);
    const reader = run.child.stdout.getReader();
    await reader.read();
    await reader.cancel();
    const startedAt = performance.now();
    // Whatever it writes next finds nobody.
    run.child.stdin.write(pingLine(1));
    void run.child.stdin.flush();
    expect(await run.child.exited).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(2500);
  });

  test("S-49 cancel ends every process of a tool", async () => {
    const { call, word } = sleeper();
    using host = hostOfExecutable({ config: { agent: { approvalLevel: 5 } } });
    await host.start([[call], [{ text: "ok" }]]);
    const turn = host.message();
    await until("the command runs", () => isRunning(word));
    await host.ask("cancel", { sessionId: host.sessionId });
    expect((await host.response(turn)).payload?.["reason"]).toBe("cancelled");
    expect(isRunning(word)).toBe(false);
    expect((await host.turn()).payload?.["reason"]).toBe("reply");
    await endsWell(host);
  });

  test("S-67 stdin closed while a tool runs: closing frames, exit 0 within two seconds, no child left", async () => {
    const { call, word } = sleeper();
    using host = hostOfExecutable({ config: { agent: { approvalLevel: 5 } } });
    await host.start([[call]]);
    const turn = host.message();
    await until("the command runs", () => isRunning(word));
    const startedAt = performance.now();
    await endsWell(host);
    expect(performance.now() - startedAt).toBeLessThan(2500);
    expect(host.order(turn).slice(-5)).toEqual(["error(step_error:cancelled,false)", "step_finished", "session_failed", "turn_finished(cancelled)", "R(cancelled)"]);
    expect(isRunning(word)).toBe(false);
  });

  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
    test(`S-69 S02 ${signal} in a turn: closing frames, then ${code}, and the tool's processes are gone`, async () => {
      const { call, word } = sleeper();
      using host = hostOfExecutable({ config: { agent: { approvalLevel: 5 } } });
      await host.start([[call]]);
      const turn = host.message();
      await until("the command runs", () => isRunning(word));
      host.process.signal(signal);
      expect(await host.transport.exit).toBe(code);
      expect(host.order(turn).slice(-4)).toEqual(["step_finished", "session_failed", "turn_finished(cancelled)", "R(cancelled)"]);
      expect(isRunning(word)).toBe(false);
      host.keep();
    });
  }

  test("S-69 S02 a second signal ends it at once; SIGPIPE changes nothing; after SIGCONT the turn goes on", async () => {
    using host = hostOfExecutable();
    await host.start([[{ delayMs: 200 }, { text: "on" }], hang]);
    const turn = host.message();
    await host.event("llm_request");
    for (const signal of ["SIGPIPE", "SIGSTOP", "SIGCONT"] as const) host.process.signal(signal);
    expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
    host.process.signal("SIGTERM");
    host.process.signal("SIGTERM");
    expect(await host.transport.exit).toBe(143);
  });

  test.skipIf(process.platform !== "linux")("S-68 F10 F11 the host is killed, though stdin stays open: all gone within two seconds, and the turn is stored as cancelled", async () => {
    const { call, word } = sleeper();
    using folder = makeWorkspace({ "state/config.json": '{"agent":{"approvalLevel":5}}' });
    mkdirSync(folder.at("workspace"));
    folder.write({ "script.json": JSON.stringify({ steps: [[call]] }) });
    // The shell between us and the sidecar is the host; this process keeps both pipes open.
    using run = spawnSidecar(["/bin/sh", "-c", 'exec 3<&0; "$0" sidecar <&3 & echo $! >&2; wait', executablePath()], { env: { ATOMIC_AGENT_STATE_DIR: folder.at("state") } });
    const send = (type: string, payload: unknown): void => void (run.child.stdin.write(`${JSON.stringify({ kind: "request", id: type, type, payload })}\n`), run.child.stdin.flush());
    const { value } = await run.child.stderr.getReader().read();
    const pid = Number(new TextDecoder().decode(value));
    const reader = run.child.stdout.getReader();
    let seen = "";
    const readUntil = async (word: string): Promise<void> => {
      while (!seen.includes(word)) seen += new TextDecoder().decode((await reader.read()).value);
    };
    send("start_session", { workingDir: folder.at("workspace"), model: `scripted:${folder.at("script.json")}` });
    await readUntil('"correlationId":"start_session","ok":true');
    const sessionId = String(framesOf(seen.slice(0, seen.lastIndexOf("\n") + 1)).at(-1)?.payload?.["sessionId"]);
    send("send_message", { sessionId, text: "go" });
    await until("the command runs", () => isRunning(word));
    const startedAt = performance.now();
    run.child.kill("SIGKILL");
    await until("the sidecar is gone", () => !existsSync(`/proc/${pid}`) || /^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8")));
    expect(performance.now() - startedAt).toBeLessThan(2500);
    expect(isRunning(word)).toBe(false);
    using next = hostInProcess({ folder });
    expect((await next.ask("list_sessions")).payload).toMatchObject({ sessions: [{ id: sessionId, status: "cancelled", lastError: null }] });
    await next.end();
  });

  test("S-68 the sidecar itself is killed in a turn: the next process shows it as interrupted, and goes on with it", async () => {
    using host = hostOfExecutable();
    await host.start([hang]);
    host.message();
    await host.event("assistant_delta");
    host.process.signal("SIGKILL");
    await host.transport.exit;
    host.keep(true);
    using next = hostOfExecutable({ folder: host.folder });
    const { sessionId } = host;
    const interrupted = { status: "cancelled", lastError: "turn interrupted: the agent stopped before it finished" };
    expect((await next.ask("list_sessions")).payload).toMatchObject({ sessions: [{ id: sessionId, ...interrupted, busy: false }] });
    await next.start([[{ text: "on" }]], { resumeSessionId: sessionId });
    expect((await next.ask("get_session", { sessionId })).payload).toMatchObject(interrupted);
    expect((await next.turn()).payload).toMatchObject({ reason: "reply", turnIndex: 1 });
    await endsWell(next);
  });

  test("E04 two sidecars: a session in use is refused with the owner's process id, and taken over when that one was killed", async () => {
    using host = hostOfExecutable();
    await host.start([]);
    using other = hostOfExecutable({ folder: host.folder });
    const payload = { workingDir: host.workingDir, model: host.script([[{ text: "mine" }]]), resumeSessionId: host.sessionId };
    expect((await other.ask("start_session", payload)).error?.message).toBe(`session ${host.sessionId} is in use by process ${host.process.pid}`);
    host.process.signal("SIGKILL");
    await host.transport.exit;
    expect((await other.ask("start_session", payload)).payload).toEqual({ sessionId: host.sessionId, resumed: true });
    await endsWell(other);
  });
});

test("the independent checker takes all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
