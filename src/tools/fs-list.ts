// fs.list: the names in a folder.
import { statSync } from "node:fs";
import { z } from "zod";
import { ToolError } from "../core/error.ts";
import { contentText } from "../core/message.ts";
import type { Tool, ToolContext } from "../core/tool.ts";
import { isCommonWord, stemOf, wordsOf } from "../core/words.ts";
import { sizeText } from "./clip.ts";
import { globMatcher } from "./glob.ts";
import { fitLines } from "./line-list.ts";
import { checkJudged, rememberJudged } from "./open.ts";
import { missingFailure } from "./path-failure.ts";
import { onDisk, rawPath, showPath } from "./path-text.ts";
import { locate, type Place, readNeeds } from "./path.ts";
import type { ToolOptions } from "./tool-options.ts";
import { type Entry, walk, type WalkReport } from "./walk.ts";

export const FsListArguments = z.strictObject({
  path: z.string().default(".").meta({ existing: "folder" }),
  pattern: z.string().optional().describe("only names that fit this glob, such as *.md").meta({ advanced: true }),
  recursive: z.boolean().default(false).meta({ advanced: true }),
  hidden: z.boolean().default(false).meta({ advanced: true }),
  limit: z.int().min(1).max(5000).default(500).meta({ advanced: true }),
});

export function fsList(options: ToolOptions): Tool<typeof FsListArguments> {
  return {
    name: "fs.list",
    description: "List the files and folders in a folder.",
    schema: FsListArguments,
    serves: ["list"],
    class: "read",
    hint: ({ content, details }, request) => (details?.["limitReached"] ? undefined : `${countedEntries(contentText(content), Number(details?.["entries"]))}${sizesText(details, request)}${endText(contentText(content), request)}${namesText(contentText(content), request)}`),
    async needs(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      rememberJudged(args, [place.real]);
      return readNeeds(place, context, options);
    },
    async run(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      checkJudged(args, [place.real]);
      requireFolder(place);
      const fits = args.pattern === undefined ? () => true : globMatcher(args.pattern, place.absolute);
      const report: WalkReport = { unreadable: [], limitReached: false };
      const { recursive, hidden } = args;
      const lines: string[] = [];
      const sizes = new Sizes();
      let more = 0;
      for await (const entry of walk({ root: place.real, workspace: rawPath(context.workspace), recursive, hidden, signal: context.signal }, report)) {
        if (!fits(entry.relative)) continue;
        sizes.take(entry);
        if (lines.length < args.limit) lines.push(showPath(entry.relative) + (isFolder(entry) ? "/" : ""));
        else if (++more > 0 && recursive) break;
      }
      const list = fitLines(lines, context);
      const left = lines.length - list.shown + more;
      const limitReached = left > 0 || report.limitReached;
      const below = recursive || limitReached || args.pattern !== undefined ? [] : await filesBelow(place, lines, sizes, context);
      const note = limitReached ? `\n[${list.shown} shown, ${recursive ? "there are" : left} more; narrow it with pattern or path]` : "";
      return {
        content: [{ type: "text", text: (list.text || (await emptyText(place, args, context))) + (below.length > 0 ? `\n[in these folders: ${below.join(", ")}]` : "") + note + unreadableNote(report) }],
        details: { path: place.absolute, entries: list.shown, ...(limitReached ? { limitReached } : {}), ...(below.length > 0 ? { covers: coveredFolders(args.path, below) } : {}), ...sizes.details },
      };
    },
  };
}

/** What is not shown unless it is asked for is not nothing. */
async function emptyText(place: Place, { hidden, pattern }: { hidden: boolean; pattern?: string | undefined }, { signal, workspace }: ToolContext): Promise<string> {
  if (hidden || pattern !== undefined) return "(empty)";
  const names: string[] = [];
  for await (const { relative } of walk({ root: place.real, workspace: rawPath(workspace), recursive: false, hidden: true, signal }, { unreadable: [], limitReached: false })) {
    names.push(showPath(relative));
    if (names.length > namedMax) break;
  }
  return names.length === 0 ? "(empty)" : `(nothing but hidden names: ${names.slice(0, namedMax).join(", ")}${names.length > namedMax ? ", …" : ""})`;
}

/** The files in the folders of a listing, where these are few: a small model forgets to look there. */
async function filesBelow(place: Place, names: readonly string[], sizes: Sizes, { signal, workspace }: ToolContext): Promise<string[]> {
  if (!names.some((name) => name.endsWith("/"))) return [];
  const below: string[] = [];
  const report: WalkReport = { unreadable: [], limitReached: false };
  for await (const entry of walk({ root: place.real, workspace: rawPath(workspace), recursive: true, hidden: false, signal }, report)) {
    const shown = showPath(entry.relative);
    if (!shown.includes("/") || isFolder(entry)) continue;
    sizes.take(entry);
    if (below.push(shown) <= belowMax) continue;
    sizes.forget();
    return [];
  }
  return below;
}

/** Calls that would show nothing else: of each folder whose files are shown already. */
function coveredFolders(path: string, below: readonly string[]): { path: string }[] {
  const folders = below.flatMap((file) => file.split("/").slice(0, -1).map((_, index, parts) => parts.slice(0, index + 1).join("/")));
  return [...new Set(folders)].map((folder) => ({ path: path === "." ? folder : `${path.replace(/\/$/, "")}/${folder}` }));
}

