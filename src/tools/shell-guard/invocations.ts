// Every program that a command line starts, with what its arguments are known to be: behind wrappers such as sudo, in
// code for another shell, in substitutions, in text that the line makes and pipes into a shell.
import { posix } from "node:path";
import type { Part, Redirection, Word } from "./lexer.ts";
import { printedText } from "./output.ts";
import { type Command, parseScript, type Script } from "./parser.ts";
import { type Argument, Scope, type Surroundings } from "./scope.ts";
import { type Started, startedBy } from "./wrappers.ts";

export interface Invocation {
  /** The program without its folder; "" for a redirection alone, "?" when only the running shell knows. */
  name: string;
  /** The program as it is written, and as an absolute path where it is one. */
  program: string;
  args: Argument[];
  redirections: { operator: string; target: Argument }[];
  /** Absolute; undefined when only the running shell knows. */
  cwd: string | undefined;
  scope: Scope;
  piped: boolean;
  pipes: boolean;
  background: boolean;
  inFunction: string | undefined;
  /** A file with code that it starts. */
  file?: string;
}

export interface Line {
  invocations: Invocation[];
  /** Why the line can't be read for sure. */
  problems: string[];
  /** Code or programs that only show when the line runs. */
  hidden: string[];
  /** Nothing but a list or pipe of programs: no assignment, redirection, substitution, wrapper, group or background. */
  plain: boolean;
}

export function readLine(command: string, surroundings: Surroundings): Line {
  const reader = new Reader();
  reader.read(command, new Scope(surroundings, outputReader()), 0);
  return reader.line;
}

/** Fetches something from the network and prints it. */
export const downloaders = new Set(["curl", "wget", "fetch", "aria2c", "http", "https", "httpie", "lynx", "w3m", "ftp", "nc", "ncat", "socat"]);

const depthMax = 12;
const readsMax = 500;
const invocationsMax = 2000;

class Reader {
  readonly line: Line = { invocations: [], problems: [], hidden: [], plain: true };
  #read = 0;

  read(code: string, scope: Scope, depth: number): void {
    if (depth > depthMax || this.#read++ > readsMax) return void this.line.problems.push("it is nested too deeply");
    const script = parseScript(code);
    this.line.problems.push(...script.problems);
    if (script.compound || script.background || depth > 0) this.line.plain = false;
    let input: string | undefined;
    for (const command of script.commands) {
      if (this.line.invocations.length > invocationsMax) return void this.line.problems.push("it starts too many programs");
      input = this.#command(command, script, scope, command.piped ? input : undefined, depth);
    }
  }

  /** @returns what it prints, where that is certain. */
  #command(command: Command, script: Script, scope: Scope, input: string | undefined, depth: number): string | undefined {
    for (const code of substitutionsOf(command)) this.read(code, scope.copy(), depth + 1);
    if (command.inFunction !== undefined) setParameters(scope, argumentsOfCalls(command.inFunction, script, scope));
    if (command.assignments.length > 0 || command.redirections.length > 0) this.line.plain = false;
    const own = command.words.length > 0 ? scope.copy() : scope;
    for (const { name, values } of command.assignments) own.set(name, valuesOf(values, scope));
    const redirections = command.redirections.map((each) => ({ operator: each.operator, target: scope.expand([each.target])[0] ?? { values: [], shape: "", literal: false, pattern: false } }));
    const common = { redirections, piped: command.piped, pipes: command.pipes, background: command.background, inFunction: command.inFunction };
    const args = scope.expand(command.words);
    if (args.length === 0) {
      this.line.invocations.push({ name: "", program: "", args: [], cwd: scope.cwd, scope, ...common });
      return undefined;
    }
    const text = documentOf(command.redirections, scope) ?? input;
    this.#run(args, { scope, own, common, text, waits: command.piped || command.redirections.some(({ operator }) => operator.startsWith("<")), depth });
    const [first, ...rest] = args;
    return command.pipes && first?.values.length === 1 ? printedText(posix.basename(first.values[0] ?? ""), rest, text) : undefined;
  }

