// The tools of a session, from the configuration and the command line.
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { LoadedConfig } from "../config/load.ts";
import { AgentError } from "../core/error.ts";
import { nearest } from "../core/nearest.ts";
import type { Tool } from "../core/tool.ts";
import type { Log } from "../core/runtime.ts";
import type { Skills } from "../core/skill.ts";
import { sandboxWarning } from "../sandbox/sandbox.ts";
import { skillCatalog } from "../skills/catalog.ts";
import type { SkillPlaces } from "../skills/read-skills.ts";
import { sessionSkills } from "../skills/session-skills.ts";
import { TrustedSkills } from "../skills/trusted-skills.ts";
import { builtinTools } from "../tools/index.ts";
import { ReadablePaths } from "../tools/readable-paths.ts";

export interface ToolSetup {
  tools: Tool[];
  /** Paragraphs of the prompt that the tools need, once a session; says in the log what does not fit and what is missing. */
  additions: (log: Log) => string[];
  /** Takes what the user wrote. */
  readable: ReadablePaths;
  /** Removes the private temporary folder. */
  close: () => void;
}

export interface ToolChoice {
  /** Absent = all of them but those on request. */
  tools?: readonly string[] | undefined;
  excludeTools?: readonly string[] | undefined;
}

/** @throws AgentError `usage` for a name or pattern that fits no tool */
export function setUpTools(loaded: LoadedConfig, env: Readonly<Record<string, string | undefined>>, places: { workspace: string; home: string }, choice: ToolChoice): ToolSetup {
  const { config, paths, stateDir } = loaded;
  const { shell } = config.tools;
  // Its name is fixed now, for the sandbox; it is made when a command first runs.
  const temporaryFolder = join(tmpdir(), `atomic-${crypto.randomUUID()}`);
  const readable = new ReadablePaths(places.workspace, places.home);
  const skills = sessionSkills(skillPlaces(loaded, places.workspace), new TrustedSkills(paths.trustedSkills));
  const all = builtinTools({
    home: places.home,
    stateFolder: stateDir,
    readScope: config.agent.readScope,
    readable: () => [...readable.list(), paths.skills],
    temporaryFolder,
    skills,
    shell: {
      defaultTimeoutMs: shell.defaultTimeoutMs,
      sandbox: shell.sandbox,
      network: shell.network,
      readPaths: shell.readPaths.map((path) => absolutePath(path, places)),
      writePaths: shell.writePaths.map((path) => absolutePath(path, places)),
      environment: env,
      secretVariables: config.llm.providers.flatMap(({ apiKeyEnvVar }) => apiKeyEnvVar ?? []),
    },
  });
  const tools = chosen(all, choice);
  const tellsSkills = tools.some(({ name }) => name === "skill.view");
  return {
    tools,
    additions: (log) => {
      const warning = tools.some(({ name }) => name === "shell.run") ? sandboxWarning(shell.sandbox) : undefined;
      if (warning !== undefined) log("warn", warning);
      return tellsSkills ? catalogText(skills, config.skills.catalogTokenBudget, log) : [];
    },
    readable,
    close: () => rmSync(temporaryFolder, { recursive: true, force: true }),
  };
}

/** Where the skills of a session in this folder lie. */
export function skillPlaces({ config, paths }: LoadedConfig, workspace: string): SkillPlaces {
  return { globalDir: paths.skills, projectDir: join(workspace, ".atomic-agent", "skills"), disabled: config.skills.disabled, platform: process.platform };
}

/** A folder of the configuration: `~` is the home, a relative one lies in the workspace. */
function absolutePath(path: string, { home, workspace }: { home: string; workspace: string }): string {
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : resolve(workspace, path);
}

function catalogText(skills: Skills, tokensMax: number, log: Log): string[] {
  const { left, text } = skillCatalog(skills.list(), tokensMax);
  if (left.length > 0) log("warn", `the list of skills in the prompt is full (skills.catalogTokenBudget is ${tokensMax}); left out: ${left.join(", ")}`);
  return text === undefined ? [] : [text];
}

function chosen(all: readonly Tool[], { tools, excludeTools }: ToolChoice): Tool[] {
  const allowed = tools === undefined ? undefined : matching(tools, all, "--tools");
  const denied = matching(excludeTools ?? [], all, "--exclude-tools");
  const left = all.filter(({ name }) => !denied.has(name));
  // What is named is offered always.
  return allowed === undefined ? left : left.flatMap(({ isSpecial: _isSpecial, ...tool }) => (allowed.has(tool.name) ? [tool] : []));
}

function matching(patterns: readonly string[], all: readonly Tool[], flag: string): Set<string> {
  const names = all.map((tool) => tool.name);
  const found = new Set<string>();
  for (const pattern of patterns) {
    const matcher = new RegExp(`^${pattern.split("*").map(RegExp.escape).join(".*")}$`);
    const fitting = names.filter((name) => matcher.test(name));
    if (fitting.length === 0) {
      const near = nearest(pattern, names);
      throw new AgentError("usage", `${flag}: there is no tool ${JSON.stringify(pattern)}${near ? `; did you mean ${near}?` : ""} The tools are ${names.join(", ")}`);
    }
    for (const name of fitting) found.add(name);
  }
  return found;
}
