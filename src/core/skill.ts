// What tools and sessions know of skills (sidecar.md section 9); how they are found and kept is no matter of theirs.

export interface KnownSkill {
  name: string;
  description: string;
  version: string;
  body: string;
  /** Its folder, absolute. */
  path: string;
  /** SHA-256 (hex) of what its folder holds, while nobody said that it is to be trusted; absent = trusted. */
  untrusted?: string;
}

export interface SkillScript {
  skill: KnownSkill;
  /** The skill names it in `requires_scripts`. */
  declared: boolean;
}

export interface Skills {
  /** Those that are offered now, by name. */
  list(): KnownSkill[];
  /** undefined for a file that lies under no `scripts/` of an offered skill. */
  ofScript(path: string): SkillScript | undefined;
  /** Remembers a person's yes to an untrusted skill, for just the content that it had. */
  trust(skill: KnownSkill): void;
}
