// The skills of a session: global ones and those of its project, which shadow global ones of their name (sidecar.md section 9).
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import { parseSkill, type Skill } from "./front-matter.ts";

export interface FoundSkill extends Skill {
  source: "global" | "project";
  /** Its folder. */
  path: string;
}

export interface SkillPlaces {
  globalDir: string;
  projectDir: string;
  disabled: readonly string[];
  platform: string;
}

/** @returns by name; what is broken is warned of and left out */
export async function readSkills({ disabled, globalDir, platform, projectDir }: SkillPlaces): Promise<{ skills: FoundSkill[]; warnings: string[] }> {
  const warnings: string[] = [];
  const skills = new Map<string, FoundSkill>();
  for (const [source, folder] of [["global", globalDir], ["project", projectDir]] as const) {
    for (const name of await namesIn(folder)) {
      const path = join(folder, name);
      try {
        const skill = await readSkill(path);
        if (skill) skills.set(skill.name, { ...skill, source, path });
      } catch (error) {
        warnings.push(`the skill in ${path} is left out: ${messageOf(error)}`);
      }
    }
  }
  const offered = [...skills.values()].filter(({ name, platforms }) => !disabled.includes(name) && (platforms === undefined || platforms.includes(platform)));
  return { skills: offered.toSorted((a, b) => (a.name < b.name ? -1 : 1)), warnings };
}

/** The skill in a folder; undefined when there is no folder, a link to one included. @throws AgentError `import_invalid`, or what reading throws */
export async function readSkill(folder: string): Promise<Skill | undefined> {
  const kind = await stat(folder).catch(() => undefined); // a link to nowhere, or gone meanwhile
  if (!kind?.isDirectory()) return undefined;
  const file = join(folder, "SKILL.md");
  const { size } = await stat(file);
  if (size > limits.editFileBytesMax) throw new Error(`${file} has ${size} bytes`);
  return parseSkill(await readFile(file, "utf8"));
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []); // no folder: no skills
  return names.filter((name) => !name.startsWith(".")).toSorted();
}
