// What the system offers to confine a command, and the command line that does it. The confined process itself is
// prepared by confine-child.ts: this executable started again, which gives up rights and becomes the shell.
import { accessSync, constants } from "node:fs";
import { landlockVersion } from "./landlock.ts";
import { reachOf, type ReachOptions } from "./reach.ts";
import { seatbeltCommand } from "./seatbelt.ts";

export type SandboxMode = "auto" | "required" | "off";
/** `none`: wanted, but the system has nothing; `off`: not wanted. */
export type SandboxKind = "landlock" | "seatbelt" | "none" | "off";

export interface Confinement {
  /** Absolute path in which the command starts. */
  folder: string;
  /** Worked out by the confined process itself: as a list it could be longer than a command line may be. */
  reach: ReachOptions;
  network: boolean;
}

/** Hidden sub-command, second word of the command line, that main hands to `runConfineChild`. */
export const confineWord = "__confine";

/** What would confine a command here. Asks the kernel once. */
export function sandboxKind(mode: SandboxMode): SandboxKind {
  if (mode === "off") return "off";
  return (found ??= findKind());
}

/** What a person has to know where a sandbox is wanted and the system has none; undefined everywhere else. */
export function sandboxWarning(mode: SandboxMode, kind: SandboxKind = sandboxKind(mode)): string | undefined {
  if (kind !== "none") return undefined;
  const effect = mode === "required" ? "no command runs (tools.shell.sandbox is required)" : "commands run unconfined, and below approval level 5 each one has to be allowed (tools.shell.sandbox)";
  return `this system has nothing to confine commands with: ${effect}`;
}

/** The command line, without anything confined for `none` and `off`. It has to be started in `/` and moves by itself. */
export function confine(command: string, kind: SandboxKind, options: Confinement, self: readonly string[] = selfCommand()): string[] {
  if (kind === "landlock") return [...self, confineWord, JSON.stringify(options), command];
  const moved = ["/bin/sh", "-c", 'cd -- "$1" && exec "$0" -c "$2"', "/bin/sh", options.folder, command];
  if (kind !== "seatbelt") return moved;
  return ["/bin/sh", "-c", 'cd -- "$1" && shift && exec "$@"', "sh", options.folder, ...seatbeltCommand(command, { reach: reachOf(options.reach), stateFolder: options.reach.stateFolder, network: options.network })];
}

/** How this program is started again: the compiled executable, or Bun with the script when run from source. */
export function selfCommand(): string[] {
  const compiled = Bun.main.startsWith("/$bunfs/");
  return compiled ? [process.execPath] : [process.execPath, Bun.main];
}

let found: SandboxKind | undefined;

function findKind(): SandboxKind {
  if (process.platform === "darwin") return isExecutable("/usr/bin/sandbox-exec") ? "seatbelt" : "none";
  // Landlock leaves UDP and local sockets open; the filter against those exists for these two machines.
  const known = process.platform === "linux" && (process.arch === "x64" || process.arch === "arm64");
  return known && landlockVersion() > 0 ? "landlock" : "none";
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
