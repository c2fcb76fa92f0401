// The command line of `atomic run` and `atomic json` (json-mode.md 9.1): text to values. Reads no file and checks nothing
// that needs the configuration, the tools or the models.
import type { ApprovalLevel } from "../core/approval.ts";
import { AgentError } from "../core/error.ts";
import { ThinkingLevel } from "../core/message.ts";
import { nearest } from "../core/nearest.ts";

export interface PromptArguments {
  prompts: string[];
  /** Paths of @FILE, in order. */
  files: string[];
  /** `-`: standard input is a part of the first prompt. */
  stdin: boolean;
  help: boolean;
  mode?: "text" | "json";
  model?: string;
  provider?: string;
  thinking?: ThinkingLevel;
  /** Full id or unique prefix. */
  session?: string;
  continue: boolean;
  /** `--no-session`. */
  noSession: boolean;
  /** Allowed tools, `*` in names; [] = none; absent = all. */
  tools?: string[];
  excludeTools?: string[];
  /** A text, or `@FILE`. */
  systemPrompt?: string;
  appendSystemPrompt: string[];
  maxSteps?: number;
  approvalLevel?: ApprovalLevel;
  updates: "snapshot" | "delta";
  stdinCommands: boolean;
  /** Path of the schema file. */
  outputSchema?: string;
  /** Milliseconds. */
  timeoutMs?: number;
  seed?: number;
  temperature?: number;
}

/** @throws AgentError `usage` that names the argument at fault and, for an unknown flag, the nearest known one. */
export function parsePromptArguments(argv: readonly string[]): PromptArguments {
  const parsed: PromptArguments = { prompts: [], files: [], stdin: false, help: false, continue: false, noSession: false, appendSystemPrompt: [], updates: "snapshot", stdinCommands: false };
  const given = new Set<string>();
  const rest = argv[Symbol.iterator]();
  for (const argument of rest) {
    if (argument === "--") parsed.prompts.push(...rest);
    else if (argument === "-") parsed.stdin = true;
    else if (argument.startsWith("@")) parsed.files.push(fileOf(argument));
    else if (argument.startsWith("-")) takeFlag(argument, rest, parsed, given);
    else parsed.prompts.push(argument);
  }
  checkTogether(parsed);
  return parsed;
}

/** Every flag, for the help. */
export function promptFlagNames(): string[] {
  return [...flags.keys()];
}

type Flag =
  | { kind: "switch"; set: (parsed: PromptArguments) => void }
  | { kind: "value"; repeatable?: true; set: (parsed: PromptArguments, value: string, name: string) => void };

const switchFlag = (set: (parsed: PromptArguments) => void): Flag => ({ kind: "switch", set });
const valueFlag = (set: (parsed: PromptArguments, value: string, name: string) => void): Flag => ({ kind: "value", set });

const flags: ReadonlyMap<string, Flag> = new Map<string, Flag>([
  ["--help", switchFlag((parsed) => (parsed.help = true))],
  ["-h", switchFlag((parsed) => (parsed.help = true))],
  ["--model", valueFlag((parsed, value, name) => (parsed.model = filled(name, value)))],
  ["--mode", valueFlag((parsed, value, name) => (parsed.mode = oneOf(name, value, ["text", "json"])))],
  ["--provider", valueFlag((parsed, value, name) => (parsed.provider = filled(name, value)))],
  ["--thinking", valueFlag((parsed, value, name) => (parsed.thinking = oneOf(name, value, ThinkingLevel.options)))],
  ["--session", valueFlag((parsed, value, name) => (parsed.session = filled(name, value)))],
  ["--continue", switchFlag((parsed) => (parsed.continue = true))],
  ["--no-session", switchFlag((parsed) => (parsed.noSession = true))],
  ["--tools", valueFlag((parsed, value) => (parsed.tools = listOf(value)))],
  ["--exclude-tools", valueFlag((parsed, value) => (parsed.excludeTools = listOf(value)))],
  ["--system-prompt", valueFlag((parsed, value) => (parsed.systemPrompt = value))],
  ["--append-system-prompt", { kind: "value", repeatable: true, set: (parsed, value) => parsed.appendSystemPrompt.push(value) }],
  ["--max-steps", valueFlag((parsed, value, name) => (parsed.maxSteps = wholeNumber(name, value, 1, Number.MAX_SAFE_INTEGER)))],
  ["--approval-level", valueFlag((parsed, value, name) => (parsed.approvalLevel = wholeNumber(name, value, 1, 5) as ApprovalLevel))],
  ["--updates", valueFlag((parsed, value, name) => (parsed.updates = oneOf(name, value, ["snapshot", "delta"])))],
  ["--stdin-commands", switchFlag((parsed) => (parsed.stdinCommands = true))],
  ["--output-schema", valueFlag((parsed, value, name) => (parsed.outputSchema = filled(name, value)))],
  ["--timeout", valueFlag((parsed, value, name) => (parsed.timeoutMs = secondsOf(name, value) * 1000))],
  ["--seed", valueFlag((parsed, value, name) => (parsed.seed = wholeNumber(name, value, 0, seedMax)))],
  ["--temperature", valueFlag((parsed, value, name) => (parsed.temperature = temperatureOf(name, value)))],
]);

