// fs.move and fs.copy: files and folders to another name or into another folder. Neither ever overwrites anything.
import { mkdirSync, renameSync } from "node:fs";
import { z } from "zod";
import type { ApprovalNeed, Binding } from "../core/approval.ts";
import { messageOf, ToolError } from "../core/error.ts";
import type { Tool, ToolContext, ToolResult } from "../core/tool.ts";
import { bindingOf } from "./content-mark.ts";
import { checkJudged, openFolder, type OpenFolder, rememberJudged } from "./open.ts";
import { missingFailure } from "./path-failure.ts";
import { onDisk, rawPath, showPath } from "./path-text.ts";
import { locate, nameOf, parentOf, type Place, readNeeds, relativeTo, writeNeeds } from "./path.ts";
import type { ToolOptions } from "./tool-options.ts";
import { copyTree, isThere, removeTree } from "./tree.ts";

export const FsMoveArguments = z.strictObject({
  from: z.string().meta({ existing: "any" }),
  to: z.string().describe("new name, or a folder to put it into"),
});
type FsMoveArguments = z.infer<typeof FsMoveArguments>;

export function fsMove(options: ToolOptions): Tool<typeof FsMoveArguments> {
  return {
    name: "fs.move",
    description: "Rename or move a file or folder.",
    schema: FsMoveArguments,
    serves: ["move"],
    class: "write",
    identity: ["from"],
    needs: async (args, context) => judge("move", args, context, options, ({ from, to }, reason) => [...writeNeeds(from, context, options, reason, reason), ...writeNeeds(to, context, options, reason, reason)]),
    binding: async (args, context) => endsBinding(endsOf(args, context, options), context),
    run: async (args, context) => transfer("move", args, context, options),
  };
}

export function fsCopy(options: ToolOptions): Tool<typeof FsMoveArguments> {
  return {
    name: "fs.copy",
    description: "Copy a file or folder.",
    schema: FsMoveArguments,
    serves: ["copy"],
    class: "write",
    needs: async (args, context) => judge("copy", args, context, options, ({ from, to }, reason) => [...readNeeds(from, context, options), ...writeNeeds(to, context, options, reason, reason)]),
    binding: async (args, context) => endsBinding(endsOf(args, context, options), context),
    run: async (args, context) => transfer("copy", args, context, options),
  };
}

interface Ends {
  from: Place;
  to: Place;
}

function judge(kind: "move" | "copy", args: FsMoveArguments, context: ToolContext, options: ToolOptions, needs: (ends: Ends, reason: string) => ApprovalNeed[]): ApprovalNeed[] {
  const ends = endsOf(args, context, options);
  rememberJudged(args, [ends.from.real, ends.to.real]);
  return needs(ends, `${kind} ${ends.from.absolute} to ${ends.to.absolute}`);
}

function endsBinding({ from, to }: Ends, { workspace }: ToolContext): Binding {
  return bindingOf([from, to], workspace);
}

/** A link is moved or copied itself. A folder as the target takes the source into it. */
function endsOf(args: FsMoveArguments, context: ToolContext, options: ToolOptions): Ends {
  const from = locate(args.from, context.workspace, options.home, false);
  if (!from.stats) throw missingFailure(from.real, from.shown, from.dangling);
  const named = locate(args.to, context.workspace, options.home);
  const intoFolder = named.stats?.isDirectory() || (!named.stats && args.to.endsWith("/"));
  const to = intoFolder ? locate(showPath(`${named.real}/${nameOf(from.real)}`), context.workspace, options.home) : named;
  const kept = [context.workspace, options.home, options.stateFolder].find((folder) => relativeTo(from.real, rawPath(folder)) !== undefined);
  if (kept !== undefined) throw new ToolError(`${from.shown} holds ${kept} and stays where it is; name what is in it`);
  if (to.stats) throw new ToolError(`${to.shown} is there already and nothing was changed; choose another name, or move it away first`);
  if (relativeTo(from.real, to.real) !== undefined) throw new ToolError(`${to.shown} lies inside ${from.shown}; nothing was changed`);
  return { from, to };
}

async function transfer(kind: "move" | "copy", args: FsMoveArguments, context: ToolContext, options: ToolOptions): Promise<ToolResult> {
  const { from, to } = endsOf(args, context, options);
  checkJudged(args, [from.real, to.real]);
  const done = kind === "move" ? "moved" : "copied";
  try {
    mkdirSync(onDisk(parentOf(to.real)), { recursive: true });
    using source = openFolder(parentOf(from.real));
    using target = openFolder(parentOf(to.real));
    if (kind === "copy") await copied(source, from, target, to, context.signal);
    else if (!renamed(source, from, target, to)) {
      await copied(source, from, target, to, context.signal);
      removeTree(rawPath(source.at(nameOf(from.real))));
    }
  } catch (error) {
    throw new ToolError(`${from.shown} could not be ${done}: ${messageOf(error)}`, { cause: error });
  }
  return { content: [{ type: "text", text: `${done} ${from.shown} to ${to.shown}` }], details: { from: from.absolute, to: to.absolute } };
}

/** False when the target lies on another file system: the original then goes when its copy is complete. */
function renamed(source: OpenFolder, from: Place, target: OpenFolder, to: Place): boolean {
  refuseTaken(target, to);
  try {
    renameSync(source.at(nameOf(from.real)), target.at(nameOf(to.real)));
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EXDEV") return false;
    throw error;
  }
}

/** Under another name first, so that a copy is there as a whole or not at all. */
async function copied(source: OpenFolder, from: Place, target: OpenFolder, to: Place, signal: AbortSignal): Promise<void> {
  const draft = rawPath(target.at(`.atomic-${crypto.randomUUID()}`));
  try {
    await copyTree(rawPath(source.at(nameOf(from.real))), draft, signal);
    refuseTaken(target, to);
    renameSync(onDisk(draft), target.at(nameOf(to.real)));
  } catch (error) {
    if (isThere(draft)) removeTree(draft);
    throw error;
  }
}

/** A rename would take the place of a file that came there meanwhile. */
function refuseTaken(target: OpenFolder, to: Place): void {
  if (isThere(rawPath(target.at(nameOf(to.real))))) throw new ToolError(`${to.shown} is there already`);
}
