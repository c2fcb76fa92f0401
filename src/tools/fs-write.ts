// fs.write: makes a file, replaces its content, or adds to its end.
import { z } from "zod";
import type { Tool } from "../core/tool.ts";
import { changeNotice, lossNotice, refuseBroken } from "./change-notice.ts";
import { bindingOf } from "./content-mark.ts";
import { contentOf } from "./file-edit.ts";
import { checkJudged, rememberJudged } from "./open.ts";
import { locate, type Place, writeNeeds } from "./path.ts";
import { appendToFile, saveFile } from "./save.ts";
import type { ToolOptions } from "./tool-options.ts";

export const FsWriteArguments = z.strictObject({
  path: z.string().meta({ makes: "file" }),
  content: z.string().describe("the whole text"),
  mode: z.enum(["replace", "append"]).default("replace").meta({ advanced: true }),
});

export function fsWrite(options: ToolOptions): Tool<typeof FsWriteArguments> {
  return {
    name: "fs.write",
    description: "Write a whole file.",
    schema: FsWriteArguments,
    serves: ["create"],
    class: "write",
    mustKnow: ({ path }) => path,
    rewrites: ({ content, mode, path }) => (mode === "replace" ? { path, content } : undefined),
    async needs(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      rememberJudged(args, [place.real]);
      const reason = `${args.mode} ${Buffer.byteLength(args.content, "utf8")} bytes into ${place.absolute}`;
      return writeNeeds(place, context, options, reason, args.content.slice(0, previewCharsMax));
    },
    binding: async (args, context) => bindingOf([locate(args.path, context.workspace, options.home)], context.workspace),
    async run(args, context) {
      const place = locate(args.path, context.workspace, options.home);
      checkJudged(args, [place.real]);
      const bytes = Buffer.from(args.content, "utf8");
      const before = args.mode === "replace" ? oldContent(place) : undefined;
      if (before) refuseBroken(place, before, bytes);
      const created = args.mode === "append" ? appendToFile(place, bytes) : saveFile(place, bytes);
      const done = args.mode === "append" && !created ? "appended" : "wrote";
      return {
        content: [{ type: "text", text: `${done} ${bytes.length} ${bytes.length === 1 ? "byte" : "bytes"} to ${place.shown}${args.mode === "replace" ? lossNotice(place, before, bytes) + changeNotice(place, before, bytes) : ""}` }],
        details: { path: place.absolute, bytes: bytes.length, created },
      };
    },
  };
}

const previewCharsMax = 400;

/** For comparison alone: undefined when there is no text that can be read, which is no reason not to write. */
function oldContent(place: Place): Buffer | undefined {
  try {
    return place.stats ? contentOf(place, "fs.write") : undefined;
  } catch {
    return undefined;
  }
}
