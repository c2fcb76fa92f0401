// table.compute: numbers, sums, extremes and order over the rows of a table in a file, so that no model has to guess them.
import { closeSync, readFileSync } from "node:fs";
import { z } from "zod";
import { ToolError } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import type { Tool, ToolContext, ToolResult } from "../core/tool.ts";
import { isCommonWord, stemOf, wordsOf } from "../core/words.ts";
import { clipHead, noteBytes, sizeText } from "./clip.ts";
import { fileKind } from "./file-kind.ts";
import { checkJudged, openForReading, rememberJudged } from "./open.ts";
import { rawPath } from "./path-text.ts";
import { locate, type Place, readNeeds, shortPath } from "./path.ts";
import { type Answer, compute, operations, type Question } from "./table/compute.ts";
import { type FileTable, joinedTable } from "./table/joined.ts";
import { readTables } from "./table/read-tables.ts";
import { rowsText, type Table } from "./table/table.ts";
import type { ToolOptions } from "./tool-options.ts";
import { walk } from "./walk.ts";

/** Files that may hold a table; of those that need not, a model should have seen one. */
const tableEndings = [".csv", ".tsv", ".md", ".txt", ".json", ".jsonl", ".log"];

export const TableComputeArguments = z.strictObject({
  path: z.string().meta({ existing: "any", shows: false, endings: tableEndings, seenUnless: [".csv", ".tsv"] }),
  operation: z.enum(operations),
  column: z.string().optional().meta({ existing: "column" }).describe("what is added up, compared, sorted"),
  where: z.string().optional().describe("only rows such as: city = Oslo and age > 30"),
});

export function tableCompute(options: ToolOptions): Tool<typeof TableComputeArguments> {
  return {
    name: "table.compute",
    description: "Count, add up, compare or sort the rows of a table or list in a file, or in all files of a folder; where is like city = Oslo and age > 30.",
    schema: TableComputeArguments,
    serves: ["compute", "count"],
    isSpecial: true,
    class: "read",
    hint: ({ details }, request) => sumsTold(details?.["sums"], request),
    async needs(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      rememberJudged(args, [place.real]);
      return readNeeds(place, context, options);
    },
    async run(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      checkJudged(args, [place.real]);
      const tables = place.stats?.isDirectory() ? [await folderTable(place, context)] : readTables(textOf(place), place.shown);
      const { answer, table } = firstAnswer(tables, { operation: args.operation, column: given(args.column), where: given(args.where) });
      return resultOf(place, tables, table, answer, args.operation, context);
    },
  };
}

/** Where a whole is asked for, or one of the groups. */
function sumsTold(sums: unknown, request: string): string | undefined {
  const stems = new Set(wordsOf(request).filter((word) => !isCommonWord(word)).map(stemOf));
  const isSaid = (text: string): boolean => wordsOf(text).some((word) => /\p{L}/u.test(word) && stems.has(stemOf(word)));
  const lines = Array.isArray(sums) ? sums.map(String) : [];
  const groups = lines.flatMap((line) => {
    const [head = "", values = ""] = line.split(": ");
    return values.split(", ").filter(isSaid).map((value) => `${head.replace(" by ", " of ")} ${value}`);
  });
  const told = groups.length > 0 ? groups : inAllWord.test(request) ? lines.slice(0, linesToldMax) : [];
  return told.length === 0 ? undefined : told.join("; ");
}

const linesToldMax = 2;
const inAllWord = /\b(?:all|altogether|overall|total|totals|sum|sums|together|most|each|per)\b/i;

/** Small models write "" for what they leave out, or a condition that always holds. */
function given(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed !== undefined && /^(?:|\*|1 ?==? ?1|true|all|none|null)$/i.test(trimmed) ? undefined : trimmed;
}

/** Of the files right in the folder that are of a kind that may hold a table; links are not followed. */
async function folderTable(folder: Place, { signal, workspace }: ToolContext): Promise<Table> {
  const root = rawPath(workspace);
  const parts: FileTable[] = [];
  for await (const { path, stats } of walk({ root: folder.real, workspace: root, recursive: false, hidden: false, signal }, { unreadable: [], limitReached: false })) {
    if (!stats.isFile() || stats.size === 0 || !tableEndings.some((ending) => path.toLowerCase().endsWith(ending))) continue;
    const shown = shortPath(path, root);
    const [table] = readTables(textOf({ real: path, shown }), shown);
    if (table) parts.push({ file: shown, table });
    if (parts.length > limits.tableFilesMax) throw new ToolError(`${folder.shown} holds more than ${limits.tableFilesMax} files with tables; name a file`);
  }
  if (parts.length === 0) throw new ToolError(`${folder.shown} holds no file with a table, such as .csv or .txt; name a file`);
  return joinedTable(parts);
}

function textOf(place: Pick<Place, "real" | "shown">): string {
  const { descriptor, stats } = openForReading(place);
  try {
    const kind = fileKind(descriptor);
    if (kind.kind !== "text") throw new ToolError(`${place.shown} is no text file; table.compute reads CSV, TSV, JSON, Markdown and plain text`);
    if (stats.size > limits.tableBytesMax) throw new ToolError(`${place.shown} has ${sizeText(stats.size)}; table.compute takes at most ${sizeText(limits.tableBytesMax)}`);
    return readFileSync(descriptor).subarray(kind.bomBytes).toString("utf8");
  } finally {
    closeSync(descriptor);
  }
}

/** Of several tables the first one that has the columns asked for. @throws the first one's error when none has */
function firstAnswer(tables: readonly Table[], question: Question): { table: Table; answer: Answer } {
  let failure: unknown;
  for (const table of tables) {
    try {
      return { table, answer: compute(table, question) };
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure instanceof ToolError ? new ToolError(failure.message, { details: { advice: tables.flatMap(({ columns }) => columns) } }) : failure;
}

function resultOf(place: Place, tables: readonly Table[], table: Table, answer: Answer, operation: Question["operation"], context: ToolContext): ToolResult {
  const others = tables.filter((other) => other !== table).map(({ name, rows }) => `${name ?? "another"} (${rowsText(rows.length)})`);
  const notes = [...answer.notes, ...(others.length > 0 ? [`this is ${table.name ?? "the first table"}; ${place.shown} also holds ${others.slice(0, 5).join(", ")}`] : [])];
  const noted = notes.map((note) => `\n[${note}]`).join("");
  const room = { maxLines: context.maxLines, maxBytes: Math.max(noteBytes, context.maxBytes - Buffer.byteLength(noted, "utf8")) };
  const { text, truncation } = clipHead(answer.lines.join("\n"), room);
  const cut = truncation ? `\n[${truncation.totalLines - truncation.outputLines} more lines are left out; narrow it with where]` : "";
  const isEmpty = answer.rows === 0 && operation !== "count";
  return {
    content: [{ type: "text", text: text.replace(/\n$/, "") + cut + noted }],
    details: { path: place.absolute, rows: answer.rows, ...(answer.sums && answer.sums.length > 0 ? { sums: answer.sums } : {}), ...(isEmpty ? { matches: 0 } : {}), ...(truncation ? { truncation } : {}) },
  };
}
