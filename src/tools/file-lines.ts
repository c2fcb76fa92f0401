// The lines of a file that an edit may quote, and the columns of its tables, for a grammar that lets a model name only what is there.
import { closeSync, fstatSync, readFileSync } from "node:fs";
import { kindOf } from "./file-kind.ts";
import { openForReading } from "./open.ts";
import { locate } from "./path.ts";
import { settingsEndings, settingsIn } from "./settings/read.ts";
import { readTables } from "./table/read-tables.ts";

const linesMax = 300;
export const smallFileBytesMax = 32 * 1024;
/** Of a file that may be quoted piece by piece: such a grammar has about two rules a byte. */
const quotedBytesMax = 3000;

/** Its lines that are not blank, without their line ends; undefined when it is no small text file. */
export async function fileLines(workspace: string, home: string, path: string): Promise<string[] | undefined> {
  const lines = smallText(workspace, home, path, smallFileBytesMax)?.split("\n").filter((line) => line.trim() !== "");
  return lines === undefined || lines.length === 0 || lines.length > linesMax ? undefined : [...new Set(lines)];
}

/** The whole of it, with LF line ends; undefined when it is empty or no text file of so many bytes. */
export async function fileText(workspace: string, home: string, path: string, most = quotedBytesMax): Promise<string | undefined> {
  return smallText(workspace, home, path, most) || undefined;
}

/** The whole of it as it is, with its line ends and byte order mark; undefined when it is no small text file in UTF-8. */
export async function exactText(workspace: string, home: string, path: string): Promise<string | undefined> {
  const bytes = smallBytes(workspace, home, path, smallFileBytesMax);
  const text = bytes?.toString("utf8");
  return text === undefined || !Buffer.from(text, "utf8").equals(bytes ?? Buffer.alloc(0)) ? undefined : text;
}

/** The columns of the tables in it, each once; undefined when it is no small text file. */
export async function fileColumns(workspace: string, home: string, path: string): Promise<string[] | undefined> {
  const text = smallText(workspace, home, path, smallFileBytesMax);
  try {
    return text === undefined ? undefined : [...new Set(readTables(text, path).flatMap(({ columns }) => columns))];
  } catch {
    // It holds no table.
    return [];
  }
}

/** The keys of a configuration file, with those of what they lie in; none of another file, undefined when they can't be told. */
export async function fileSettings(workspace: string, home: string, path: string): Promise<string[] | undefined> {
  if (!settingsEndings.some((ending) => path.toLowerCase().endsWith(ending))) return [];
  const text = smallText(workspace, home, path, smallFileBytesMax);
  const settings = text === undefined ? undefined : settingsIn(text, path);
  if (!settings) return undefined;
  const keys = [...settings.keys()];
  const isJson = /\.jsonc?$/i.test(path);
  return [...new Set(keys.flatMap((key) => (isJson ? [...key.matchAll(/[.[]/g).map(({ index }) => key.slice(0, index)), key] : [key])))];
}

function smallText(workspace: string, home: string, path: string, most: number): string | undefined {
  const bytes = smallBytes(workspace, home, path, most);
  const text = bytes && new TextDecoder().decode(bytes).replaceAll("\r\n", "\n");
  return text?.includes("\uFFFD") ? undefined : text;
}

function smallBytes(workspace: string, home: string, path: string, most: number): Buffer | undefined {
  try {
    const { descriptor } = openForReading(locate(path, workspace, home));
    try {
      if (fstatSync(descriptor).size > most) return undefined;
      const bytes = readFileSync(descriptor);
      return kindOf(bytes).kind === "text" ? bytes : undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // What is wrong with the file is said by the tool that is used on it.
    return undefined;
  }
}
