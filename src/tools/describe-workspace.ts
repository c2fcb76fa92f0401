// What a model is told of the workspace before it looks: the names at its top, few enough to read.
import { readdir } from "node:fs/promises";
import { rawPath, showPath } from "./path-text.ts";

const namesMax = 40;

/** One line such as `Files here: a.txt, src/`; "" when the folder can't be read. */
export async function describeWorkspace(workspace: string): Promise<string> {
  try {
    const entries = await readdir(workspace, { withFileTypes: true, encoding: "buffer" });
    const shown = entries
      .filter((entry) => entry.name[0] !== 0x2e)
      .map((entry) => `${showPath(rawPath(entry.name))}${entry.isDirectory() ? "/" : ""}`)
      .toSorted();
    if (shown.length === 0) return "The folder is empty.";
    const more = shown.length > namesMax ? `, and ${shown.length - namesMax} more (fs.list shows them)` : "";
    return `Files here: ${shown.slice(0, namesMax).join(", ")}${more}`;
  } catch {
    // The tools will say what is wrong with the folder when they are used.
    return "";
  }
}
