// The lines of a file that an edit may quote, for a grammar that lets a model quote only what is there.
import { closeSync, fstatSync, readFileSync } from "node:fs";
import { kindOf } from "./file-kind.ts";
import { openForReading } from "./open.ts";
import { locate } from "./path.ts";

const linesMax = 300;
const bytesMax = 32 * 1024;

/** Its lines that are not blank, without their line ends; undefined when it is no small text file. */
export async function fileLines(workspace: string, home: string, path: string): Promise<string[] | undefined> {
  try {
    const { descriptor } = openForReading(locate(path, workspace, home));
    try {
      if (fstatSync(descriptor).size > bytesMax) return undefined;
      const bytes = readFileSync(descriptor);
      if (kindOf(bytes).kind !== "text") return undefined;
      const lines = new TextDecoder().decode(bytes).split(/\r?\n/).filter((line) => line.trim() !== "");
      return lines.length === 0 || lines.length > linesMax || lines.some((line) => line.includes("\uFFFD")) ? undefined : [...new Set(lines)];
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // What is wrong with the file is said by the tool that is used on it.
    return undefined;
  }
}
