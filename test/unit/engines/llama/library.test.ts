// The llama library from the executable to the process: unpacked whole, verified, repaired, probed, loaded.
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { AgentError } from "../../../../src/core/error.ts";
import type { Log } from "../../../../src/core/runtime.ts";
import type { NativeLibrary } from "../../../../src/embedded.ts";
import { openLlamaLibrary } from "../../../../src/engines/llama/library.ts";
import { probeEngine, runProbeChild } from "../../../../src/engines/llama/probe.ts";
import { unpackLibrary } from "../../../../src/engines/llama/unpack.ts";
import { makeWorkspace, type Workspace } from "../../../support/workspace.ts";

const contents = { "llama-addon.node": "addon", "libggml-base.so": "base".repeat(100_000), "_nlcBuildMetadata.json": "{}" };
const inFolder = (id: string): { [path: string]: string } => Object.fromEntries(Object.entries(contents).map(([name, text]) => [`engine/${id}/bins/linux-x64/${name}`, text]));

function makeLibrary(workspace: Workspace): NativeLibrary {
  workspace.write(Object.fromEntries(Object.entries(contents).map(([name, text]) => [`embedded/${name}`, text])));
  const files = Object.entries(contents).map(([name, text]) => ({
    name,
    source: workspace.at(`embedded/${name}`),
    bytes: text.length,
    sha256: createHash("sha256").update(text).digest("hex"),
  }));
  return { folder: "linux-x64", gpu: false, id: "linux-x64-1.0.0-0123456789abcdef", files };
}

function keptLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  return { log: (level, message) => lines.push(`${level}: ${message}`), lines };
}

function engineFiles(workspace: Workspace): { [path: string]: string } {
  return Object.fromEntries(Object.entries(workspace.snapshot()).filter(([path]) => path.startsWith("engine/")));
}

async function failureOf(work: Promise<unknown>): Promise<AgentError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof AgentError) return error;
  throw new Error(`expected an AgentError, got ${String(error)}`);
}

