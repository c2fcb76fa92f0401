// The names in a workspace, for a grammar that lets a model name only what exists.
import type { WorkspaceNames } from "../core/tool.ts";
import { isFolder } from "./fs-list.ts";
import { rawPath, showPath } from "./path-text.ts";
import { patternsOf } from "./several-files.ts";
import { walk } from "./walk.ts";

/** More names than this make a grammar slow; then any name may be written. */
const namesMax = 300;
const listingMs = 1000;
/** About 2000 tokens, which a processor reads for half a minute. */
const longBytesMin = 6000;

/** What Python leaves beside a program that was run: nobody asks for it. */
const cachePath = /(?:^|\/)__pycache__(?:\/|$)/;

/**
 * Files and folders by their paths in the workspace, what ignore files leave out only at its top; undefined when there are
 * too many, or when they can't be listed.
 */
export async function workspaceNames(workspace: string): Promise<WorkspaceNames | undefined> {
  const files = new Set<string>();
  const folders = new Set(["."]);
  const long = new Set<string>();
  const root = rawPath(workspace);
  const report = { unreadable: [], limitReached: false };
  try {
    for (const recursive of [false, true]) {
      for await (const entry of walk({ root, workspace: root, recursive, hidden: true, signal: AbortSignal.timeout(listingMs) }, report)) {
        if (cachePath.test(showPath(entry.relative))) continue;
        (isFolder(entry) ? folders : files).add(showPath(entry.relative));
        if (entry.stats.isFile() && entry.stats.size >= longBytesMin) long.add(showPath(entry.relative));
        if (files.size + folders.size > namesMax) return undefined;
      }
    }
  } catch {
    // The tools say what is wrong with the folder when they are used.
    return undefined;
  }
  return report.limitReached ? undefined : { files: [...files], folders: [...folders], patterns: patternsOf({ files: [...files] }), long: [...long] };
}
