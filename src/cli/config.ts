// `atomic config`: shows the configuration in force and edits the file.
import { parseConfig, readConfigText } from "../config/file.ts";
import { readText } from "../config/environment.ts";
import { canEdit, replaceFile, withoutValue, withValue } from "../config/edit.ts";
import type { Key } from "../config/keys.ts";
import { loadConfig, oneProvider } from "../config/load.ts";
import { didYouMean, groupNames, nearestKey, variableOf } from "../config/names.ts";
import { ensureStateDir, stateDirOf, statePaths } from "../config/paths.ts";
import { keysByName } from "../config/schema.ts";
import { masked } from "../config/values.ts";
import { AgentError } from "../core/error.ts";
import { nearest } from "../core/nearest.ts";
import { type CommandIo, exitCodeFor, tell } from "./io.ts";

const usage = `usage: atomic config list             every key: value in force, where it comes from, meaning
       atomic config get KEY          the value in force
       atomic config set KEY VALUE    write it into the file; lists and objects as JSON
       atomic config unset KEY        take it out of the file
`;

/** @returns the exit status: 0, 2 for a wrong command line, 3 for a configuration that can't be used. */
export function runConfig(argv: readonly string[], io: CommandIo): number {
  return exitCodeFor(io, () => {
    const [verb = "", ...rest] = argv;
    if (verb === "--help" || verb === "-h") return io.stdout(usage);
    const command = Object.hasOwn(commands, verb) ? commands[verb] : undefined;
    if (command === undefined) {
      const problem = verb === "" ? "config needs a command" : `unknown command ${JSON.stringify(verb)}${didYouMean(nearest(verb, Object.keys(commands)))}`;
      throw new AgentError("usage", `${problem}\n${usage}`.trimEnd());
    }
    if (rest.length !== command.parameters) throw new AgentError("usage", `config ${verb} takes ${command.parameters} arguments, not ${rest.length}`);
    command.run(io, rest[0] ?? "", rest[1] ?? "");
  });
}

const commands: Readonly<Record<string, { parameters: number; run(io: CommandIo, name: string, text: string): void }>> = {
  list: { parameters: 0, run: list },
  get: { parameters: 1, run: get },
  set: { parameters: 2, run: set },
  unset: { parameters: 1, run: unset },
};

function list(io: CommandIo): void {
  const loaded = loadConfig(io);
  warn(io, loaded.warnings);
  const rows = [...keysByName].map(([name, key]) => {
    const value = masked(name, valueAt(loaded.config, name));
    return [name, value === undefined ? "none" : JSON.stringify(value), loaded.origin(name), key.description];
  });
  const widths = [0, 1, 2].map((column) => Math.min(60, Math.max(...rows.map((row) => row[column]?.length ?? 0))));
  io.stdout(rows.map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}\n`).join(""));
}

function get(io: CommandIo, name: string): void {
  keyNamed(name);
  const loaded = loadConfig(io);
  warn(io, loaded.warnings);
  const value = valueAt(loaded.config, name);
  io.stdout(`${value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value)}\n`);
}

function set(io: CommandIo, name: string, text: string): void {
  const checked = readText(name, keyNamed(name), text);
  if (!checked.ok) throw new AgentError("usage", checked.message);
  const value = checked.value;
  edit(io, (before) => (value === undefined ? withoutValue(before, name) : withValue(before, name, value)));
  noteVariable(io, name);
}

function unset(io: CommandIo, name: string): void {
  keyNamed(name);
  edit(io, (before) => withoutValue(before, name));
  noteVariable(io, name);
}

/** Writes the changed file; a file that was sound never becomes an unsound one. */
function edit(io: CommandIo, change: (before: string) => string): void {
  const stateDir = stateDirOf(io.env);
  ensureStateDir(stateDir);
  const path = statePaths(stateDir).config;
  const found = readConfigText(path);
  const before = found ?? "{}\n";
  const broken = faultOf(before, path);
  if (broken !== undefined && !canEdit(before)) throw broken;
  const after = change(before);
  const fault = faultOf(after, path);
  if (fault !== undefined && broken === undefined) throw fault;
  if (after !== before) replaceFile(path, after);
  if (fault !== undefined) tell(io, `another fault is left: ${fault.message}`);
}

function faultOf(text: string, path: string): AgentError | undefined {
  try {
    const { values } = parseConfig(text, path);
    oneProvider(values.get("defaultProvider") as string | undefined, values.get("llm.activeTextProvider") as string | null | undefined);
    return undefined;
  } catch (error) {
    if (error instanceof AgentError) return error;
    throw error;
  }
}

function keyNamed(name: string): Key {
  const key = keysByName.get(name);
  if (key !== undefined) return key;
  if (groupNames().has(name)) {
    const inside = [...keysByName.keys()].filter((other) => other.startsWith(`${name}.`));
    throw new AgentError("usage", `${name} is a group of keys: ${inside.join(", ")}`);
  }
  throw new AgentError("usage", `unknown key ${name}${didYouMean(nearestKey(name))}`);
}

function valueAt(config: unknown, name: string): unknown {
  return name.split(".").reduce((value, step) => (typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined), config);
}

function warn(io: CommandIo, warnings: readonly string[]): void {
  for (const warning of warnings) tell(io, warning);
}

function noteVariable(io: CommandIo, name: string): void {
  const variable = variableOf(name);
  if (io.env[variable]) tell(io, `${variable} is set and wins over the file`);
}
