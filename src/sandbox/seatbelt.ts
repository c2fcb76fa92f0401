// The macOS sandbox profile: everything may be read but what must stay hidden, writing only where allowed.
// Written after the public profile language; not yet run on a Mac by this project's tests.
import type { Reach } from "./reach.ts";

/** Arguments that run `/bin/sh -c command` under sandbox-exec. */
export function seatbeltCommand(command: string, options: { reach: Reach; stateFolder: string; network: boolean }): string[] {
  return ["/usr/bin/sandbox-exec", "-p", seatbeltProfile(options), "/bin/sh", "-c", command];
}

/** The last rule that fits decides. */
export function seatbeltProfile(options: { reach: Reach; stateFolder: string; network: boolean }): string {
  const { reach, stateFolder, network } = options;
  const subpaths = (paths: readonly string[]) => paths.map((path) => `(subpath ${quoted(path)})`).join(" ");
  const inHidden = [...reach.read, ...reach.write].filter((path) => path.startsWith(`${stateFolder}/`));
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-exec process-fork sysctl-read file-ioctl)",
    "(allow signal (target same-sandbox))",
    "(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.libinfo\") (global-name \"com.apple.system.logger\"))",
    "(allow file-read-metadata)",
    `(allow file-read* (literal "/") ${subpaths([...darwinFolders, ...reach.read, ...reach.write])})`,
    `(allow file-write* (literal "/dev/null") ${subpaths(reach.write)})`,
    `(deny file-read* file-write* (subpath ${quoted(stateFolder)}))`,
    ...(inHidden.length > 0 ? [`(allow file-read* ${subpaths(inHidden)})`] : []),
    ...(network ? ["(allow network*)", "(allow system-socket)", "(allow mach-lookup)"] : []),
  ].join("\n");
}

const darwinFolders = ["/System", "/Library", "/usr", "/bin", "/sbin", "/dev", "/private/etc", "/private/var/db", "/private/var/select", "/opt"];

function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
