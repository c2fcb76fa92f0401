// The skills of a session: global ones and those of its project, which shadow global ones of their name (sidecar.md section 9).
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import { folderHash } from "./folder-hash.ts";
import { parseSkill, type Skill } from "./front-matter.ts";

export interface FoundSkill extends Skill {
  source: "global" | "project";
  /** Its folder. */
  path: string;
  /** Of what its folder holds; only of a project's skill, which is not trusted by itself. */
  hash?: string;
}

export interface SkillPlaces {
  globalDir: string;
  projectDir: string;
  disabled: readonly string[];
  platform: string;
}

/** @returns by name; what is broken is warned of and left out */
export function readSkills({ disabled, globalDir, platform, projectDir }: SkillPlaces): { skills: FoundSkill[]; warnings: string[] } {
  const warnings: string[] = [];
  const skills = new Map<string, FoundSkill>();
  for (const [source, folder] of [["global", globalDir], ["project", projectDir]] as const) {
    for (const name of namesIn(folder)) {
      const path = join(folder, name);
      try {
        const skill = readSkill(path);
        if (skill) skills.set(skill.name, { ...skill, source, path, ...(source === "project" ? { hash: folderHash(path) } : {}) });
      } catch (error) {
        warnings.push(`the skill in ${path} is left out: ${messageOf(error)}`);
      }
    }
  }
  const offered = [...skills.values()].filter(({ name, platforms }) => !disabled.includes(name) && (platforms === undefined || platforms.includes(platform)));
  return { skills: offered.toSorted((a, b) => (a.name < b.name ? -1 : 1)), warnings };
}

/** The skill in a folder; undefined when there is no folder, a link to one included. @throws AgentError `import_invalid`, or what reading throws */
export function readSkill(folder: string): Skill | undefined {
  // A link to nowhere, or gone meanwhile.
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined;
  const file = join(folder, "SKILL.md");
  const { size } = statSync(file);
  if (size > limits.editFileBytesMax) throw new Error(`${file} has ${size} bytes`);
  return parseSkill(readFileSync(file, "utf8"));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith(".")).toSorted();
  } catch {
    // No folder: no skills.
    return [];
  }
}
