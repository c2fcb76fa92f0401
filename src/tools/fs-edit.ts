// fs.edit and fs.replace: a piece of text in a file replaced, at the one place where it is, or wherever it is. Where it stands
// alone as a word, fs.replace leaves the places inside longer words.
import { z } from "zod";
import { ToolError } from "../core/error.ts";
import type { Tool, ToolResult } from "../core/tool.ts";
import { changeNotice, refuseBroken } from "./change-notice.ts";
import { bindingOf } from "./content-mark.ts";
import { absentFailure, contentOf, diffOf, excerpt, firstChangedLine, linesAt } from "./file-edit.ts";
import { checkJudged, rememberJudged } from "./open.ts";
import { isInside, locate, type Place, writeNeeds } from "./path.ts";
import { saveFile } from "./save.ts";
import { type Edit, linesOf, replaceText, replaceWithCapitals, type Scope } from "./text-edit.ts";
import type { ToolOptions } from "./tool-options.ts";

const FsReplaceArguments = z.strictObject({
  path: z.string().meta({ existing: "file" }),
  oldText: z.string().min(1).describe("text that is in the file now, exactly"),
  newText: z.string().describe("text to put in its place"),
});
type FsReplaceArguments = z.infer<typeof FsReplaceArguments>;

export const FsEditArguments = FsReplaceArguments.extend({ replaceAll: z.boolean().default(false).meta({ advanced: true }) });
export type FsEditArguments = z.infer<typeof FsEditArguments>;

export function fsEdit(options: ToolOptions): Tool<typeof FsEditArguments> {
  const scopeOf = ({ replaceAll }: FsEditArguments): Scope => (replaceAll ? "all" : "one");
  return {
    name: "fs.edit",
    description: "Replace a piece of text in a file.",
    schema: FsEditArguments,
    serves: ["edit", "replace", "insert", "cut", "set"],
    identity: ["path", "oldText", "replaceAll"],
    ...editing<FsEditArguments>("edit", scopeOf, (after, lines, { newText }, firstLine) => excerpt(after, firstLine, newText), options),
  };
}

export function fsReplace(options: ToolOptions): Tool<typeof FsReplaceArguments> {
  return {
    name: "fs.replace",
    description: "Replace a word or text everywhere in a file.",
    schema: FsReplaceArguments,
    serves: ["replace", "edit"],
    identity: ["path", "oldText"],
    ...editing<FsReplaceArguments>("replace", () => "words", changedLines, options),
  };
}

type Shown<Args> = (after: Buffer, lines: readonly number[], args: Args, firstLine: number) => string;

/** What both do; `shown` tells the model what the file reads now. */
function editing<Args extends FsReplaceArguments>(verb: "edit" | "replace", scopeOf: (args: Args) => Scope, shown: Shown<Args>, options: ToolOptions) {
  const name = `fs.${verb}`;
  return {
    class: "write",
    quotes: { file: "path", text: "oldText" },
    async needs(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      rememberJudged(args, [place.real]);
      const { places, diff } = planned(place, args, scopeOf(args), name, isInside(place, [context.workspace]));
      return writeNeeds(place, context, options, `${verb} ${places} occurrence(s) in ${place.absolute}`, diff);
    },
    binding: async (args, context) => bindingOf([locate(args.path, context.workspace, options.home)], context.workspace),
    async run(args, context): Promise<ToolResult> {
      const place = locate(args.path, context.workspace, options.home);
      checkJudged(args, [place.real]);
      const before = contentOf(place, name);
      const { bytes, lines, capitals = 0 } = editOf(place, before, args, scopeOf(args));
      const diff = diffOf(place.shown, before, bytes);
      saveFile(place, bytes);
      const left = linesOf(before, args.oldText, "all").length - (lines.length - capitals);
      const firstLine = firstChangedLine(before, bytes);
      return {
        content: [{ type: "text", text: `replaced ${lines.length} ${lines.length === 1 ? "place" : "places"} in ${place.shown}${capitals > 0 ? `, ${capitals} with a capital letter` : ""}; it now reads:\n${shown(bytes, lines, args, firstLine)}${verb === "replace" ? leftNote(left, otherCapitals(capitals > 0 ? bytes : before, args.oldText)) : ""}${changeNotice(place, before, bytes)}` }],
        details: { path: place.absolute, replacements: lines.length, diff, firstChangedLine: firstLine },
      };
    },
  } satisfies Omit<Tool<z.ZodType<Args> & z.ZodObject>, "name" | "description" | "schema">;
}