  #run(args: readonly Argument[], context: RunContext): void {
    const [first, ...rest] = args;
    if (first === undefined) return;
    const { own, common, depth } = context;
    if (depth > depthMax) return void this.line.problems.push("it is nested too deeply");
    if (first.values.length === 0) {
      this.line.hidden.push("starts a program whose name only shows when it runs");
      this.line.invocations.push({ name: "?", program: first.shape, args: rest, cwd: own.cwd, scope: own, ...common });
      if (first.shape === "" && rest.length > 0) this.#run(rest, { ...context, depth: depth + 1 });
      return;
    }
    for (const program of first.values) {
      const name = posix.basename(program).replace(/\.exe$/i, "");
      const invocation: Invocation = { name, program, args: rest, cwd: own.cwd, scope: own, ...common };
      this.line.invocations.push(invocation);
      changeScope(name, rest, context.scope);
      for (const started of startedBy(name, rest) ?? []) this.#started(started, name, invocation, context);
    }
  }

  #started(started: Started, name: string, invocation: Invocation, context: RunContext): void {
    const { own, scope, text, waits, depth } = context;
    this.line.plain = false;
    const inner = { ...context, depth: depth + 1 };
    if (started.command) this.#run(name === "xargs" || name === "parallel" ? [...started.command, ...inputArguments(text)] : started.command, inner);
    if (started.file) {
      const [path] = started.file.values;
      if (path === undefined) this.#hide("runs code");
      else invocation.file = own.resolve(path) ?? path;
      if (name === "." || name === "source") scope.openUp();
    }
    if (started.code) this.#code(started.code, started.parameters ?? [], name === "eval" ? scope : own.copy(), depth);
    if (started.fromInput && text !== undefined) this.read(text, own.copy(), depth + 1);
    else if (started.fromInput && waits) this.#hide("pipes code into a shell");
  }

  #code(words: readonly Argument[], parameters: readonly Argument[], scope: Scope, depth: number): void {
    if (parameters.length > 0) {
      if (parameters[0]?.values.length) scope.set("0", parameters[0].values);
      setParameters(scope, [parameters.slice(1)]);
    }
    const known = words.every(({ values }) => values.length > 0);
    if (!known) this.#hide("runs code");
    const variants = Math.max(1, ...words.map(({ values }) => values.length));
    for (let at = 0; at < variants; at++) this.read(words.map(({ values, shape }) => values[Math.min(at, values.length - 1)] ?? shape).join(" "), scope, depth + 1);
  }

  #hide(what: string): void {
    const downloaded = this.line.invocations.some(({ name }) => downloaders.has(name));
    this.line.hidden.push(downloaded ? `${what} that is downloaded by the same line` : `${what} that only shows when it runs`);
  }
}

interface RunContext {
  scope: Scope;
  /** The same, with the variables of this one command. */
  own: Scope;
  common: Pick<Invocation, "redirections" | "piped" | "pipes" | "background" | "inFunction">;
  /** Standard input, where it is certain. */
  text: string | undefined;
  /** Something comes in on standard input. */
  waits: boolean;
  depth: number;
}

/** Substitutions are looked into a few times and not deep: every level would multiply the work. */
function outputReader(): Scope["outputOf"] {
  let [depth, left] = [0, outputsMax];
  return (code, scope) => {
    if (depth >= outputDepthMax || left-- <= 0) return undefined;
    depth++;
    const output = outputOf(code, scope);
    depth--;
    return output;
  };
}

const outputsMax = 1000;
const outputDepthMax = 3;

