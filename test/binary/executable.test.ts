// The executable by itself: nothing of the machine that built it, nothing of the folder it runs in, and a native library
// that is there whole on the first start, also when several starts are the first.
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { chmodSync, chownSync, copyFileSync, existsSync, lstatSync, readdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { executablePath, makeHome, repositoryRoot, runAtomic, startAtomic } from "../support/atomic.ts";
import { makeWorkspace, type FileTree } from "../support/workspace.ts";

const version = (JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8")) as { version: string }).version;

/** What a folder can hold that Bun or the binding would obey if they looked; each leaves a trace named `obeyed`. */
const trap = 'require("node:fs").writeFileSync("obeyed", "");';
const hostileFolder: FileTree = {
  ".env": "ATOMIC_AGENT_STATE_DIR=obeyed\nHOME=obeyed\nTEST_BINDING_CP=true\n",
  ".env.production": "ATOMIC_AGENT_STATE_DIR=obeyed\n",
  "bunfig.toml": 'preload = ["./trap.js"]\n',
  "trap.js": trap,
  "package.json": '{"name":"trap","type":"commonjs","main":"trap.js","imports":{"#*":"./trap.js"}}',
  "tsconfig.json": '{"compilerOptions":{"paths":{"*":["./trap.js"]}}}',
  "node_modules/node-llama-cpp/package.json": '{"name":"node-llama-cpp","main":"index.js"}',
  "node_modules/node-llama-cpp/index.js": trap,
  "node_modules/@node-llama-cpp/linux-x64/package.json": '{"name":"@node-llama-cpp/linux-x64","main":"index.js"}',
  "node_modules/@node-llama-cpp/linux-x64/index.js": trap,
  "libggml-cpu-x64.so": "no library",
  "libggml-base.so": "no library",
};

/** Every file of the unpacked library, by name; the folder's other entries must not exist. */
function libraryFiles(engineDir: string): { folder: string; files: { [name: string]: string } } {
  const [id] = readdirSync(engineDir);
  const bins = join(engineDir, id ?? "", "bins");
  const folder = join(bins, readdirSync(bins)[0] ?? "");
  const files = Object.fromEntries(readdirSync(folder).map((name) => [name, createHash("sha256").update(readFileSync(join(folder, name))).digest("hex")]));
  return { folder, files };
}

const probe = (engineDir: string): string[] => ["__probe-engine", engineDir];

describe("the file", () => {
  test("has at most 160 MB", () => {
    expect(statSync(executablePath()).size).toBeLessThanOrEqual(160_000_000);
  });

  test("names no folder of the machine that built it", () => {
    expect(readFileSync(executablePath()).includes(`${repositoryRoot}/`)).toBe(false);
  });

  test("carries the licences of what is inside", async () => {
    const { text, exitCode } = await runAtomic(["licenses"]);
    expect(exitCode).toBe(0);
    for (const part of ["The ggml authors", "node-llama-cpp 3.", "Bun (https://github.com/oven-sh/bun)", "GNU LIBRARY GENERAL PUBLIC LICENSE"]) expect(text).toContain(part);
  });
});

describe("where it runs", () => {
  test("obeys nothing in a hostile folder, from a place of its own, with an empty home", async () => {
    using place = makeWorkspace({ "ein Ordner mit Umläuten/": "" });
    using folder = makeWorkspace(hostileFolder);
    using home = makeHome();
    const before = folder.snapshot();
    const copy = place.at("ein Ordner mit Umläuten/atomic");
    copyFileSync(executablePath(), copy);
    for (const [args, status, stdout] of [[["--version"], 0, version], [["doctor"], undefined, ""], [probe(home.folder.at("engine")), 0, ""]] as const) {
      const child = spawnSync(copy, args, { cwd: folder.path, env: { PATH: "/usr/bin:/bin", HOME: home.path, ATOMIC_AGENT_STATE_DIR: home.state, NODE_ENV: "production" }, encoding: "utf8" });
      if (status !== undefined) expect({ args, status: child.status, stderr: child.stderr }).toEqual({ args, status, stderr: "" });
      expect(child.signal).toBeNull();
      expect(child.stdout).toContain(stdout);
    }
    expect(folder.snapshot()).toEqual(before);
    expect(existsSync(join(home.path, ".node-llama-cpp"))).toBe(false);
  }, 60_000);

  test("doctor loads the library of the executable and names its release", async () => {
    using home = makeHome();
    const { text } = await runAtomic(["doctor"], { home });
    const { release } = JSON.parse(readFileSync(join(repositoryRoot, "node_modules/node-llama-cpp/llama/binariesGithubRelease.json"), "utf8")) as { release: string };
    expect(text).toContain(release);
    expect(Object.keys(libraryFiles(join(home.state, "engine")).files)).toContain("llama-addon.node");
  });
});

describe("the native library", () => {
  test("is unpacked exactly as the package has it", async () => {
    using home = makeHome();
    const engineDir = home.folder.at("engine");
    expect(await runAtomic(probe(engineDir))).toMatchObject({ exitCode: 0, text: "", stderr: "" });
    const { folder, files } = libraryFiles(engineDir);
    const original = join(repositoryRoot, "node_modules/@node-llama-cpp", folder.split("/").at(-1) ?? "", "bins", folder.split("/").at(-1) ?? "");
    for (const name of readdirSync(original)) expect([name, files[name]]).toEqual([name, createHash("sha256").update(readFileSync(join(original, name))).digest("hex")]);
    expect(Object.keys(files).length).toBe(readdirSync(original).length);
    expect(lstatSync(folder).mode & 0o077).toBe(0);
  });

  test("several first starts at once all work and leave one whole library", async () => {
    using home = makeHome();
    const engineDir = home.folder.at("engine");
    const results = await Promise.all(Array.from({ length: 4 }, () => runAtomic(probe(engineDir))));
    expect(results.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(Array.from({ length: 4 }, () => ({ exitCode: 0, stderr: "" })));
    expect(readdirSync(engineDir)).toHaveLength(1);
    expect(Object.keys(libraryFiles(engineDir).files).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("a start that was killed on the way does not harm the next", async () => {
    using home = makeHome();
    const engineDir = home.folder.at("engine");
    using killed = startAtomic(probe(engineDir));
    while (!existsSync(engineDir)) await Bun.sleep(0);
    killed.signal("SIGKILL");
    await killed.result();
    expect(await runAtomic(probe(engineDir))).toMatchObject({ exitCode: 0, stderr: "" });
    const { folder } = libraryFiles(engineDir);
    const anHourAgo = new Date(Date.now() - 3_600_000);
    for (const name of readdirSync(folder).filter((entry) => entry.endsWith(".tmp"))) utimesSync(join(folder, name), anHourAgo, anHourAgo);
    expect((await runAtomic(probe(engineDir))).exitCode).toBe(0);
    expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("damaged and strange files never reach the process", async () => {
    using home = makeHome();
    const engineDir = home.folder.at("engine");
    await runAtomic(probe(engineDir));
    const { folder, files } = libraryFiles(engineDir);
    for (const name of Object.keys(files)) await Bun.write(join(folder, name), "not this");
    await Bun.write(join(folder, "libggml-cpu-strange.so"), "not this either");
    expect(await runAtomic(probe(engineDir))).toMatchObject({ exitCode: 0, stderr: "" });
    expect(libraryFiles(engineDir).files).toEqual(files);
  });

  test("a folder that can't be used is named, with the setting that moves it", async () => {
    using home = makeHome();
    home.folder.write({ "file.txt": "" });
    const { exitCode, text, stderr } = await runAtomic(probe(home.folder.at("file.txt/engine")));
    expect([exitCode, text]).toEqual([1, ""]);
    expect(stderr).toContain(home.folder.at("file.txt/engine"));
    expect(stderr).toContain("ATOMIC_AGENT_STATE_DIR");
  });

  // Permissions don't bind the superuser, so that such a run goes on as nobody.
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const asNobody = (engineDir: string) => spawnSync(executablePath(), probe(engineDir), { cwd: "/", env: { PATH: "/usr/bin:/bin", HOME: "/" }, encoding: "utf8", ...nobody });

  test.skipIf(process.platform === "win32")("in a folder that can only be read: refused when it is not there yet, used when it is", () => {
    using home = makeHome();
    home.folder.write({ "engine/": "" });
    const engineDir = home.folder.at("engine");
    chmodSync(home.path, 0o755);
    if (nobody.uid !== undefined) chownSync(engineDir, nobody.uid, nobody.gid);
    chmodSync(engineDir, 0o555);
    const refused = asNobody(engineDir);
    expect([refused.status, refused.stderr.includes("EACCES"), refused.stderr.includes("ATOMIC_AGENT_STATE_DIR")]).toEqual([1, true, true]);
    chmodSync(engineDir, 0o755);
    expect(asNobody(engineDir).status).toBe(0);
    const { folder } = libraryFiles(engineDir);
    const folders = [folder, join(folder, ".."), join(folder, "../.."), engineDir];
    for (const path of folders) chmodSync(path, 0o555);
    expect(asNobody(engineDir)).toMatchObject({ status: 0, stderr: "" });
    for (const path of folders) chmodSync(path, 0o755);
  });
});
