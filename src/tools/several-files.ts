// A path with `*` in it, for tools that take several files at once: `*.log` those of one folder, `**/*.log` also all below.
import { ToolError } from "../core/error.ts";
import type { ToolContext, WorkspaceNames } from "../core/tool.ts";
import { onDisk, rawPath, readPathText, showPath } from "./path-text.ts";
import { isInside, locate } from "./path.ts";
import { walk, type WalkReport } from "./walk.ts";

/** The files that it names, as paths in the workspace; a path without `*`, or that is a file's own name, stands for itself. @throws ToolError when it names none */
export async function filesNamedBy(path: string, { signal, workspace }: ToolContext, home: string): Promise<string[]> {
  const [fixed = "", rest] = splitAtPattern(path);
  if (rest === undefined || locate(path, workspace, home, false).stats) return [path];
  const folder = locate(fixed === "" ? "." : fixed, workspace, home);
  // What is there outside is told to nobody before somebody said yes.
  if (!isInside(folder, [workspace])) throw new ToolError(`${path} is outside the workspace, where files are named one by one`);
  const glob = new Bun.Glob(rest);
  const found: string[] = [];
  const report: WalkReport = { unreadable: [], limitReached: false };
  for await (const entry of folder.stats?.isDirectory() ? walk({ root: folder.real, workspace: rawPath(workspace), recursive: rest.includes("**"), hidden: false, signal }, report) : []) {
    if (entry.stats.isFile() && glob.match(onDisk(entry.relative).toString("utf8"))) found.push(showPath(`${fixed === "" ? "" : readPathText(fixed)}${entry.relative}`));
  }
  if (found.length === 0) throw new ToolError(`no file fits ${path}; nothing was changed`);
  if (report.limitReached || found.length > filesMax) throw new ToolError(`too many files for ${path}; name a folder before it`);
  return found;
}

const filesMax = 500;

/** The folder up to its last slash, and what begins with the part that has a star; that is undefined where there is none. */
function splitAtPattern(path: string): [fixed: string, rest?: string] {
  const star = path.indexOf("*");
  if (star < 0) return [path];
  const slash = path.lastIndexOf("/", star) + 1;
  return [path.slice(0, slash), path.slice(slash)];
}

/** Such paths for the files that there are: of each kind of which there are several. */
export function patternsOf({ files }: Pick<WorkspaceNames, "files">): string[] {
  const plain = files.filter((file) => !file.startsWith('"') && !file.split("/").some((part) => part.startsWith(".")));
  const ending = (file: string): string | undefined => /[^/.](\.[^./]+)$/.exec(file)?.[1];
  const inFolder = Map.groupBy(plain, (file) => `${file.slice(0, file.lastIndexOf("/") + 1)}*${ending(file) ?? ""}`);
  const anywhere = Map.groupBy(plain, (file) => `**/*${ending(file) ?? ""}`);
  const several = (groups: Map<string, string[]>): [string, string[]][] => [...groups].filter(([pattern, group]) => group.length > 1 && /\*\..+$/.test(pattern));
  const folders = several(inFolder);
  const isWhole = (group: readonly string[]): boolean => folders.some(([, other]) => other.length === group.length && other[0] === group[0]);
  return [...folders, ...several(anywhere).filter(([, group]) => !isWhole(group))].map(([pattern]) => pattern);
}
