// The library for hosts against the executable: as a package, in Bun from its sources and in Node from what the build makes.
import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { buildClient } from "../../build/client.ts";
import { executablePath, repositoryRoot } from "../support/atomic.ts";
import { writeScript } from "../support/scripted.ts";
import { makeWorkspace, type Workspace } from "../support/workspace.ts";

const source = await Bun.file(join(import.meta.dir, "client-host.ts")).text();

/** Another project that depends on this package. */
function makeProject(): Workspace {
  const place = makeWorkspace({ "package.json": JSON.stringify({ type: "module" }), "node_modules/": "", "workspace/": "", "host.ts": source, "host.mjs": new Bun.Transpiler({ loader: "ts" }).transformSync(source) });
  symlinkSync(repositoryRoot, place.at("node_modules/atomic"));
  return place;
}

beforeAll(async () => await buildClient());

describe("atomic/sidecar", () => {
  test.each(["node", "bun"])("in %s: turns, questions, steering, cancel, a death and a resumed session", async (runtime) => {
    using place = makeProject();
    const chat = writeScript(place.at("chat.json"), {
      steps: [
        [{ call: "fs.write", args: { path: "a.txt", content: "a" } }, { call: "fs.write", args: { path: "b.txt", content: "b" } }],
        [{ text: "Both are written.", chunk: 5 }],
      ],
    });
    const hanging = writeScript(place.at("hanging.json"), { steps: [[{ text: "On and on", chunk: 3 }, { hang: true }], [{ text: "no" }]] });
    const host = Bun.spawn([runtime === "node" ? "node" : process.execPath, "host.mjs", executablePath(), place.at("workspace"), chat, hanging], {
      cwd: place.path,
      env: { PATH: process.env["PATH"], HOME: place.path, ATOMIC_AGENT_STATE_DIR: place.at("state") },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, status] = await Promise.all([host.stdout.text(), host.stderr.text(), host.exited]);
    expect([status, stderr]).toEqual([0, ""]);
    const { types, ...seen } = JSON.parse(stdout) as { types: string[] };
    expect(seen as object).toEqual({
      capable: true,
      asked: ["fs_write_workspace 1 true"],
      shown: "Both are written.",
      reason: "reply",
      unknown: null,
      refused: "handler_failed workingDir",
      steered: { steered: true },
      cancelled: true,
      stopped: "cancelled",
      lost: "ended",
      resumed: [true, true, 1],
      exitCode: 0,
      invalid: [],
      enough: true,
    });
    expect([types[0], types.at(-1)]).toEqual(["user_message", "turn_finished"]);
    expect([place.read("workspace/a.txt"), place.read("workspace/b.txt")]).toEqual(["a", "b"]);
  });

  test("has types for a project of Node's, and they refuse what is wrong", () => {
    using place = makeProject();
    place.write({ "wrong.ts": 'import { openSidecar } from "atomic/sidecar";\nvoid openSidecar().request("cancel");\nvoid openSidecar().request("start_session", { workingDir: 1 });\nvoid openSidecar().request("ping");\n' });
    symlinkSync(join(repositoryRoot, "node_modules/@types"), place.at("node_modules/@types"));
    // The program that the page for host authors shows, with what a host has of its own.
    const own = "declare const log: { write(text: string): void };\ndeclare function askPerson(request: object, signal: AbortSignal): Promise<{ approved: boolean }>;\ndeclare function tellPerson(message: string, restarted: boolean): void;\ndeclare function show(text: string): void;\n";
    const [, shown = ""] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(repositoryRoot, "docs/hosts.md"), "utf8")) ?? [];
    expect(shown).toContain("openSidecar(");
    place.write({ "page.ts": own + shown });
    const check = (...files: string[]): string => {
      const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "esnext", "--module", "nodenext", "--types", "node", ...files];
      return Bun.spawnSync([process.execPath, join(repositoryRoot, "node_modules/typescript/bin/tsc"), ...options], { cwd: place.path }).stdout.toString();
    };
    expect(check("host.ts", "page.ts")).toBe("");
    expect([...check("wrong.ts").matchAll(/wrong\.ts\((\d+),\d+\): error (TS\d+)/g)].map(([, line, code]) => `${line} ${code}`)).toEqual(["2 TS2554", "3 TS2322"]);
  });
});
