// fs.find: paths that fit a glob pattern.
import { z } from "zod";
import { contentText } from "../core/message.ts";
import type { Tool } from "../core/tool.ts";
import { countedEntries, isFolder, namesText, Sizes, sizesText, requireFolder, unreadableNote } from "./fs-list.ts";
import { globMatcher } from "./glob.ts";
import { fitLines } from "./line-list.ts";
import { checkJudged, rememberJudged } from "./open.ts";
import { rawPath } from "./path-text.ts";
import { locate, readNeeds, shortPath } from "./path.ts";
import type { ToolOptions } from "./tool-options.ts";
import { walk, type WalkReport } from "./walk.ts";

export const FsFindArguments = z.strictObject({
  pattern: z.string().min(1).describe("glob, such as *.ts or src/**/test_*.py"),
  path: z.string().default(".").meta({ advanced: true, existing: "folder" }),
  hidden: z.boolean().default(false).meta({ advanced: true }),
  limit: z.int().min(1).max(5000).default(1000).meta({ advanced: true }),
});

export function fsFind(options: ToolOptions): Tool<typeof FsFindArguments> {
  return {
    name: "fs.find",
    description: "Find files whose name fits a glob, in all folders below.",
    schema: FsFindArguments,
    serves: ["find"],
    class: "read",
    hint: ({ content, details }, request) => (details?.["limitReached"] || details?.["matches"] === 0 ? undefined : `${countedEntries(contentText(content), Number(details?.["matches"]))}${sizesText(details, request)}${namesText(contentText(content), request)}`),
    async needs(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      rememberJudged(args, [place.real]);
      return readNeeds(place, context, options);
    },
    async run(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      checkJudged(args, [place.real]);
      requireFolder(place);
      const fits = globMatcher(args.pattern, place.absolute);
      const report: WalkReport = { unreadable: [], limitReached: false };
      const lines: string[] = [];
      const sizes = new Sizes();
      let more = false;
      const workspace = rawPath(context.workspace);
      const folders = new Map<string, boolean>();
      for await (const entry of walk({ root: place.real, workspace, recursive: true, hidden: args.hidden, signal: context.signal }, report)) {
        if (entry.stats.isDirectory()) folders.set(entry.relative, false);
        if (!fits(entry.relative)) continue;
        folders.set(folderOf(entry.relative), true);
        more = lines.length === args.limit;
        if (more) break;
        sizes.take(entry);
        lines.push(shortPath(entry.path, workspace) + (isFolder(entry) ? "/" : ""));
      }
      const list = fitLines(lines, context);
      const limitReached = more || !list.complete || report.limitReached;
      const note = limitReached ? `\n[the first ${list.shown} are shown; narrow it with pattern or path]` : "";
      const without = limitReached || /[*?[{]/.test(args.pattern) ? [] : foldersWithout(folders).map((folder) => shortPath(`${place.real === "/" ? "" : place.real}/${folder}`, workspace));
      const gaps = without.length === 0 || without.length > withoutMax ? "" : `\n[none in ${without.join(", ")}]`;
      return {
        content: [{ type: "text", text: (list.text || "(no file has such a name; fs.grep searches the text in files)") + gaps + note + unreadableNote(report) }],
        details: { matches: list.shown, ...(limitReached ? { limitReached } : {}), ...sizes.details },
      };
    },
  };
}

const withoutMax = 20;

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** Where some folders of a folder have such a file, those beside them that have none: a small model does not see what is not there. */
function foldersWithout(folders: ReadonlyMap<string, boolean>): string[] {
  const beside = Map.groupBy([...folders].filter(([path]) => path !== ""), ([path]) => folderOf(path));
  return [...beside.values()].filter((some) => some.filter(([, has]) => has).length > 1).flatMap((some) => some.flatMap(([path, has]) => (has ? [] : [path])));
}
