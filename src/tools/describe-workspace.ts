// What a model is told of the workspace before it looks: the files in it when they are few, else the names at its top.
import { namedFiles } from "../core/named-files.ts";
import type { WorkspaceNames } from "../core/tool.ts";
import { isFolder } from "./fs-list.ts";
import { rawPath, showPath } from "./path-text.ts";
import { walk } from "./walk.ts";
import { workspaceNames } from "./workspace-names.ts";

const namesMax = 40;
const listingMs = 1000;

/** Lines such as `All files here: a.txt, src/main.py` and which files the request names in vain; "" when the folder can't be read. */
export async function describeWorkspace(workspace: string, request: string): Promise<string> {
  try {
    const names = await workspaceNames(workspace);
    const told = (names && everyFile(names)) ?? (await topNames(workspace));
    return [told, ...(names ? missing(names, request) : [])].join("\n");
  } catch {
    // The tools will say what is wrong with the folder when they are used.
    return "";
  }
}

/** Every file, and every folder that holds none; undefined when they are too many. */
function everyFile(names: WorkspaceNames): string | undefined {
  const isShown = (path: string): boolean => !path.split("/").some((name) => name.startsWith("."));
  const files = names.files.filter(isShown);
  const empty = names.folders.filter((folder) => isShown(folder) && ![...files, ...names.folders].some((path) => path.startsWith(`${folder}/`)));
  const shown = [...files, ...empty.map((folder) => `${folder}/`)].toSorted();
  if (shown.length > namesMax) return undefined;
  return shown.length === 0 ? "The folder is empty." : `All files here: ${shown.join(", ")}`;
}

/** Small models take another file in the place of one that is not there. */
function missing({ files, folders }: WorkspaceNames, request: string): string[] {
  const lower = new Set([...files, ...folders].flatMap((path) => [path, path.slice(path.lastIndexOf("/") + 1)]).map((name) => name.toLowerCase()));
  const absent = namedFiles(request).filter((name) => !lower.has(name.toLowerCase()));
  return absent.length === 0 ? [] : [`Not here: ${absent.join(", ")}`];
}

async function topNames(workspace: string): Promise<string> {
  const root = rawPath(workspace);
  const shown: string[] = [];
  for await (const entry of walk({ root, workspace: root, recursive: false, hidden: false, signal: AbortSignal.timeout(listingMs) }, { unreadable: [], limitReached: false })) {
    shown.push(`${showPath(entry.relative)}${isFolder(entry) ? "/" : ""}`);
  }
  if (shown.length === 0) return "The folder is empty.";
  const more = shown.length > namesMax ? `, and ${shown.length - namesMax} more (fs.list shows them)` : "";
  return `At the top of the folder: ${shown.slice(0, namesMax).join(", ")}${more}`;
}
