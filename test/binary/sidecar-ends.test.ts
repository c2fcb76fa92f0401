// Settings of the executable and how its process ends, with what it takes along: signals, lost hosts, closed pipes (sidecar.md 1.1, 5.13, 10; S-65 to S-69).
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { executablePath, makeHome, runAtomic } from "../support/atomic.ts";
import { isObject } from "../support/json-checker/values.ts";
import { running, sleeper } from "../support/processes.ts";
import { closing, endsWell, hang, ok, payloadsOf, question, shell, stateOf, turnsOf, within, write } from "../support/sidecar-calls.ts";
import { checkSeen, framesOf, hostOfExecutable, type SidecarHost, spawnSidecar } from "../support/sidecar-host.ts";
import { lineReader } from "../support/sidecar-pipe.ts";
import { until } from "../support/until.ts";
import { makeWorkspace } from "../support/workspace.ts";

const fullTrust = { config: { agent: { approvalLevel: 5 } } };
const isLinux = process.platform === "linux";

/** A host whose turn runs a command, with that command's word. */
async function inTool(options: { command?: (word: string) => string } = {}): Promise<{ host: ReturnType<typeof hostOfExecutable>; turn: string | number; word: string }> {
  const { command, word } = sleeper();
  const host = hostOfExecutable(fullTrust);
  await host.start([[shell(options.command?.(word) ?? `${command} & ${command}`)]]);
  const turn = host.message();
  await until("the command runs", () => running(word) > 0);
  return { host, turn, word };
}

const responses = (host: SidecarHost, ids: readonly (string | number)[]): unknown => host.frames.filter(({ correlationId, kind }) => kind === "response" && ids.includes(correlationId ?? "")).map(({ correlationId }) => correlationId);

test("S-65 a wrong type ends it with 3, path:line:column and nothing on stdout; an unknown key is told on stderr alone", async () => {
  for (const [config, code, said] of [
    ['{\n  "agent": {"maxSteps": "x"} }', 3, /state\/config\.json:2:\d+: /],
    ['{\n\n"log":{"level":"loud"}}', 3, /state\/config\.json:3:\d+: /],
    ['{"agent":', 3, /state\/config\.json:1:\d+: /],
    ['{"agent":{"maxStep":3}}', 0, /agent\.maxSteps/],
    ["\ufeff{ // a comment\n }", 0, /^$/],
  ] as const) {
    using home = makeHome();
    home.folder.write({ "state/config.json": config });
    const { exitCode, stderr, text } = await runAtomic(["sidecar"], { home, stdin: "" });
    expect([config, exitCode, framesOf(text).map(({ type }) => type)]).toEqual([config, code, code === 3 ? [] : ["log"]]);
    expect(stderr).toMatch(said);
    expect(readFileSync(`${home.state}/config.json`, "utf8")).toBe(config);
  }
});

test("S-65 the environment beats the file, a bad value of it ends it with 3 naming the variable, and .env of the folder counts for nothing", async () => {
  const port = async (options: { env?: { [name: string]: string }; config?: string; dotEnv?: string }): Promise<unknown> => {
    using home = makeHome();
    using folder = makeWorkspace(options.dotEnv === undefined ? {} : { ".env": options.dotEnv, ".env.local": options.dotEnv });
    if (options.config !== undefined) home.folder.write({ "state/config.json": options.config });
    const { exitCode, stderr, text } = await runAtomic(["sidecar"], { home, stdin: "", cwd: folder.path, ...(options.env ? { env: options.env } : {}) });
    const context = text === "" ? undefined : framesOf(text)[0]?.payload?.["context"];
    return exitCode === 0 && isObject(context) ? context["llamaUrl"] : { exitCode, stderr, text };
  };
  const name = "ATOMIC_AGENT_LOCAL_MODELS_MANAGED_PORT";
  const config = '{"localModels":{"mode":"managed","managed":{"port":7001}}}';
  expect(await port({ config })).toBe("http://127.0.0.1:7001");
  expect(await port({ config, env: { [name]: "7002" } })).toBe("http://127.0.0.1:7002");
  expect(await port({ config, env: { [name]: "" } })).toBe("http://127.0.0.1:7001");
  expect(await port({ config, dotEnv: `${name}=7003\n` })).toBe("http://127.0.0.1:7001");
  expect(await port({ config, env: { [name]: "many" } })).toEqual({ exitCode: 3, stderr: expect.stringContaining(name), text: "" });
});

