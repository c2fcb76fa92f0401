// Writes found lines as `path:line: text`, context as `path-line- text`, within the bounds of a result.
import { limits } from "../core/limits.ts";
import type { ToolContext } from "../core/tool.ts";
import { noteBytes } from "./clip.ts";
import type { FoundLine } from "./file-search.ts";

/** Which lines of context are taken: those asked for, with `--` between stretches that do not follow each other, or those right below a match. */
export type Around = "nothing" | "lines" | "block";

export class GrepText {
  matches = 0;
  /** The limit of matches or of the result's size is reached. */
  full = false;
  linesTruncated = false;
  #lines: string[] = [];
  #bytes = 0;
  #path = "";
  #lastLine = 0;
  #bounds: Pick<ToolContext, "maxLines" | "maxBytes">;
  #matchesMax: number;
  #around: Around;

  constructor(bounds: Pick<ToolContext, "maxLines" | "maxBytes">, matchesMax: number, around: Around) {
    this.#bounds = bounds;
    this.#matchesMax = matchesMax;
    this.#around = around;
  }

  beginFile(path: string): void {
    this.#path = path;
    this.#lastLine = -1;
  }

  /** @returns false when nothing more can be taken. */
  add(found: FoundLine): boolean {
    if (found.hit && this.matches === this.#matchesMax) this.full = true;
    if (this.full) return false;
    const follows = found.line === this.#lastLine + 1;
    if (this.#around === "block" && !found.hit && (!follows || found.text.trim() === "")) return true;
    const sign = found.hit ? ":" : "-";
    const gap = this.#around === "lines" && this.#lines.length > 0 && !follows;
    const written = [...(gap ? ["--"] : []), `${this.#path}${sign}${found.line}${sign} ${this.#shorten(found)}`];
    const bytes = written.reduce((sum, line) => sum + Buffer.byteLength(line, "utf8") + 1, 0);
    if (this.#lines.length + written.length > this.#bounds.maxLines || this.#bytes + bytes > this.#bounds.maxBytes - noteBytes) {
      this.full = true;
      return false;
    }
    this.#lines.push(...written);
    this.#bytes += bytes;
    this.#lastLine = found.line;
    if (found.hit) this.matches++;
    return true;
  }

  joined(): string {
    return this.#lines.join("\n");
  }

  /** Of a long line the part around the hit, with the byte where the hit begins. */
  #shorten(found: FoundLine): string {
    const { text, hit } = found;
    const max = limits.grepLineCharsMax;
    if (text.length <= max && found.pieceStart === undefined) return text;
    this.linesTruncated = true;
    const middle = hit ? hit.index + Math.min(hit.length, max) / 2 : 0;
    const start = outsidePair(text, Math.max(0, Math.min(Math.floor(middle - max / 2), text.length - max)));
    const end = outsidePair(text, Math.min(text.length, start + max));
    const head = start > 0 || found.pieceStart !== undefined ? "…" : "";
    const place = found.hitByte === undefined ? "" : `[byte ${found.hitByte}] `;
    return `${place}${head}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
  }
}

/** Moves a cut out of the middle of a surrogate pair. */
function outsidePair(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return at > 0 && code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}
