// The skills of the session that runs, as the sidecar's requests see them (sidecar.md section 9). The list that was told last
// is the process's, not the session's.
import { join } from "node:path";
import { folderHash } from "../../skills/folder-hash.ts";
import { installSkill, uninstallSkill } from "../../skills/install.ts";
import { type FoundSkill, readSkills } from "../../skills/read-skills.ts";
import type { TrustedSkills } from "../../skills/trusted-skills.ts";
import type { ResponsePayloads, SkillSummary } from "../../wire/sidecar/schema.ts";

export interface SkillDeskOptions {
  globalDir: string;
  disabled: readonly string[];
  platform: string;
  home: string;
  trusted: TrustedSkills;
}

export class SkillDesk {
  readonly #options: SkillDeskOptions;
  #skills: FoundSkill[] = [];
  #workingDir = "";
  #told = "[]";

  constructor(options: SkillDeskOptions) {
    this.#options = options;
  }

  /** Reads the folders of a session; true when the list is not the one that was told last. A broken skill is warned of. */
  async read(workingDir: string, warn: (message: string) => void): Promise<boolean> {
    this.#workingDir = workingDir;
    const { disabled, globalDir, platform } = this.#options;
    const { skills, warnings } = readSkills({ globalDir, projectDir: join(workingDir, ".atomic-agent", "skills"), disabled, platform });
    for (const warning of warnings) warn(warning);
    this.#skills = skills;
    return JSON.stringify(this.registry()) !== this.#told;
  }

  list(): SkillSummary[] {
    return this.#skills.map(({ dangerous, description, name, path, source, version }) => ({
      name,
      version,
      description,
      source,
      path,
      ...(dangerous ? { dangerous } : {}),
      // What a project brings is not trusted by itself.
      ...(source === "project" ? { trusted: this.#isTrusted(path) } : {}),
    }));
  }

  /** As it is now, not as it was read. */
  #isTrusted(path: string): boolean {
    try {
      return this.#options.trusted.has(folderHash(path));
    } catch {
      // What can't be looked at, or is gone, is not trusted.
      return false;
    }
  }

  /** The list as `skill_registry_updated` tells it. */
  registry(): { name: string; source: "global" | "project" }[] {
    return this.#skills.map(({ name, source }) => ({ name, source }));
  }

  /** The list as it is now was told. */
  noteTold(): void {
    this.#told = JSON.stringify(this.registry());
  }

  /** @throws AgentError that says what is wrong with the source */
  async install(sourcePath: string, force: boolean, warn: (message: string) => void): Promise<ResponsePayloads["skill_install"]> {
    const { globalDir, home } = this.#options;
    const { replaced, ...installed } = await installSkill(sourcePath, { globalDir, home, workingDir: this.#workingDir, force });
    await this.read(this.#workingDir, warn);
    return { ...installed, ...(replaced ? { replaced } : {}) };
  }

  async uninstall(name: string, warn: (message: string) => void): Promise<boolean> {
    const removed = await uninstallSkill(name, this.#options.globalDir);
    await this.read(this.#workingDir, warn);
    return removed;
  }
}
