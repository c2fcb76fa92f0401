// The command line: which sub-command is meant, and what its failure means for the exit status. Sub-commands are loaded
// only when they run.
import { basename } from "node:path";
import { AgentError, exitCodeOf, messageOf } from "../core/error.ts";
import { version } from "../embedded.ts";
import { processIo, type ProcessIo } from "./process-io.ts";
import { takeStdout } from "./stdout.ts";

type Run = (argv: readonly string[], io: ProcessIo) => Promise<number>;

interface Command {
  /** One line for --help. */
  description: string;
  run: Run;
}

const commands: Readonly<Record<string, Command>> = {
  run: { description: "does what the prompts ask, for people: the reply on stdout, what is done on stderr", run: async (argv, io) => (await import("./prompt-command.ts")).runPromptCommand("run", argv, io) },
  json: { description: "the same for programs: every event as a line of JSON", run: async (argv, io) => (await import("./prompt-command.ts")).runPromptCommand("json", argv, io) },
  sidecar: { description: "requests and events as lines of JSON on stdin and stdout, for desktop hosts", run: async (argv, io) => (await import("./sidecar-command.ts")).runSidecarCommand(argv, io) },
  models: { description: "list, pull, path, verify, rm, add: the weights on this machine", run: async (argv, io) => (await import("./configured-commands.ts")).runModelsCommand(argv, io) },
  sessions: { description: "list, show, name, export, import, rm: past conversations", run: async (argv, io) => (await import("./sessions.ts")).runSessions(argv, plain(io)) },
  skills: { description: "list, install, uninstall, trust: instructions for kinds of jobs", run: async (argv, io) => (await import("./skills.ts")).runSkills(argv, io) },
  config: { description: "list, get, set, unset: the configuration", run: async (argv, io) => (await import("./config.ts")).runConfig(argv, plain(io)) },
  schema: { description: "JSON Schema of the wires and the configuration (json, sidecar, config)", run: async (argv, io) => (await import("./configured-commands.ts")).printSchema(argv, io) },
  doctor: { description: "what this machine offers, and whether everything works", run: async (argv, io) => (await import("./doctor.ts")).runDoctor(argv, io) },
  licenses: { description: "licences of everything inside this executable", run: async (_argv, io) => print(io, await (await import("./licenses.ts")).licensesText()) },
};

const sidecarName = /^atomic-agent-sidecar(\.exe)?$/i;

/** @param argv0 the name under which the program was started */
export async function runCommandLine(argv: readonly string[], argv0: string): Promise<number> {
  const { fd } = await takeStdout();
  const io = processIo(fd);
  try {
    if (sidecarName.test(basename(argv0))) return await run("sidecar", argv, io);
    return await dispatch(argv, io);
  } catch (error) {
    if (error instanceof AgentError) io.warn(error.message);
    else io.warn(`internal fault: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`);
    return exitCodeOf(error);
  }
}

async function dispatch(argv: readonly string[], io: ProcessIo): Promise<number> {
  const [first, ...rest] = argv;
  if (first === "--version" || first === "-V") return print(io, `${version}\n`);
  if (first === undefined && io.stdoutIsTerminal && io.canAsk) return help(io);
  if (first === "--help" || first === "-h" || first === "help") return help(io);
  return first !== undefined && Object.hasOwn(commands, first) ? run(first, rest, io) : run("run", argv, io);
}

async function run(name: string, argv: readonly string[], io: ProcessIo): Promise<number> {
  const command = commands[name];
  if (!command) throw new AgentError("internal", `there is no command ${name}`);
  return command.run(argv, io);
}

async function help(io: ProcessIo): Promise<number> {
  const { overview } = await import("./help.ts");
  const descriptions = new Map(Object.entries(commands).map(([name, { description }]) => [name, description]));
  return print(io, await overview(version, descriptions, io.stdoutIsTerminal));
}

function print(io: ProcessIo, text: string): number {
  io.print(text);
  return 0;
}

function plain(io: ProcessIo): { stdout(text: string): void; stderr(text: string): void; env: ProcessIo["env"] } {
  return { stdout: io.print, stderr: io.write, env: io.env };
}
