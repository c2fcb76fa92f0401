// A host written from the protocol's page alone runs unchanged against the executable under the name atomic-agent-sidecar.
import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { executablePath } from "../support/atomic.ts";
import { writeScript } from "../support/scripted.ts";
import { makeWorkspace } from "../support/workspace.ts";

const model = {
  steps: [
    [{ call: "fs.write", args: { path: "note.txt", content: "written\n" } }],
    [{ text: "Done: the note is there.", chunk: 4 }],
  ],
};

interface Seen {
  ping: { ok: boolean; version: string; llamaUrl: string; stateDir: string };
  sessionId: string;
  result: { reason: string; turnCount: number; stepCount: number };
  seen: { [type: string]: number };
  [name: string]: unknown;
}

describe("the page's minimal session", () => {
  test.each(["node", "bun"])("in %s: ping, start, send, approve, cancel, shut down", async (runtime) => {
    using place = makeWorkspace({ "workspace/": "", "bin/": "", "state/config.json": JSON.stringify({ agent: { approvalLevel: 1 } }) });
    const program = place.at("bin/atomic-agent-sidecar");
    symlinkSync(executablePath(), program);
    // Node runs JavaScript: the types are taken out, nothing else.
    const source = await Bun.file(join(import.meta.dir, "seed-host.ts")).text();
    place.write({ "seed-host.mjs": new Bun.Transpiler({ loader: "ts" }).transformSync(source) });
    const fields = JSON.stringify({ model: writeScript(place.at("script.json"), model) });
    const host = Bun.spawn([runtime === "node" ? "node" : process.execPath, place.at("seed-host.mjs"), program, place.at("workspace"), "Write a note.", fields], {
      env: { PATH: process.env["PATH"], HOME: place.path, ATOMIC_AGENT_STATE_DIR: place.at("state") },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, status] = await Promise.all([host.stdout.text(), host.stderr.text(), host.exited]);
    expect([status, stderr]).toEqual([0, ""]);
    const { ping, result, seen, sessionId, ...rest } = JSON.parse(stdout) as Seen;
    expect(ping).toMatchObject({ ok: true, version: "0.1.0", llamaUrl: expect.stringMatching(/^http:/), stateDir: place.at("state") });
    expect(sessionId).toMatch(/^s-[0-9a-f-]{36}$/);
    expect(result).toMatchObject({ reason: "reply", turnCount: 1, stepCount: 2 });
    expect(rest).toEqual({
      cancelled: { cancelled: true, wasRunning: false, queued: 0 },
      refused: "no handler for request type: run_step",
      ended: { ok: true },
      shown: "Done: the note is there.",
      reply: "Done: the note is there.",
      exitCode: 0,
    });
    expect(seen).toMatchObject({ session_started: 1, user_message: 1, turn_started: 1, step_started: 2, step_finished: 2, approval_request: 1, tool_call_started: 2, tool_call_result: 2, assistant_reply: 1, turn_finished: 1 });
    expect(place.read("workspace/note.txt")).toBe("written\n");
  });
});