function outputOf(code: string, scope: Scope): string | undefined {
  const { commands, compound, problems } = parseScript(code);
  if (compound || problems.length > 0) return undefined;
  let output: string | undefined;
  for (const [index, command] of commands.entries()) {
    if ((index > 0 && !command.piped) || command.redirections.length > 0 || command.assignments.length > 0) return undefined;
    const [program, ...args] = scope.expand(command.words);
    if (program?.values.length !== 1) return undefined;
    output = printedText(posix.basename(program.values[0] ?? ""), args, output);
    if (output === undefined) return undefined;
  }
  return commands.length === 0 ? "" : output;
}

function substitutionsOf(command: Command): string[] {
  const words = [...command.words, ...command.assignments.flatMap(({ values }) => values), ...command.redirections.map(({ target }) => target)];
  const parts = [...words.flatMap((word) => word.parts), ...command.redirections.flatMap(({ body }) => body ?? [])];
  const codes = (part: Part): string[] => (part.kind === "substitution" ? [part.code] : part.kind === "variable" ? part.inner.flatMap(codes) : []);
  return parts.flatMap(codes);
}

/** What an assignment gives its variable, or a loop one after another. */
function valuesOf(words: readonly Word[], scope: Scope): string[] | undefined {
  const [first] = words;
  if (words.length !== 1 || first === undefined) return scope.expand(words).flatMap(({ values }) => values);
  const fields = scope.expand(words);
  // The home sign is only read where words are expanded; blanks do not split a value.
  return fields.length === 1 && fields[0]?.values.length ? fields[0].values : scope.textsOf(first.parts);
}

function documentOf(redirections: readonly Redirection[], scope: Scope): string | undefined {
  const last = redirections.findLast(({ operator }) => operator.startsWith("<<"));
  if (!last) return undefined;
  return scope.textsOf(last.operator === "<<<" ? last.target.parts : (last.body ?? []))?.[0];
}

function inputArguments(text: string | undefined): Argument[] {
  if (text === undefined) return [{ values: [], shape: "", literal: false, pattern: false }];
  return text.split(/\s+/).filter((word) => word !== "").map((word) => ({ values: [word], shape: word, literal: false, pattern: false }));
}

function argumentsOfCalls(name: string, script: Script, scope: Scope): Argument[][] {
  const calls = script.commands.filter((command) => command.inFunction !== name && scope.expand(command.words.slice(0, 1))[0]?.values.includes(name));
  return calls.map((command) => scope.expand(command.words.slice(1)));
}

function setParameters(scope: Scope, calls: readonly Argument[][]): void {
  const most = Math.max(0, ...calls.map((args) => args.length));
  for (let at = 0; at < most; at++) scope.set(String(at + 1), calls.flatMap((args) => args[at]?.values ?? []));
  const all = calls.map((args) => args.map(({ values, shape }) => values[0] ?? shape).join(" "));
  if (all.length > 0) for (const name of ["@", "*"]) scope.set(name, all);
}

/** What a builtin leaves behind for the commands after it. */
function changeScope(name: string, args: readonly Argument[], scope: Scope): void {
  const [first] = args.filter(({ values }) => !/^-[LPe@]+$/.test(values[0] ?? ""));
  if (name === "cd" || name === "pushd") {
    const target = first === undefined ? scope.home : first.values.length === 1 ? first.values[0] : undefined;
    scope.cwd = target === undefined || target.startsWith("-") || target.startsWith("+") ? undefined : scope.resolve(target);
    scope.set("PWD", scope.cwd === undefined ? undefined : [scope.cwd]);
  } else if (/^(popd|dirs)$/.test(name)) scope.cwd = undefined;
  else if (/^(export|declare|typeset|local|readonly)$/.test(name)) {
    for (const { values, shape } of args) {
      const [, variable, value] = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/.exec(values[0] ?? shape) ?? [];
      if (variable !== undefined) scope.set(variable, values.length > 0 ? [value ?? ""] : undefined);
    }
  } else if (/^(read|mapfile|readarray|getopts)$/.test(name)) for (const { values } of args) scope.set(values[0] ?? "", undefined);
  else if (name === "set") setParameters(scope, [args.filter(({ values }) => values[0] !== "--")]);
}
