// The bundler plugin and what goes with it: the right files of the right target, a binding that reads nothing from
// node_modules, the licences of what is really inside.
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { collectLicenses } from "../../../build/collect-licenses.ts";
import { embedLlama } from "../../../build/embed-llama.ts";
import { executableName, targetOf, targets, type Target } from "../../../build/targets.ts";
import { makeWorkspace, type FileTree } from "../../support/workspace.ts";

const packages: FileTree = {
  "node_modules/node-llama-cpp/package.json": '{"name":"node-llama-cpp","version":"9.8.7","license":"MIT","main":"dist/index.js"}',
  "node_modules/node-llama-cpp/llama/binariesGithubRelease.json": '{"release":"v1.2.3"}',
  "node_modules/node-llama-cpp/dist/index.js": [
    'export { llamaDirectory, env } from "./config.js";',
    'export { getModuleVersion } from "./utils/getModuleVersion.js";',
    'export { builtinLlamaCppRelease } from "./bindings/utils/binariesGithubRelease.js";',
    'export { testBindingBinary } from "./bindings/utils/testBindingBinary.js";',
    'export const platform = () => import("@node-llama-cpp/linux-x64");',
  ].join("\n"),
  "node_modules/node-llama-cpp/dist/config.js": [
    'import { fileURLToPath } from "url";\nimport * as path from "path";\nconst envVar = { from: (variables) => variables };',
    "const __dirname = path.dirname(fileURLToPath(import.meta.url));\nexport const env = envVar.from(process.env);",
    "const other = envVar.from(process.env);",
    'export const llamaDirectory = path.join(__dirname, "..", "llama");',
  ].join("\n"),
  "node_modules/node-llama-cpp/dist/utils/getModuleVersion.js": 'export async function getModuleVersion() { return "read from disk"; }',
  "node_modules/node-llama-cpp/dist/bindings/utils/binariesGithubRelease.js":
    'async function getBinariesGithubRelease() { return "read from disk"; }\nexport const builtinLlamaCppRelease = await getBinariesGithubRelease();',
  "node_modules/node-llama-cpp/dist/bindings/utils/testBindingBinary.js": 'export async function testBindingBinary() { throw new Error("forked"); }',
  "node_modules/@node-llama-cpp/linux-x64/package.json": '{"name":"@node-llama-cpp/linux-x64","version":"9.8.7"}',
  "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/llama-addon.node": "addon",
  "node_modules/@node-llama-cpp/linux-x64/bins/linux-x64/libggml.so": "ggml",
  "src/main.ts": [
    `import * as embedded from ${JSON.stringify(resolve(import.meta.dir, "../../../src/embedded.ts"))};`,
    'embedded.libraryRoot.path = "/unpacked";',
    'const binding = await import("node-llama-cpp");',
    "const files = await Promise.all(embedded.nativeLibrary.files.map(async ({ source, ...file }) => ({ ...file, text: await Bun.file(new URL(source, import.meta.url)).text() })));",
    "process.stderr.write(JSON.stringify({ ...embedded, nativeLibrary: { ...embedded.nativeLibrary, files }, ...binding, version: embedded.version,",
    "  moduleVersion: await binding.getModuleVersion(), tested: await binding.testBindingBinary(), platform: Object.keys(await binding.platform()) }));",
  ].join("\n"),
};

const linux = targetOf("linux-x64");

function bundle(dir: string): Promise<Bun.BuildOutput> {
  return Bun.build({
    entrypoints: [resolve(dir, "src/main.ts")],
    outdir: resolve(dir, "out"),
    target: "bun",
    splitting: true,
    plugins: [embedLlama({ target: linux, packagesDir: dir, version: "1.2.3", buildId: "abc" })],
  });
}