test("S-66 F05 shutdown when idle answers {ok:true}; exit 0 at once when stdin closes, else within two seconds; what is asked in between finds no session", async () => {
  const { text } = await runAtomic(["sidecar"], { stdin: '{"kind":"request","id":1,"type":"shutdown"}\n{"kind":"request","id":2,"type":"ping"}\n' });
  expect(framesOf(text).slice(1).map(({ correlationId, ok: isOk }) => [correlationId, isOk]).toSorted()).toEqual([[1, true], [2, true]]);
  await within(3000, async () => {
    using host = hostOfExecutable();
    await host.start([]);
    const asked = [host.send("shutdown"), host.send("shutdown"), host.send("ping")];
    for (const id of asked) expect((await host.response(id)).payload).toMatchObject({ ok: true });
    const startedAt = performance.now();
    expect((await host.ask("start_session", { workingDir: host.workingDir })).error?.message).toBe("shutting down");
    expect((await host.ask("send_message", { sessionId: host.sessionId, text: "x" })).error?.message).toBe(`no active session with id ${host.sessionId}`);
    expect([(await stateOf(host)), (await host.ask("cancel", { sessionId: host.sessionId })).payload]).toEqual([null, { cancelled: false }]);
    expect(await host.transport.exit).toBe(0);
    host.keep();
    return performance.now() - startedAt;
  });
});

test("S-66 shutdown in a turn: closing frames, the response of the turn and of what waits, then that of the shutdown; an open question is withdrawn", async () => {
  using host = hostOfExecutable();
  await host.start([[write("a")]]);
  const ids = [host.message("a"), host.message("b")];
  await question(host, 0);
  ids.push(host.send("shutdown"));
  expect((await host.response(ids[2] ?? "")).payload).toEqual({ ok: true });
  expect(host.order(ids[0] ?? "").slice(-7)).toEqual(["approval_withdrawn(shutdown)", "tool_call_result(fs.write,error)", "error(step_error:cancelled,false)", ...closing]);
  expect([host.order(ids[1] ?? ""), responses(host, ids)]).toEqual([["R(cancelled,unstarted)"], ids]);
  await within(2000, async () => {
    const startedAt = performance.now();
    await endsWell(host);
    return performance.now() - startedAt;
  });
  expect(existsSync(host.folder.at("state/sessions.sqlite-wal"))).toBe(false);
});

test.skipIf(!isLinux)("S-67 stdin closed in a turn: closing frames, exit 0 within two seconds, and no child left", async () => {
  await within(2000, async () => {
    const { host, turn, word } = await inTool();
    using _host = host;
    const startedAt = performance.now();
    await endsWell(host);
    const durationMs = performance.now() - startedAt;
    expect(host.order(turn).slice(-6)).toEqual(["tool_call_result(shell.run,error)", "error(step_error:cancelled,false)", ...closing]);
    expect(running(word)).toBe(0);
    return durationMs;
  });
});

test("S-67 requests sent and stdin closed at once: every one is answered", async () => {
  using host = hostOfExecutable();
  await host.start([hang]);
  const turn = host.message();
  await host.event("assistant_delta");
  const { sessionId, workingDir } = host;
  const asked = host.sendAll([["ping"], ["get_session", { sessionId }], ["send_message", { sessionId, text: "b" }], ["start_session", { workingDir, model: host.script([]) }], ["models_list"], ["list_sessions"], ["skill_list"], ["set_model", { model: "none" }], ["shutdown"], ["cancel", { sessionId }]]);
  await endsWell(host);
  for (const id of [turn, ...asked]) expect([id, host.frames.filter(({ kind, correlationId }) => kind === "response" && correlationId === id).length]).toEqual([id, 1]);
  // The same without a session, all in one piece, the last line without its end.
  const lines = Array.from({ length: 200 }, (_, id) => JSON.stringify({ kind: "request", id, type: ["ping", "skill_list", "models_list", "list_sessions", "cancel"][id % 5] }));
  const { exitCode, text } = await runAtomic(["sidecar"], { stdin: lines.join("\n") });
  expect(exitCode).toBe(0);
  expect(framesOf(text).filter(({ kind }) => kind === "response").map(({ correlationId }) => Number(correlationId)).toSorted((a, b) => a - b)).toEqual(lines.map((_, id) => id));
});

