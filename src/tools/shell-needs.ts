// What a command line has to be allowed for: the guard's verdict under the sandbox that it will run in.
import type { ApprovalLevel, ApprovalNeed, Binding } from "../core/approval.ts";
import { ToolError } from "../core/error.ts";
import type { KnownSkill } from "../core/skill.ts";
import type { ToolContext } from "../core/tool.ts";
import type { SandboxKind } from "../sandbox/sandbox.ts";
import { contentMark } from "./content-mark.ts";
import { isConfiguration, isInside, locate, type Place } from "./path.ts";
import { judgeCommand, type ShellCategory, type Verdict } from "./shell-guard/guard.ts";
import { bound } from "./skill-view.ts";
import type { ToolOptions } from "./tool-options.ts";

export interface ShellCall {
  command: string;
  folder: Place;
  kind: SandboxKind;
}

/** @throws ToolError for what is refused at every level. */
export function shellNeeds(call: ShellCall, context: ToolContext, options: ToolOptions): ApprovalNeed[] {
  const verdict = judged(call, context, options);
  if (verdict.kind === "blocked") throw new ToolError(`blocked by shell guard: ${verdict.what}`);
  if (verdict.kind === "safe") return [];
  const untrusted = untrustedScripts(verdict, options);
  const { dangerous } = verdict;
  const categories = untrusted.length === 0 ? verdict.categories : [...new Set<ShellCategory>([...verdict.categories, "trust_config"])];
  const reasons = [...verdict.reasons, ...untrusted.map(({ name }) => `uses the skill ${name} of this project, which nobody trusted yet`)];
  const about = reasons.length === 0 ? "run a command" : `run a command that ${reasons.join(" and ")},`;
  // A folder elsewhere can be written by the call that was allowed to run there.
  const isAtHome = isInside(call.folder, [context.workspace]);
  const confined = isAtHome && (call.kind === "landlock" || call.kind === "seatbelt") && !options.shell.network && !dangerous;
  return categories.map((category) => ({
    category,
    silentFrom: silentFrom(category, call.kind, confined),
    reason: `${about} in ${call.folder.absolute}`,
    preview: call.command,
    affectedResources: [call.folder.absolute],
    ...(dangerous || category === "trust_config" || category === "email" ? {} : { grant: "call" as const }),
  }));
}

/** The skills whose scripts a command starts, as far as nobody trusted them yet. */
export function untrustedSkills(call: ShellCall, context: ToolContext, options: ToolOptions): KnownSkill[] {
  return untrustedScripts(judged(call, context, options), options);
}

/** The folder, and the content of every file of the workspace that decides what the command does. */
export function shellBinding(call: ShellCall, context: ToolContext, options: ToolOptions): Binding {
  const verdict = judged(call, context, options);
  const paths = verdict.kind === "asked" ? verdict.files : [];
  const places = paths.flatMap((path) => placeOf(path, options) ?? []).filter((place) => isInside(place, [context.workspace]) && !place.stats?.isDirectory());
  const skills = untrustedScripts(verdict, options).map(bound);
  return { cwd: call.folder.absolute, files: [...places.map((place) => ({ path: place.absolute, content: contentMark(place) })), ...skills] };
}

const opensBeyond = new Set<ShellCategory>(["browser_nonweb", "trust_config", "email"]);
const skillScript = /\/skills\/[^/]+\/scripts\/./;

/** A plain confined command can change nothing outside the workspace; without any sandbox nothing is silent before full trust. */
function silentFrom(category: ShellCategory, kind: SandboxKind, confined: boolean): ApprovalLevel {
  if (kind === "none" || opensBeyond.has(category)) return 5;
  return category === "shell" && confined ? 2 : 4;
}

function judged({ command, folder }: ShellCall, context: ToolContext, options: ToolOptions): Verdict {
  const { home, stateFolder, temporaryFolder, shell } = options;
  const surroundings = { home, cwd: folder.absolute, environment: { ...shell.environment, TMPDIR: temporaryFolder } };
  return judgeCommand(command, surroundings, {
    isConfiguration: (path) => {
      const place = placeOf(path, options);
      return place !== undefined && isConfiguration(place, options);
    },
    isSkillScript: (path) => {
      const place = placeOf(path, options);
      if (place !== undefined && options.skills?.ofScript(place.absolute)) return true;
      return place !== undefined && isInside(place, [`${stateFolder}/skills`, `${context.workspace}/.atomic-agent/skills`]) && skillScript.test(place.absolute);
    },
  });
}

/** @throws ToolError for a script that its skill does not name. */
function untrustedScripts(verdict: Verdict, { home, skills }: ToolOptions): KnownSkill[] {
  if (verdict.kind !== "asked" || !skills) return [];
  const found = new Map<string, KnownSkill>();
  for (const path of verdict.files) {
    const script = skills.ofScript(placeOf(path, { home })?.absolute ?? "");
    if (script && !script.declared) throw new ToolError(`${path} can't run: the skill ${script.skill.name} does not name it in requires_scripts`);
    if (script?.skill.untrusted !== undefined) found.set(script.skill.name, script.skill);
  }
  return [...found.values()];
}

/** undefined for what no file can be. */
function placeOf(path: string, options: Pick<ToolOptions, "home">): Place | undefined {
  try {
    return locate(path, "/", options.home);
  } catch (error) {
    if (error instanceof ToolError) return undefined;
    throw error;
  }
}
