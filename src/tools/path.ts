// The only way from a tool's argument to a file: every symbolic link resolved, also dangling ones, and judged by the
// real place. A new file is judged by its nearest existing ancestor. Opening is in open.ts.
import { lstatSync, readlinkSync, statSync, type Stats } from "node:fs";
import type { ApprovalNeed } from "../core/approval.ts";
import { ToolError } from "../core/error.ts";
import type { ToolContext } from "../core/tool.ts";
import { onDisk, type RawPath, rawPath, readPathText, showPath } from "./path-text.ts";
import { accessFailure } from "./path-failure.ts";
import type { ToolOptions } from "./tool-options.ts";

export interface Place {
  /** Absolute, without any link in it. */
  real: RawPath;
  /** The real path for people and for details. */
  absolute: string;
  /** Short form for the model: relative to the workspace where the place lies in it. */
  shown: string;
  /** Of the real path; absent when nothing is there. */
  stats?: Stats;
  /** What the last link of a chain is called and leads to, when nothing is there. */
  dangling?: string;
}

/**
 * @param followLast false to name a link itself instead of what it leads to.
 * @throws ToolError for a malformed path, a loop of links, a file used as a folder, and folders that may not be entered.
 */
export function locate(text: string, workspace: string, home: string, followLast = true): Place {
  const given = readPathText(text);
  const root = rawPath(workspace);
  const expanded = given === "~" || given.startsWith("~/") ? rawPath(home) + given.slice(1) : given;
  const { real, stats, link } = resolve(expanded.startsWith("/") ? expanded : `${root}/${expanded}`, followLast);
  const place: Place = { real, absolute: showPath(real), shown: shortPath(real, root) };
  if (stats) place.stats = stats;
  else if (link !== undefined) place.dangling = `${shortPath(link.at, root)} leads to ${showPath(link.target)}`;
  return place;
}

/** Relative to the workspace where the path lies in it, else absolute: what every tool takes back. */
export function shortPath(path: RawPath, workspace: RawPath): string {
  const inside = relativeTo(workspace, path);
  return showPath(inside === undefined ? path : inside === "" ? "." : inside);
}

/** The part of `path` below `folder`, "" for the folder itself, undefined outside it. */
export function relativeTo(folder: RawPath, path: RawPath): RawPath | undefined {
  if (path === folder) return "";
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
}

export function parentOf(path: RawPath): RawPath {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

export function nameOf(path: RawPath): RawPath {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** What reading there has to be allowed for; nothing in the workspace, and nothing where everything may be read. */
export function readNeeds(place: Place, context: ToolContext, options: ToolOptions): ApprovalNeed[] {
  const secret = isSame(place, `${options.stateFolder}/.env`);
  const free = options.readScope === "unrestricted" || isInside(place, [context.workspace, options.temporaryFolder, ...options.readable()]);
  if (free && !secret) return [];
  const root = showPath(place.stats?.isDirectory() ? place.real : parentOf(place.real));
  const reason = `read ${place.absolute} — outside the working directory`;
  return [{ category: "fs_read_outside", silentFrom: 5, reason, affectedResources: [root], ...(secret ? {} : { grant: { root } }) }];
}

/** What changing a file there has to be allowed for. */
export function writeNeeds(place: Place, context: ToolContext, options: ToolOptions, reason: string, preview: string): ApprovalNeed[] {
  const common = { reason, preview, affectedResources: [place.absolute] };
  if (isConfiguration(place, options)) return [{ category: "trust_config", silentFrom: 5, ...common }];
  if (isInside(place, [context.workspace])) return [{ category: "fs_write_workspace", silentFrom: 2, ...common, grant: "category" }];
  if (isInside(place, [options.home])) return [{ category: "fs_write_home", silentFrom: 3, ...common, grant: "category" }];
  return [{ category: "other", silentFrom: 5, ...common, grant: { root: showPath(parentOf(place.real)) } }];
}

/** True when the place is one of the product's own settings, also under another name of the same file. */
export function isConfiguration(place: Place, options: ToolOptions): boolean {
  return settingsFiles.some((name) => isSame(place, `${options.stateFolder}/${name}`));
}

export function isInside(place: Place, folders: readonly string[]): boolean {
  return folders.some((folder) => relativeTo(resolve(rawPath(folder), true).real, place.real) !== undefined);
}

const settingsFiles = ["config.json", ".env", "trusted-skills.jsonl"];

interface Link {
  at: RawPath;
  target: RawPath;
}

const linksMax = 40;

function resolve(path: RawPath, followLast: boolean): { real: RawPath; stats?: Stats; link?: Link } {
  const rest = path.split("/").filter(isStep);
  let real = "";
  let stats: Stats | undefined;
  let link: Link | undefined;
  let beyondLink = 0;
  for (let links = 0; rest.length > 0; ) {
    const name = rest.shift() ?? "";
    if (name === "..") {
      real = real.slice(0, Math.max(0, real.lastIndexOf("/")));
      stats = undefined;
      continue;
    }
    const next = `${real}/${name}`;
    stats = statsOf(next);
    if (stats === undefined) return { real: withoutParents(next, rest), ...(link === undefined ? {} : { link }) };
    if (!stats.isSymbolicLink() || (rest.length === 0 && !followLast)) {
      real = next;
      if (rest.length <= beyondLink) link = undefined;
      continue;
    }
    if (++links > linksMax) throw new ToolError(`${showPath(path)} goes through too many symbolic links; two of them may lead to each other`);
    const target = rawPath(readlinkSync(onDisk(next), { encoding: "buffer" }));
    link = { at: next, target };
    beyondLink = rest.length;
    if (target.startsWith("/")) real = "";
    rest.unshift(...target.split("/").filter(isStep));
    if (rest.length === 0) stats = undefined;
  }
  const last = stats ?? statsOf(real === "" ? "/" : real);
  return { real: real === "" ? "/" : real, ...(last ? { stats: last } : {}) };
}

function isStep(name: string): boolean {
  return name !== "" && name !== ".";
}

/** Below something that is not there yet, `..` can only be taken as it is written. */
function withoutParents(missing: RawPath, rest: readonly string[]): RawPath {
  let path = missing;
  for (const name of rest) path = name === ".." ? path.slice(0, Math.max(0, path.lastIndexOf("/"))) : `${path}/${name}`;
  return path === "" ? "/" : path;
}

function statsOf(path: RawPath): Stats | undefined {
  try {
    return lstatSync(onDisk(path));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw accessFailure(error, path);
  }
}

function isSame(place: Place, path: string): boolean {
  const other = resolve(rawPath(path), true);
  if (place.real === other.real) return true;
  if (!other.stats || !place.stats) return false;
  const own = place.stats.isSymbolicLink() ? statSync(onDisk(place.real), { throwIfNoEntry: false }) : place.stats;
  return own !== undefined && own.dev === other.stats.dev && own.ino === other.stats.ino;
}
