// fs.set and fs.unset: give one setting of a configuration file a value, or take it out. Everything else in the file stays byte
// for byte.
import { z } from "zod";
import { ToolError } from "../core/error.ts";
import type { Tool } from "../core/tool.ts";
import { changesFile, type FileChange } from "./change-file.ts";
import { excerpt } from "./file-edit.ts";
import type { Place } from "./path.ts";
import { setInJson, unsetInJson } from "./settings/json.ts";
import { settingsEndings } from "./settings/read.ts";
import { type LinesFormat, setInLines, unsetInLines } from "./settings/lines.ts";
import type { ToolOptions } from "./tool-options.ts";

export const FsSetArguments = z.strictObject({
  path: z.string().meta({ existing: "file", seen: true, endings: settingsEndings }),
  key: z.string().min(1).meta({ asked: true }).describe("with the section before it: server.port"),
  value: z.string().describe("the new value"),
});
type FsSetArguments = z.infer<typeof FsSetArguments>;

export const FsUnsetArguments = z.strictObject({
  path: z.string().meta({ existing: "file", seen: true, endings: settingsEndings }),
  key: z.string().min(1).meta({ existing: "setting", asked: true }).describe("with the section before it: server.port"),
});
type FsUnsetArguments = z.infer<typeof FsUnsetArguments>;

export function fsSet(options: ToolOptions): Tool<typeof FsSetArguments> {
  return {
    name: "fs.set",
    description: "Give a setting of a JSON, INI or TOML file a value, or add it; key is like server.port.",
    schema: FsSetArguments,
    serves: ["set", "edit", "append", "insert", "create"],
    isSpecial: true,
    identity: ["path", "key"],
    doubt: ({ key, path, value }) => (value.trim() === "" ? `nothing was set: to take ${key} out use fs.unset ${JSON.stringify({ path, key })}; for an empty value write the same again` : undefined),
    ...changesFile<FsSetArguments>("fs.set", options, changed),
  };
}

export function fsUnset(options: ToolOptions): Tool<typeof FsUnsetArguments> {
  return {
    name: "fs.unset",
    description: "Take a setting out of a JSON, INI or TOML file.",
    schema: FsUnsetArguments,
    serves: ["set", "cut", "delete"],
    isSpecial: true,
    ...changesFile<FsUnsetArguments>("fs.unset", options, unset),
  };
}

function changed(before: Buffer, { key, value }: FsSetArguments, place: Place): FileChange {
  const bytes = inFormat(before, place, "set to this", key, (text) => setInJson(text, key, value), (text, format) => setInLines(text, key, value, format));
  return { bytes, done: `set ${key}`, shown: (firstLine) => excerpt(bytes, firstLine, value) };
}

function unset(before: Buffer, { key }: FsUnsetArguments, place: Place): FileChange {
  const bytes = inFormat(before, place, "taken out", key, (text) => unsetInJson(text, key), (text, format) => unsetInLines(text, key, format));
  return { bytes, done: `took ${key} out`, shown: (firstLine) => excerpt(bytes, firstLine, "") };
}

/** The new content, by the file's format. @param verb what can't be done in one line of TOML */
function inFormat(before: Buffer, place: Place, verb: string, key: string, inJson: (text: string) => string, inLines: (text: string, format: LinesFormat) => string): Buffer {
  const name = place.shown.replace(/"$/, "").toLowerCase();
  const ending = settingsEndings.find((known) => name.endsWith(known));
  if (ending === undefined) throw new ToolError(`${place.shown} is none of ${settingsEndings.join(", ")}; change it with fs.edit`);
  const text = before.toString("utf8");
  if (!Buffer.from(text, "utf8").equals(before)) throw new ToolError(`${place.shown} is no UTF-8 text; change it with fs.edit`);
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const after = ending.startsWith(".json") ? inJson(text) : inLines(text, { lineEnd, isToml: ending === ".toml", isFlat: ending === ".env" || ending === ".properties" });
  if (ending === ".toml" && isToml(text) && !isToml(after)) throw new ToolError(`${key} can't be ${verb} in one line of TOML; change ${place.shown} with fs.edit`);
  return Buffer.from(after, "utf8");
}

function isToml(text: string): boolean {
  try {
    Bun.TOML.parse(text);
    return true;
  } catch {
    return false;
  }
}
