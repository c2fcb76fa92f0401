// fs.edit: replaces a piece of text in a file.
import { z } from "zod";
import { ToolError } from "../core/error.ts";
import type { Tool } from "../core/tool.ts";
import { changeNotice } from "./change-notice.ts";
import { contentMark } from "./content-mark.ts";
import { absentFailure, contentOf, diffOf, excerpt, firstChangedLine } from "./file-edit.ts";
import { checkJudged, rememberJudged } from "./open.ts";
import { isInside, locate, type Place, writeNeeds } from "./path.ts";
import { saveFile } from "./save.ts";
import { type Edit, linesOf, replaceText } from "./text-edit.ts";
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
    class: "write",
    identity: ["path", "oldText", "replaceAll"],
    quotes: { file: "path", text: "oldText" },
    async needs(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      rememberJudged(args, [place.real]);
      const { places, diff } = planned(place, args, isInside(place, [context.workspace]));
      return writeNeeds(place, context, options, `edit ${places} occurrence(s) in ${place.absolute}`, diff);
    },
    async binding(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      return { cwd: context.workspace, files: [{ path: place.absolute, content: contentMark(place) }] };
    },
    async run(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      checkJudged(args, [place.real]);
      const before = contentOf(place, "fs.edit");
      const edit = editOf(place, before, args);
      const diff = diffOf(place.shown, before, edit.bytes);
      saveFile(place, edit.bytes);
      const count = edit.lines.length;
      const firstLine = firstChangedLine(before, edit.bytes);
      return {
        content: [{ type: "text", text: `replaced ${count} ${count === 1 ? "place" : "places"} in ${place.shown}; it now reads:\n${excerpt(edit.bytes, firstLine, args.newText)}${changeNotice(place, before, edit.bytes)}` }],
        details: { path: place.absolute, replacements: count, diff, firstChangedLine: firstLine },
      };
    },
  };
}

const lineNumbersMax = 20;

/** For the question to the user. Outside the workspace a failure waits for the answer: it would tell what is in the file. */
function planned(place: Place, args: FsEditArguments, mayFail: boolean): { places: number; diff: string } {
  try {
    const before = contentOf(place, "fs.edit");
    const edit = editOf(place, before, args);
    return { places: edit.lines.length, diff: diffOf(place.absolute, before, edit.bytes) };
  } catch (error) {
    if (mayFail) throw error;
    return { places: 0, diff: "" };
  }
}

function editOf(place: Place, before: Buffer, args: FsEditArguments): Edit {
  const scope = args.replaceAll ? "all" : "one";
  const lines = linesOf(before, args.oldText, scope);
  if (lines.length === 0) throw absentFailure(place, before, args.oldText);
  if (lines.length > 1 && !args.replaceAll) {
    const distinct = [...new Set(lines)];
    const some = distinct.slice(0, lineNumbersMax).join(", ") + (distinct.length > lineNumbersMax ? ", …" : "");
    throw new ToolError(`oldText is in ${place.shown} ${lines.length} times, on lines ${some}; add the lines around it to oldText, or set replaceAll. Nothing was changed.`);
  }
  const edit = replaceText(before, args.oldText, args.newText, scope);
  if (edit.bytes.equals(before)) throw new ToolError(`newText is the same as oldText (line ends are kept as they are); ${place.shown} was not changed`);
  return edit;
}
