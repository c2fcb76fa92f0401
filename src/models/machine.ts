// What this process may use of the machine: cores and memory, with the limits of its control groups (Linux, versions 1
// and 2). Formats: proc(5), cgroups(7), the kernel's admin-guide/cgroup-v1 and cgroup-v2. Must not fail: what can't be
// read does not limit.
import { readFileSync } from "node:fs";
import { availableParallelism, freemem, totalmem } from "node:os";
import { posix } from "node:path";

export interface Machine {
  /** Cores that the process may really use, at least 1. */
  cores: number;
  /** Bytes that the process can take without swapping or being killed. */
  memoryBytes: number;
}

/** Text of a file, undefined when there is none. */
export type ReadText = (path: string) => string | undefined;

const root = "/sys/fs/cgroup";
/** Part of a machine's memory that is taken as free where the system does not tell. */
const assumedFree = 0.7;

export function readMachine(read: ReadText = readFile, platform: NodeJS.Platform = process.platform): Machine {
  if (platform === "linux") return { cores: linuxCores(read), memoryBytes: linuxMemory(read) };
  return { cores: Math.max(1, availableParallelism()), memoryBytes: platform === "darwin" ? Math.floor(totalmem() * assumedFree) : freemem() };
}

function linuxCores(read: ReadText): number {
  const mask = /^Cpus_allowed:\s*([0-9a-f,]+)/m.exec(read("/proc/self/status") ?? "")?.[1];
  const allowed = mask === undefined ? availableParallelism() : countBits(mask);
  const quotas = [...quotasV2(read), ...quotasV1(read)];
  return Math.max(1, Math.floor(Math.min(allowed, ...quotas)));
}

function linuxMemory(read: ReadText): number {
  const available = /^MemAvailable:\s*(\d+) kB/m.exec(read("/proc/meminfo") ?? "")?.[1];
  const free = available === undefined ? freemem() : Number(available) * 1024;
  const limits = [...roomV2(read), ...roomV1(read)];
  return Math.max(0, Math.min(free, ...limits));
}

function quotasV2(read: ReadText): number[] {
  return foldersV2(read).flatMap((folder) => {
    const [quota, period] = (read(`${folder}/cpu.max`) ?? "").trim().split(" ").map(Number);
    return valid(quota) && valid(period) ? [quota / period] : [];
  });
}

function quotasV1(read: ReadText): number[] {
  return foldersV1(read, "cpu").flatMap((folder) => {
    const quota = numberIn(read, `${folder}/cpu.cfs_quota_us`);
    const period = numberIn(read, `${folder}/cpu.cfs_period_us`);
    return valid(quota) && valid(period) ? [quota / period] : [];
  });
}

function roomV2(read: ReadText): number[] {
  return foldersV2(read).flatMap((folder) => room(numberIn(read, `${folder}/memory.max`), numberIn(read, `${folder}/memory.current`), read(`${folder}/memory.stat`), "inactive_file"));
}

function roomV1(read: ReadText): number[] {
  return foldersV1(read, "memory").flatMap((folder) =>
    room(numberIn(read, `${folder}/memory.limit_in_bytes`), numberIn(read, `${folder}/memory.usage_in_bytes`), read(`${folder}/memory.stat`), "total_inactive_file"),
  );
}

/** What a limit leaves: pages of files that are not in use are given back when they are needed. */
function room(limit: number | undefined, used: number | undefined, stat: string | undefined, reclaimableKey: string): number[] {
  if (!valid(limit)) return [];
  const reclaimable = Number(new RegExp(`^${reclaimableKey} (\\d+)`, "m").exec(stat ?? "")?.[1] ?? 0);
  return [Math.max(0, limit - Math.max(0, (used ?? 0) - reclaimable))];
}

/** The group of this process and all above it, of version 2. Inside a container the path may be one of the host's. */
function foldersV2(read: ReadText): string[] {
  const path = /^0::(.*)$/m.exec(read("/proc/self/cgroup") ?? "")?.[1];
  if (path === undefined) return [];
  return [root, `${root}/unified`].flatMap((mount) => upwards(mount, path));
}

function foldersV1(read: ReadText, controller: string): string[] {
  for (const line of (read("/proc/self/cgroup") ?? "").split("\n")) {
    const [, controllers = "", path = ""] = /^\d+:([^:]+):(.*)$/.exec(line) ?? [];
    if (controllers.split(",").includes(controller)) return [`${root}/${controllers}`, `${root}/${controller}`].flatMap((mount) => upwards(mount, path));
  }
  return [];
}

function upwards(mount: string, path: string): string[] {
  const folders: string[] = [];
  for (let at = posix.normalize(`/${path}`); at !== "/" && at !== "."; at = posix.dirname(at)) folders.push(mount + at);
  return [...folders, mount];
}

function countBits(mask: string): number {
  return [...mask.replaceAll(",", "")].reduce((bits, digit) => bits + (Number.parseInt(digit, 16).toString(2).match(/1/g)?.length ?? 0), 0);
}

function numberIn(read: ReadText, path: string): number | undefined {
  const text = read(path)?.trim();
  return text === undefined || text === "" ? undefined : Number(text);
}

/** A limit that limits: `max` is not a number, -1 is none. */
function valid(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value) && value > 0;
}

function readFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
