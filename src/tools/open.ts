// Opens what was judged and nothing else: a folder is opened without following links, its real path is read back from
// the descriptor, and its entries are reached through that descriptor, so that no swapped link leads elsewhere.
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { ToolError } from "../core/error.ts";
import { nameOf, parentOf, type Place } from "./path.ts";
import { accessFailure, kindFailure, missingFailure } from "./path-failure.ts";
import { onDisk, type RawPath, rawPath, showPath } from "./path-text.ts";

export interface OpenFile {
  descriptor: number;
  stats: Stats;
}

/** A way to name entries of a folder that stays true while the folder is renamed or replaced. */
export interface OpenFolder extends Disposable {
  at(name: RawPath): Buffer;
}

/** @throws ToolError when the path is no folder, may not be entered, or no longer leads where it led. */
export function openFolder(folder: RawPath): OpenFolder {
  let descriptor: number;
  try {
    descriptor = openSync(onDisk(folder), constants.O_DIRECTORY | constants.O_NOFOLLOW | (isLinux ? openPath : constants.O_RDONLY));
  } catch (error) {
    throw accessFailure(error, folder);
  }
  try {
    const base = isLinux ? `/proc/self/fd/${descriptor}` : folder;
    const real = isLinux ? readlinkSync(onDisk(base), { encoding: "buffer" }) : realpathSync(onDisk(folder), { encoding: "buffer" });
    if (rawPath(real) !== folder) throw new ToolError(`changed meanwhile: ${showPath(folder)}`);
    return { at: (name) => onDisk(name === "" ? `${base}/` : `${base}/${name}`), [Symbol.dispose]: () => closeSync(descriptor) };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Hands `use` the opened folder and closes it afterwards. */
export function withFolder<Result>(folder: RawPath, use: (at: (name: RawPath) => Buffer) => Result): Result {
  using opened = openFolder(folder);
  return use(opened.at);
}

/**
 * Opens a regular file for reading without ever waiting (a FIFO without a writer would). The caller closes the descriptor.
 * @throws ToolError when it is missing, no regular file, not permitted, or no longer what was judged.
 */
export function openForReading(place: Pick<Place, "real" | "shown" | "dangling">): OpenFile {
  return withFolderOf(place, (at) => {
    const path = at(nameOf(place.real));
    const before = lstatSync(path, { throwIfNoEntry: false });
    if (before === undefined) throw missingFailure(place.real, place.shown, place.dangling);
    if (!before.isFile()) throw kindFailure(before, place.shown);
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(descriptor);
    if (stats.isFile()) return { descriptor, stats };
    closeSync(descriptor);
    throw kindFailure(stats, place.shown);
  });
}

/** Remembers what a call was judged on, so that `checkJudged` can tell when it is no longer so. */
export function rememberJudged(call: object, real: readonly RawPath[]): void {
  judged.set(call, real.join("\0"));
}

/** @throws ToolError when the call's paths lead elsewhere than when they were judged. */
export function checkJudged(call: object, real: readonly RawPath[]): void {
  const before = judged.get(call);
  if (before === undefined || before === real.join("\0")) return;
  const moved = real.find((path, index) => before.split("\0")[index] !== path) ?? "";
  throw new ToolError(`changed after approval: ${showPath(moved)}`);
}

const judged = new WeakMap<object, string>();
const isLinux = process.platform === "linux";
const openPath = 0x200000;

function withFolderOf<Result>(place: Pick<Place, "real" | "shown" | "dangling">, use: (at: (name: RawPath) => Buffer) => Result): Result {
  try {
    return withFolder(parentOf(place.real), use);
  } catch (error) {
    if (error instanceof ToolError && isMissing(error.cause)) throw missingFailure(place.real, place.shown, place.dangling);
    throw accessFailure(error, place.real);
  }
}

function isMissing(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "ENOENT";
}
