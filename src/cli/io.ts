// What a sub-command is handed instead of the process: two outputs and the environment.
import type { Environment } from "../config/paths.ts";
import { AgentError, exitCodeOf } from "../core/error.ts";

export interface CommandIo {
  stdout(text: string): void;
  stderr(text: string): void;
  env: Environment;
}

/** One message for people, named as every other one of the program. */
export function tell(io: CommandIo, message: string): void {
  io.stderr(`atomic: ${message}\n`);
}

/** Runs a sub-command; a failure becomes its message on stderr and its exit status. */
export function exitCodeFor(io: CommandIo, command: () => void): number {
  try {
    command();
    return 0;
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    tell(io, error.message);
    return exitCodeOf(error);
  }
}
