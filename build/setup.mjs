// What every script needs on a machine that has only Node with npm: the packages, Bun's binary, a child that passes
// signals and exit status through. Plain Node, no dependencies; says what it does on stderr only.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Read at once: it is another process as soon as the one that started this has ended. */
const startedBy = process.ppid;

export const rootDir = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/** Installs the packages when one of them is missing or is not the one that package-lock.json names. */
export function ensurePackages() {
  const lock = join(rootDir, "package-lock.json");
  const installed = join(rootDir, "node_modules/.package-lock.json");
  if (existsSync(lock) && existsSync(installed) && matches(readPackages(lock), readPackages(installed))) return;
  const fresh = existsSync(lock) && !existsSync(installed);
  say(fresh ? "installing packages (once, less than a minute)" : "bringing the packages up to date");
  npm([fresh ? "ci" : "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=notice"], rootDir);
}

/** Runs npm in a folder, its output on stderr. @throws Error when it fails. */
export function npm(args, cwd) {
  const cli = process.env.npm_execpath;
  const own = cli !== undefined && cli.endsWith("npm-cli.js");
  const options = { cwd, stdio: ["ignore", 2, 2] };
  const result = own ? spawnSync(process.execPath, [cli, ...args], options) : spawnSync("npm", args, { ...options, shell: process.platform === "win32" });
  if (result.error) throw new Error(`npm could not be started (${result.error.message}); install Node.js with npm and try again`);
  if (result.status !== 0) throw new Error(`npm ${args[0]} failed; its messages are above`);
}

/**
 * Path of Bun's binary: in the npm package of this platform, or in the package `bun`, whose install script moves it there
 * where it is allowed to run.
 */
export function findBun() {
  const os = process.platform === "win32" ? "windows" : process.platform;
  const cpu = process.arch === "arm64" ? "aarch64" : process.arch;
  const name = `bun-${os}-${cpu}`;
  const packagesDir = join(rootDir, "node_modules/@oven");
  const present = existsSync(packagesDir) ? readdirSync(packagesDir) : [];
  const variants = isMusl() ? [`${name}-musl`] : [name, ...present.filter((entry) => entry.startsWith(`${name}-`) && !/-(musl|android)/.test(entry))];
  const binary = variants.map((variant) => join(packagesDir, variant, "bin", os === "windows" ? "bun.exe" : "bun")).find((path) => existsSync(path)) ?? movedBun();
  if (binary === undefined) throw new Error(`Bun for ${os}-${cpu} is not in node_modules/@oven; run "npm ci" without leaving out optional packages`);
  return binary;
}

/** Without the script a short text stands in its place. */
function movedBun() {
  const path = join(rootDir, "node_modules/bun/bin/bun.exe");
  return existsSync(path) && statSync(path).size > 1_000_000 ? path : undefined;
}

/** The environment without the variables that change what Bun and Bun's executables do. */
export function cleanEnvironment() {
  const { BUN_OPTIONS: _options, BUN_BE_BUN: _beBun, ...environment } = process.env;
  return environment;
}

/**
 * Runs a program on this process's own streams and ends this process the way the program ended. Signals are passed on;
 * those that a terminal sends to both are not sent twice.
 */
export function runThrough(program, args, { cwd = process.cwd() } = {}) {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  const onTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  // Before the child starts: it may be heard of, and signalled through this process, at once.
  for (const signal of signals) process.on(signal, () => (onTerminal && signal !== "SIGTERM" ? undefined : child.kill(signal)));
  const child = spawn(program, args, { cwd, env: cleanEnvironment(), stdio: "inherit" });
  if (process.env.npm_lifecycle_event !== undefined) endWithShell(child);
  child.on("error", (error) => fail(`${program} could not be started: ${error.message}`));
  child.on("exit", (status, signal) => {
    for (const name of signals) process.removeAllListeners(name);
    if (signal === null) process.exitCode = status ?? 1;
    else if (process.platform === "win32") process.exitCode = 128 + constants.signals[signal];
    else process.kill(process.pid, signal);
  });
}

/** npm passes a signal to its shell, which ends without passing it on: the shell's end stands for SIGTERM. */
function endWithShell(child) {
  const watch = setInterval(() => {
    if (process.ppid === startedBy) return;
    clearInterval(watch);
    child.kill("SIGTERM");
  }, 100);
  watch.unref();
}

export function say(message) {
  process.stderr.write(`atomic: ${message}\n`);
}

/** Ends the process with status 1 and one line for people. */
export function fail(message) {
  say(message);
  process.exit(1);
}

function readPackages(path) {
  return JSON.parse(readFileSync(path, "utf8")).packages;
}

/** Packages of other platforms are optional and may be absent; one that is there must be the right one. */
function matches(wanted, installed) {
  return Object.entries(wanted).every(([path, { optional, version, integrity }]) => {
    if (path === "") return true;
    const found = installed[path];
    return found === undefined ? optional === true : found.version === version && found.integrity === integrity;
  });
}

function isMusl() {
  return process.platform === "linux" && process.report.getReport().header.glibcVersionRuntime === undefined;
}
