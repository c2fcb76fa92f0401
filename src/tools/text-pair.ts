// What tools that replace one text in a file by another have in common: which places are meant, and what becomes of them.
import { ToolError } from "../core/error.ts";
import { refuseBroken } from "./change-notice.ts";
import { absentFailure } from "./file-edit.ts";
import type { Place } from "./path.ts";
import { type Edit, linesOf, replaceText, replaceWithCapitals, type Scope } from "./text-edit.ts";

export interface TextPair {
  oldText: string;
  newText: string;
}

/** A word may begin a sentence there; in code another capital is another name. */
function isProse({ shown }: Place): boolean {
  return /\.(?:txt|md|markdown|rst|adoc|tex)"?$/i.test(shown);
}

const lineNumbersMax = 20;

/** Lines at the end of the new text that stand right behind the old one: a small model that changes a line writes on what it saw. */
function repeatedLines(before: Buffer, oldText: string, newText: string): string[] {
  const text = before.toString("utf8").replaceAll("\r\n", "\n");
  const [old, now] = [oldText, newText].map((one) => one.replaceAll("\r\n", "\n").replace(/\n$/, "")) as [string, string];
  const start = text.indexOf(old);
  const end = start + old.length;
  if (start < 0 || text.includes(old, start + 1) || text[end] !== "\n") return [];
  const following = text.slice(end + 1).split("\n");
  const written = now.split("\n").slice(old.split("\n").length);
  for (let count = written.length; count > 0; count -= 1) {
    const last = written.slice(-count);
    if (last.join("").trim().length >= repeatedCharsMin && last.every((line, index) => line === following[index])) return last;
  }
  return [];
}

/** Shorter stretches, such as closing brackets, may be meant twice. */
const repeatedCharsMin = 8;

/** @throws ToolError when the places are not clear, or when the file would be broken or stay as it is */
export function editOf(place: Place, before: Buffer, { newText, oldText }: TextPair, scope: Scope): Edit {
  const prose = scope === "words" && isProse(place) ? replaceWithCapitals(before, oldText, newText) : undefined;
  if (prose) return prose;
  const lines = linesOf(before, oldText, scope);
  if (lines.length === 0) throw absentFailure(place, before, oldText);
  if (lines.length > 1 && scope === "one") {
    const distinct = [...new Set(lines)];
    const some = distinct.slice(0, lineNumbersMax).join(", ") + (distinct.length > lineNumbersMax ? ", …" : "");
    throw new ToolError(`oldText is in ${place.shown} ${lines.length} times, on lines ${some}; put the line above the one that is meant into oldText too, or replace them all with fs.replace. Nothing was changed.`);
  }
  const repeated = scope === "one" ? repeatedLines(before, oldText, newText) : [];
  if (repeated.length > 0) throw new ToolError(`newText ends with what follows oldText in ${place.shown} already, and it would be there twice:\n${repeated.join("\n")}\nPut these lines into oldText too, or leave them out of newText. Nothing was changed.`);
  const edit = replaceText(before, oldText, newText, scope);
  refuseBroken(place, before, edit.bytes);
  if (edit.bytes.equals(before)) throw new ToolError(`newText is the same as oldText (line ends are kept as they are); ${place.shown} was not changed`, { details: { unchanged: true } });
  return edit;
}
