// The client against a process that misbehaves: ends, restarts, questions that become void, floods, nonsense.
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { openSidecar, type ApprovalAnswer, type Sidecar, type SidecarEvent, type SidecarOptions } from "../../../src/client/index.ts";
import { limits } from "../../../src/core/limits.ts";
import { until } from "../../support/until.ts";
import { makeWorkspace } from "../../support/workspace.ts";

const command = [process.execPath, join(import.meta.dir, "fake-sidecar.ts")];
const opened: Sidecar[] = [];

function open({ env = {}, ...options }: SidecarOptions = {}): Sidecar {
  const sidecar = openSidecar({ command, env: { PATH: process.env["PATH"], ...env }, ...options });
  opened.push(sidecar);
  return sidecar;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((sidecar) => sidecar.close()));
});

/** Code and message of what an ask was rejected with. */
async function refusal(asked: Promise<unknown>): Promise<{ code: string; message: string; field?: string }> {
  return await asked.then(
    (value) => ({ code: "none", message: JSON.stringify(value) }),
    ({ code, field, message }) => ({ code, message, ...(field === undefined ? {} : { field }) }),
  );
}

const message = (text: string) => ({ sessionId: "s", text });

describe("requests", () => {
  test("are answered each by its own, and a refusal names the field", async () => {
    const sidecar = open();
    const [ping, refused, again] = await Promise.all([sidecar.request("ping"), refusal(sidecar.request("skill_uninstall", { name: "x" })), sidecar.request("ping", {})]);
    expect(ping.ok && again.ok).toBe(true);
    expect(refused).toEqual({ code: "handler_failed", message: "no", field: "name" });
  });

  test("over the line's length, and more than may wait, are refused before they are sent", async () => {
    const sidecar = open();
    expect((await refusal(sidecar.request("skill_uninstall", { name: "x".repeat(limits.inputLineBytesMax) }))).code).toBe("too_long");
    const asked = Array.from({ length: limits.clientRequestsMax + 1 }, () => refusal(sidecar.request("ping")));
    const codes = (await Promise.all(asked)).map(({ code }) => code);
    expect([codes.filter((code) => code === "none").length, codes.at(-1)]).toEqual([limits.clientRequestsMax, "too_many"]);
  });
});

describe("the end of the process", () => {
  test("rejects what waits, closes the dialogs, and starts another", async () => {
    const ends: string[] = [];
    const dialog = Promise.withResolvers<AbortSignal>();
    const sidecar = open({
      onEnd: ({ exitCode, restarted }) => void ends.push(`${exitCode} ${restarted}`),
      onApproval: (_request, signal) => {
        dialog.resolve(signal);
        return new Promise<ApprovalAnswer>(() => undefined);
      },
    });
    const firstPid = (await sidecar.request("ping")) && sidecar.pid;
    const turn = sidecar.turn(message("die while asking"));
    const signal = await dialog.promise;
    expect(signal.aborted).toBe(false);
    const died = await refusal(sidecar.request("skill_uninstall", { name: "die" }));
    expect(died).toEqual({ code: "ended", message: "the sidecar ended with status 7: out of memory" });
    expect([(await refusal(turn.result())).code, signal.aborted]).toEqual(["ended", true]);
    expect((await sidecar.request("ping")).ok).toBe(true);
    expect([ends, sidecar.pid === firstPid]).toEqual([["7 true"], false]);
  });

  test("again and again is given up, and the streams end", async () => {
    const ends: boolean[] = [];
    const sidecar = open({ env: { FAKE_MODE: "dies" }, onEnd: ({ restarted }) => void ends.push(restarted) });
    const events = Array.fromAsync(sidecar.events());
    for (let index = 0; index <= limits.clientRestartsMax; index++) expect((await refusal(sidecar.request("ping"))).code).toBe("ended");
    expect(ends).toEqual([true, true, true, false]);
    expect(await refusal(sidecar.request("ping"))).toEqual({ code: "ended", message: "the sidecar ended with status 7: out of memory" });
    expect([await events, await Array.fromAsync(sidecar.events())]).toEqual([[], []]);
  });

  test("by a wrong configuration or a missing program is told at once", async () => {
    const misconfigured = open({ env: { FAKE_MODE: "misconfigured" } });
    expect(await refusal(misconfigured.request("ping"))).toEqual({ code: "ended", message: "the sidecar ended with status 3: config.json:1:1: wrong" });
    const missing = await refusal(open({ command: ["/nowhere/atomic-agent-sidecar"] }).request("ping"));
    expect([missing.code, missing.message]).toEqual(["not_start", expect.stringContaining("/nowhere/atomic-agent-sidecar could not be started")]);
  });

  test("a program that is no sidecar is ended, and says what it wrote", async () => {
    expect((await refusal(open({ env: { FAKE_MODE: "nonsense" } }).request("ping"))).message).toBe('this is no sidecar; its output has the line "hello, I am a shell"');
  });

  test("closing is done once, and nothing can be asked after it", async () => {
    const sidecar = open();
    const events = Array.fromAsync(sidecar.events());
    const [first, second] = await Promise.all([sidecar.close(), sidecar.close()]);
    expect([first.exitCode, second]).toEqual([0, first]);
    expect([(await refusal(sidecar.request("ping"))).code, await events]).toEqual(["closed", []]);
  });
});