function changedLines(after: Buffer, lines: readonly number[], { newText, oldText }: FsReplaceArguments): string {
  const growth = newText.split("\n").length - oldText.split("\n").length;
  return linesAt(after, lines.map((line, index) => line + index * growth));
}

function leftNote(insideWords: number, otherCapitals: readonly string[]): string {
  const inside = insideWords === 0 ? "" : `\n[${insideWords} inside longer words ${insideWords === 1 ? "was" : "were"} left]`;
  return otherCapitals.length === 0 ? inside : `${inside}\n[still there, with other capitals: ${otherCapitals.join(", ")}]`;
}

/** Words that differ from the text only in their capitals, each once. */
function otherCapitals(before: Buffer, text: string): string[] {
  if (!/^[\p{L}\p{N}_ -]+$/u.test(text)) return [];
  const found = before.toString("utf8").match(new RegExp(`(?<![\\p{L}\\p{N}_])${text}(?![\\p{L}\\p{N}_])`, "giu")) ?? [];
  return [...new Set(found)].filter((one) => one !== text);
}

/** A word may begin a sentence there; in code another capital is another name. */
function isProse({ shown }: Place): boolean {
  return /\.(?:txt|md|markdown|rst|adoc|tex)"?$/i.test(shown);
}

const lineNumbersMax = 20;

/** For the question to the user. Outside the workspace a failure waits for the answer: it would tell what is in the file. */
function planned(place: Place, args: FsReplaceArguments, scope: Scope, tool: string, mayFail: boolean): { places: number; diff: string } {
  try {
    const before = contentOf(place, tool);
    const edit = editOf(place, before, args, scope);
    return { places: edit.lines.length, diff: diffOf(place.absolute, before, edit.bytes) };
  } catch (error) {
    if (mayFail) throw error;
    return { places: 0, diff: "" };
  }
}

/** Lines at the end of the new text that stand right behind the old one: a small model that changes a line writes on what it saw. */
function repeatedLines(before: Buffer, oldText: string, newText: string): string[] {
  const text = before.toString("utf8").replaceAll("\r\n", "\n");
  const [old, now] = [oldText, newText].map((one) => one.replaceAll("\r\n", "\n").replace(/\n$/, "")) as [string, string];
  const start = text.indexOf(old);
  const end = start + old.length;
  if (start < 0 || text.includes(old, start + 1) || text[end] !== "\n") return [];
  const following = text.slice(end + 1).split("\n");
  const written = now.split("\n").slice(old.split("\n").length);
  for (let count = written.length; count > 0; count -= 1) {
    const last = written.slice(-count);
    if (last.join("").trim().length >= repeatedCharsMin && last.every((line, index) => line === following[index])) return last;
  }
  return [];
}

/** Shorter stretches, such as closing brackets, may be meant twice. */
const repeatedCharsMin = 8;

function editOf(place: Place, before: Buffer, { newText, oldText }: FsReplaceArguments, scope: Scope): Edit {
  const prose = scope === "words" && isProse(place) ? replaceWithCapitals(before, oldText, newText) : undefined;
  if (prose) return prose;
  const lines = linesOf(before, oldText, scope);
  if (lines.length === 0) throw absentFailure(place, before, oldText);
  if (lines.length > 1 && scope === "one") {
    const distinct = [...new Set(lines)];
    const some = distinct.slice(0, lineNumbersMax).join(", ") + (distinct.length > lineNumbersMax ? ", …" : "");
    throw new ToolError(`oldText is in ${place.shown} ${lines.length} times, on lines ${some}; add the lines around it to oldText, or replace them all with fs.replace. Nothing was changed.`);
  }
  const repeated = scope === "one" ? repeatedLines(before, oldText, newText) : [];
  if (repeated.length > 0) throw new ToolError(`newText ends with what follows oldText in ${place.shown} already, and it would be there twice:\n${repeated.join("\n")}\nPut these lines into oldText too, or leave them out of newText. Nothing was changed.`);
  const edit = replaceText(before, oldText, newText, scope);
  refuseBroken(place, before, edit.bytes);
  if (edit.bytes.equals(before)) throw new ToolError(`newText is the same as oldText (line ends are kept as they are); ${place.shown} was not changed`);
  return edit;
}
