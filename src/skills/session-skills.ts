// The skills of a session as its tools see them: read anew at each look, since a person may change them meanwhile.
import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { KnownSkill, Skills } from "../core/skill.ts";
import { type FoundSkill, readSkills, type SkillPlaces } from "./read-skills.ts";
import type { TrustedSkills } from "./trusted-skills.ts";

export function sessionSkills(places: SkillPlaces, trusted: TrustedSkills): Skills {
  const known = (skill: FoundSkill): KnownSkill => {
    const { body, description, hash, name, path, version } = skill;
    return { name, description, version, body, path, ...(hash === undefined || trusted.has(hash) ? {} : { untrusted: hash }) };
  };
  return {
    list: () => readSkills(places).skills.map(known),
    ofScript: (path) => {
      for (const skill of readSkills(places).skills) {
        const scripts = `${join(realpathSync(skill.path), "scripts")}/`;
        if (!path.startsWith(scripts)) continue;
        const name = path.slice(scripts.length);
        return { skill: known(skill), declared: skill.requiresScripts.some((each) => each.replace(/^(\.\/)?scripts\//, "") === name) };
      }
      return undefined;
    },
    trust: (skill) => {
      if (skill.untrusted !== undefined) trusted.add(skill.untrusted, skill);
    },
  };
}
