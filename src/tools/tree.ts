// Copies and removes whole trees, links as links. Names are bytes; nothing is followed and nothing is overwritten.
import { chmodSync, constants, lstatSync, lutimesSync, mkdirSync, readdirSync, readlinkSync, rmdirSync, type Stats, symlinkSync, unlinkSync, utimesSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { ToolError } from "../core/error.ts";
import { nameOf } from "./path.ts";
import { onDisk, type RawPath, rawPath, showPath } from "./path-text.ts";

/** Mode and times are kept. What was copied when it fails stays. @throws ToolError for devices, sockets and pipes, and after an abort. */
export async function copyTree(from: RawPath, to: RawPath, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) throw new ToolError("cancelled before it was complete");
  const stats = lstatSync(onDisk(from));
  if (stats.isSymbolicLink()) {
    symlinkSync(readlinkSync(onDisk(from), { encoding: "buffer" }), onDisk(to));
    return lutimesSync(onDisk(to), stats.atime, stats.mtime);
  }
  if (stats.isDirectory()) {
    mkdirSync(onDisk(to), { mode: 0o700 });
    for (const name of readdirSync(onDisk(from), { encoding: "buffer" })) await copyTree(`${from}/${rawPath(name)}`, `${to}/${rawPath(name)}`, signal);
  } else if (stats.isFile()) await copyFile(onDisk(from), onDisk(to), constants.COPYFILE_EXCL);
  else throw new ToolError(`${showPath(nameOf(from))} is neither file, folder nor link, and only those can be copied`);
  keepMarks(to, stats);
}

/** Removes a file, a link or a folder with all that is in it. */
export function removeTree(path: RawPath): void {
  if (!lstatSync(onDisk(path)).isDirectory()) return unlinkSync(onDisk(path));
  for (const name of readdirSync(onDisk(path), { encoding: "buffer" })) removeTree(`${path}/${rawPath(name)}`);
  rmdirSync(onDisk(path));
}

export function isThere(path: RawPath): boolean {
  return lstatSync(onDisk(path), { throwIfNoEntry: false }) !== undefined;
}

function keepMarks(path: RawPath, stats: Stats): void {
  chmodSync(onDisk(path), stats.mode & 0o7777);
  utimesSync(onDisk(path), stats.atime, stats.mtime);
}
