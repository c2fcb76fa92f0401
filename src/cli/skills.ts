// `atomic skills`: lists, installs, removes and trusts skills. The folder that it runs in is the project.
import { homedir } from "node:os";
import { parseArgs } from "node:util";
import { loadConfig, type LoadedConfig } from "../config/load.ts";
import { didYouMean } from "../config/names.ts";
import { AgentError, messageOf } from "../core/error.ts";
import { nearest } from "../core/nearest.ts";
import { installSkill, uninstallSkill } from "../skills/install.ts";
import { type FoundSkill, readSkills } from "../skills/read-skills.ts";
import { TrustedSkills } from "../skills/trusted-skills.ts";
import type { ProcessIo } from "./process-io.ts";
import { skillPlaces } from "./tool-setup.ts";

const usage = `usage: atomic skills list                       those of every project and those of this folder
       atomic skills install FOLDER [--force]   copies a folder with a SKILL.md; --force replaces
       atomic skills uninstall NAME...          removes installed ones
       atomic skills trust NAME...              lets the model use skills that this folder brings, as they are now
`;

interface Invocation {
  io: ProcessIo;
  loaded: LoadedConfig;
  /** Absolute. */
  project: string;
  names: readonly string[];
  force: boolean;
}

const commands: Readonly<Record<string, { takes: readonly [least: number, most: number]; run: (invocation: Invocation) => Promise<void> | void }>> = {
  list: { takes: [0, 0], run: list },
  install: { takes: [1, 1], run: install },
  uninstall: { takes: [1, Infinity], run: uninstall },
  trust: { takes: [1, Infinity], run: trust },
};

/** @returns the exit status. @throws AgentError for a wrong command line, and for what can't be done */
export async function runSkills(argv: readonly string[], io: ProcessIo, project: string = process.cwd()): Promise<number> {
  const [verb = "", ...rest] = argv;
  if (verb === "--help" || verb === "-h") {
    io.print(usage);
    return 0;
  }
  const command = Object.hasOwn(commands, verb) ? commands[verb] : undefined;
  if (command === undefined) {
    const problem = verb === "" ? "skills needs a command" : `unknown command ${JSON.stringify(verb)}${didYouMean(nearest(verb, Object.keys(commands)))}`;
    throw new AgentError("usage", `${problem}\n${usage}`.trimEnd());
  }
  const { force, names } = parse(verb, rest, command.takes);
  const loaded = loadConfig({ env: io.env });
  for (const warning of loaded.warnings) io.warn(warning);
  await command.run({ io, loaded, project, names, force });
  return 0;
}

function parse(verb: string, argv: readonly string[], [least, most]: readonly [number, number]): { names: string[]; force: boolean } {
  try {
    const { positionals, values } = parseArgs({ args: [...argv], allowPositionals: true, options: verb === "install" ? { force: { type: "boolean" } } : {} });
    if (positionals.length < least || positionals.length > most) throw new Error(`it takes ${least === most ? least : "one or more"} arguments, not ${positionals.length}`);
    return { names: positionals, force: "force" in values && values.force === true };
  } catch (cause) {
    throw new AgentError("usage", `skills ${verb}: ${messageOf(cause)}`, { cause });
  }
}

function list({ io, loaded, project }: Invocation): void {
  const trusted = new TrustedSkills(loaded.paths.trustedSkills);
  for (const { description, hash, name, source, version } of found(loaded, io, project)) {
    const note = hash === undefined || trusted.has(hash) ? "" : "  (not trusted: atomic skills trust)";
    io.print(`${name}  ${oneLine(version)}  ${source}  ${oneLine(description)}${note}\n`);
  }
}

async function install({ force, io, loaded, names: [source = ""], project }: Invocation): Promise<void> {
  const { installedAt, name, replaced } = await installSkill(source, { globalDir: loaded.paths.skills, workingDir: project, home: homedir(), force });
  io.warn(`${replaced ? "replaced" : "installed"} ${name}`);
  io.print(`${installedAt}\n`);
}

async function uninstall({ io, loaded, names }: Invocation): Promise<void> {
  const missing: string[] = [];
  for (const name of names) {
    if (await uninstallSkill(name, loaded.paths.skills)) io.warn(`removed ${name}`);
    else missing.push(name);
  }
  if (missing.length > 0) throw new AgentError("import_invalid", `not installed: ${missing.join(", ")}`);
}

function trust({ io, loaded, names, project }: Invocation): void {
  const trusted = new TrustedSkills(loaded.paths.trustedSkills);
  const skills = found(loaded, io, project);
  const chosen = names.map((name) => {
    const skill = skills.find((each) => each.name === name && each.hash !== undefined);
    if (skill) return skill;
    const own = skills.filter(({ hash }) => hash !== undefined).map((each) => each.name);
    throw new AgentError("import_invalid", `this folder brings no skill ${JSON.stringify(name)}${didYouMean(nearest(name, own))}; it brings ${own.join(", ") || "none"}`);
  });
  for (const skill of chosen) {
    if (skill.hash !== undefined) trusted.add(skill.hash, skill);
    io.warn(`${skill.name} is trusted as it is now, in ${skill.path}`);
  }
}

function found(loaded: LoadedConfig, io: ProcessIo, project: string): FoundSkill[] {
  const { skills, warnings } = readSkills(skillPlaces(loaded, project));
  for (const warning of warnings) io.warn(warning);
  return skills;
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
}
