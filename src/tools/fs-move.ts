// fs.move and fs.copy: files and folders to another name or into another folder. Neither ever overwrites anything.
import { cpSync, lstatSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { z } from "zod";
import { messageOf, ToolError } from "../core/error.ts";
import type { ApprovalNeed } from "../core/approval.ts";
import type { Tool, ToolContext } from "../core/tool.ts";
import { checkJudged, rememberJudged } from "./open.ts";
import { missingFailure } from "./path-failure.ts";
import { onDisk, rawPath, showPath } from "./path-text.ts";
import { locate, nameOf, parentOf, type Place, readNeeds, relativeTo, writeNeeds } from "./path.ts";
import type { ToolOptions } from "./tool-options.ts";

export const FsMoveArguments = z.strictObject({
  from: z.string(),
  to: z.string().describe("new name, or a folder to put it into"),
});
type FsMoveArguments = z.infer<typeof FsMoveArguments>;

export function fsMove(options: ToolOptions): Tool<typeof FsMoveArguments> {
  return {
    name: "fs.move",
    description: "Rename or move a file or folder.",
    schema: FsMoveArguments,
    class: "write",
    needs: async (args, context) => judge(args, context, options, ({ from, to }, reason) => [...writeNeeds(from, context, options, reason, reason), ...writeNeeds(to, context, options, reason, reason)]),
    run: async (args, context) => transfer("move", args, context, options),
  };
}

export function fsCopy(options: ToolOptions): Tool<typeof FsMoveArguments> {
  return {
    name: "fs.copy",
    description: "Copy a file or folder.",
    schema: FsMoveArguments,
    class: "write",
    needs: async (args, context) => judge(args, context, options, ({ from, to }, reason) => [...readNeeds(from, context, options), ...writeNeeds(to, context, options, reason, reason)]),
    run: async (args, context) => transfer("copy", args, context, options),
  };
}

interface Ends {
  from: Place;
  to: Place;
}

function judge(args: FsMoveArguments, context: ToolContext, options: ToolOptions, needs: (ends: Ends, reason: string) => ApprovalNeed[]): ApprovalNeed[] {
  const ends = endsOf(args, context, options);
  rememberJudged(args, [ends.from.real, ends.to.real]);
  return needs(ends, `${ends.from.absolute} to ${ends.to.absolute}`);
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

function transfer(kind: "move" | "copy", args: FsMoveArguments, context: ToolContext, options: ToolOptions) {
  const { from, to } = endsOf(args, context, options);
  checkJudged(args, [from.real, to.real]);
  try {
    mkdirSync(onDisk(parentOf(to.real)), { recursive: true });
    if (kind === "copy" || !renamed(from, to)) copied(from, to);
    if (kind === "move" && exists(from)) rmSync(from.absolute, { recursive: true });
  } catch (error) {
    throw new ToolError(`${from.shown} could not be ${kind === "move" ? "moved" : "copied"}: ${messageOf(error)}`, { cause: error });
  }
  const text = `${kind === "move" ? "moved" : "copied"} ${from.shown} to ${to.shown}`;
  return { content: [{ type: "text" as const, text }], details: { from: from.absolute, to: to.absolute } };
}

/** False when the target lies on another file system. */
function renamed(from: Place, to: Place): boolean {
  try {
    renameSync(onDisk(from.real), onDisk(to.real));
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EXDEV") return false;
    throw error;
  }
}

function copied(from: Place, to: Place): void {
  if (from.absolute.startsWith('"') || to.absolute.startsWith('"')) throw new ToolError("names that are not plain UTF-8 text can only be moved within one file system");
  cpSync(from.absolute, to.absolute, { recursive: true, errorOnExist: true, force: false, verbatimSymlinks: true, preserveTimestamps: true });
}

function exists(place: Place): boolean {
  return lstatSync(onDisk(place.real), { throwIfNoEntry: false }) !== undefined;
}
