// Copies a skill into the global folder, or removes it from there: as a whole or not at all (sidecar.md section 9).
import { cp, lstat, mkdir, readdir, realpath, rename, rm } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { AgentError } from "../core/error.ts";
import { skillNamePattern } from "./front-matter.ts";
import { readSkill } from "./read-skills.ts";

export interface InstalledSkill {
  name: string;
  /** The folder that it landed in. */
  installedAt: string;
  version: string;
  replaced: boolean;
}

export interface InstallOptions {
  globalDir: string;
  /** Where a relative source is looked for. */
  workingDir: string;
  home: string;
  force: boolean;
}

/** @throws AgentError `import_invalid` that names the path or every fault */
export async function installSkill(sourcePath: string, { force, globalDir, home, workingDir }: InstallOptions): Promise<InstalledSkill> {
  const given = sourcePath === "~" || sourcePath.startsWith("~/") ? join(home, sourcePath.slice(1)) : sourcePath;
  const source = isAbsolute(given) ? given : resolve(workingDir, given);
  if (!(await isThere(source))) throw refused(`there is no folder ${source}`);
  if (!(await isThere(join(source, "SKILL.md")))) throw refused(`${source} holds no SKILL.md`);
  const skill = readSkill(source);
  if (skill === undefined) throw refused(`${source} is no folder`);
  await refuseLinksOut(await realpath(source));
  const target = join(globalDir, skill.name);
  const exists = await isThere(target);
  if (exists && !force) throw refused(`skill already installed: ${skill.name}`);
  await mkdir(globalDir, { recursive: true, mode: 0o700 });
  const staged = join(globalDir, `.${skill.name}-${crypto.randomUUID()}`);
  const old = `${staged}-old`;
  try {
    await cp(await realpath(source), staged, { recursive: true, dereference: true, errorOnExist: true });
    if (exists) await rename(target, old);
    await rename(staged, target);
  } finally {
    await rm(staged, { recursive: true, force: true });
    await rm(old, { recursive: true, force: true });
  }
  return { name: skill.name, installedAt: target, version: skill.version, replaced: exists };
}

/** @returns whether there was one */
export async function uninstallSkill(name: string, globalDir: string): Promise<boolean> {
  if (!skillNamePattern.test(name)) return false;
  const target = join(globalDir, name);
  if (!(await isThere(target))) return false;
  await rm(target, { recursive: true });
  return true;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}

/** Whatever a link of the source brings has to lie in the source itself. */
async function refuseLinksOut(root: string): Promise<void> {
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const target = await realpath(path).catch(() => undefined); // leads nowhere
    const inside = target === undefined ? undefined : relative(root, target);
    if (inside === undefined || inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)) throw refused(`${path} is a link that leaves the skill's folder`);
  }
}

function refused(message: string): AgentError {
  return new AgentError("import_invalid", message);
}
