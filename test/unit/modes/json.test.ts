// The JSON stream around a scripted session: header, outcome, exit status, commands, and every way to end early. Each stream
// goes through the checker of the contract.
import { describe, expect, test } from "bun:test";
import { AgentError } from "../../../src/core/error.ts";
import { runJsonMode } from "../../../src/modes/json.ts";
import type { DrivenSession } from "../../../src/modes/prompt-run.ts";
import type { TurnOutcome } from "../../../src/session/session.ts";
import { fakeWatch } from "./fake-watch.ts";
import { type Answer, FakeSession, header, play, settled } from "./play-json.ts";

const bad = (outcome: TurnOutcome): Answer => ({ outcome, stop: "error" });
const commands = (text: string): ReadableStream<Uint8Array> => new Blob([text]).stream();

describe("a stream", () => {
  test("header first, agent_settled last, exit 0", async () => {
    const played = await play({});
    expect(played.events.map(({ type }) => type)).toEqual(["session", "agent_start", "turn_start", "message_start", "message_end", "message_start", "message_end", "turn_end", "agent_end", "agent_settled"]);
    expect([played.exitCode, played.session?.calls, played.warnings]).toEqual([0, ["close"], []]);
    expect(played.lines.at(-1)).toMatch(/^\{"type":"agent_settled","outcome":"ok","exitCode":0,"usage":\{"input":3,.*\},"durationMs":\d+\}$/);
  });

  test("the header is out before the prompts are read", async () => {
    const first = Promise.withResolvers<string>();
    const watch = fakeWatch();
    const done = runJsonMode({
      output: async (bytes) => {
        first.resolve(Buffer.from(bytes).toString());
        return bytes.length;
      },
      header,
      updates: "snapshot",
      readPrompts: async () => {
        expect(await first.promise).toBe(`${JSON.stringify(header)}\n`);
        return [];
      },
      openSession: () => Promise.reject(new Error("nobody opens it")),
      watch,
      warn: () => {},
      now: Date.now,
    });
    expect(await done).toBe(0);
  });

  test("nothing but white space: empty, exit 0, no session", async () => {
    const played = await play({ prompts: [" \n\t", ""] });
    expect([played.events.map(({ type }) => type), settled(played).outcome, played.exitCode, played.session]).toEqual([["session", "agent_settled"], "empty", 0, undefined]);
  });

  test("prompts run in one session; the first bad outcome wins, and later prompts still run", async () => {
    const rows: [Answer[], string, number][] = [
      [[{ outcome: "ok", stop: "stop" }, { outcome: "length", stop: "length" }, { outcome: "ok", stop: "stop" }], "length", 0],
      [[bad("error"), { outcome: "ok", stop: "stop" }, bad("error")], "error", 1],
      [[{ outcome: "length", stop: "length" }, bad("error"), { outcome: "ok", stop: "stop" }], "error", 1],
    ];
    for (const [answers, outcome, exitCode] of rows) {
      const played = await play({ prompts: ["a", "b", "c"], answers });
      expect([played.session?.seen, settled(played).outcome, played.exitCode]).toEqual([["a", "b", "c"], outcome as never, exitCode]);
    }
  });

  test("a session that can't be opened shows as a failed turn", async () => {
    const played = await play({ openSession: () => Promise.reject(new AgentError("model_missing", "no model: run\nsomething")) });
    const answer = played.events.findLast((event) => event.type === "message_end");
    expect(answer).toMatchObject({ message: { stopReason: "error", errorMessage: "no model: run something", errorKind: "model_missing", provider: "scripted", model: "m" } });
    expect([settled(played).outcome, played.exitCode]).toEqual(["error", 1]);
  });

  test("prompts that can't be read show as a failed turn", async () => {
    const played = await play({ readPrompts: () => Promise.reject(new Error("stdin broke")) });
    expect([settled(played).outcome, played.exitCode, played.session]).toEqual(["error", 1, undefined]);
  });

  test("a session that throws ends the stream all the same", async () => {
    const played = await play({
      unchecked: true,
      openSession: async (emit) => {
        const session = new FakeSession([], emit, () => {});
        session.prompt = () => Promise.reject(new Error("a fault"));
        return session;
      },
    });
    expect([settled(played).outcome, played.exitCode, played.warnings]).toEqual(["error", 1, ["a fault"]]);
  });
});