describe("questions", () => {
  test("are answered with what the host says; to throw, or to have nobody, is to deny", async () => {
    const cases: [SidecarOptions, object][] = [
      [{ onApproval: ({ tool }) => ({ approved: true, reason: tool, grant: "session" }) }, { approvalId: "a", approved: true, reason: "fs.write", grant: "session" }],
      [{ onApproval: () => Promise.reject(new Error("no window")) }, { approvalId: "a", approved: false, reason: "the host could not ask: no window" }],
      [{}, { approvalId: "a", approved: false, reason: "this host has nobody to ask" }],
    ];
    for (const [options, answer] of cases) {
      const sidecar = open(options);
      expect((await sidecar.turn(message("ask")).result()).reason).toBe("reply");
      expect(JSON.parse((await sidecar.request("ping")).stateDir)).toEqual([answer]);
    }
  });

  test("one that was withdrawn is closed, and a late answer is not sent", async () => {
    const answer = Promise.withResolvers<ApprovalAnswer>();
    const reasons: unknown[] = [];
    const sidecar = open({
      onApproval: (_request, signal) => {
        signal.addEventListener("abort", () => reasons.push(signal.reason));
        return answer.promise;
      },
    });
    await sidecar.turn(message("withdraw")).result();
    answer.resolve({ approved: true });
    await answer.promise;
    expect([reasons, (await sidecar.request("ping")).stateDir]).toEqual([["expired"], "[]"]);
  });
});

describe("events", () => {
  test("of a turn come in order and end with it; other streams see them too, and types that nobody knows yet", async () => {
    const sidecar = open();
    const all = sidecar.events();
    const turn = sidecar.turn(message("flood:3000"));
    const seen: SidecarEvent[] = [];
    const following = (async () => {
      for await (const event of all) if (seen.push(event) === 3001) break;
    })();
    const own = await Array.fromAsync(turn);
    expect(own.map((event) => (event.type === "assistant_delta" ? Number.parseInt(event.payload.text, 10) : -1))).toEqual(Array.from({ length: 3000 }, (_, index) => index));
    const unknown = await Array.fromAsync(sidecar.turn(message("unknown")));
    expect(unknown.map(({ type }) => String(type))).toEqual(["from_the_future"]);
    await following;
    expect(seen).toEqual([...own, ...unknown]);
  });

  test("right behind a response are seen by who looks for them once it is there", async () => {
    const sidecar = open();
    await sidecar.turn(message("behind")).result();
    for await (const event of sidecar.events()) {
      expect(event).toMatchObject({ type: "log", payload: { message: "behind" } });
      break;
    }
  });

  test("a reader that stops stops the sidecar, and loses nothing", async () => {
    using place = makeWorkspace();
    const progress = place.at("progress");
    const sidecar = open({ env: { FAKE_PROGRESS: progress } });
    const total = 60_000;
    const reading = sidecar.turn(message(`flood:${total}`))[Symbol.asyncIterator]();
    await reading.next();
    const written = (): number => (existsSync(progress) ? statSync(progress).size : 0);
    let [last, same] = [0, 0];
    await until("the sidecar waits", () => {
      same = written() === last ? same + 1 : 0;
      last = written();
      return last > 0 && same > 100;
    });
    expect(written()).toBeLessThan(total / 1000 / 2);
    // Who asks in between is answered, though the answer stands behind all that: it has to be read first.
    let count = 1;
    const ping = sidecar.request("ping");
    for (let next = await reading.next(); !next.done; next = await reading.next()) count++;
    expect([count, (await ping).ok]).toEqual([total, true]);
  });

  test("a turn whose events nobody reads ends all the same, and so does one that was left", async () => {
    const sidecar = open();
    expect((await sidecar.turn(message("flood:20000")).result()).reason).toBe("reply");
    const left = sidecar.turn(message("flood:20000"));
    for await (const event of left) if (event.type === "assistant_delta") break;
    expect((await left.result()).reason).toBe("reply");
  });
});