/** What the engines' random numbers start from: 32 bits, and all ones means "choose one". */
const seedMax = 2 ** 32 - 2;

function takeFlag(argument: string, rest: Iterator<string>, parsed: PromptArguments, given: Set<string>): void {
  const equals = argument.startsWith("--") ? argument.indexOf("=") : -1;
  const name = equals === -1 ? argument : argument.slice(0, equals);
  const flag = flags.get(name);
  if (flag === undefined) throw unknownFlag(name);
  if (flag.kind === "switch") {
    if (equals !== -1) throw usage(`${name} takes no value`);
    return flag.set(parsed);
  }
  if (given.has(name) && flag.repeatable === undefined) throw usage(`${name} is given twice`);
  given.add(name);
  flag.set(parsed, equals === -1 ? nextValue(name, rest) : argument.slice(equals + 1), name);
}

/** The next argument, unless it is a flag itself: then the value was forgotten. `--flag=--other` says it is meant. */
function nextValue(name: string, rest: Iterator<string>): string {
  const next = rest.next();
  if (next.done === true || flags.has(next.value)) throw usage(`${name} needs a value`);
  return next.value;
}

function unknownFlag(name: string): AgentError {
  const known = nearest(name, flags.keys());
  const hint = known === undefined ? "--help lists the known ones" : `did you mean ${known}?`;
  return usage(`unknown flag ${name}: ${hint} (a prompt that begins with - goes after --)`);
}

function checkTogether(parsed: PromptArguments): void {
  const { session, stdin, stdinCommands, prompts, files } = parsed;
  if (session !== undefined && parsed.continue) throw usage("--session and --continue exclude each other");
  if (parsed.noSession && session !== undefined) throw usage("--no-session and --session exclude each other");
  if (parsed.noSession && parsed.continue) throw usage("--no-session and --continue exclude each other");
  if (stdinCommands && stdin) throw usage("--stdin-commands and - exclude each other: both read stdin");
  if (stdinCommands && !parsed.help && prompts.length + files.length === 0) throw usage("--stdin-commands needs a prompt or @FILE");
}

function fileOf(argument: string): string {
  if (argument === "@") throw usage("@ names no file: write @FILE, or put a prompt that begins with @ after --");
  return argument.slice(1);
}

function oneOf<Value extends string>(name: string, value: string, known: readonly Value[]): Value {
  const found = known.find((candidate) => candidate === value);
  if (found === undefined) throw usage(`${name} ${shown(value)}: expected one of ${known.join(", ")}`);
  return found;
}

function filled(name: string, value: string): string {
  if (value === "") throw usage(`${name} needs a value that is not empty`);
  return value;
}

function listOf(value: string): string[] {
  return value.split(",").map((item) => item.trim()).filter((item) => item !== "");
}

function wholeNumber(name: string, value: string, min: number, max: number): number {
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max)) {
    throw usage(`${name} ${shown(value)}: expected a whole number ${max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`}`);
  }
  return number;
}

function decimalOf(value: string): number {
  return /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(value) ? Number(value) : Number.NaN;
}

function secondsOf(name: string, value: string): number {
  const seconds = decimalOf(value);
  if (!(seconds > 0 && Number.isFinite(seconds))) throw usage(`${name} ${shown(value)}: expected seconds, more than 0`);
  return seconds;
}

function temperatureOf(name: string, value: string): number {
  const temperature = decimalOf(value);
  if (!(temperature >= 0 && temperature <= 2)) throw usage(`${name} ${shown(value)}: expected a number from 0 to 2`);
  return temperature;
}

function shown(value: string): string {
  return JSON.stringify(value);
}

function usage(message: string): AgentError {
  return new AgentError("usage", message);
}
