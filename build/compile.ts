// Makes the executable: `node build/bun.mjs build/compile.ts [--target NAME]`. Writes dist/atomic (dist/atomic-NAME for
// another machine) and dist/build.json, which tells build/start.mjs what it was built from. stdout stays empty.
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { collectLicenses } from "./collect-licenses.ts";
import { embedLlama, type EmbedOptions } from "./embed-llama.ts";
import { npm, say } from "./setup.mjs";
import { sourceHash } from "./source-hash.mjs";
import { executableName, targetOf, type Target } from "./targets.ts";

const rootDir = resolve(import.meta.dir, "..");
const distDir = join(rootDir, "dist");

export interface CompileOptions {
  target?: string | undefined;
  entry?: string;
  outfile?: string;
}

/** Builds one executable and resolves with its path. @throws Error that says what is missing or what does not bundle. */
export async function compile({ target: targetName, entry = join(rootDir, "src/main.ts"), outfile }: CompileOptions = {}): Promise<string> {
  const target = targetOf(targetName);
  const own = target === targetOf(undefined);
  const packagesDir = own ? rootDir : fetchPackages(target);
  const version = (JSON.parse(readFileSync(join(rootDir, "package.json"), "utf8")) as { version: string }).version;
  const hash = sourceHash(rootDir);
  const embed: EmbedOptions = { target, packagesDir, version, buildId: hash.slice(0, 12) };
  const path = outfile ?? join(distDir, executableName(target));
  // Unique, so that two builds at once don't write into one file, and renamed, so that a running executable stays whole.
  const scratchDir = join(distDir, `.build-${process.pid}`);
  mkdirSync(scratchDir, { recursive: true });
  try {
    const licensesFile = join(scratchDir, "licenses.txt");
    writeFileSync(licensesFile, await licensesOf(entry, embed));
    const scratchFile = join(scratchDir, executableName(target));
    await bundle(entry, { ...embed, licensesFile }, {
      // Compiled bytecode is what makes the start fast; it is only made for the machine that builds.
      bytecode: own,
      compile: {
        outfile: scratchFile,
        target: target.compileTarget,
        autoloadDotenv: false,
        autoloadBunfig: false,
        autoloadTsconfig: false,
        autoloadPackageJson: false,
        ...(own ? {} : { executablePath: bunOf(target, packagesDir) }),
      },
    });
    const bytes = statSync(scratchFile).size;
    if (bytes > target.bytesMax) throw new Error(`the executable has ${bytes} bytes, more than ${target.bytesMax}`);
    renameSync(scratchFile, path);
  } finally {
    rmSync(scratchDir, { recursive: true, force: true });
  }
  if (own && outfile === undefined) writeFileSync(join(distDir, "build.json"), JSON.stringify({ sourceHash: hash, version, target: target.name }) + "\n");
  return path;
}

/** First pass, kept in memory: which packages does the bundle hold? */
async function licensesOf(entry: string, embed: EmbedOptions): Promise<string> {
  const { metafile } = await bundle(entry, embed, { metafile: true });
  if (metafile === undefined) throw new Error("the bundler gave no list of what it bundled");
  return collectLicenses(metafile, process.cwd(), join(embed.packagesDir, "node_modules", embed.target.libraryPackage));
}

async function bundle(entry: string, embed: EmbedOptions, options: Partial<Bun.BuildConfig>): Promise<Bun.BuildOutput> {
  try {
    return await Bun.build({
      entrypoints: [entry],
      target: "bun",
      format: "esm",
      // Names stay as they are, so that a stack trace can be read.
      minify: { whitespace: true, syntax: true, identifiers: false },
      // Every import() is a chunk of its own that is not even parsed until it is needed.
      splitting: true,
      plugins: [embedLlama(embed)],
      ...options,
    } as Bun.BuildConfig);
  } catch (error) {
    if (error instanceof AggregateError) throw new Error(error.errors.map(describe).join("\n"), { cause: error });
    throw error;
  }
}

/** Where and what, for an error of the bundler. */
function describe(error: unknown): string {
  const known = error instanceof BuildMessage || error instanceof ResolveMessage ? error : undefined;
  return known?.position ? `${known.position.file}:${known.position.line}:${known.position.column}: ${known.message}` : String(error);
}

/** Packages of another machine, exactly as package-lock.json names them, in a folder of their own. */
function fetchPackages(target: Target): string {
  const packagesDir = join(distDir, "packages", target.name);
  const lock = (folder: string): string => readFileSync(join(folder, "package-lock.json"), "utf8");
  const present = existsSync(bunOf(target, packagesDir)) && existsSync(join(packagesDir, "node_modules", target.libraryPackage));
  if (present && lock(packagesDir) === lock(rootDir)) return packagesDir;
  say(`fetching the packages for ${target.name}`);
  mkdirSync(packagesDir, { recursive: true });
  for (const name of ["package.json", "package-lock.json", ".npmrc"]) copyFileSync(join(rootDir, name), join(packagesDir, name));
  npm(["ci", "--ignore-scripts", `--os=${target.os}`, `--cpu=${target.cpu}`, "--libc=glibc"], packagesDir);
  return packagesDir;
}

function bunOf(target: Target, packagesDir: string): string {
  return join(packagesDir, "node_modules", target.bunPackage, "bin", target.os === "win32" ? "bun.exe" : "bun");
}

if (import.meta.main) {
  try {
    const { values } = parseArgs({ options: { target: { type: "string" } } });
    const start = performance.now();
    const path = await compile(values);
    say(`built ${path} (${Math.round(statSync(path).size / 1e6)} MB) in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
