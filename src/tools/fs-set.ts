// fs.set: gives one setting of a configuration file a value. Everything else in the file stays byte for byte.
import { z } from "zod";
import { ToolError } from "../core/error.ts";
import type { Tool } from "../core/tool.ts";
import { changesFile, type FileChange } from "./change-file.ts";
import { excerpt } from "./file-edit.ts";
import type { Place } from "./path.ts";
import { setInJson } from "./settings/json.ts";
import { setInLines } from "./settings/lines.ts";
import type { ToolOptions } from "./tool-options.ts";

/** What the end of a name says of a file's format. */
export const settingsEndings = [".json", ".jsonc", ".ini", ".cfg", ".conf", ".toml", ".env", ".properties"] as const;

export const FsSetArguments = z.strictObject({
  path: z.string().meta({ existing: "file", seen: true, endings: settingsEndings }),
  key: z.string().min(1).describe("with the section before it: server.port"),
  value: z.string().describe("the new value"),
});
type FsSetArguments = z.infer<typeof FsSetArguments>;

export function fsSet(options: ToolOptions): Tool<typeof FsSetArguments> {
  return {
    name: "fs.set",
    description: "Give a setting of a JSON, INI or TOML file a value, or add it; key is like server.port.",
    schema: FsSetArguments,
    serves: ["set", "edit", "append", "insert", "create"],
    isSpecial: true,
    identity: ["path", "key"],
    ...changesFile<FsSetArguments>("fs.set", options, changed),
  };
}

function changed(before: Buffer, { key, value }: FsSetArguments, place: Place): FileChange {
  const name = place.shown.replace(/"$/, "").toLowerCase();
  const ending = settingsEndings.find((known) => name.endsWith(known));
  if (ending === undefined) throw new ToolError(`fs.set changes ${settingsEndings.join(", ")} files; change ${place.shown} with fs.edit`);
  const text = before.toString("utf8");
  if (!Buffer.from(text, "utf8").equals(before)) throw new ToolError(`${place.shown} is no UTF-8 text; change it with fs.edit`);
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const after = ending.startsWith(".json") ? setInJson(text, key, value, lineEnd) : setInLines(text, key, value, { lineEnd, isToml: ending === ".toml", isFlat: ending === ".env" || ending === ".properties" });
  if (ending === ".toml" && isToml(text) && !isToml(after)) throw new ToolError(`${key} can't be set to this in one line of TOML; change ${place.shown} with fs.edit`);
  const bytes = Buffer.from(after, "utf8");
  return { bytes, done: `set ${key}`, shown: (firstLine) => excerpt(bytes, firstLine, value) };
}

function isToml(text: string): boolean {
  try {
    Bun.TOML.parse(text);
    return true;
  } catch {
    return false;
  }
}
