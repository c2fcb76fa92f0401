// The plain Node scripts that run before anything is installed: build/bun.mjs and build/start.mjs, in a small project of
// their own whose executable is a shell script.
import { describe, expect, test } from "bun:test";
import { chmodSync, cpSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { sourceHash } from "../../../build/source-hash.mjs";
import { makeWorkspace, type Workspace } from "../../support/workspace.ts";

const buildDir = resolve(import.meta.dir, "../../../build");
const catalog = { models: [{ name: "small", file: "small.gguf" }, { name: "usual", default: true, file: "usual.gguf" }] };

/** A project with packages in place and an executable that was built from its sources. */
function makeProject(executable = 'echo "$PWD: $*"'): Workspace {
  const workspace = makeWorkspace({
    "project/package.json": "{}",
    "project/package-lock.json": '{"packages":{"":{},"node_modules/a":{"version":"1.0.0"},"node_modules/b":{"version":"2.0.0","optional":true}}}',
    "project/node_modules/.package-lock.json": '{"packages":{"node_modules/a":{"version":"1.0.0"}}}',
    "project/models/catalog.json": JSON.stringify(catalog),
    "project/dist/atomic": `#!/bin/sh\n${executable}\n`,
    "elsewhere/": "",
    "home/": "",
  });
  for (const name of ["bun.mjs", "start.mjs", "setup.mjs", "source-hash.mjs"]) cpSync(join(buildDir, name), workspace.at(`project/build/${name}`));
  chmodSync(workspace.at("project/dist/atomic"), 0o755);
  markBuilt(workspace);
  return workspace;
}

function markBuilt(workspace: Workspace): void {
  workspace.write({ "project/dist/build.json": JSON.stringify({ sourceHash: sourceHash(workspace.at("project")) }) });
}

/** Puts a shell script where Bun's binary is looked for. */
function putBun(workspace: Workspace, script: string): void {
  const cpu = process.arch === "arm64" ? "aarch64" : process.arch;
  const path = `project/node_modules/@oven/bun-${process.platform}-${cpu}/bin/bun`;
  workspace.write({ [path]: `#!/bin/sh\n${script}\n` });
  chmodSync(workspace.at(path), 0o755);
}

/** Puts a shell script in npm's place. */
function putNpm(workspace: Workspace, script: string): { [name: string]: string } {
  workspace.write({ "bin/npm": `#!/bin/sh\n${script}\n` });
  chmodSync(workspace.at("bin/npm"), 0o755);
  return { PATH: `${workspace.at("bin")}:${process.env["PATH"]}` };
}

function start(workspace: Workspace, script: "bun.mjs" | "start.mjs", args: readonly string[], env: { [name: string]: string } = {}) {
  const kept = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|ATOMIC_|BUN_|INIT_CWD)/.test(name)));
  return Bun.spawn(["node", workspace.at(`project/build/${script}`), ...args], {
    cwd: workspace.at("project"),
    env: { ...kept, HOME: workspace.at("home"), INIT_CWD: workspace.at("elsewhere"), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function run(...parameters: Parameters<typeof start>): Promise<{ stdout: string; stderr: string; status: number | null; signal: NodeJS.Signals | number | null }> {
  const child = start(...parameters);
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, status: child.exitCode, signal: child.signalCode };
}

describe("start.mjs", () => {
  test("runs the executable where npm was called, with nothing else on stdout or stderr", async () => {
    using workspace = makeProject();
    const result = await run(workspace, "start.mjs", ["doctor", "--json", "two words"]);
    expect(result).toEqual({ stdout: `${workspace.at("elsewhere")}: doctor --json two words\n`, stderr: "", status: 0, signal: null });
  });

  test("passes the exit status on", async () => {
    using workspace = makeProject("exit 3");
    expect((await run(workspace, "start.mjs", ["doctor"])).status).toBe(3);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("passes %s on, and what the executable makes of it", async (signal) => {
    using workspace = makeProject("trap 'echo closing; exit 9' INT TERM HUP; echo ready; while :; do sleep 0.01; done");
    const child = start(workspace, "start.mjs", ["doctor"]);
    const reader = child.stdout.getReader();
    let text = new TextDecoder().decode((await reader.read()).value);
    child.kill(signal);
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += new TextDecoder().decode(piece.value);
    await child.exited;
    expect([text, child.exitCode, child.signalCode]).toEqual(["ready\nclosing\n", 9, null]);
  });

  test.each(["before it starts", "while it runs"])("ends the executable when npm's shell is ended %s, which passes no signal on", async (when) => {
    using workspace = makeProject("trap 'echo closing; exit 9' TERM; echo ready; while :; do sleep 0.01; done");
    putBun(workspace, "echo building >&2; sleep 0.5");
    if (when === "before it starts") workspace.write({ "project/src/main.ts": "changed" });
    const command = `node ${workspace.at("project/build/start.mjs")} doctor 2>&1; :`;
    const shell = Bun.spawn(["/bin/sh", "-c", command], { env: { ...process.env, npm_lifecycle_event: "start", INIT_CWD: workspace.path }, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    let text = "";
    for await (const piece of shell.stdout) {
      text += new TextDecoder().decode(piece);
      if (text.includes(when === "while it runs" ? "ready" : "building\n")) shell.kill("SIGTERM");
    }
    expect(text).toEndWith("ready\nclosing\n");
  });

  test("ends by the signal that ended the executable", async () => {
    using workspace = makeProject("kill -KILL $$");
    expect(await run(workspace, "start.mjs", ["doctor"])).toMatchObject({ status: null, signal: "SIGKILL" });
  });

  test("builds when a source changed, with the build's output on stderr", async () => {
    using workspace = makeProject();
    putBun(workspace, 'echo "compiling $*"');
    workspace.write({ "project/src/main.ts": "changed" });
    const result = await run(workspace, "start.mjs", ["doctor"]);
    expect(result.stdout).toBe(`${workspace.at("elsewhere")}: doctor\n`);
    expect(result.stderr).toBe(`atomic: building (a few seconds)\ncompiling ${workspace.at("project/build/compile.ts")}\n`);
  });

  test("a failing build is told and nothing runs", async () => {
    using workspace = makeProject();
    putBun(workspace, "echo broken >&2; exit 1");
    workspace.write({ "project/src/main.ts": "changed" });
    const result = await run(workspace, "start.mjs", ["doctor"]);
    expect(result).toMatchObject({ stdout: "", status: 1 });
    expect(result.stderr).toEndWith("broken\natomic: the build failed; its messages are above\n");
  });

  test.each([[["json", "say hi"]], [["run", "say hi"]], [["sidecar"]], [["say hi"]], [["--mode", "json", "say hi"]]])("fetches the default model first for %j", async (words) => {
    using workspace = makeProject();
    const result = await run(workspace, "start.mjs", words);
    expect(result.stdout).toBe(`${workspace.at("elsewhere")}: ${words.join(" ")}\n`);
    expect(result.stderr).toBe(`atomic: fetching the default model (once); name another with --model\n${workspace.at("elsewhere")}: models pull\n`);
  });

  test.each([
    ["it is there", ["json", "hi"], { "home/.atomic-agent/models/usual.gguf": "" }, {}],
    ["--model names one", ["json", "--model", "scripted:x.json", "hi"], {}, {}],
    ["--model= names one", ["run", "--model=/tmp/x.gguf", "hi"], {}, {}],
    ["only help is asked for", ["json", "--help"], {}, {}],
    ["the command runs no model", ["models", "list"], {}, {}],
    ["there are no arguments", [], {}, {}],
    ["the environment names one", ["json", "hi"], {}, { ATOMIC_AGENT_DEFAULT_MODEL: "small" }],
    ["the configuration names one", ["json", "hi"], { "home/.atomic-agent/config.json": '{ // mine\n "defaultModel": "small" }' }, {}],
  ] as [string, string[], { [path: string]: string }, { [name: string]: string }][])("fetches no model when %s", async (_, args, files, env) => {
    using workspace = makeProject();
    workspace.write(files);
    const result = await run(workspace, "start.mjs", args, env);
    expect(result).toMatchObject({ stdout: `${workspace.at("elsewhere")}: ${args.join(" ")}\n`, stderr: "", status: 0 });
  });

  test("a model that can't be fetched is told and nothing runs", async () => {
    using workspace = makeProject('if [ "$1" = models ]; then echo offline >&2; exit 1; fi; echo ran');
    const result = await run(workspace, "start.mjs", ["json", "hi"]);
    expect(result).toMatchObject({ stdout: "", status: 1 });
    expect(result.stderr).toEndWith("offline\natomic: the default model could not be fetched (status 1); try again, or name one with --model\n");
  });
});

describe("bun.mjs", () => {
  test("passes arguments, streams and status through, and takes out what would change Bun", async () => {
    using workspace = makeProject();
    putBun(workspace, 'echo "$*"; echo "err" >&2; env | grep -c "^BUN_" ; exit 5');
    const result = await run(workspace, "bun.mjs", ["test", "a b"], { BUN_OPTIONS: "--preload x", BUN_BE_BUN: "1" });
    expect(result).toEqual({ stdout: "test a b\n0\n", stderr: "err\n", status: 5, signal: null });
  });

  test.each([
    ["no packages", undefined, "ci"],
    ["an old package", '{"packages":{"node_modules/a":{"version":"0.9.0"}}}', "install"],
    ["a missing package", '{"packages":{}}', "install"],
    ["an old optional package", '{"packages":{"node_modules/a":{"version":"1.0.0"},"node_modules/b":{"version":"1.0.0"}}}', "install"],
  ])("with %s installs first, npm's output on stderr", async (_, installed, command) => {
    using workspace = makeProject();
    const env = putNpm(workspace, 'echo "npm $1"');
    putBun(workspace, "echo bun");
    if (installed === undefined) Bun.spawnSync(["rm", workspace.at("project/node_modules/.package-lock.json")]);
    else workspace.write({ "project/node_modules/.package-lock.json": installed });
    const result = await run(workspace, "bun.mjs", [], env);
    expect([result.stdout, result.stderr.split("\n")[1], result.status]).toEqual(["bun\n", `npm ${command}`, 0]);
  });

  test("says what to do when the installation fails or Bun is not in it", async () => {
    using workspace = makeProject();
    const missing = await run(workspace, "bun.mjs", []);
    expect([missing.status, missing.stderr.includes("npm ci")]).toEqual([1, true]);
    workspace.write({ "project/node_modules/.package-lock.json": '{"packages":{}}' });
    const failed = await run(workspace, "bun.mjs", [], putNpm(workspace, "exit 1"));
    expect([failed.status, failed.stderr.endsWith("atomic: npm install failed; its messages are above\n")]).toEqual([1, true]);
  });
});

test("the hash of the sources changes with content, name and place, and with nothing else", () => {
  using workspace = makeProject();
  const project = workspace.at("project");
  const first = sourceHash(project);
  workspace.write({ "project/docs/a.md": "not a source" });
  expect(sourceHash(project)).toBe(first);
  workspace.write({ "project/src/a.ts": "x" });
  const second = sourceHash(project);
  workspace.write({ "project/src/a.ts": "y" });
  const third = sourceHash(project);
  Bun.spawnSync(["mv", workspace.at("project/src/a.ts"), workspace.at("project/src/b.ts")]);
  expect(new Set([first, second, third, sourceHash(project)]).size).toBe(4);
});

test("every npm script goes through them", () => {
  const scripts = (JSON.parse(readFileSync(resolve(buildDir, "../package.json"), "utf8")) as { scripts: { [name: string]: string } }).scripts;
  for (const name of ["start", "build", "test"]) expect(scripts[name]).toMatch(/^node build\/(bun|start)\.mjs/);
});
