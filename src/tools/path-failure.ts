// The words for what can go wrong with a file: what, where, and what to do next.
import { lstatSync, readdirSync, type Stats } from "node:fs";
import { messageOf, ToolError } from "../core/error.ts";
import { nearest } from "../core/nearest.ts";
import { onDisk, type RawPath, rawPath, showPath } from "./path-text.ts";

/** A failed system call on `path`, as the tool's answer. */
export function accessFailure(error: unknown, path: RawPath): ToolError {
  if (error instanceof ToolError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const shown = showPath(path);
  const words: Record<string, string> = {
    EACCES: `permission denied: ${shown}`,
    EPERM: `the system does not permit this on ${shown}`,
    ENOENT: `${shown} does not exist`,
    ENOTDIR: `part of ${shown} is a file, not a folder`,
    EISDIR: `${shown} is a folder`,
    ELOOP: `${shown} became a symbolic link while it was opened; try again`,
    ENAMETOOLONG: `a name in ${shown.slice(0, 100)}… is too long (at most 255 bytes each)`,
    ENOSPC: `the disk is full: ${shown} was not changed`,
    EDQUOT: `the disk quota is used up: ${shown} was not changed`,
    EROFS: `${shown} lies on a read-only file system`,
    ENXIO: `${shown} is a device or socket, not a file`,
  };
  return new ToolError(words[code] ?? `${shown}: ${messageOf(error)}`, { cause: error });
}

/** Nothing is at `path`: names the nearest existing name, or the folder where the path breaks off. */
export function missingFailure(path: RawPath, shown: string, dangling?: string): ToolError {
  if (dangling !== undefined) return new ToolError(`${shown} does not exist: the symbolic link ${dangling}, and nothing is there`);
  let folder = path;
  let wanted = "";
  do {
    wanted = folder.slice(folder.lastIndexOf("/") + 1);
    folder = folder.slice(0, Math.max(1, folder.lastIndexOf("/")));
  } while (folder !== "/" && !exists(folder));
  const names = namesIn(folder);
  const guess = nearest(showPath(wanted), names);
  const prefix = folder === "/" ? "/" : `${showPath(folder)}/`;
  if (guess !== undefined) return new ToolError(`${shown} does not exist; did you mean ${guess}? (in ${prefix})`);
  const some = names.slice(0, namesShownMax).join(", ");
  const more = names.length > namesShownMax ? `, and ${names.length - namesShownMax} more` : "";
  return new ToolError(`${shown} does not exist; ${prefix} holds ${names.length === 0 ? "nothing" : some + more}`);
}

/** What a thing that is no regular file is, and what to do with it. */
export function kindFailure(stats: Stats, shown: string): ToolError {
  if (stats.isDirectory()) return new ToolError(`${shown} is a folder; use fs.list to see what is in it`);
  if (stats.isFIFO()) return new ToolError(`${shown} is a FIFO (named pipe), not a file`);
  if (stats.isSocket()) return new ToolError(`${shown} is a socket, not a file`);
  if (stats.isSymbolicLink()) return new ToolError(`${shown} became a symbolic link in the meantime; try again`);
  return new ToolError(`${shown} is a device, not a file`);
}

const namesShownMax = 20;

function exists(path: RawPath): boolean {
  try {
    lstatSync(onDisk(path));
    return true;
  } catch {
    return false;
  }
}

function namesIn(folder: RawPath): string[] {
  try {
    return readdirSync(onDisk(folder), { encoding: "buffer" })
      .map((name) => showPath(rawPath(name)))
      .toSorted();
  } catch {
    // A folder that cannot be listed gives no help; the message says so by its emptiness only.
    return [];
  }
}