describe("embedLlama", () => {
  test("embeds the target's files with their sizes and hashes, and the binding reads nothing from its package", async () => {
    using workspace = makeWorkspace(packages);
    const { outputs } = await bundle(workspace.path);
    const entry = outputs.find((output) => output.kind === "entry-point");
    for (const path of ["node_modules"]) Bun.spawnSync(["rm", "-r", workspace.at(path)]);
    const child = Bun.spawnSync([process.execPath, entry?.path ?? ""], { cwd: workspace.path, stderr: "pipe" });
    const said = JSON.parse(child.stderr.toString()) as Record<string, unknown> & { nativeLibrary: { id: string; files: unknown[] } };
    const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
    expect(said.nativeLibrary.files).toEqual([
      { name: "libggml.so", bytes: 4, sha256: hash("ggml"), text: "ggml" },
      { name: "llama-addon.node", bytes: 5, sha256: hash("addon"), text: "addon" },
    ]);
    expect(said.nativeLibrary).toMatchObject({ folder: "linux-x64", gpu: false });
    expect(said.nativeLibrary.id).toMatch(/^linux-x64-9\.8\.7-[0-9a-f]{16}$/);
    expect(said).toMatchObject({ version: "1.2.3", buildId: "abc", moduleVersion: "9.8.7", builtinLlamaCppRelease: "v1.2.3", tested: true, platform: [], env: {} });
  });

  test.each([
    ["dist/config.js", "export const llamaDirectory = 1, env = 2;"],
    ["dist/utils/getModuleVersion.js", "export const getModuleVersion = 1;"],
    ["dist/bindings/utils/binariesGithubRelease.js", "export const builtinLlamaCppRelease = 1;"],
    ["dist/bindings/utils/testBindingBinary.js", "export const testBindingBinary = 1;"],
  ])("fails when %s is no longer what it was", async (file, source) => {
    using workspace = makeWorkspace({ ...packages, [`node_modules/node-llama-cpp/${file}`]: source });
    const error = await bundle(workspace.path).catch((thrown: unknown) => thrown);
    expect(String(error instanceof AggregateError ? error.errors[0] : error)).toContain("node-llama-cpp changed");
  });
});

describe("collectLicenses", () => {
  const metafile = (inputs: { [path: string]: number }): Bun.BuildMetafile =>
    ({ inputs: {}, outputs: { "main.js": { bytes: 1, imports: [], exports: [], inputs: Object.fromEntries(Object.entries(inputs).map(([path, bytesInOutput]) => [path, { bytesInOutput }])) } } }) as Bun.BuildMetafile;

  test("holds the texts of the packages that gave code, of the library and of what is linked into both", () => {
    using workspace = makeWorkspace({
      "node_modules/used/package.json": '{"name":"used","version":"1.0.0","license":"MIT","author":{"name":"A. Author"}}',
      "node_modules/used/LICENSE.md": "the text of used",
      "node_modules/used/node_modules/@in/side/package.json": '{"name":"@in/side","version":"2.0.0","license":"ISC"}',
      "node_modules/shaken-off/package.json": '{"name":"shaken-off","version":"1.0.0","license":"MIT"}',
      "library/package.json": '{"name":"library","version":"3.0.0","license":"MIT"}',
      "library/LICENSE": "the text of library",
    });
    const inputs = { "src/main.ts": 5, "node_modules/used/index.js": 5, "node_modules/used/node_modules/@in/side/a/b.js": 5, "node_modules/shaken-off/index.js": 0 };
    const text = collectLicenses(metafile(inputs), workspace.path, workspace.at("library"));
    for (const part of ["used 1.0.0 (MIT, A. Author)\n\nthe text of used", "@in/side 2.0.0 (ISC)", "library 3.0.0 (MIT)\n\nthe text of library"]) expect(text).toContain(part);
    for (const part of ["Copyright (c) 2023-2026 The ggml authors", "Bun (https://github.com/oven-sh/bun)", "GNU LIBRARY GENERAL PUBLIC LICENSE"]) expect(text).toContain(part);
    expect(text).not.toContain("shaken-off");
  });

  test("fails for a package that names no licence", () => {
    using workspace = makeWorkspace({ "node_modules/unnamed/package.json": '{"name":"unnamed","version":"1.0.0"}', "library/package.json": '{"name":"library","license":"MIT"}' });
    expect(() => collectLicenses(metafile({ "node_modules/unnamed/index.js": 1 }), workspace.path, workspace.at("library"))).toThrow("names no licence");
  });
});

describe("targets", () => {
  test("each is found by its name and by its machine", () => {
    for (const target of targets) expect([targetOf(target.name), targetOf(undefined, target.os, target.cpu)]).toEqual([target, target]);
  });

  test("an unknown name or machine is refused with the names that are known", () => {
    expect(() => targetOf("linux-riscv64")).toThrow("linux-riscv64; known: linux-x64, linux-arm64");
    expect(() => targetOf(undefined, "freebsd", "x64")).toThrow("for freebsd-x64");
  });

  test("every package of the table is pinned by the lock file", () => {
    const { packages: locked } = JSON.parse(readFileSync(resolve(import.meta.dir, "../../../package-lock.json"), "utf8")) as { packages: object };
    for (const target of targets) for (const name of [target.bunPackage, target.libraryPackage]) expect(Object.keys(locked)).toContain(`node_modules/${name}`);
  });

  test("the executable for another machine has the target in its name", () => {
    const names = (os: string): string[] => targets.map((target: Target) => executableName(target, os, "x64"));
    expect(names("linux")).toEqual(["atomic", "atomic-linux-arm64", "atomic-darwin-arm64", "atomic-darwin-x64", "atomic-windows-x64.exe"]);
    expect(names("win32").at(-1)).toBe("atomic.exe");
  });
});
