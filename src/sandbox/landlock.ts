// Landlock, the kernel's own access control for a process that gives up rights (Linux 5.13 and later).
// Constants and structures: linux/landlock.h. Only what the running kernel's version knows is asked for.
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { ptr } from "bun:ffi";
import { openLinuxCalls } from "./libc.ts";

export interface LandlockRules {
  /** Files and folders that may be read and executed, with all below them. */
  read: readonly string[];
  /** Folders in which everything may be done but making devices. */
  write: readonly string[];
  network: boolean;
}

/** The kernel's Landlock version, 0 where it has none or refuses it. */
export function landlockVersion(): number {
  const version = Number(openLinuxCalls().syscall(syscalls.createRuleset, 0, 0, versionFlag, 0, 0));
  return version > 0 ? version : 0;
}

/** Restricts the calling thread and what it executes. No-new-privileges must be set. @throws when the kernel refuses. */
export function restrictFiles(rules: LandlockRules, version: number): void {
  const calls = openLinuxCalls();
  const handled = handledRights(version);
  const attributes = new BigUint64Array([handled, version >= 4 && !rules.network ? netRights : 0n, version >= 6 ? scopes : 0n]);
  const size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  const ruleset = Number(calls.syscall(syscalls.createRuleset, ptr(attributes), size, 0, 0, 0));
  if (ruleset < 0) throw new Error("the kernel refused the Landlock rule set");
  const add = (path: string, access: bigint) => allow(calls, ruleset, path, access & handled);
  for (const path of rules.read) add(path, readRights);
  for (const path of rules.write) add(path, writeRights);
  for (const path of readDevices) add(path, deviceRights & ~(1n << right.writeFile));
  for (const path of writeDevices) add(path, deviceRights);
  if (Number(calls.syscall(syscalls.restrictSelf, ruleset, 0, 0, 0, 0)) !== 0) throw new Error("the kernel refused to apply the Landlock rules");
  closeSync(ruleset);
}

const syscalls = { createRuleset: 444, addRule: 445, restrictSelf: 446 };
const versionFlag = 1;
const pathBeneath = 1;
const openPath = 0x200000;

const right = {
  execute: 0n,
  writeFile: 1n,
  readFile: 2n,
  readFolder: 3n,
  makeDevice: 6n,
  makeBlockDevice: 11n,
  refer: 13n,
  truncate: 14n,
  ioctlDevice: 15n,
};
const readRights = (1n << right.execute) | (1n << right.readFile) | (1n << right.readFolder);
const deviceRights = (1n << right.writeFile) | (1n << right.readFile) | (1n << right.truncate) | (1n << right.ioctlDevice);
const fileRights = deviceRights | (1n << right.execute);
const writeRights = ((1n << 15n) - 1n) & ~(1n << right.makeDevice) & ~(1n << right.makeBlockDevice);
const netRights = 3n;
const scopes = 3n;
const readDevices = ["/dev/random", "/dev/urandom"];
const writeDevices = ["/dev/null", "/dev/zero", "/dev/full"];

/** Version 2 brought renames between folders, 3 truncation, 5 ioctl on devices. */
function handledRights(version: number): bigint {
  const count = version >= 5 ? 16n : version >= 3 ? 15n : version === 2 ? 14n : 13n;
  return (1n << count) - 1n;
}

function allow(calls: ReturnType<typeof openLinuxCalls>, ruleset: number, path: string, access: bigint): void {
  let descriptor: number;
  try {
    descriptor = openSync(path, openPath | constants.O_NOFOLLOW);
  } catch {
    // What is not there, or may not be reached, needs no rule: the rules only ever add rights.
    return;
  }
  try {
    const stats = fstatSync(descriptor);
    if (stats.isSymbolicLink()) return;
    const granted = stats.isDirectory() ? access : access & fileRights;
    const rule = new DataView(new ArrayBuffer(12));
    rule.setBigUint64(0, granted, true);
    rule.setInt32(8, descriptor, true);
    const done = Number(calls.syscall(syscalls.addRule, ruleset, pathBeneath, ptr(rule), 0, 0));
    if (done !== 0) throw new Error(`the kernel refused the Landlock rule for ${path}`);
  } finally {
    closeSync(descriptor);
  }
}
