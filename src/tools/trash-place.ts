// The user's trash: freedesktop.org's Trash specification 1.0 on Linux, ~/.Trash on macOS. Things are moved, across file
// systems copied first; the original goes only when its copy is complete.
import { closeSync, lstatSync, mkdirSync, openSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { ToolError } from "../core/error.ts";
import { withFolder } from "./open.ts";
import { onDisk, type RawPath, rawPath, showPath } from "./path-text.ts";
import { nameOf, parentOf } from "./path.ts";
import { copyTree, isThere, removeTree } from "./tree.ts";

export interface TrashOptions {
  home: string;
  /** XDG_DATA_HOME of the user, where it is set. */
  dataHome?: string;
}

/** Moves one file, link or folder to the trash; `path` is real. @returns where it is now. @throws when it could not be moved. */
export async function moveToTrash(path: RawPath, options: TrashOptions): Promise<RawPath> {
  const home = process.platform === "darwin" ? macTrash(options) : homeTrash(options);
  try {
    return await put(path, home, path, renameOut);
  } catch (error) {
    if (!isOtherDevice(error)) throw error;
  }
  try {
    const top = topOf(path);
    return await put(path, deviceTrash(top), path.slice(top === "/" ? 1 : top.length + 1), renameOut);
  } catch {
    // No trash can be made on that file system: the one in the home takes a copy.
    return await put(path, home, path, copyOut);
  }
}

interface Trash {
  files: RawPath;
  /** Where the notes about each thing go; absent on macOS, which keeps none. */
  info?: RawPath;
}

const nameBytesMax = 230;
const triesMax = 10_000;

function homeTrash(options: TrashOptions): Trash {
  const root = `${rawPath(options.dataHome ?? `${options.home}/.local/share`)}/Trash`;
  return trashIn(root);
}

function macTrash(options: TrashOptions): Trash {
  return { files: `${rawPath(options.home)}/.Trash` };
}

function deviceTrash(top: RawPath): Trash {
  return trashIn(`${top === "/" ? "" : top}/.Trash-${process.getuid?.() ?? 0}`);
}

function trashIn(root: RawPath): Trash {
  const trash = { files: `${root}/files`, info: `${root}/info` };
  for (const folder of [trash.files, trash.info]) mkdirSync(onDisk(folder), { recursive: true, mode: 0o700 });
  return trash;
}

/** @param noted the path that the trash keeps in its note. */
async function put(path: RawPath, trash: Trash, noted: RawPath, move: (from: RawPath, to: RawPath) => void | Promise<void>): Promise<RawPath> {
  const wanted = nameOf(path).slice(0, nameBytesMax);
  for (let tried = 1; tried <= triesMax; tried++) {
    const name = tried === 1 ? wanted : `${wanted}.${tried}`;
    const target = `${trash.files}/${name}`;
    const note = trash.info === undefined ? undefined : `${trash.info}/${name}.trashinfo`;
    if (isThere(target) || (note !== undefined && !writeNote(note, noted))) continue;
    try {
      await move(path, target);
      return target;
    } catch (error) {
      if (note !== undefined) unlinkSync(onDisk(note));
      throw error;
    }
  }
  throw new ToolError(`the trash already holds ${triesMax} things named ${showPath(wanted)}; empty it first`);
}

/** False when another thing in the trash has that name. */
function writeNote(note: RawPath, noted: RawPath): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(onDisk(note), "wx", 0o600);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
  const escaped = [...onDisk(noted)].map((byte) => (/[A-Za-z0-9/._~-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`));
  try {
    writeSync(descriptor, `[Trash Info]\nPath=${escaped.join("")}\nDeletionDate=${localTime(new Date())}\n`);
  } finally {
    closeSync(descriptor);
  }
  return true;
}

function localTime(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

function renameOut(from: RawPath, to: RawPath): void {
  withFolder(parentOf(from), (at) => renameSync(at(nameOf(from)), onDisk(to)));
}

async function copyOut(from: RawPath, to: RawPath): Promise<void> {
  try {
    await copyTree(from, to);
  } catch (error) {
    if (isThere(to)) removeTree(to);
    throw error;
  }
  removeTree(from);
}

/** The folder on which the path's file system is mounted. */
function topOf(path: RawPath): RawPath {
  let top = parentOf(path);
  const device = lstatSync(onDisk(top)).dev;
  while (top !== "/" && lstatSync(onDisk(parentOf(top))).dev === device) top = parentOf(top);
  return top;
}

function isOtherDevice(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EXDEV";
}
