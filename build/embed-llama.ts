// Bundler plugin: puts the llama library into the executable and turns node-llama-cpp into code that reads nothing from
// node_modules. Every change of a package's source is checked: when the text to change is gone, the build fails.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { BunPlugin } from "bun";
import type { Target } from "./targets.ts";

const embeddedModule = resolve(import.meta.dir, "../src/embedded.ts");

export interface EmbedOptions {
  target: Target;
  /** Folder whose node_modules hold the binding and the target's library. */
  packagesDir: string;
  version: string;
  buildId: string;
  /** File with the licence texts; absent in the pass that finds out what they are. */
  licensesFile?: string;
}

export function embedLlama(options: EmbedOptions): BunPlugin {
  const binding = join(options.packagesDir, "node_modules/node-llama-cpp");
  return {
    name: "embed-llama",
    setup(build) {
      build.onLoad({ filter: /[\\/]src[\\/]embedded\.ts$/ }, () => ({ contents: embeddedSource(options), loader: "ts" }));
      build.onResolve({ filter: /^@node-llama-cpp\// }, ({ path }) => ({ path, namespace: "left-out" }));
      build.onLoad({ filter: /.*/, namespace: "left-out" }, () => ({ contents: "export {};", loader: "js" }));
      for (const [file, change] of Object.entries(bindingChanges(binding))) {
        build.onLoad({ filter: new RegExp(`node-llama-cpp[\\\\/]dist[\\\\/]${file.replaceAll("/", "[\\\\/]").replaceAll(".", "\\.")}$`) }, ({ path }) => ({
          contents: change(readFileSync(path, "utf8")),
          loader: "js",
        }));
      }
    },
  };
}

/** What is different in the bundled binding, by file under dist/. */
function bindingChanges(binding: string): Record<string, (source: string) => string> {
  const version = readJson(join(binding, "package.json"))["version"];
  const release = readJson(join(binding, "llama/binariesGithubRelease.json"))["release"];
  return {
    // Its folder is the one that the library was unpacked to, and its environment variables decide nothing (one of
    // them, CI, even makes it throw when it holds an unexpected word).
    "config.js": (source) =>
      [
        `import { libraryRoot } from ${JSON.stringify(embeddedModule)};`,
        `if (libraryRoot.path === "") throw new Error("node-llama-cpp was imported before openLlamaLibrary unpacked it");`,
        replaceOnce(
          replaceOnce(source, "const __dirname = path.dirname(fileURLToPath(import.meta.url));", 'const __dirname = path.join(libraryRoot.path, "dist");'),
          "const env = envVar.from(process.env);",
          "const env = envVar.from({});",
        ),
      ].join("\n"),
    "utils/getModuleVersion.js": (source) => {
      expectText(source, "export async function getModuleVersion()");
      return `export async function getModuleVersion() { return ${JSON.stringify(version)}; }`;
    },
    "bindings/utils/binariesGithubRelease.js": (source) => {
      expectText(source, "export const builtinLlamaCppRelease = await getBinariesGithubRelease();");
      return [
        `export const builtinLlamaCppRelease = ${JSON.stringify(release)};`,
        "export const defaultLlamaCppRelease = builtinLlamaCppRelease;",
        "export async function getBinariesGithubRelease() { return builtinLlamaCppRelease; }",
      ].join("\n");
    },
    // It reads lists of a hundred thousand entries in one go, in which the process answers nobody.
    "gguf/parser/GgufV2Parser.js": (source) =>
      replaceOnce(
        source,
        "afterthought: () => void i++,\n                    returnValue: () => arrayValues",
        "afterthought: () => (++i % 8192 === 0 ? new Promise(setImmediate) : undefined),\n                    returnValue: () => arrayValues",
      ),
    // Of several guesses it would take the first at most: the one before the next is looked up in a list that is always empty.
    "evaluator/LlamaContext/LlamaContext.js": (source) => replaceOnce(source, ": validatedTokens.at(-1)?.[1];", ": this._loadedTokenPredictions.at(-1)?.[1][0];"),
    // It forks the program that it is part of; src/engines/llama/probe.ts does the same job.
    "bindings/utils/testBindingBinary.js": (source) => {
      expectText(source, "export async function testBindingBinary(");
      return "export async function testBindingBinary() { return true; }";
    },
  };
}

/** Source of src/embedded.ts as it is in the executable. */
function embeddedSource({ target, packagesDir, version, buildId, licensesFile }: EmbedOptions): string {
  const folder = join(packagesDir, "node_modules", target.libraryPackage, "bins", target.libraryFolder);
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .toSorted()
    .map((name) => {
      const path = join(folder, name);
      const bytes = readFileSync(path);
      return { name, path, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
    });
  const content = createHash("sha256").update(JSON.stringify(files.map(({ name, sha256 }) => [name, sha256]))).digest("hex");
  const bindingVersion = readJson(join(packagesDir, "node_modules", target.libraryPackage, "package.json"))["version"];
  const library = { folder: target.libraryFolder, gpu: target.gpu, id: `${target.libraryFolder}-${bindingVersion}-${content.slice(0, 16)}` };
  return [
    ...files.map((file, index) => `import file${index} from ${JSON.stringify(file.path)} with { type: "file" };`),
    ...(licensesFile === undefined ? [] : [`import licenses from ${JSON.stringify(licensesFile)} with { type: "file" };`]),
    `export const version = ${JSON.stringify(version)};`,
    `export const buildId = ${JSON.stringify(buildId)};`,
    `export const licensesFile = ${licensesFile === undefined ? "undefined" : "licenses"};`,
    `export const libraryRoot = { path: "" };`,
    `export const nativeLibrary = { ...${JSON.stringify(library)}, files: [`,
    ...files.map(({ name, bytes, sha256 }, index) => `${JSON.stringify({ name, bytes, sha256 }).slice(0, -1)},"source":file${index}},`),
    "] };",
  ].join("\n");
}

function replaceOnce(source: string, from: string, to: string): string {
  expectText(source, from);
  return source.replace(from, () => to);
}

function expectText(source: string, text: string): void {
  if (!source.includes(text)) throw new Error(`node-llama-cpp changed: its source no longer holds ${text}`);
}

function readJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
}
