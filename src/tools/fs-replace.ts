// fs.replace: replaces a text everywhere in a file. Where it stands alone as a word, places inside longer words stay.
import { z } from "zod";
import { ToolError } from "../core/error.ts";
import type { Tool } from "../core/tool.ts";
import { changeNotice } from "./change-notice.ts";
import { contentMark } from "./content-mark.ts";
import { absentFailure, contentOf, diffOf, firstChangedLine, linesAt } from "./file-edit.ts";
import { checkJudged, rememberJudged } from "./open.ts";
import { isInside, locate, type Place, writeNeeds } from "./path.ts";
import { saveFile } from "./save.ts";
import { type Edit, linesOf, replaceText } from "./text-edit.ts";
import type { ToolOptions } from "./tool-options.ts";

export const FsReplaceArguments = z.strictObject({
  path: z.string().meta({ existing: "file" }),
  oldText: z.string().min(1).describe("word or text that is in the file now"),
  newText: z.string().describe("text to put in its place"),
});
type FsReplaceArguments = z.infer<typeof FsReplaceArguments>;

export function fsReplace(options: ToolOptions): Tool<typeof FsReplaceArguments> {
  return {
    name: "fs.replace",
    description: "Replace a word or text everywhere in a file.",
    schema: FsReplaceArguments,
    class: "write",
    identity: ["path", "oldText"],
    quotes: { file: "path", text: "oldText" },
    async needs(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      rememberJudged(args, [place.real]);
      const { places, diff } = planned(place, args, isInside(place, [context.workspace]));
      return writeNeeds(place, context, options, `replace ${places} occurrence(s) in ${place.absolute}`, diff);
    },
    async binding(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      return { cwd: context.workspace, files: [{ path: place.absolute, content: contentMark(place) }] };
    },
    async run(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      checkJudged(args, [place.real]);
      const before = contentOf(place, "fs.replace");
      const edit = editOf(place, before, args);
      saveFile(place, edit.bytes);
      const count = edit.lines.length;
      const growth = lineEnds(args.newText) - lineEnds(args.oldText);
      return {
        content: [{ type: "text", text: `replaced ${count} ${count === 1 ? "place" : "places"} in ${place.shown}; it now reads:\n${linesAt(edit.bytes, edit.lines.map((line, index) => line + index * growth))}${leftNote(before, args, count)}${changeNotice(place, before, edit.bytes)}` }],
        details: { path: place.absolute, replacements: count, diff: diffOf(place.shown, before, edit.bytes), firstChangedLine: firstChangedLine(before, edit.bytes) },
      };
    },
  };
}

/** For the question to the user. Outside the workspace a failure waits for the answer: it would tell what is in the file. */
function planned(place: Place, args: FsReplaceArguments, mayFail: boolean): { places: number; diff: string } {
  try {
    const before = contentOf(place, "fs.replace");
    const edit = editOf(place, before, args);
    return { places: edit.lines.length, diff: diffOf(place.absolute, before, edit.bytes) };
  } catch (error) {
    if (mayFail) throw error;
    return { places: 0, diff: "" };
  }
}

function editOf(place: Place, before: Buffer, args: FsReplaceArguments): Edit {
  const edit = replaceText(before, args.oldText, args.newText, "words");
  if (edit.lines.length === 0) throw absentFailure(place, before, args.oldText);
  if (edit.bytes.equals(before)) throw new ToolError(`newText is the same as oldText (line ends are kept as they are); ${place.shown} was not changed`);
  return edit;
}

function leftNote(before: Buffer, { oldText }: FsReplaceArguments, replaced: number): string {
  const all = linesOf(before, oldText, "all").length;
  return all === replaced ? "" : `\n[${all - replaced} inside longer words ${all - replaced === 1 ? "was" : "were"} left]`;
}

function lineEnds(text: string): number {
  return text.split("\n").length - 1;
}