describe("unpackLibrary", () => {
  test("writes exactly the embedded files into a private folder, once", async () => {
    using workspace = makeWorkspace();
    const library = makeLibrary(workspace);
    const { log, lines } = keptLog();
    const root = await unpackLibrary(library, workspace.at("engine"), log);
    expect(root).toBe(workspace.at(`engine/${library.id}`));
    expect(engineFiles(workspace)).toEqual(inFolder(library.id));
    expect(statSync(root).mode & 0o777).toBe(0o700);
    const before = statSync(join(root, "bins/linux-x64/libggml-base.so"));
    await unpackLibrary(library, workspace.at("engine"), log);
    expect(statSync(join(root, "bins/linux-x64/libggml-base.so")).ino).toBe(before.ino);
    expect(lines).toEqual([]);
  });

  test("many first starts at once end with one whole folder", async () => {
    using workspace = makeWorkspace();
    const library = makeLibrary(workspace);
    const { log } = keptLog();
    const roots = await Promise.all(Array.from({ length: 8 }, () => unpackLibrary(library, workspace.at("engine"), log)));
    expect(new Set(roots).size).toBe(1);
    expect(engineFiles(workspace)).toEqual(inFolder(library.id));
  });

  test.each([
    ["changed in place", (path: string) => Bun.write(path, "tampered with".padEnd(400_000))],
    ["cut short", (path: string) => Bun.write(path, "base")],
    ["a folder", (path: string) => (Bun.spawnSync(["rm", path]), mkdirSync(path))],
    ["a link to the same bytes", (path: string) => (Bun.spawnSync(["mv", path, `${path}.elsewhere`]), symlinkSync(`${path}.elsewhere`, path))],
  ])("repairs a file that is %s and says so", async (_, damage) => {
    using workspace = makeWorkspace();
    const library = makeLibrary(workspace);
    const { log, lines } = keptLog();
    const root = await unpackLibrary(library, workspace.at("engine"), log);
    const path = join(root, "bins/linux-x64/libggml-base.so");
    await damage(path);
    await unpackLibrary(library, workspace.at("engine"), log);
    expect(engineFiles(workspace)).toEqual(inFolder(library.id));
    expect(lines).toContain(`warn: ${path} was damaged; it is unpacked again`);
  });

  test("removes what the library would load beside itself, and what a killed start left behind", async () => {
    using workspace = makeWorkspace();
    const library = makeLibrary(workspace);
    const { log, lines } = keptLog();
    const folder = join(await unpackLibrary(library, workspace.at("engine"), log), "bins/linux-x64");
    workspace.write({
      [`engine/${library.id}/bins/linux-x64/libggml-cpu-strange.so`]: "strange",
      [`engine/${library.id}/bins/linux-x64/libggml-base.so.1-00.tmp`]: "half a fi",
      [`engine/${library.id}/bins/linux-x64/libggml-base.so.2-00.tmp`]: "being written",
    });
    const anHourAgo = new Date(Date.now() - 3_600_000);
    utimesSync(join(folder, "libggml-base.so.1-00.tmp"), anHourAgo, anHourAgo);
    await unpackLibrary(library, workspace.at("engine"), log);
    expect(engineFiles(workspace)).toEqual({ ...inFolder(library.id), [`engine/${library.id}/bins/linux-x64/libggml-base.so.2-00.tmp`]: "being written" });
    expect(lines.filter((line) => line.startsWith("warn"))).toEqual([`warn: removed ${join(folder, "libggml-cpu-strange.so")}, which is no part of the llama library`]);
  });

  test("takes write access from others", async () => {
    using workspace = makeWorkspace();
    const library = makeLibrary(workspace);
    const { log } = keptLog();
    const folder = join(await unpackLibrary(library, workspace.at("engine"), log), "bins/linux-x64");
    chmodSync(folder, 0o777);
    await unpackLibrary(library, workspace.at("engine"), log);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test("removes other versions only when nothing has used them for a month", async () => {
    using workspace = makeWorkspace();
    const library = makeLibrary(workspace);
    const { log } = keptLog();
    const [old, recent, foreign] = ["linux-x64-0.9.0-00000000000000aa", "linux-x64-0.9.1-00000000000000bb", "something-else"];
    workspace.write({ [`engine/${old}/f`]: "", [`engine/${recent}/f`]: "", [`engine/${foreign}/f`]: "" });
    const twoMonthsAgo = new Date(Date.now() - 60 * 24 * 3_600_000);
    for (const name of [old, foreign]) utimesSync(workspace.at(`engine/${name}`), twoMonthsAgo, twoMonthsAgo);
    await unpackLibrary(library, workspace.at("engine"), log);
    expect([old, recent, foreign].map((name) => existsSync(workspace.at(`engine/${name}`)))).toEqual([false, true, true]);
  });

  test("names the folder and the setting when it can't be used", async () => {
    using workspace = makeWorkspace({ "file.txt": "" });
    const error = await failureOf(unpackLibrary(makeLibrary(workspace), workspace.at("file.txt/engine"), () => {}));
    expect(error.code).toBe("state_unusable");
    expect(error.message).toContain(workspace.at("file.txt/engine"));
    expect(error.message).toContain("ATOMIC_AGENT_STATE_DIR");
  });

  test("refuses a folder that is a link to somewhere else", async () => {
    using workspace = makeWorkspace({ "elsewhere/": "", "engine/": "" });
    const library = makeLibrary(workspace);
    symlinkSync(workspace.at("elsewhere"), workspace.at(`engine/${library.id}`));
    expect((await failureOf(unpackLibrary(library, workspace.at("engine"), () => {}))).code).toBe("state_unusable");
  });

  test("refuses to write bytes that are not the embedded ones", async () => {
    using workspace = makeWorkspace();
    const library = makeLibrary(workspace);
    workspace.write({ "embedded/llama-addon.node": "other" });
    const error = await failureOf(unpackLibrary(library, workspace.at("engine"), () => {}));
    expect(error.code).toBe("engine_unavailable");
    expect(error.message).toContain("llama-addon.node inside the executable is damaged");
    expect(existsSync(workspace.at(`engine/${library.id}/bins/linux-x64/llama-addon.node`))).toBe(false);
  });
});

describe("probeEngine", () => {
  const options = (workspace: Workspace, script: string) => ({
    engineDir: workspace.path,
    root: workspace.path,
    libraryId: "x",
    log: () => {},
    command: ["/bin/sh", "-c", script],
  });

  test("asks a child once and remembers a good verdict", async () => {
    using workspace = makeWorkspace();
    const asked = options(workspace, `echo run >> ${workspace.at("runs")}`);
    await probeEngine(asked);
    await probeEngine(asked);
    expect(workspace.read("runs")).toBe("run\n");
    await probeEngine({ ...asked, libraryId: "another library" });
    expect(workspace.read("runs")).toBe("run\nrun\n");
  });

  test.each([
    ["kill -ILL $$", "it crashed with SIGILL"],
    ["echo 'version GLIBC_2.34 not found' >&2; exit 1", "version GLIBC_2.34 not found"],
    ["echo 'illegal thing' >&2; kill -SEGV $$", "it crashed with SIGSEGV: illegal thing"],
    [`printf 'GGML_ASSERT failed\\n${"=".repeat(60)}\\nBun v1\\nhttps://example.org\\n' >&2; kill -ABRT $$`, "it crashed with SIGABRT: GGML_ASSERT failed"],
    ["exit 7", "the probe ended with status 7"],
  ])("%s is engine_unavailable with the reason, and is asked again", async (script, reason) => {
    using workspace = makeWorkspace();
    const asked = options(workspace, `echo run >> ${workspace.at("runs")}; ${script}`);
    const error = await failureOf(probeEngine(asked));
    expect([error.code, error.message.includes(`: ${reason}. `), error.message.includes("localModels.url")]).toEqual(["engine_unavailable", true, true]);
    await failureOf(probeEngine(asked));
    expect(workspace.read("runs")).toBe("run\nrun\n");
  });

  test("a child that hangs is ended", async () => {
    using workspace = makeWorkspace();
    const error = await failureOf(probeEngine({ ...options(workspace, "exec sleep 600"), timeoutMs: 50 }));
    expect([error.code, error.message.includes("no answer in 50 ms")]).toEqual(["engine_unavailable", true]);
  });

  test("cancelling ends the child", async () => {
    using workspace = makeWorkspace();
    const abort = new AbortController();
    const probing = failureOf(probeEngine({ ...options(workspace, "exec sleep 600"), signal: abort.signal }));
    abort.abort();
    expect((await probing).code).toBe("aborted");
  });

  test("the child gets none of the variables that change what the executable is", async () => {
    using workspace = makeWorkspace();
    const names = ["BUN_OPTIONS", "BUN_BE_BUN", "TEST_BINDING_CP"];
    const kept = names.map((name) => [name, process.env[name]] as const);
    for (const name of names) process.env[name] = "1";
    try {
      await probeEngine(options(workspace, `env > ${workspace.at("environment")}`));
    } finally {
      for (const [name, value] of kept) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
    const environment = workspace.read("environment");
    expect(environment).toContain("PATH=");
    expect(names.filter((name) => environment.includes(`${name}=`))).toEqual([]);
  });
});

test("run from source, the library loads from the packages and logs to the given function", async () => {
  using workspace = makeWorkspace();
  const { log, lines } = keptLog();
  const llama = await openLlamaLibrary({ engineDir: workspace.at("engine"), log });
  try {
    expect(llama.llamaCppRelease.repo).toBe("ggml-org/llama.cpp");
    expect(lines.some((line) => line.startsWith("debug: load_backend: loaded CPU backend"))).toBe(true);
  } finally {
    await llama.dispose();
  }
  expect(await runProbeChild(workspace.at("engine"))).toBe(0);
  expect(await runProbeChild("engine")).toBe(1);
});
