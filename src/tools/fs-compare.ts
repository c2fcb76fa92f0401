// fs.compare: how two text files differ, so that no model has to find it line by line. Of settings it says which have other
// values, of any text which lines are only in one.
import { z } from "zod";
import { createTwoFilesPatch } from "diff";
import { ToolError } from "../core/error.ts";
import type { Tool, ToolContext, ToolResult } from "../core/tool.ts";
import { clipHead } from "./clip.ts";
import { contentOf } from "./file-edit.ts";
import { checkJudged, rememberJudged } from "./open.ts";
import { missingFailure } from "./path-failure.ts";
import { locate, type Place, readNeeds } from "./path.ts";
import { lineDifferences } from "./line-differences.ts";
import { compute } from "./table/compute.ts";
import { readTables } from "./table/read-tables.ts";
import { tableDifferences } from "./table/table-differences.ts";
import { settingsIn } from "./settings/read.ts";
import type { ToolOptions } from "./tool-options.ts";

export const FsCompareArguments = z.strictObject({
  path: z.string().meta({ existing: "file" }),
  other: z.string().meta({ existing: "file" }),
});
type FsCompareArguments = z.infer<typeof FsCompareArguments>;

export function fsCompare(options: ToolOptions): Tool<typeof FsCompareArguments> {
  const placesOf = ({ other, path }: FsCompareArguments, { workspace }: ToolContext): [Place, Place] => [locate(path, workspace, options.home), locate(other, workspace, options.home)];
  return {
    name: "fs.compare",
    description: "Compare two files: which settings or lines differ.",
    schema: FsCompareArguments,
    serves: ["compare"],
    isSpecial: true,
    class: "read",
    hint: ({ details }, request) => (typeof details?.["totals"] === "string" && totalWord.test(request) ? details["totals"] : undefined),
    async needs(args, context) {
      const places = placesOf(args, context);
      rememberJudged(args, places.map(({ real }) => real));
      return (await Promise.all(places.map((place) => readNeeds(place, context, options)))).flat();
    },
    async run(args, context) {
      const places = placesOf(args, context);
      checkJudged(args, places.map(({ real }) => real));
      for (const place of places) if (!place.stats) throw missingFailure(place.real, place.shown, place.dangling);
      return compared(...places, context);
    },
  };
}

function compared(one: Place, other: Place, context: ToolContext): ToolResult {
  if (one.real === other.real) throw new ToolError(`${one.shown} and ${other.shown} are the same file; name two files`);
  const [before, after] = [one, other].map((place) => contentOf(place, "fs.compare").toString("utf8").replace(/^\uFEFF/, "")) as [string, string];
  const [plainBefore, plainAfter] = [before, after].map((text) => text.replaceAll("\r\n", "\n")) as [string, string];
  const details = { path: one.absolute, other: other.absolute };
  if (plainBefore === plainAfter) return resultOf(`${one.shown} and ${other.shown} hold the same text${before === after ? "" : ", with other line ends"}`, { ...details, differences: 0 }, context);
  const [settings, others] = [settingsIn(plainBefore, one.shown), settingsIn(plainAfter, other.shown)];
  if (settings && others) {
    const lines = differing(settings, others, one.shown, other.shown);
    return resultOf(lines.length === 0 ? `all settings of ${one.shown} and ${other.shown} have the same values` : lines.join("\n"), { ...details, differences: lines.length }, context);
  }
  const rows = tableDifferences({ shown: one.shown, text: plainBefore }, { shown: other.shown, text: plainAfter });
  if (rows && rows.length > 0) return resultOf(rows.join("\n"), { ...details, differences: rows.length, ...totalsOf([one, plainBefore], [other, plainAfter]) }, context);
  const patch = createTwoFilesPatch(one.shown, other.shown, plainBefore, plainAfter, undefined, undefined, { context: 0, maxEditLength: editsMax });
  if (patch === undefined) return resultOf(`${one.shown} and ${other.shown} differ in more than ${editsMax} lines`, details, context);
  const { count, text } = lineDifferences(patch.split("\n").slice(3), one.shown, other.shown);
  return resultOf(text.join("\n"), { ...details, differences: count, ...totalsOf([one, plainBefore], [other, plainAfter]) }, context);
}

const totalWord = /\b(?:total|sum|cheap\w*|expensive|costs?|more|most|less|least|altogether|in all|by how much)\b/i;

/** Of two lists with amounts what they add up to, which a small model gets wrong; nothing of other texts. */
function totalsOf(...files: readonly (readonly [Place, string])[]): { totals?: string } {
  const totals = files.flatMap(([{ shown }, text]) => {
    try {
      const [table] = readTables(text, shown);
      const column = table?.isLines ? "number" : table?.columns.at(-1);
      const total = table && compute(table, { operation: "sum", column }).total;
      return total === undefined ? [] : [`${total} in ${shown}`];
    } catch (error) {
      if (error instanceof ToolError) return [];
      throw error;
    }
  });
  return totals.length === files.length ? { totals: `the sum of the amounts: ${totals.join(", ")}` } : {};
}

/** One setting a line. */
function differing(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>, shown: string, otherShown: string): string[] {
  const changed = [...one].flatMap(([key, value]) => (other.has(key) && other.get(key) !== value ? [`${key} differs: ${value} in ${shown}, ${other.get(key)} in ${otherShown}`] : []));
  const onlyIn = (some: ReadonlyMap<string, string>, others: ReadonlyMap<string, string>, name: string): string[] => [...some].flatMap(([key, value]) => (others.has(key) ? [] : [`${key} is only in ${name}: ${value}`]));
  return [...changed, ...onlyIn(one, other, shown), ...onlyIn(other, one, otherShown)];
}

function resultOf(text: string, details: Record<string, unknown>, context: ToolContext): ToolResult {
  const { text: shown, truncation } = clipHead(text, context);
  return { content: [{ type: "text", text: shown.replace(/\n$/, "") + (truncation ? `\n[${truncation.totalLines - truncation.outputLines} more lines differ]` : "") }], details: { ...details, ...(truncation ? { truncation } : {}) } };
}

/** What it takes to find them grows with the square. */
const editsMax = 1000;