/** The largest and the smallest file of a listing, and the empty ones, which its names do not tell. */
export class Sizes {
  #largest = { name: "", bytes: -1 };
  #smallest = { name: "", bytes: Infinity };
  readonly #empty: string[] = [];
  #files = 0;

  take({ relative, stats }: Pick<Entry, "relative" | "stats">): void {
    if (!stats.isFile()) return;
    this.#files += 1;
    const file = { name: showPath(relative), bytes: stats.size };
    if (file.bytes > this.#largest.bytes) this.#largest = file;
    if (file.bytes < this.#smallest.bytes) this.#smallest = file;
    if (file.bytes === 0 && this.#empty.length < namedMax) this.#empty.push(file.name);
  }

  /** There are more than were taken. */
  forget(): void {
    this.#files = -Infinity;
  }

  get details(): { largest?: { name: string; bytes: number }; smallest?: { name: string; bytes: number }; empty?: string[] } {
    return this.#files < 2 ? {} : { largest: this.#largest, smallest: this.#smallest, ...(this.#empty.length > 0 ? { empty: this.#empty } : {}) };
  }
}

const largestWord = /\b(?:big|bigger|biggest|huge|large|larger|largest|long|longer|longest|sizes?)\b/i;
const smallestWord = /\b(?:small|smaller|smallest|short|shorter|shortest|tiniest)\b/i;
const emptyWord = /\b(?:empty|blank)\b/i;

/** "" for fewer than two files, and where the request does not speak of sizes. */
export function sizesText(details: Record<string, unknown> | undefined, request: string): string {
  const told = (word: RegExp, what: "largest" | "smallest"): string => {
    const file = details?.[what];
    return word.test(request) && isSized(file) ? `; the ${what} file: ${file.name}, ${sizeText(file.bytes)}` : "";
  };
  const { empty, largest } = details ?? {};
  const emptyText = emptyWord.test(request) && largest !== undefined ? `; empty files: ${Array.isArray(empty) ? empty.join(", ") : "none"}` : "";
  return told(largestWord, "largest") + told(smallestWord, "smallest") + emptyText;
}

/** Names of a listing that hold a word of the request, where others do not: a small model takes all of them, or counts them wrong. "" for none. */
export function namesText(listing: string, request: string): string {
  const names = listing.split("\n").filter((name) => name !== "" && !/^[[(]/.test(name));
  const words = wordsOf(request).filter((word) => !isCommonWord(word));
  const told = words.flatMap((word) => {
    const holding = names.filter((name) => wordsOf(name).some((part) => stemOf(part) === stemOf(word)));
    return holding.length === 0 || holding.length === names.length || holding.length > namedMax ? [] : [`; with ${word}: ${holding.join(", ")}`];
  });
  return [...new Set(told)].slice(0, wordsToldMax).join("");
}

const wordsToldMax = 2;

function isSized(value: unknown): value is { name: string; bytes: number } {
  return typeof value === "object" && value !== null && "name" in value && "bytes" in value && typeof value.name === "string" && typeof value.bytes === "number";
}

const lastWord = /\b(?:last|latest|newest|highest|most recent)\b/i;
const firstWord = /\b(?:first|earliest|oldest|lowest)\b/i;

/** The end of a list of numbered files that the request asks for: a small model takes any of them. "" for other lists. */
function endText(listing: string, request: string): string {
  const files = listing.split("\n").filter((name) => !/^\[|\/$/.test(name));
  const name = lastWord.test(request) ? files.at(-1) : firstWord.test(request) ? files[0] : undefined;
  return name === undefined || files.length < 3 || !files.every((file) => /\d/.test(file)) ? "" : `; the ${lastWord.test(request) ? "last" : "first"} in their order: ${name}`;
}

const belowMax = 20;

/** How many folders and files a listing has. */
export function countedEntries(listing: string, count: number): string {
  const folders = listing.split("\n").filter((name) => name.endsWith("/"));
  const files = count - folders.length;
  return `${countOf(folders.length, "folder")}${folders.length > 0 && folders.length <= namedMax ? `: ${folders.map((name) => name.slice(0, -1)).join(", ")};` : " and"} ${countOf(files, "file")}`;
}

const namedMax = 20;

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** @throws ToolError when nothing is there, or something that is no folder. */
export function requireFolder(place: Place): void {
  if (!place.stats) throw missingFailure(place.real, place.shown, place.dangling);
  if (!place.stats.isDirectory()) throw new ToolError(`${place.shown} is a file, not a folder; use fs.read`);
}

/** True for folders and for links to folders. */
export function isFolder(entry: Entry): boolean {
  return entry.stats.isDirectory() || (entry.stats.isSymbolicLink() && leadsToFolder(entry));
}

export function unreadableNote(report: WalkReport): string {
  if (report.unreadable.length === 0) return "";
  return `\n[not readable: ${report.unreadable.slice(0, 5).map(showPath).join(", ")}${report.unreadable.length > 5 ? ` and ${report.unreadable.length - 5} more` : ""}]`;
}

function leadsToFolder(entry: Entry): boolean {
  try {
    return statSync(onDisk(entry.path)).isDirectory();
  } catch {
    // A link that leads nowhere is shown as a plain name.
    return false;
  }
}
