// The variables of a command: those of the user without what loads code into it, without the product's own and without
// credentials of its configuration; with what keeps programs from asking questions or opening pagers.
import type { ShellOptions } from "./tool-options.ts";

/** Variable by which the processes of one command are recognised. */
export const commandVariable = "ATOMIC_COMMAND";

export function childEnvironment(shell: ShellOptions, command: { id: string; temporaryFolder: string; confined: boolean }): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(shell.environment)) {
    if (value !== undefined && !refused.test(name) && !shell.secretVariables.includes(name)) environment[name] = value;
  }
  const { temporaryFolder } = command;
  // In the sandbox the caches of the home cannot be written.
  const caches = command.confined ? { XDG_CACHE_HOME: `${temporaryFolder}/cache`, npm_config_cache: `${temporaryFolder}/cache/npm` } : {};
  return { ...environment, ...quiet, ...caches, TMPDIR: temporaryFolder, [commandVariable]: command.id };
}

const refused = /^(LD_|DYLD_|BUN_|NODE_OPTIONS$|NODE_LLAMA_CPP_|ATOMIC_|TEST_BINDING_CP$|(SSH|SUDO|GIT)_ASKPASS$)/i;

const quiet = {
  TERM: "dumb",
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  SSH_ASKPASS_REQUIRE: "never",
};
