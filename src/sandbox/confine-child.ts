// The hidden sub-command that gives up rights and becomes the shell (Linux). It fails closed: whatever cannot be set up
// ends it with status 126 before the command runs. Nothing else may run in this process.
import { writeSync } from "node:fs";
import { ptr } from "bun:ffi";
import { messageOf } from "../core/error.ts";
import { landlockVersion, restrictFiles } from "./landlock.ts";
import { openLinuxCalls } from "./libc.ts";
import { reachOf } from "./reach.ts";
import type { Confinement } from "./sandbox.ts";
import { installFilter, socketFilter } from "./seccomp.ts";

/** Status of a command that the sandbox could not start. */
export const confineFailedStatus = 126;

/**
 * @param words what follows the hidden sub-command: the confinement as JSON, the command.
 * Never returns: the process becomes `/bin/sh -c command`, or exits with status 126 and one line on stderr.
 */
export function runConfineChild(words: readonly string[]): never {
  try {
    const [options, command] = words;
    if (options === undefined || command === undefined) throw new Error("a confinement and a command are needed");
    become(command, JSON.parse(options) as Confinement);
  } catch (error) {
    writeSync(2, `sandbox: ${messageOf(error)}\n`);
  }
  process.exit(confineFailedStatus);
}

function become(command: string, options: Confinement): void {
  const machine = process.arch === "arm64" ? "arm64" : "x64";
  const calls = openLinuxCalls();
  process.chdir(options.folder);
  // Descriptors of this runtime must not reach the command.
  calls.syscall(closeRange, 3, 0xffffffff, closeRangeOnExec, 0, 0);
  calls.prctl(setParentDeathSignal, killSignal, 0, 0, 0);
  if (calls.prctl(setNoNewPrivileges, 1, 0, 0, 0) !== 0) throw new Error("the kernel refused no-new-privileges");
  // Powers of root that reach around file rules, such as mounting and reading other processes; others hold none of them.
  for (let power = 0; power <= lastPower; power++) if (!keptPowers.has(power)) calls.prctl(dropFromBounds, power, 0, 0, 0);
  const version = landlockVersion();
  if (version === 0) throw new Error("the kernel has no Landlock");
  const shell = cString("/bin/sh");
  const argumentTexts = [cString("sh"), cString("-c"), cString(command)];
  const argumentList = new BigUint64Array([...argumentTexts.map((text) => BigInt(ptr(text))), 0n]);
  // Built before the rules hold, so that nothing is loaded after them.
  const filter = socketFilter(machine, { network: options.network, truncate: version >= 3 });
  restrictFiles({ ...reachOf(options.reach), network: options.network }, version);
  installFilter(filter);
  for (const signal of ignoredByRuntime) calls.signal(signal, 0);
  calls.sigprocmask(setMask, ptr(new Uint8Array(128)), null);
  calls.execv(ptr(shell), ptr(argumentList));
  throw new Error("/bin/sh could not be started");
}

const closeRange = 436;
const closeRangeOnExec = 4;
const setParentDeathSignal = 1;
const setNoNewPrivileges = 38;
const killSignal = 9;
/** SIGPIPE, SIGXFSZ: what is ignored stays so for the command. */
const ignoredByRuntime = [13, 25];
const dropFromBounds = 24;
const lastPower = 63;
/** chown, the three of file permissions, fsetid, setgid, setuid (linux/capability.h). */
const keptPowers = new Set([0, 1, 2, 3, 4, 6, 7]);
const setMask = 2;

function cString(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}
