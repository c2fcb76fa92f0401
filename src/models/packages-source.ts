// A file in parts, each the payload of a Python package, fetched with the pip that the machine has and its settings.
// `--only-binary` and `--no-deps`: nothing of a package runs, only its payload is read.
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { AgentError, messageOf } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import type { Package } from "./catalog.ts";
import { throwIfAborted } from "./folder.ts";
import { storageFull } from "./partial-file.ts";
import { appendWithin, asAborted, pause, SourceError, type SourceTarget } from "./source.ts";
import { findPayload, readPayload } from "./wheel.ts";

export interface PackagesSettings {
  /** Environment of pip: its settings, proxy and certificates are the user's. */
  env: Readonly<Record<string, string | undefined>>;
  /** For wheels on their way; emptied. */
  dir: string;
  /** Packages at a time. */
  width: number;
  stallMs: number;
  retryBaseMs: number;
}

/** Appends the rest of the file. @throws SourceError when the source is given up, AgentError `aborted`, `storage_full` */
export async function downloadPackages(packages: readonly Package[], target: SourceTarget, settings: PackagesSettings): Promise<void> {
  await rm(settings.dir, { recursive: true, force: true });
  await mkdir(settings.dir, { recursive: true });
  const stop = new AbortController();
  const signal = AbortSignal.any([target.signal, stop.signal]);
  const started: Promise<string>[] = [];
  try {
    const largest = Math.max(...packages.map((part) => part.bytes));
    const total = packages.reduce((sum, part) => sum + part.bytes, 0);
    // pip keeps a wheel twice for a moment, and one is being read.
    await target.checkSpace(total, (2 * Math.min(settings.width, packages.length) + 1) * largest);
    const pip = await findPip(settings.env, signal);
    const missing = partsAfter(packages, target.partial.bytes);
    const startUpTo = (count: number): void => {
      for (const next of missing.slice(started.length, count)) started.push(fetchAhead(pip, next.part, target, signal, settings));
    };
    for (const [index, { part, skipBytes }] of missing.entries()) {
      startUpTo(index + settings.width);
      const wheel = await started[index];
      startUpTo(index + 1 + settings.width);
      if (wheel === undefined) throw new SourceError(`package ${part.name} was not fetched`);
      await appendPayload(wheel, part, skipBytes, target);
      await rm(wheel, { force: true });
    }
  } catch (error) {
    throw asAborted(error, target.signal);
  } finally {
    stop.abort();
    await Promise.allSettled(started); // they write into the folder until they end
    await rm(settings.dir, { recursive: true, force: true });
  }
}

/** The packages that are still needed; of the first, so many bytes are there already. */
function partsAfter(packages: readonly Package[], bytes: number): { part: Package; skipBytes: number }[] {
  let start = 0;
  return packages.flatMap((part) => {
    const skipBytes = Math.max(0, bytes - start);
    start += part.bytes;
    return start > bytes ? [{ part, skipBytes }] : [];
  });
}

async function appendPayload(wheel: string, part: Package, skipBytes: number, target: SourceTarget): Promise<void> {
  try {
    const payload = await findPayload(wheel);
    if (payload.bytes !== part.bytes) throw new Error(`its payload has ${payload.bytes} bytes, expected ${part.bytes}`);
    let at = 0;
    for await (const chunk of readPayload(wheel, payload)) {
      const rest = chunk.subarray(Math.max(0, skipBytes - at));
      at += chunk.length;
      if (rest.length > 0) await appendWithin(target, rest);
    }
  } catch (error) {
    if (error instanceof SourceError || error instanceof AgentError) throw error;
    throw new SourceError(`package ${part.name} ${part.version}: ${messageOf(error)}`, { cause: error });
  }
}

function fetchAhead(pip: readonly string[], part: Package, target: SourceTarget, signal: AbortSignal, settings: PackagesSettings): Promise<string> {
  const fetched = fetchWheel(pip, part, target, signal, settings);
  fetched.catch((error: unknown) => messageOf(error)); // seen when it is awaited
  return fetched;
}

