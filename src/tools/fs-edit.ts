// fs.edit: a piece of text in a file replaced, at the one place where it is.
import { z } from "zod";
import { ToolError } from "../core/error.ts";
import type { Tool, ToolResult } from "../core/tool.ts";
import { changeNotice } from "./change-notice.ts";
import { bindingOf } from "./content-mark.ts";
import { contentOf, diffOf, excerpt, firstChangedLine } from "./file-edit.ts";
import { checkJudged, rememberJudged } from "./open.ts";
import { isInside, locate, type Place, writeNeeds } from "./path.ts";
import { saveFile } from "./save.ts";
import type { Scope } from "./text-edit.ts";
import { editOf } from "./text-pair.ts";
import type { ToolOptions } from "./tool-options.ts";

export const FsEditArguments = z.strictObject({
  path: z.string().meta({ existing: "file" }),
  oldText: z.string().min(1).describe("text that is in the file now, exactly"),
  newText: z.string().describe("text to put in its place"),
  replaceAll: z.boolean().default(false).meta({ advanced: true }),
});
export type FsEditArguments = z.infer<typeof FsEditArguments>;

export function fsEdit(options: ToolOptions): Tool<typeof FsEditArguments> {
  return {
    name: "fs.edit",
    description: "Replace a piece of text in a file.",
    schema: FsEditArguments,
    serves: ["edit", "insert", "cut", "set"],
    identity: ["path", "oldText", "replaceAll"],
    class: "write",
    quotes: { file: "path", text: "oldText" },
    async needs(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      rememberJudged(args, [place.real]);
      const { places, diff } = planned(place, args, isInside(place, [context.workspace]));
      return writeNeeds(place, context, options, `edit ${places} occurrence(s) in ${place.absolute}`, diff);
    },
    binding: async (args, context) => bindingOf([locate(args.path, context.workspace, options.home)], context.workspace),
    async run(args, context): Promise<ToolResult> {
      const place = locate(args.path, context.workspace, options.home);
      checkJudged(args, [place.real]);
      const before = contentOf(place, "fs.edit");
      const { bytes, lines } = editOf(place, before, args, scopeOf(args));
      const diff = diffOf(place.shown, before, bytes);
      saveFile(place, bytes);
      const firstLine = firstChangedLine(before, bytes);
      return {
        content: [{ type: "text", text: `replaced ${lines.length} ${lines.length === 1 ? "place" : "places"} in ${place.shown}; it now reads:\n${excerpt(bytes, firstLine, args.newText)}${changeNotice(place, before, bytes)}` }],
        details: { path: place.absolute, replacements: lines.length, diff, firstChangedLine: firstLine },
      };
    },
  };
}

function scopeOf({ replaceAll }: FsEditArguments): Scope {
  return replaceAll ? "all" : "one";
}

/** For the question to the user. Outside the workspace a failure waits for the answer: it would tell what is in the file. */
function planned(place: Place, args: FsEditArguments, mayFail: boolean): { places: number; diff: string } {
  try {
    const before = contentOf(place, "fs.edit");
    const edit = editOf(place, before, args, scopeOf(args));
    return { places: edit.lines.length, diff: diffOf(place.absolute, before, edit.bytes) };
  } catch (error) {
    if (mayFail || !(error instanceof ToolError)) throw error;
    return { places: 0, diff: "" };
  }
}