describe("ends", () => {
  test("a signal decides the status; later prompts are skipped", async () => {
    for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
      const played = await play({ prompts: ["a", "b"], answers: ["until aborted"], onPrompt: (watch) => watch.signal(signal) });
      expect([played.exitCode, settled(played).outcome, settled(played).exitCode, played.session?.seen, played.session?.calls]).toEqual([code, "aborted", code, ["a"], ["abort signal", "close"]]);
      expect(played.lines.some((line) => line.includes(`"errorMessage":"stopped by ${signal}"`))).toBe(true);
    }
  });

  test("a lost parent counts as SIGHUP", async () => {
    const played = await play({ answers: ["until aborted"], onPrompt: (watch) => watch.loseParent() });
    expect([played.exitCode, settled(played).outcome]).toEqual([129, "aborted"]);
  });

  test("a signal before the session is open: no events, and what opens later is closed", async () => {
    const late = Promise.withResolvers<DrivenSession>();
    const watch = fakeWatch();
    const session = new FakeSession([], () => {}, () => {});
    const played = await play({
      watch,
      openSession: () => {
        watch.signal("SIGTERM");
        return late.promise;
      },
    });
    late.resolve(session);
    await late.promise;
    await Promise.resolve();
    expect([played.events.map(({ type }) => type), played.exitCode, session.calls]).toEqual([["session", "agent_settled"], 143, ["close"]]);
  });

  test("a signal while stdin is read ends the reading", async () => {
    const watch = fakeWatch();
    let stopped = false;
    const played = await play({
      watch,
      readPrompts: (signal) => {
        signal.addEventListener("abort", () => (stopped = true));
        watch.signal("SIGINT");
        return new Promise(() => {});
      },
    });
    expect([played.exitCode, stopped, settled(played).outcome]).toEqual([130, true, "aborted"]);
  });

  test("a timeout has its own outcome and status 1", async () => {
    const played = await play({
      answers: ["until aborted"],
      timeoutMs: 20,
      openSession: async (emit) => {
        const session = new FakeSession(["until aborted"], emit, () => {});
        const { prompt } = session;
        session.prompt = async (content) => ((await prompt.call(session, content)) === "aborted" ? "timeout" : "error");
        return session;
      },
    });
    expect([played.exitCode, settled(played).outcome]).toEqual([1, "timeout"]);
  });

  test("a session that ignores the abort is left behind in time", async () => {
    const started = performance.now();
    const played = await play({ unchecked: true, answers: ["hangs"], onPrompt: (watch) => watch.signal("SIGTERM") });
    expect([played.exitCode, settled(played).outcome, played.watch.exits]).toEqual([143, "aborted", [143]]);
    expect(performance.now() - started).toBeLessThan(2000);
  });

  test("a signal after an abort that is not heard shortens the wait", async () => {
    const started = performance.now();
    const played = await play({
      unchecked: true,
      answers: ["hangs"],
      commands: commands('{"type":"abort"}'),
      onPrompt: (watch) => void setTimeout(() => watch.signal("SIGTERM"), 50),
    });
    expect([played.exitCode, played.watch.exits]).toEqual([143, [143]]);
    expect(performance.now() - started).toBeLessThan(2500);
  });

  test("a reader that goes away ends the run with 1 and says nothing", async () => {
    const watch = fakeWatch();
    const warnings: string[] = [];
    let session: FakeSession | undefined;
    let writes = 0;
    const exitCode = await runJsonMode({
      output: async (bytes, offset) => {
        if (writes++ > 0) throw Object.assign(new Error("EPIPE"), { code: "EPIPE" });
        return bytes.length - offset;
      },
      header,
      updates: "delta",
      readPrompts: async () => [[{ type: "text", text: "hi" }]],
      openSession: async (emit) => (session = new FakeSession(["until aborted"], emit, () => {})),
      watch,
      warn: (message) => warnings.push(message),
      now: Date.now,
    });
    expect([exitCode, warnings, session?.calls, watch.exits]).toEqual([1, [], ["abort reader_gone", "close"], []]);
  });

  test("a full disk behind stdout ends the run with 1 and is told", async () => {
    const full = () => Promise.reject(Object.assign(new Error("no space left"), { code: "ENOSPC" }));
    const played = await play({ unchecked: true, answers: ["until aborted"], output: full });
    expect([played.exitCode, played.warnings]).toEqual([1, ["stdout can't be written: no space left"]]);
  });

  test("a reader that takes its time gets everything; one that is stuck can't outlast a signal", async () => {
    const watch = fakeWatch();
    const release = Promise.withResolvers<void>();
    const slow: string[] = [];
    const done = play({
      watch,
      output: async (bytes, offset) => {
        await release.promise;
        slow.push(Buffer.from(bytes.slice(offset)).toString());
        return bytes.length - offset;
      },
      unchecked: true,
    });
    await Bun.sleep(50);
    release.resolve();
    expect([(await done).exitCode, slow.join("").trimEnd().split("\n").length]).toEqual([0, 10]);
    const stuckWatch = fakeWatch();
    const stuck = play({ watch: stuckWatch, output: () => new Promise(() => {}), unchecked: true });
    await Bun.sleep(50);
    stuckWatch.signal("SIGTERM");
    await stuck;
    expect(stuckWatch.exits).toEqual([0]);
  });
});

describe("stdin commands", () => {
  test("are handled in order; bad ones are told on stderr and change nothing", async () => {
    const text = ['\ufeff{"type":"steer","text":"a"}', "", "not json", '{"type":"steer"}', '{"type":"dance"}', "[]", '{"type":"follow_up","text":"b\u2028c"}\r', '{"type":"compact"}', '{"type":"abort"}'].join("\n");
    const played = await play({ prompts: ["x", "y"], answers: ["until aborted"], commands: commands(text) });
    expect(played.session?.calls).toEqual(["steer a", "follow_up b\u2028c", "compact", "abort command", "close"]);
    expect([played.session?.seen, played.exitCode, settled(played).outcome]).toEqual([["x"], 1, "aborted"]);
    expect(settled(played).undelivered).toEqual({ steering: [], followUp: ["b\u2028c"] });
    expect(played.warnings.map((warning) => warning.slice(0, 28))).toEqual(["stdin command ignored: not J", "stdin command ignored: text:", "stdin command ignored: type:", "stdin command ignored: Inval"]);
  });

  test("a signal after an abort command still decides the status", async () => {
    const played = await play({ answers: ["until aborted"], commands: commands('{"type":"abort"}'), onPrompt: (watch) => watch.signal("SIGINT") });
    expect(played.exitCode).toBe(130);
  });

  test("the end of stdin ends nothing, and an open stdin keeps nothing open", async () => {
    expect((await play({ commands: commands("") })).exitCode).toBe(0);
    let cancelled = false;
    const open = new ReadableStream<Uint8Array>({ cancel: () => void (cancelled = true) });
    expect([(await play({ commands: open })).exitCode, cancelled]).toEqual([0, true]);
  });
});
