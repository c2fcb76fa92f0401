// The command line: which sub-command is meant, and what its failure means for the exit status. Sub-commands are loaded
// only when they run.
import { basename } from "node:path";
import { AgentError, exitCodeOf, messageOf } from "../core/error.ts";
import { version } from "../embedded.ts";
import { processIo, type ProcessIo } from "./process-io.ts";
import { takeStdout } from "./stdout.ts";

type Run = (argv: readonly string[], io: ProcessIo) => Promise<number>;

const commands: Readonly<Record<string, Run>> = {
  run: async (argv, io) => (await import("./prompt-command.ts")).runPromptCommand("run", argv, io),
  json: async (argv, io) => (await import("./prompt-command.ts")).runPromptCommand("json", argv, io),
  sidecar: async (argv, io) => (await import("./sidecar-command.ts")).runSidecarCommand(argv, io),
  models: async (argv, io) => (await import("./configured-commands.ts")).runModelsCommand(argv, io),
  sessions: async (argv, io) => (await import("./sessions.ts")).runSessions(argv, plain(io)),
  skills: async (argv, io) => (await import("./skills.ts")).runSkills(argv, io),
  config: async (argv, io) => (await import("./config.ts")).runConfig(argv, plain(io)),
  schema: async (argv, io) => (await import("./configured-commands.ts")).printSchema(argv, io),
  doctor: async (argv, io) => (await import("./doctor.ts")).runDoctor(argv, io),
  licenses: async (_argv, io) => print(io, await (await import("./licenses.ts")).licensesText()),
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
  return command(argv, io);
}

async function help(io: ProcessIo): Promise<number> {
  const { overview } = await import("./help.ts");
  return print(io, overview());
}

function print(io: ProcessIo, text: string): number {
  io.print(text);
  return 0;
}

function plain(io: ProcessIo): { stdout(text: string): void; stderr(text: string): void; env: ProcessIo["env"] } {
  return { stdout: io.print, stderr: io.write, env: io.env };
}
