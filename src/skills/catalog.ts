// The paragraph of the prompt that tells a model which skills there are (sidecar.md section 9). Of an untrusted one it holds
// the name alone: what a project brings does not speak to the model before a person trusts it.
import type { KnownSkill } from "../core/skill.ts";

export interface SkillCatalog {
  /** undefined when there is nothing to tell. */
  text: string | undefined;
  /** Names of what did not fit. */
  left: string[];
}

const head = "Skills, instructions for certain jobs. When one fits, read it with skill.view before you begin:";

/** @param tokensMax of the list without its heading, as estimated by its characters */
export function skillCatalog(skills: readonly KnownSkill[], tokensMax: number): SkillCatalog {
  const lines: string[] = [];
  const left: string[] = [];
  let tokens = 0;
  for (const skill of skills) {
    const line = skill.untrusted === undefined ? `- ${skill.name}: ${oneLine(skill.description)}` : `- ${skill.name}`;
    const size = Math.ceil((line.length + 1) / charactersPerToken);
    if (tokens + size > tokensMax) {
      left.push(skill.name);
      continue;
    }
    tokens += size;
    lines.push(line);
  }
  return { text: lines.length === 0 ? undefined : [head, ...lines].join("\n"), left };
}

const charactersPerToken = 4;

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}
