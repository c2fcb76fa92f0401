// Puts bytes into a file: whole or not at all. The new content is written beside the file and takes its place; a file
// with several names, or of an owner that cannot be kept, is written in place instead.
import {
  accessSync, closeSync, constants, fchmodSync, fchownSync, fstatSync, fsyncSync, ftruncateSync, lstatSync, mkdirSync, openSync, renameSync, type Stats, unlinkSync, writeSync,
} from "node:fs";
import { ToolError } from "../core/error.ts";
import { withFolder } from "./open.ts";
import { accessFailure, kindFailure } from "./path-failure.ts";
import { onDisk, type RawPath } from "./path-text.ts";
import { nameOf, parentOf, type Place } from "./path.ts";

/**
 * Replaces or makes the file; missing folders are made. Mode and owner are kept.
 * @returns whether it was made. @throws ToolError when the place is no regular file or cannot be written; it is then unchanged.
 */
export function saveFile(place: Place, bytes: Uint8Array): boolean {
  return inParent(place, (at) => {
    const path = at(nameOf(place.real));
    const before = regularOrNothing(path, place);
    if (before) accessSync(path, constants.W_OK);
    if (before && before.nlink > 1) writeInPlace(path, bytes, place);
    else if (!replaceWhole(at, path, bytes, before)) writeInPlace(path, bytes, place);
    return before === undefined;
  });
}

/** Adds to the end of the file, or makes it. @returns whether it was made. */
export function appendToFile(place: Place, bytes: Uint8Array): boolean {
  return inParent(place, (at) => {
    const path = at(nameOf(place.real));
    const before = regularOrNothing(path, place);
    const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;
    const descriptor = openSync(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | (before ? 0 : O_CREAT | O_EXCL), newFileMode);
    try {
      writeAll(descriptor, bytes);
    } finally {
      closeSync(descriptor);
    }
    return before === undefined;
  });
}

const newFileMode = 0o666;

function inParent(place: Place, use: (at: (name: RawPath) => Buffer) => boolean): boolean {
  const parent = parentOf(place.real);
  try {
    mkdirSync(onDisk(parent), { recursive: true });
    return withFolder(parent, use);
  } catch (error) {
    throw accessFailure(error, place.real);
  }
}

function regularOrNothing(path: Buffer, place: Place): Stats | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats && !stats.isFile()) throw stats.isDirectory() ? new ToolError(`${place.shown} is a folder; name a file in it`) : kindFailure(stats, place.shown);
  return stats;
}

/** False when the owner could not be kept, or the folder takes no new file: nothing was changed then. */
function replaceWhole(at: (name: RawPath) => Buffer, path: Buffer, bytes: Uint8Array, before: Stats | undefined): boolean {
  const draft = at(`.atomic-${crypto.randomUUID()}`);
  let descriptor: number;
  try {
    descriptor = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, newFileMode);
  } catch (error) {
    if (before && error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM")) return false;
    throw error;
  }
  try {
    if (before && !keepOwner(descriptor, before)) return discard(draft, descriptor);
    if (before) fchmodSync(descriptor, before.mode & 0o7777);
    writeAll(descriptor, bytes);
    fsyncSync(descriptor);
    renameSync(draft, path);
  } catch (error) {
    discard(draft, descriptor);
    throw error;
  }
  closeSync(descriptor);
  return true;
}

function keepOwner(descriptor: number, before: Stats): boolean {
  const own = fstatSync(descriptor);
  if (own.uid === before.uid && own.gid === before.gid) return true;
  try {
    fchownSync(descriptor, before.uid, before.gid);
    return true;
  } catch {
    return false;
  }
}

function discard(draft: Buffer, descriptor: number): false {
  closeSync(descriptor);
  unlinkSync(draft);
  return false;
}

function writeInPlace(path: Buffer, bytes: Uint8Array, place: Place): void {
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw kindFailure(stats, place.shown);
    writeAll(descriptor, bytes);
    ftruncateSync(descriptor, bytes.length);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
}
