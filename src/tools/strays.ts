// Finds and ends the processes that a command left behind, also those that moved to a session of their own.
// On Linux orphans become our children, and a variable and the sandbox's filter mark them; elsewhere the group counts.
import { readdirSync, readFileSync } from "node:fs";
import { limits } from "../core/limits.ts";
import { libc } from "../sandbox/libc.ts";
import { commandVariable } from "./child-environment.ts";

export interface Stray {
  pid: number;
  /** Its command line, cut. */
  command: string;
}

/** Shells of commands that run now: our children, and no strays of another command. */
export const runningShells = new Set<number>();

/** Whatever ends this process at once, such as a second signal, ends them too: nothing is left to do it later. */
process.on("exit", () => {
  for (const shell of runningShells) {
    try {
      process.kill(-shell, "SIGKILL");
    } catch {
      // It has ended.
    }
  }
});

/** What is left of the command whose shell had process id `shell`. Processes that have ended are collected. */
export function findStrays(shell: number, commandId: string): Stray[] {
  if (process.platform !== "linux") return [];
  const all = processes();
  const found = new Set<number>([shell]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const candidate of all) {
      if (found.has(candidate.pid) || !(candidate.session === shell || found.has(candidate.parent) || isMarked(candidate, commandId))) continue;
      found.add(candidate.pid);
      grown = true;
    }
  }
  const strays = all.filter(({ pid }) => pid !== shell && found.has(pid));
  for (const { pid, parent, ended } of strays) if (ended && parent === process.pid) libc().reap(pid);
  return strays.filter(({ ended }) => !ended).map(({ pid }) => ({ pid, command: commandLineOf(pid) }));
}

/** Ends what is left of the command and tells what it was: SIGTERM, and SIGKILL for what is still there after the grace. */
export async function endStrays(shell: number, commandId: string): Promise<Stray[]> {
  if (process.platform !== "linux") return endGroup(shell);
  const ended = new Map<number, Stray>();
  // One that was started a moment ago still bears the shell's name.
  for (let waitedMs = 0; waitedMs < nameWaitMs && findStrays(shell, commandId).some(({ command }) => /^(\/bin\/)?sh -c /.test(command)); waitedMs += pollMs) await Bun.sleep(pollMs);
  const began = performance.now();
  for (let signal: "SIGTERM" | "SIGKILL" = "SIGTERM"; ; ) {
    const left = findStrays(shell, commandId);
    const fresh = signal === "SIGKILL" ? left : left.filter(({ pid }) => !ended.has(pid));
    for (const stray of fresh) {
      if (!ended.has(stray.pid)) ended.set(stray.pid, stray);
      send(stray.pid, signal);
    }
    const waitedMs = performance.now() - began;
    if (left.length === 0 || waitedMs > 2 * limits.killGraceMs) break;
    if (waitedMs > limits.killGraceMs) signal = "SIGKILL";
    await Bun.sleep(pollMs);
  }
  // An orphan that moved to a session of its own cannot be told any more once it has ended.
  for (const pid of ended.keys()) libc().reap(pid);
  return [...ended.values()];
}

/** Signals a process, or with a negative number a group. One that is gone already is no failure. */
export function send(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

/** Without /proc only the group is known, and not what is in it. */
async function endGroup(shell: number): Promise<Stray[]> {
  if (!groupLives(shell)) return [];
  send(-shell, "SIGTERM");
  for (const began = performance.now(); groupLives(shell) && performance.now() - began < limits.killGraceMs; ) await Bun.sleep(pollMs);
  send(-shell, "SIGKILL");
  return [{ pid: shell, command: "processes of its group" }];
}

function groupLives(shell: number): boolean {
  try {
    process.kill(-shell, 0);
    return true;
  } catch {
    return false;
  }
}

interface ProcessEntry {
  pid: number;
  parent: number;
  session: number;
  ended: boolean;
}

const pollMs = 10;
const nameWaitMs = 50;
const commandCharsMax = 80;

function processes(): ProcessEntry[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^[0-9]+$/.test(name)) return [];
    const stat = readProc(`/proc/${name}/stat`);
    // The second field is the name in parentheses, which may hold anything.
    const [state, parent, , session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return session === undefined ? [] : [{ pid: Number(name), parent: Number(parent), session: Number(session), ended: state === "Z" || state === "X" }];
  });
}

/** An orphan of ours that came from a command: by its variable, or by a filter that our own children do not have. */
function isMarked(candidate: ProcessEntry, commandId: string): boolean {
  if (candidate.ended || runningShells.has(candidate.session) || (candidate.parent !== process.pid && candidate.parent !== 1)) return false;
  const marks = readProc(`/proc/${candidate.pid}/environ`).split("\0").filter((variable) => variable.startsWith(`${commandVariable}=`));
  if (marks.length > 0) return marks.includes(`${commandVariable}=${commandId}`);
  return candidate.parent === process.pid && filtersOf(candidate.pid) > (ownFilters ??= filtersOf(process.pid));
}

let ownFilters: number | undefined;

function filtersOf(pid: number): number {
  return Number(/^Seccomp_filters:\s*([0-9]+)/m.exec(readProc(`/proc/${pid}/status`))?.[1] ?? 0);
}

function commandLineOf(pid: number): string {
  const words = readProc(`/proc/${pid}/cmdline`).split("\0").join(" ").replace(/[\s\u0000-\u001f]+/g, " ").trim();
  return words.length > commandCharsMax ? `${words.slice(0, commandCharsMax)}…` : words || "a process";
}

function readProc(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The process ended meanwhile, or belongs to somebody else.
    return "";
  }
}