/** Path of the package's wheel. */
async function fetchWheel(pip: readonly string[], part: Package, target: SourceTarget, signal: AbortSignal, settings: PackagesSettings): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    // A name of its own: what a killed run left behind may still be written to.
    const dir = join(settings.dir, randomUUID());
    await mkdir(join(dir, "tmp"), { recursive: true });
    const options = ["--quiet", "--no-input", "--disable-pip-version-check", "--no-cache-dir", "--progress-bar", "off", "--retries", "2"];
    const command = [...pip, "download", ...options, "--no-deps", "--only-binary", ":all:", "-d", dir, `${part.name}==${part.version}`];
    const { exitCode, stderr } = await runPip(command, dir, signal, settings);
    const wheel = (await readdir(dir)).find((name) => name.endsWith(".whl"));
    if (exitCode === 0 && wheel !== undefined) return join(dir, wheel);
    throwIfAborted(signal);
    await rm(dir, { recursive: true, force: true });
    const reason = reasonOf(stderr) || `${pip.join(" ")} ended with status ${exitCode}`;
    if (/No space left on device/i.test(stderr)) throw storageFull(settings.dir, new Error(reason));
    if (attempt >= attemptsMax) throw new SourceError(`package ${part.name}: ${reason}`);
    const delayMs = settings.retryBaseMs * 2 ** (attempt - 1);
    target.onRetry(`package ${part.name}: ${reason}`, attempt, delayMs);
    await pause(delayMs, signal);
  }
}

async function findPip(env: PackagesSettings["env"], signal: AbortSignal): Promise<readonly string[]> {
  for (const command of pipCommands) {
    throwIfAborted(signal);
    const path = Bun.which(command[0] ?? "", { PATH: env["PATH"] ?? env["Path"] ?? "" });
    if (path === null) continue;
    const resolved = [path, ...command.slice(1)];
    const child = Bun.spawn([...resolved, "--version"], { env: childEnv(env), stdin: "ignore", stdout: "ignore", stderr: "ignore", signal, timeout: limits.downloadStallMs });
    if ((await child.exited) === 0) return resolved;
  }
  throw new SourceError("there is no pip on this machine (tried python3 -m pip, python -m pip, py -m pip, pip)");
}

async function runPip(command: string[], dir: string, signal: AbortSignal, settings: PackagesSettings): Promise<{ exitCode: number; stderr: string }> {
  const tmp = join(dir, "tmp");
  const child = Bun.spawn(command, {
    env: { ...childEnv(settings.env), TMPDIR: tmp, TMP: tmp, TEMP: tmp },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    signal,
    killSignal: "SIGKILL",
  });
  let stalled = false;
  let seen = -1;
  const watch = setInterval(() => {
    void sizeOf(dir).then((bytes) => {
      stalled = bytes === seen;
      seen = bytes;
      if (stalled) child.kill("SIGKILL");
    });
  }, settings.stallMs);
  try {
    const output = { tail: "" };
    const reading = readTail(child.stderr, output);
    const exitCode = await child.exited;
    // A process that pip left behind may hold the pipe open for ever.
    await Promise.race([reading, Bun.sleep(limits.killGraceMs)]);
    const stderr = output.tail;
    return { exitCode, stderr: stalled ? `nothing came for ${settings.stallMs / 1000} s` : stderr };
  } finally {
    clearInterval(watch);
  }
}

const pipCommands = [["python3", "-m", "pip"], ["python", "-m", "pip"], ["py", "-m", "pip"], ["pip"]] as const;
const attemptsMax = 2;
const stderrCharsMax = 16 * 1024;

/** These two would change what a compiled Bun program among the children does. */
function childEnv(env: PackagesSettings["env"]): Record<string, string | undefined> {
  const { BUN_OPTIONS: _options, BUN_BE_BUN: _beBun, ...rest } = env;
  return rest;
}

async function readTail(stream: ReadableStream<Uint8Array>, output: { tail: string }): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) output.tail = (output.tail + decoder.decode(chunk, { stream: true })).slice(-stderrCharsMax);
}

function reasonOf(text: string): string {
  if (/NewConnectionError|Failed to establish|NameResolutionError|ConnectTimeoutError|ReadTimeoutError|ProxyError/.test(text)) return "the package index cannot be reached";
  const lines = text.split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
  return lines.findLast((line) => /^error/i.test(line)) ?? lines.at(-1) ?? "";
}

async function sizeOf(dir: string): Promise<number> {
  const names = await readdir(dir, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(names.map((name) => stat(join(dir, name)).then((found) => found.size, () => 0)));
  return sizes.reduce((sum, size) => sum + size, 0);
}
