// fs.append: adds lines to the end of a file, or makes it. What was there stays byte for byte; the new text begins on a line
// of its own and takes the line ends of the file. What is added to JSON goes into its list.
import { closeSync, readSync } from "node:fs";
import { z } from "zod";
import type { Tool, ToolResult } from "../core/tool.ts";
import { changeNotice, refuseOddRow } from "./change-notice.ts";
import { bindingOf } from "./content-mark.ts";
import { contentOf, excerpt, firstChangedLine, lastLines } from "./file-edit.ts";
import { checkJudged, openForReading, rememberJudged } from "./open.ts";
import { locate, type Place, writeNeeds } from "./path.ts";
import { appendToFile, saveFile } from "./save.ts";
import { addToJson } from "./settings/json-list.ts";
import type { ToolOptions } from "./tool-options.ts";

export const FsAppendArguments = z.strictObject({
  path: z.string().meta({ existing: "file", seen: true, makes: "file", shows: false }),
  text: z.string().min(1).describe("the new lines"),
});

export function fsAppend(options: ToolOptions): Tool<typeof FsAppendArguments> {
  return {
    name: "fs.append",
    description: "Add lines at the end of a file.",
    schema: FsAppendArguments,
    serves: ["append"],
    class: "write",
    mustKnow: ({ path }) => path,
    async needs(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      rememberJudged(args, [place.real]);
      return writeNeeds(place, context, options, `append ${Buffer.byteLength(args.text, "utf8")} bytes to ${place.absolute}`, args.text.slice(0, previewCharsMax));
    },
    binding: async (args, context) => bindingOf([locate(args.path, context.workspace, options.home)], context.workspace),
    async run(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      checkJudged(args, [place.real]);
      const json = place.stats && /\.jsonc?"?$/i.test(place.shown) ? addedToJson(place, args.text) : undefined;
      if (json) return json;
      const before = place.stats ? endOf(place) : Buffer.alloc(0);
      const bytes = addition(before, args.text);
      if (before.length > 0 && before.length < endBytesMax) refuseOddRow(place, before, Buffer.concat([before, bytes]));
      const created = appendToFile(place, bytes);
      return {
        content: [{ type: "text", text: `${created ? "wrote" : "appended to"} ${place.shown}; it now ends:\n${lastLines(Buffer.concat([before, bytes]))}${before.length > 0 && before.length < endBytesMax ? changeNotice(place, before, Buffer.concat([before, bytes])) : ""}` }],
        details: { path: place.absolute, bytes: bytes.length, created },
      };
    },
  };
}

const previewCharsMax = 400;

/** undefined for what can't be read as JSON. */
function addedToJson(place: Place, text: string): ToolResult | undefined {
  const before = contentOf(place, "fs.append");
  const after = addToJson(before.toString("utf8"), text, place.shown);
  if (after === undefined || !Buffer.from(before.toString("utf8"), "utf8").equals(before)) return undefined;
  const bytes = Buffer.from(after, "utf8");
  saveFile(place, bytes);
  return { content: [{ type: "text", text: `added to ${place.shown}; it now reads:\n${excerpt(bytes, firstChangedLine(before, bytes), text)}` }], details: { path: place.absolute, bytes: bytes.length - before.length, created: false } };
}

const endBytesMax = 4096;

function endOf(place: Place): Buffer {
  const { descriptor, stats } = openForReading(place);
  try {
    const end = Buffer.alloc(Math.min(stats.size, endBytesMax));
    return end.subarray(0, readSync(descriptor, end, 0, end.length, stats.size - end.length));
  } finally {
    closeSync(descriptor);
  }
}

/** A file that ended without a line end ends without one again. */
function addition(before: Buffer, text: string): Buffer {
  const lineEnd = before.includes("\r\n") ? "\r\n" : "\n";
  const endsOpen = before.length > 0 && before.at(-1) !== 0x0a;
  // A line end that begins the text is the one that the file lacks.
  const added = endsOpen ? text.replace(/^\r?\n(?=.)/s, "") : text;
  const lines = added.replace(/\r?\n$/, "").replace(/\r?\n/g, lineEnd);
  return Buffer.from(`${endsOpen ? lineEnd : ""}${lines}${endsOpen ? "" : lineEnd}`, "utf8");
}
