// Finds out whether the llama library runs on this machine, in a throwaway child: a wrong instruction or a missing system
// library ends the process that meets it. A good verdict is remembered; a bad one is asked for again, since the machine
// may have been put right.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { cpus, release } from "node:os";
import { isAbsolute, join } from "node:path";
import { AgentError, messageOf } from "../../core/error.ts";
import type { Log } from "../../core/runtime.ts";
import { nativeLibrary } from "../../embedded.ts";
import { loadLlama, useServerInstead } from "./load.ts";
import { unpackLibrary } from "./unpack.ts";

/** First argument of the executable that makes it a probe; the second is the engine's folder. */
export const probeCommand = "__probe-engine";

export interface ProbeOptions {
  engineDir: string;
  /** Folder of the unpacked library; the verdict is kept in it. */
  root: string;
  /** Names the library's content. */
  libraryId: string;
  log: Log;
  signal?: AbortSignal | undefined;
  /** Program and arguments of the child; this executable as a probe unless told otherwise. */
  command?: readonly string[];
  timeoutMs?: number;
}

/**
 * Resolves when the library is known to run here.
 * @throws AgentError `engine_unavailable` with the reason when it does not, `aborted` when the signal fires first
 */
export async function probeEngine(options: ProbeOptions): Promise<void> {
  const { engineDir, root, libraryId, log, signal, command = [process.execPath, probeCommand, engineDir], timeoutMs = 60_000 } = options;
  const verdict = join(root, `runs-${machineKey(libraryId)}.json`);
  if (existsSync(verdict)) return;
  if (signal?.aborted) throw new AgentError("aborted", "The engine's start was cancelled.");
  const startedAt = performance.now();
  const { BUN_OPTIONS: _options, BUN_BE_BUN: _beBun, TEST_BINDING_CP: _test, ...env } = process.env;
  const child = Bun.spawn([...command], { env, stdin: "ignore", stdout: "ignore", stderr: "pipe", timeout: timeoutMs, killSignal: "SIGKILL", ...(signal ? { signal } : {}) });
  const [text] = await Promise.all([child.stderr.text(), child.exited]);
  if (signal?.aborted) throw new AgentError("aborted", "The engine's start was cancelled.");
  const durationMs = Math.round(performance.now() - startedAt);
  if (child.exitCode === 0) {
    await remember(verdict, durationMs, log);
    return;
  }
  const ending = durationMs >= timeoutMs ? `no answer in ${timeoutMs} ms` : child.signalCode ? `it crashed with ${child.signalCode}` : undefined;
  const reason = [ending, lastWords(text)].filter(Boolean).join(": ") || `the probe ended with status ${child.exitCode}`;
  throw new AgentError("engine_unavailable", `The llama library doesn't run on this machine: ${reason}. ${useServerInstead}`);
}

/** What the child does: load the library as the engine would, and unload it. Resolves with the exit status. */
export async function runProbeChild(engineDir: string): Promise<number> {
  const silent: Log = () => {};
  try {
    if (!isAbsolute(engineDir)) throw new AgentError("usage", `${probeCommand} needs the absolute path of the engine's folder, not "${engineDir}"`);
    const root = nativeLibrary === undefined ? undefined : await unpackLibrary(nativeLibrary, engineDir, silent);
    const llama = await loadLlama(root, silent);
    await llama.dispose();
    return 0;
  } catch (error) {
    const cause = error instanceof AgentError ? error.message.replace(` ${useServerInstead}`, "").replace(/^The llama library can't be loaded: /, "") : messageOf(error);
    writeSync(2, `${cause.replace(/\.$/, "")}\n`);
    return 1;
  }
}

/** The last line before the runtime's own crash report, which tells people to write to the wrong address. */
function lastWords(stderr: string): string | undefined {
  return stderr.split(/^={40,}$/m, 1)[0]?.trim().split("\n").at(-1);
}

/** Changes with everything that decides whether native code runs: processor, kernel, system libraries, drivers, the library. */
function machineKey(libraryId: string): string {
  const parts = [
    libraryId,
    process.platform,
    process.arch,
    release(),
    cpus()[0]?.model,
    textOf("/proc/cpuinfo")?.split("\n\n", 1)[0]?.match(/^(flags|Features)\s*:.*$/m)?.[0],
    textOf("/etc/os-release"),
    textOf("/proc/driver/nvidia/version"),
  ];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

function textOf(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

async function remember(verdict: string, durationMs: number, log: Log): Promise<void> {
  const temporary = `${verdict}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, `${JSON.stringify({ probedAt: new Date().toISOString(), durationMs })}\n`, { mode: 0o600 });
    await rename(temporary, verdict);
  } catch (error) {
    log("debug", `the probe's verdict could not be kept: ${messageOf(error)}`);
  }
}
