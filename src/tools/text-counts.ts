// Counts lines, words and characters of an open text file of any size in constant memory.
import { chunksOf } from "./file-chunks.ts";

export interface TextCounts {
  /** An unfinished last line counts as one. */
  lines: number;
  /** Stretches without white space. */
  words: number;
  /** Unicode characters, line ends included, a byte order mark not. */
  characters: number;
}

/** Leaves the descriptor open. @throws when the signal aborts or reading fails */
export async function countText(descriptor: number, bomBytes: number, signal: AbortSignal): Promise<TextCounts> {
  const counts = { lines: 0, words: 0, characters: 0 };
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let inWord = false;
  let last = "\n";
  const take = (text: string): void => {
    if (text === "") return;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) counts.lines += 1;
    const starts = text.match(/\S+/g)?.length ?? 0;
    counts.words += starts - (inWord && /^\S/.test(text) ? 1 : 0);
    inWord = /\S$/.test(text);
    counts.characters += text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
    last = text.at(-1) ?? last;
  };
  for await (const chunk of chunksOf(descriptor, bomBytes, signal)) take(decoder.decode(chunk, { stream: true }));
  take(decoder.decode());
  return { ...counts, lines: counts.lines + (last === "\n" ? 0 : 1) };
}
