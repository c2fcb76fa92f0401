// A result of many short lines, such as names: as many as fit, and a note about the rest.
import type { ToolContext } from "../core/tool.ts";
import { noteBytes } from "./clip.ts";

export interface LineList {
  text: string;
  shown: number;
  /** False: more lines came than fit. */
  complete: boolean;
}

/** The lines that fit into the bounds of a result, each with its LF but the last. */
export function fitLines(lines: readonly string[], bounds: Pick<ToolContext, "maxLines" | "maxBytes">): LineList {
  let bytes = 0;
  let shown = 0;
  for (const line of lines) {
    bytes += Buffer.byteLength(line, "utf8") + 1;
    if (shown === bounds.maxLines || bytes > bounds.maxBytes - noteBytes) break;
    shown++;
  }
  return { text: lines.slice(0, shown).join("\n"), shown, complete: shown === lines.length };
}
