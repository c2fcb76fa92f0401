// Reads SKILL.md: a line `---`, YAML, a line `---`, the body (sidecar.md section 9). Finds every fault at once.
import { z } from "zod";
import { AgentError, messageOf } from "../core/error.ts";

export const skillNamePattern = /^[a-z0-9][a-z0-9-]{0,62}[a-z0-9]$/;

const FrontMatter = z.object({
  name: z.string().regex(skillNamePattern, "must be 2 to 64 lower-case letters, digits and inner hyphens"),
  description: z.string().refine((text) => text.trim() !== "", "must not be empty"),
  version: z.string().default("0.0.0"),
  requires_tools: z.array(z.string()).default([]),
  requires_scripts: z.array(z.string()).default([]),
  dangerous: z.boolean().default(false),
  platforms: z.array(z.enum(["darwin", "linux", "win32"])).optional(),
});

export interface Skill {
  name: string;
  description: string;
  version: string;
  requiresTools: string[];
  requiresScripts: string[];
  dangerous: boolean;
  /** Absent = everywhere. */
  platforms?: string[];
  body: string;
}

/** @throws AgentError `import_invalid` that names every fault */
export function parseSkill(text: string): Skill {
  const match = /^\uFEFF?---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)?---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(text);
  if (!match) throw invalid(["it does not begin with a block between two lines of ---"]);
  let values: unknown;
  try {
    values = Bun.YAML.parse(match[1] ?? "");
  } catch (error) {
    throw invalid([`the YAML can't be read: ${messageOf(error)}`]);
  }
  if (typeof values !== "object" || values === null || Array.isArray(values)) throw invalid(["it is no list of keys and values"]);
  const parsed = FrontMatter.safeParse(values);
  if (!parsed.success) throw invalid(parsed.error.issues.map(({ message, path }) => `${path.join(".")}: ${message}`));
  const { requires_scripts: requiresScripts, requires_tools: requiresTools, platforms, ...rest } = parsed.data;
  return { ...rest, requiresTools, requiresScripts, ...(platforms === undefined ? {} : { platforms }), body: match[2] ?? "" };
}

function invalid(faults: readonly string[]): AgentError {
  return new AgentError("import_invalid", `invalid SKILL.md frontmatter: ${faults.join("; ")}`);
}
