// shell.run: one command line, confined where the system can, and its result in words.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { messageOf, ToolError } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import type { Tool, ToolContext, ToolResult } from "../core/tool.ts";
import { confine, type Confinement, sandboxKind, type SandboxKind } from "../sandbox/sandbox.ts";
import { childEnvironment } from "./child-environment.ts";
import { requireFolder } from "./fs-list.ts";
import { checkJudged, rememberJudged } from "./open.ts";
import { OutputTail } from "./output-tail.ts";
import { isInside, locate, type Place } from "./path.ts";
import { runCommand } from "./run-command.ts";
import { shellBinding, shellNeeds, untrustedSkills } from "./shell-needs.ts";
import { shellResult } from "./shell-result.ts";
import type { ToolOptions } from "./tool-options.ts";

export const ShellRunArguments = z.strictObject({
  command: z.string().min(1),
  cwd: z.string().optional().describe("folder to run in").meta({ advanced: true }),
  timeoutMs: z.int().min(1).optional().meta({ advanced: true }),
});
export type ShellRunArguments = z.infer<typeof ShellRunArguments>;

export function shellRun(options: ToolOptions): Tool<typeof ShellRunArguments> {
  return {
    name: "shell.run",
    description: "Run a shell command and wait for it to end.",
    schema: ShellRunArguments,
    serves: ["run"],
    class: "shell",
    async needs(args, context) {
      const folder = folderOf(args, context, options);
      rememberJudged(args, [folder.real]);
      return shellNeeds({ command: args.command, folder, kind: kindOf(options) }, context, options);
    },
    async approved(args, context) {
      const call = { command: args.command, folder: folderOf(args, context, options), kind: kindOf(options) };
      for (const skill of untrustedSkills(call, context, options)) options.skills?.trust(skill);
    },
    binding: async (args, context) => shellBinding({ command: args.command, folder: folderOf(args, context, options), kind: kindOf(options) }, context, options),
    async run(args, context) {
      const folder = folderOf(args, context, options);
      checkJudged(args, [folder.real]);
      return execute(args, folder, kindOf(options), context, options);
    },
  };
}

/** @throws ToolError where a sandbox is required and the system has none. */
function kindOf(options: ToolOptions): SandboxKind {
  const kind = sandboxKind(options.shell.sandbox);
  if (kind === "none" && options.shell.sandbox === "required") {
    throw new ToolError("commands must run in a sandbox (tools.shell.sandbox is required), and this system has none");
  }
  return kind;
}

function folderOf(args: ShellRunArguments, context: ToolContext, options: ToolOptions): Place {
  const place = locate(args.cwd ?? ".", context.workspace, options.home);
  requireFolder(place);
  if (place.absolute.startsWith('"')) throw new ToolError(`a command cannot be started in ${place.absolute}: its name is not plain UTF-8 text`);
  return place;
}

async function execute(args: ShellRunArguments, folder: Place, kind: SandboxKind, context: ToolContext, options: ToolOptions): Promise<ToolResult> {
  if (args.command.includes("\0")) throw new ToolError("a command cannot hold a NUL character");
  const { shell, temporaryFolder } = options;
  mkdirSync(temporaryFolder, { recursive: true, mode: 0o700 });
  const id = crypto.randomUUID();
  const confined = kind === "landlock" || kind === "seatbelt";
  const environment = childEnvironment(shell, { id, temporaryFolder, confined });
  const argv = confine(args.command, kind, confinement(folder, environment["PATH"] ?? "", context, options), shell.self);
  const output = new OutputTail(context, join(temporaryFolder, `output-${id}.txt`));
  const updates = new Updates(() => context.onUpdate(updateOf(output, began)));
  const began = performance.now();
  const timeoutMs = args.timeoutMs ?? shell.defaultTimeoutMs;
  try {
    const end = await runCommand({
      argv,
      environment,
      timeoutMs,
      signal: context.signal,
      onOutput(chunk) {
        output.add(chunk);
        updates.ask();
      },
    });
    updates.stop();
    return shellResult(end, output, { timeoutMs, confined, network: shell.network });
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError(`the command could not be started: ${messageOf(error)}`, { cause: error });
  } finally {
    updates.stop();
    output.close();
  }
}

function confinement(folder: Place, searchPath: string, context: ToolContext, options: ToolOptions): Confinement {
  const { shell, home, stateFolder, readScope } = options;
  const reach = {
    write: [context.workspace, options.temporaryFolder, ...approvedFolders(folder, options), ...shell.writePaths],
    read: [...options.readable(), ...shell.readPaths],
    readScope,
    stateFolder,
    home,
    searchPath,
  };
  return { folder: folder.absolute, reach, network: shell.network };
}

/** The folder that a call runs in is what it was allowed for (see shell-needs.ts), wherever it is; the state folder never is. */
function approvedFolders(folder: Place, { stateFolder }: ToolOptions): string[] {
  return isInside(folder, [stateFolder]) ? [] : [folder.absolute];
}

function updateOf(output: OutputTail, began: number): ToolResult {
  const { text, truncation } = output.snapshot();
  return { content: [{ type: "text", text }], details: { durationMs: Math.round(performance.now() - began), ...(truncation ? { truncation } : {}) } };
}

/** At most one update in an interval; the last change before the end is left to the result. */
class Updates {
  #send: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(send: () => void) {
    this.#send = send;
  }

  ask(): void {
    if (this.#stopped || this.#timer !== undefined) return;
    const waitMs = Math.max(0, this.#lastAt + limits.toolUpdateIntervalMs - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#lastAt = performance.now();
      this.#send();
    }, waitMs);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
}
