// Walks through folders in the order of their names, numbers in them by their value, never through symbolic links, never into .git.
import { lstatSync, readdirSync, type Stats } from "node:fs";
import { limits } from "../core/limits.ts";
import { type IgnoreRules, isIgnored, rulesAbove, rulesIn } from "./ignore-files.ts";
import { onDisk, type RawPath, rawPath } from "./path-text.ts";
import { accessFailure } from "./path-failure.ts";

export interface Entry {
  /** Absolute real path. */
  path: RawPath;
  /** Relative to where the walk began. */
  relative: RawPath;
  stats: Stats;
}

export interface WalkOptions {
  root: RawPath;
  workspace: RawPath;
  hidden: boolean;
  /** False: only what is in the root itself, ignored or not. */
  recursive: boolean;
  signal: AbortSignal;
}

/** What a walk could not look at, filled while it runs. */
export interface WalkReport {
  unreadable: RawPath[];
  limitReached: boolean;
}

/** Yields to other work now and then. @throws ToolError when the root cannot be listed, or the signal's reason. */
export async function* walk(options: WalkOptions, report: WalkReport): AsyncGenerator<Entry> {
  const { root, recursive, hidden, signal } = options;
  const first = recursive ? rulesIn(root, rulesAbove(root, options.workspace)) : undefined;
  const stack: { entries: Entry[]; rules: IgnoreRules | undefined }[] = [{ entries: entriesOf(root, ""), rules: first }];
  let seen = 0;
  for (let level = stack.at(-1); level; level = stack.at(-1)) {
    const entry = level.entries.pop();
    if (!entry) {
      stack.pop();
      continue;
    }
    if (++seen > limits.searchedEntriesMax) return void (report.limitReached = true);
    if (seen % entriesBetweenPauses === 0) await new Promise(setImmediate);
    signal.throwIfAborted();
    const name = entry.path.slice(entry.path.lastIndexOf("/") + 1);
    const isFolder = entry.stats.isDirectory();
    if ((!hidden && name.startsWith(".")) || (recursive && name === ".git")) continue;
    if (recursive && isIgnored(entry.path, isFolder, level.rules)) continue;
    yield entry;
    if (!recursive || !isFolder) continue;
    try {
      stack.push({ entries: entriesOf(entry.path, `${entry.relative}/`), rules: rulesIn(entry.path, level.rules) });
    } catch {
      report.unreadable.push(entry.relative);
    }
  }
}

const entriesBetweenPauses = 500;

/** `2_b` before `10_a`: listed the other way round a small model takes the last for the highest. */
function inOrder(names: readonly string[]): string[] {
  const split = names.map((name) => ({ name, parts: name.match(/\d+|\D+/g) ?? [] }));
  const sorted = split.toSorted((a, b) => {
    const at = a.parts.findIndex((part, index) => part !== b.parts[index]);
    const [one = "", other = ""] = [a.parts[at], b.parts[at]];
    const difference = /^\d/.test(one) && /^\d/.test(other) ? Number(one) - Number(other) : 0;
    return difference || (a.name < b.name ? -1 : 1);
  });
  return sorted.map(({ name }) => name);
}

/** Last name first, so that the next one is taken off the end. */
function entriesOf(folder: RawPath, prefix: RawPath): Entry[] {
  let names: Buffer[];
  try {
    names = readdirSync(onDisk(folder), { encoding: "buffer" });
  } catch (error) {
    throw accessFailure(error, folder);
  }
  const base = folder === "/" ? "" : folder;
  const entries = inOrder(names.map(rawPath)).toReversed().map((name) => ({ path: `${base}/${name}`, relative: prefix + name }));
  return entries.flatMap((entry) => {
    const stats = lstatSync(onDisk(entry.path), { throwIfNoEntry: false });
    return stats ? [{ ...entry, stats }] : [];
  });
}
