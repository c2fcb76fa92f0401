// The ignore files that a search respects: .gitignore and .ignore of the folders it walks through and of those above,
// up to the workspace.
import { readFileSync, statSync } from "node:fs";
import ignore, { type Ignore } from "ignore";
import { onDisk, type RawPath } from "./path-text.ts";
import { relativeTo } from "./path.ts";

export interface IgnoreRules {
  folder: RawPath;
  matcher: Ignore;
  /** Rules of the folders above; those nearer to a file decide first. */
  above?: IgnoreRules;
}

/** Rules for what is in `folder`, `above` being those for what is beside it. */
export function rulesIn(folder: RawPath, above?: IgnoreRules): IgnoreRules | undefined {
  const texts = [".gitignore", ".ignore"].map((name) => textOf(`${folder === "/" ? "" : folder}/${name}`)).filter((text) => text !== "");
  if (texts.length === 0) return above;
  const matcher = ignore({ ignorecase: false }).add(texts.join("\n"));
  return { folder, matcher, ...(above ? { above } : {}) };
}

/** Rules that hold in `root` because of the folders above it, from the workspace down; none when they would hide `root` itself. */
export function rulesAbove(root: RawPath, workspace: RawPath): IgnoreRules | undefined {
  const below = relativeTo(workspace, root);
  if (below === undefined || below === "") return undefined;
  let rules: IgnoreRules | undefined;
  let folder = workspace === "/" ? "" : workspace;
  for (const name of below.split("/")) {
    rules = rulesIn(folder === "" ? "/" : folder, rules);
    folder += `/${name}`;
    if (isIgnored(folder, true, rules)) return undefined;
  }
  return rules;
}

export function isIgnored(path: RawPath, isFolder: boolean, rules: IgnoreRules | undefined): boolean {
  for (let level = rules; level; level = level.above) {
    const name = relativeTo(level.folder, path);
    if (name === undefined || name === "") continue;
    const { ignored, unignored } = level.matcher.test(onDisk(name).toString("utf8") + (isFolder ? "/" : ""));
    if (ignored || unignored) return ignored;
  }
  return false;
}

const ignoreFileBytesMax = 1024 * 1024;

function textOf(path: RawPath): string {
  try {
    const stats = statSync(onDisk(path), { throwIfNoEntry: false });
    return stats?.isFile() && stats.size <= ignoreFileBytesMax ? readFileSync(onDisk(path), "utf8") : "";
  } catch {
    // An ignore file that cannot be read ignores nothing.
    return "";
  }
}
