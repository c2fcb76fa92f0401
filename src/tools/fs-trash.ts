// fs.trash: moves files and folders to the user's trash. Nothing is deleted for good.
import { z } from "zod";
import type { ApprovalNeed } from "../core/approval.ts";
import { messageOf, ToolError } from "../core/error.ts";
import type { Tool, ToolContext } from "../core/tool.ts";
import { checkJudged, rememberJudged } from "./open.ts";
import { missingFailure } from "./path-failure.ts";
import { rawPath, showPath } from "./path-text.ts";
import { isConfiguration, isInside, locate, parentOf, type Place, relativeTo } from "./path.ts";
import { filesNamedBy } from "./several-files.ts";
import type { ToolOptions } from "./tool-options.ts";
import { moveToTrash } from "./trash-place.ts";

export const FsTrashArguments = z.strictObject({
  paths: z.array(z.string().meta({ existing: "any", several: true })).min(1).max(500),
});
export type FsTrashArguments = z.infer<typeof FsTrashArguments>;

export function fsTrash(options: ToolOptions): Tool<typeof FsTrashArguments> {
  return {
    name: "fs.trash",
    description: "Delete files or folders (moves them to the trash).",
    schema: FsTrashArguments,
    serves: ["delete"],
    class: "write",
    async needs(args, context) {
      const places = await placesOf(args, context, options);
      rememberJudged(args, places.map((place) => place.real));
      return [trashNeed(places, context, options)];
    },
    async run(args, context) {
      const places = await placesOf(args, context, options);
      checkJudged(args, places.map((place) => place.real));
      const dataHome = options.shell.environment["XDG_DATA_HOME"];
      const moved: Place[] = [];
      for (const place of places) {
        try {
          await moveToTrash(place.real, { home: options.home, ...(dataHome ? { dataHome } : {}) });
        } catch (error) {
          const done = moved.length === 0 ? "nothing was moved" : `moved before that: ${moved.map(({ shown }) => shown).join(", ")}`;
          throw new ToolError(`${place.shown} could not be moved to the trash: ${messageOf(error)}; ${done}`, { cause: error });
        }
        moved.push(place);
      }
      const text = `moved to the trash:\n${moved.map(({ shown }) => shown).join("\n")}`;
      return { content: [{ type: "text", text }], details: { paths: moved.map(({ absolute }) => absolute), trashed: moved.length } };
    },
  };
}

const previewPathsMax = 12;

/** Links stand for themselves. What lies in another path of the list goes with it. */
async function placesOf(args: FsTrashArguments, context: ToolContext, options: ToolOptions): Promise<Place[]> {
  const paths = await Promise.all(args.paths.map((path) => filesNamedBy(path, context, options.home)));
  const places = paths.flat().map((path) => locate(path, context.workspace, options.home, false));
  for (const place of places) {
    if (!place.stats) throw missingFailure(place.real, place.shown, place.dangling);
    const kept = [context.workspace, options.home, options.stateFolder].find((folder) => relativeTo(place.real, rawPath(folder)) !== undefined);
    if (kept !== undefined) throw new ToolError(`${place.shown} holds ${kept} and cannot be moved to the trash; name what is in it`);
  }
  return places.filter((place, index) => !places.some((other, at) => at !== index && relativeTo(other.real, place.real) !== undefined && (other.real !== place.real || at < index)));
}

function trashNeed(places: readonly Place[], context: ToolContext, options: ToolOptions): ApprovalNeed {
  const shown = places.map(({ absolute }) => absolute);
  const more = shown.length > previewPathsMax ? `\n… and ${shown.length - previewPathsMax} more` : "";
  const common = {
    reason: `move ${shown.length} path(s) to Trash`,
    preview: shown.slice(0, previewPathsMax).join("\n") + more,
    affectedResources: shown,
  };
  if (places.some((place) => isConfiguration(place, options))) return { category: "trust_config", silentFrom: 5, ...common };
  const outside = places.find((place) => !isInside(place, [context.workspace, options.home]));
  if (outside) return { category: "other", silentFrom: 5, ...common, grant: { root: showPath(parentOf(outside.real)) } };
  const silentFrom = places.every((place) => isInside(place, [context.workspace])) ? 2 : 3;
  return { category: "fs_trash", silentFrom, ...common, grant: "category" };
}