test.skipIf(!isLinux)("S-68 F10 F11 the host is killed, though something else holds its pipes: all is gone within two seconds, and the turn is stored as cancelled", async () => {
  await within(2000, async () => {
    const { command, word } = sleeper();
    using folder = makeWorkspace({ "state/config.json": '{"agent":{"approvalLevel":5}}', "workspace/": "", "script.json": "" });
    folder.write({ "script.json": JSON.stringify({ steps: [[shell(`(setsid ${command} &); ${command}`)]] }) });
    // The shell between us and the sidecar is the host; this process keeps both pipes open.
    using run = spawnSidecar(["/bin/sh", "-c", 'exec 3<&0; "$0" sidecar <&3 & echo $! >&2; wait', executablePath()], { env: { ATOMIC_AGENT_STATE_DIR: folder.at("state") } });
    const send = (type: string, payload: unknown): void => void (run.child.stdin.write(`${JSON.stringify({ kind: "request", id: type, type, payload })}\n`), run.child.stdin.flush());
    const { value } = await run.child.stderr.getReader().read();
    const pid = Number(new TextDecoder().decode(value));
    const output = lineReader(run.child.stdout);
    send("start_session", { workingDir: folder.at("workspace"), model: `scripted:${folder.at("script.json")}` });
    const sessionId = (await output.until(({ kind }) => kind === "response")).at(-1)?.payload?.["sessionId"];
    send("send_message", { sessionId, text: "go" });
    await until("the commands run", () => running(word) === 2);
    const startedAt = performance.now();
    run.child.kill("SIGKILL");
    await until("all of it is gone", () => running(word) === 0 && (!existsSync(`/proc/${pid}`) || /^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))));
    const durationMs = performance.now() - startedAt;
    using next = hostOfExecutable({ folder });
    expect((await next.ask("list_sessions")).payload).toMatchObject({ sessions: [{ id: sessionId, status: "cancelled", lastError: null, busy: false }] });
    await next.end();
    return durationMs;
  });
});

test("S-68 the sidecar is killed in a turn: the next process shows the session as cancelled with the interruption text, and goes on with it", async () => {
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
  expect(await stateOf(next)).toMatchObject(interrupted);
  expect((await next.turn()).payload).toMatchObject({ reason: "reply", turnIndex: 1 });
  expect((await turnsOf(next)).filter(({ kind }) => kind === "user").length).toBe(2);
  await endsWell(next);
});

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  test.skipIf(!isLinux)(`S-69 S02 ${signal} in a turn: closing frames, then exit ${code}, and the tool's processes are gone`, async () => {
    const { host, turn, word } = await inTool();
    using _host = host;
    host.process.signal(signal);
    expect(await host.transport.exit).toBe(code);
    expect(host.order(turn).slice(-5)).toEqual(["error(step_error:cancelled,false)", ...closing]);
    expect(running(word)).toBe(0);
    host.keep();
  });
}

test.skipIf(!isLinux)("S-69 S02 SIGTERM twice ends it at once, also while a tool ignores its end", async () => {
  const { host, word } = await inTool({ command: (word) => `trap '' TERM INT; sleep ${word}` });
  using _host = host;
  host.process.signal("SIGTERM");
  host.process.signal("SIGTERM");
  expect(await host.transport.exit).toBe(143);
  await until("the command is gone", () => running(word) === 0);
});

test.skipIf(!isLinux)("S-69 SIGPIPE changes nothing, and after SIGCONT a turn goes on", async () => {
  using host = hostOfExecutable();
  await host.start([[{ delayMs: 200 }, { text: "on" }], ok]);
  const turn = host.message();
  await host.event("llm_request");
  for (const signal of ["SIGPIPE", "SIGSTOP", "SIGCONT"] as const) host.process.signal(signal);
  expect((await host.response(turn)).payload?.["reason"]).toBe("reply");
  await endsWell(host);
});

test("E04 two sidecars: a session in use is refused with the owner's process id, and taken over when that one was killed", async () => {
  using host = hostOfExecutable();
  await host.start([]);
  using other = hostOfExecutable({ folder: host.folder });
  const payload = { workingDir: host.workingDir, model: host.script([[{ text: "mine" }]]), resumeSessionId: host.sessionId };
  expect((await other.ask("start_session", payload)).error?.message).toBe(`session ${host.sessionId} is in use by process ${host.process.pid}`);
  expect(payloadsOf(other, "session_started")).toEqual([]);
  host.process.signal("SIGKILL");
  await host.transport.exit;
  expect((await other.ask("start_session", payload)).payload).toEqual({ sessionId: host.sessionId, resumed: true });
  await endsWell(other);
});

test("the checkers take all of these streams", () => {
  expect(checkSeen()).toEqual([]);
});
