// skill.view: the text of a skill. One that a project brings is read only when a person trusts it.
import { z } from "zod";
import { ToolError } from "../core/error.ts";
import { nearest } from "../core/nearest.ts";
import type { KnownSkill, Skills } from "../core/skill.ts";
import type { Tool } from "../core/tool.ts";
import { clipHead } from "./clip.ts";

export const SkillViewArguments = z.strictObject({ name: z.string() });
export type SkillViewArguments = z.infer<typeof SkillViewArguments>;

export function skillView(skills: Skills): Tool<typeof SkillViewArguments> {
  /** The skill of a call as it was judged. */
  const judged = new WeakMap<SkillViewArguments, KnownSkill>();
  return {
    name: "skill.view",
    description: "Read a skill, the instructions for a kind of job.",
    schema: SkillViewArguments,
    class: "read",
    isOffered: () => skills.list().length > 0,
    async needs(args) {
      const skill = named(args.name, skills);
      judged.set(args, skill);
      if (skill.untrusted === undefined) return [];
      const reason = `use the skill ${skill.name} of this project, which nobody trusted yet (atomic skills trust ${skill.name})`;
      return [{ category: "trust_config", silentFrom: 5, reason, preview: previewOf(skill), affectedResources: [skill.path] }];
    },
    binding: async (args, { workspace }) => ({ cwd: workspace, files: [bound(named(args.name, skills))] }),
    async approved(args) {
      const skill = judged.get(args);
      if (skill) skills.trust(skill);
    },
    async run(args, context) {
      const skill = named(args.name, skills);
      if (skill.untrusted !== undefined && skill.untrusted !== judged.get(args)?.untrusted) throw new ToolError(`changed after approval: ${skill.path}`);
      const { text, truncation } = clipHead(skill.body.trim(), context);
      const note = truncation ? `\n[the skill is longer: read the rest in ${skill.path}/SKILL.md with fs.read]` : "";
      return { content: [{ type: "text", text: text === "" ? "(empty)" : text + note }], details: { name: skill.name, version: skill.version, ...(truncation ? { truncation } : {}) } };
    },
  };
}

/** What an answer about an untrusted skill is bound to. */
export function bound({ path, untrusted }: KnownSkill): { path: string; content: string } {
  return { path, content: untrusted ?? "trusted" };
}

const previewCharsMax = 400;

function previewOf({ body, description }: KnownSkill): string {
  const text = `${description}\n\n${body.trim()}`;
  return text.length > previewCharsMax ? `${text.slice(0, previewCharsMax)} …` : text;
}

function named(name: string, skills: Skills): KnownSkill {
  const all = skills.list();
  const found = all.find((skill) => skill.name === name);
  if (found) return found;
  const names = all.map((skill) => skill.name);
  const near = nearest(name, names);
  throw new ToolError(`there is no skill ${JSON.stringify(name)}${near ? `; did you mean ${near}?` : ""} The skills are: ${names.join(", ") || "none"}`);
}
