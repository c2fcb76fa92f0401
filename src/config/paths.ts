// Where the program keeps what it keeps. Makes the state directory; nothing else here touches the disk.
import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { AgentError, messageOf } from "../core/error.ts";
import { stateDirVariable } from "./names.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface StatePaths {
  config: string;
  /** Provider keys, `NAME=value` lines. */
  env: string;
  sessions: string;
  skills: string;
  /** Which skills of projects a person trusted, JSON Lines. */
  trustedSkills: string;
  models: string;
  promptStates: string;
  engine: string;
  undo: string;
  traces: string;
}

/** The absolute state directory: `ATOMIC_AGENT_STATE_DIR`, else `.atomic-agent` in the home folder. Touches no disk. */
export function stateDirOf(env: Environment): string {
  const home = env["HOME"] || homedir();
  const named = env[stateDirVariable];
  if (!named) return resolve(home, ".atomic-agent");
  return named === "~" || named.startsWith("~/") ? join(home, named.slice(1)) : resolve(named);
}

export function statePaths(stateDir: string): StatePaths {
  return {
    config: join(stateDir, "config.json"),
    env: join(stateDir, ".env"),
    sessions: join(stateDir, "sessions.sqlite"),
    skills: join(stateDir, "skills"),
    trustedSkills: join(stateDir, "trusted-skills.jsonl"),
    models: join(stateDir, "models"),
    promptStates: join(stateDir, "prompt-states"),
    engine: join(stateDir, "engine"),
    undo: join(stateDir, "undo"),
    traces: join(stateDir, "traces"),
  };
}

/**
 * Makes the directory with mode 0700 unless it is there.
 * @throws AgentError `state_unusable` when it can't be made, is no directory, or can't be written.
 */
export function ensureStateDir(stateDir: string): void {
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    if (!statSync(stateDir).isDirectory()) throw new Error("it is no directory");
    accessSync(stateDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new AgentError(
      "state_unusable",
      `the state directory ${stateDir} cannot be used: ${messageOf(cause)}; set ${stateDirVariable} to a directory that can be written`,
      { cause },
    );
  }
}
