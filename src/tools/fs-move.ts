// fs.move and fs.copy: files and folders to another name or into another folder. Neither ever overwrites anything.
import { mkdirSync, renameSync } from "node:fs";
import { z } from "zod";
import type { ApprovalNeed } from "../core/approval.ts";
import { messageOf, ToolError } from "../core/error.ts";
import type { Tool, ToolContext, ToolResult } from "../core/tool.ts";
import { bindingOf } from "./content-mark.ts";
import { checkJudged, openFolder, type OpenFolder, rememberJudged } from "./open.ts";
import { missingFailure } from "./path-failure.ts";
import { onDisk, rawPath, showPath } from "./path-text.ts";
import { locate, nameOf, parentOf, type Place, readNeeds, relativeTo, writeNeeds } from "./path.ts";
import { filesNamedBy } from "./several-files.ts";
import type { ToolOptions } from "./tool-options.ts";
import { copyTree, isThere, removeTree } from "./tree.ts";

export const FsMoveArguments = z.strictObject({
  from: z.string().meta({ existing: "any", several: true, asked: true }),
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
    doubt: (args, { folders }) => takenForFolder("moved", args, folders),
    callsFor: (files) => files.map(({ path, to }) => ({ from: path, to })),
    needs: async (args, context) => judge("move", args, context, options, ({ from, to }, reason) => [...writeNeeds(from, context, options, reason, reason), ...writeNeeds(to, context, options, reason, reason)]),
    binding: async (args, context) => bindingOf((await endsOf(args, context, options)).flatMap(({ from, to }) => [from, to]), context.workspace),
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
    doubt: (args, { folders }) => takenForFolder("copied", args, folders),
    callsFor: (files) => files.map(({ path, to }) => ({ from: path, to })),
    needs: async (args, context) => judge("copy", args, context, options, ({ from, to }, reason) => [...readNeeds(from, context, options), ...writeNeeds(to, context, options, reason, reason)]),
    binding: async (args, context) => bindingOf((await endsOf(args, context, options)).flatMap(({ from, to }) => [from, to]), context.workspace),
    run: async (args, context) => transfer("copy", args, context, options),
  };
}

/** A small model names the folder into which a file is to go as if it were there. */
function takenForFolder(done: string, { from, to }: FsMoveArguments, folders: readonly string[]): string | undefined {
  const [name = "", target = ""] = [from, to].map((path) => path.slice(path.lastIndexOf("/") + 1));
  if (!/.\.[^.]+$/.test(name) || target === "" || target.includes(".") || from.includes("*") || folders.includes(to.replace(/^\.\//, ""))) return undefined;
  return `nothing was ${done}: a file ${target} would be made. Into a folder of that name write "to":"${to}/${name}"; for the name ${target} write the same again`;
}

interface Ends {
  from: Place;
  to: Place;
}

async function judge(kind: "move" | "copy", args: FsMoveArguments, context: ToolContext, options: ToolOptions, needs: (ends: Ends, reason: string) => ApprovalNeed[]): Promise<ApprovalNeed[]> {
  const all = await endsOf(args, context, options);
  rememberJudged(args, all.flatMap(({ from, to }) => [from.real, to.real]));
  const moves = all.map(({ from, to }) => `${kind} ${from.absolute} to ${to.absolute}`);
  const [first = ""] = moves;
  const told = all.flatMap((ends) => needs(ends, first));
  return moves.length === 1 ? told : told.map((need) => ({ ...need, reason: `${kind} ${moves.length} files`, preview: moves.join("\n") }));
}

/** Of all that is named; what several would become at once is refused. */
async function endsOf({ from, to }: FsMoveArguments, context: ToolContext, options: ToolOptions): Promise<Ends[]> {
  const sources = await filesNamedBy(from, context, options.home);
  const isSeveral = sources[0] !== from;
  const all = sources.map((source) => endsOfOne({ from: source, to }, isSeveral, context, options));
  const [twice] = Map.groupBy(all, (ends) => ends.to.real).values().filter((group) => group.length > 1);
  if (twice) throw new ToolError(`${twice.map((ends) => ends.from.shown).join(" and ")} would both become ${twice[0]?.to.shown}; nothing was changed`);
  return all;
}

/** A link is moved or copied itself. A folder as the target takes the source into it. */
function endsOfOne(args: FsMoveArguments, isSeveral: boolean, context: ToolContext, options: ToolOptions): Ends {
  const from = locate(args.from, context.workspace, options.home, false);
  if (!from.stats) throw missingFailure(from.real, from.shown, from.dangling);
  const named = locate(args.to, context.workspace, options.home);
  const intoFolder = named.stats?.isDirectory() || (!named.stats && (isSeveral || args.to.endsWith("/")));
  const to = intoFolder ? locate(showPath(`${named.real}/${nameOf(from.real)}`), context.workspace, options.home) : named;
  const kept = [context.workspace, options.home, options.stateFolder].find((folder) => relativeTo(from.real, rawPath(folder)) !== undefined);
  if (kept !== undefined) throw new ToolError(`${from.shown} holds ${kept} and stays where it is; name what is in it`);
  if (to.stats) throw new ToolError(`${to.shown} is there already and nothing was changed; choose another name, or move it away first`);
  if (relativeTo(from.real, to.real) !== undefined) throw new ToolError(`${to.shown} lies inside ${from.shown}; nothing was changed`);
  return { from, to };
}

async function transfer(kind: "move" | "copy", args: FsMoveArguments, context: ToolContext, options: ToolOptions): Promise<ToolResult> {
  const all = await endsOf(args, context, options);
  checkJudged(args, all.flatMap(({ from, to }) => [from.real, to.real]));
  const done: string[] = [];
  for (const ends of all) {
    await transferOne(kind, ends, done, context.signal);
    done.push(`${pastOf[kind]} ${ends.from.shown} to ${ends.to.shown}`);
  }
  const ends = all.map(({ from, to }) => ({ from: from.absolute, to: to.absolute }));
  return { content: [{ type: "text", text: done.join("\n") }], details: all.length === 1 ? { ...ends[0] } : { files: ends } };
}

const pastOf = { move: "moved", copy: "copied" };

async function transferOne(kind: "move" | "copy", { from, to }: Ends, done: readonly string[], signal: AbortSignal): Promise<void> {
  try {
    mkdirSync(onDisk(parentOf(to.real)), { recursive: true });
    using source = openFolder(parentOf(from.real));
    using target = openFolder(parentOf(to.real));
    if (kind === "copy") await copied(source, from, target, to, signal);
    else if (!renamed(source, from, target, to)) {
      await copied(source, from, target, to, signal);
      removeTree(rawPath(source.at(nameOf(from.real))));
    }
  } catch (error) {
    throw new ToolError([`${from.shown} could not be ${pastOf[kind]}: ${messageOf(error)}`, ...done.map((line) => `${line} before that`)].join("\n"), { cause: error });
  }
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
