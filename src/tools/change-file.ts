// What tools that change one text file in place have in common: a preview that is the true effect, a question bound to what
// the file holds, and a result that shows what it reads now.
import type { ApprovalNeed, Binding } from "../core/approval.ts";
import type { ToolContext, ToolResult } from "../core/tool.ts";
import { changeNotice, refuseBroken } from "./change-notice.ts";
import { bindingOf } from "./content-mark.ts";
import { contentOf, diffOf, firstChangedLine } from "./file-edit.ts";
import { checkJudged, rememberJudged } from "./open.ts";
import { isInside, locate, type Place, writeNeeds } from "./path.ts";
import { saveFile } from "./save.ts";
import type { ToolOptions } from "./tool-options.ts";

export interface FileChange {
  bytes: Buffer;
  /** What was done, in one line: `sorted 3 rows`. */
  done: string;
  /** What the model sees of the file now. */
  shown: (firstLine: number) => string;
}

/** @param change works out the new content, or throws a ToolError; changes nothing */
export function changesFile<Args extends { path: string }>(name: string, options: ToolOptions, change: (before: Buffer, args: Args, place: Place) => FileChange) {
  const placeOf = ({ path }: Args, context: ToolContext): Place => locate(path, context.workspace, options.home);
  return {
    class: "write" as const,
    mustKnow: ({ path }: Args): string => path,
    async needs(args: Args, context: ToolContext): Promise<ApprovalNeed[]> {
      const place = placeOf(args, context);
      rememberJudged(args, [place.real]);
      // Outside the workspace a failure, or a diff, would tell what is in the file before anybody said yes.
      const diff = isInside(place, [context.workspace]) ? previewOf(name, place, args, change) : "";
      return writeNeeds(place, context, options, `${name} ${place.absolute}`, diff);
    },
    binding: async (args: Args, context: ToolContext): Promise<Binding> => bindingOf([placeOf(args, context)], context.workspace),
    async run(args: Args, context: ToolContext): Promise<ToolResult> {
      const place = placeOf(args, context);
      checkJudged(args, [place.real]);
      const before = contentOf(place, name);
      const { bytes, done, shown } = soundChange(before, args, place, change);
      if (bytes.equals(before)) return { content: [{ type: "text", text: `${place.shown} is so already; nothing was changed` }], details: { path: place.absolute, unchanged: true } };
      const diff = diffOf(place.shown, before, bytes);
      saveFile(place, bytes);
      const firstLine = firstChangedLine(before, bytes);
      return {
        content: [{ type: "text", text: `${done} in ${place.shown}; it now reads:\n${shown(firstLine)}${changeNotice(place, before, bytes)}` }],
        details: { path: place.absolute, diff, firstChangedLine: firstLine },
      };
    },
  };
}

function previewOf<Args>(name: string, place: Place, args: Args, change: (before: Buffer, args: Args, place: Place) => FileChange): string {
  const before = contentOf(place, name);
  return diffOf(place.absolute, before, soundChange(before, args, place, change).bytes);
}

/** Before anybody is asked as well: a change that would be refused is no question. */
function soundChange<Args>(before: Buffer, args: Args, place: Place, change: (before: Buffer, args: Args, place: Place) => FileChange): FileChange {
  const changed = change(before, args, place);
  refuseBroken(place, before, changed.bytes);
  return changed;
}
