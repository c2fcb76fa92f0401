// What the built-in tools are handed when a session begins. They read no configuration and no environment themselves.
import type { Skills } from "../core/skill.ts";
import type { SandboxMode } from "../sandbox/sandbox.ts";

export interface ToolOptions {
  /** The user's home, absolute. */
  home: string;
  /** The product's own state folder, absolute; its settings are never changed silently. */
  stateFolder: string;
  readScope: "working-dir" | "unrestricted";
  /** Further files and folders that may be read without a question: named by the user, granted, or of a skill. */
  readable: () => readonly string[];
  /** A private folder of this session, absolute; made with mode 0700 when it is first needed. Whoever hands it in removes it. */
  temporaryFolder: string;
  /** Absent = there are none. */
  skills?: Skills;
  shell: ShellOptions;
}

export interface ShellOptions {
  defaultTimeoutMs: number;
  sandbox: SandboxMode;
  network: boolean;
  /** Folders that the sandbox opens beside the workspace, absolute. */
  readPaths: readonly string[];
  writePaths: readonly string[];
  /** The variables that commands get; loader, runtime and product variables are taken out. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Names of variables that hold credentials of the configuration. */
  secretVariables: readonly string[];
  /** How this program is started again to confine a command; only tests set it. */
  self?: readonly string[];
}
