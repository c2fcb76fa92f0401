// Bounds the text of a result (json-mode.md T1–T3): file tools keep the head, commands keep the tail; cuts fall on line
// ends, else on character borders, and what was cut is counted.

export interface Bounds {
  maxLines: number;
  maxBytes: number;
}

/** Key order is that of json-mode.md T3. */
export interface Truncation {
  truncated: true;
  truncatedBy: "lines" | "bytes";
  totalLines: number;
  totalBytes: number;
  outputLines: number;
  outputBytes: number;
  lastLinePartial?: true;
  maxLines: number;
  maxBytes: number;
}

export interface Totals {
  lines: number;
  bytes: number;
}

export interface Clipped {
  text: string;
  truncation?: Truncation;
}

/** Kept free of `maxBytes` for the note that says what was cut. */
export const noteBytes = 400;

/** The first lines that fit. `totals` counts the whole, where `text` is only the beginning of it. */
export function clipHead(text: string, bounds: Bounds, totals: Totals = totalsOf(text)): Clipped {
  const bytes = Buffer.from(text, "utf8");
  const room = Math.max(1, bounds.maxBytes - noteBytes);
  const lineEnd = endOfLines(bytes, bounds.maxLines);
  if (lineEnd === bytes.length && bytes.length <= room && totals.bytes <= bytes.length) return { text };
  const byLines = lineEnd <= room;
  const end = byLines ? lineEnd : bytes.subarray(0, room).lastIndexOf(0x0a) + 1;
  const partial = end === 0;
  const kept = bytes.subarray(0, partial ? characterStart(bytes, room) : end);
  return { text: kept.toString("utf8"), truncation: truncation(byLines ? "lines" : "bytes", kept, partial, totals, bounds) };
}

/** The last lines that fit. `totals` counts the whole, where `text` is only the end of it. */
export function clipTail(text: string, bounds: Bounds, totals: Totals = totalsOf(text)): Clipped {
  const bytes = Buffer.from(text, "utf8");
  const room = Math.max(1, bounds.maxBytes - noteBytes);
  const lineStart = startOfLines(bytes, bounds.maxLines);
  if (lineStart === 0 && bytes.length <= room && totals.bytes <= bytes.length) return { text };
  const fits = bytes.length - lineStart <= room;
  const byLines = fits && lineStart > 0;
  const byteStart = characterEnd(bytes, Math.max(0, bytes.length - room));
  const nextLine = bytes.indexOf(0x0a, Math.max(0, byteStart - 1)) + 1;
  const partial = !fits && (nextLine === 0 || nextLine === bytes.length);
  const kept = bytes.subarray(fits ? lineStart : partial ? byteStart : nextLine);
  return { text: kept.toString("utf8"), truncation: truncation(byLines ? "lines" : "bytes", kept, partial, totals, bounds) };
}

/** Lines and UTF-8 bytes; an unfinished last line counts as one. */
export function totalsOf(text: string): Totals {
  return { lines: linesIn(Buffer.from(text, "utf8")), bytes: Buffer.byteLength(text, "utf8") };
}

export function linesIn(bytes: Uint8Array): number {
  let lines = bytes.length > 0 && bytes[bytes.length - 1] !== 0x0a ? 1 : 0;
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) lines++;
  return lines;
}

/** `1234567` as `1.2 MB`; exact below 10 kB. */
export function sizeText(bytes: number): string {
  if (bytes < 10_000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  const units = ["kB", "MB", "GB", "TB"];
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(1)} ${units[power - 1]}`;
}

function truncation(by: "lines" | "bytes", kept: Uint8Array, partial: boolean, totals: Totals, bounds: Bounds): Truncation {
  return {
    truncated: true,
    truncatedBy: by,
    totalLines: totals.lines,
    totalBytes: totals.bytes,
    outputLines: linesIn(kept),
    outputBytes: kept.length,
    ...(partial ? { lastLinePartial: true as const } : {}),
    maxLines: bounds.maxLines,
    maxBytes: bounds.maxBytes,
  };
}

function endOfLines(bytes: Buffer, lines: number): number {
  let end = 0;
  for (let count = 0; count < lines; count++) {
    const next = bytes.indexOf(0x0a, end);
    if (next < 0) return bytes.length;
    end = next + 1;
  }
  return end;
}

function startOfLines(bytes: Buffer, lines: number): number {
  let start = bytes.length;
  for (let count = 0; count < lines; count++) {
    if (start <= 1) return 0;
    start = bytes.lastIndexOf(0x0a, start - 2) + 1;
    if (start === 0) return 0;
  }
  return start;
}

/** The start of the character that byte `at` belongs to. */
export function characterStart(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && start > at - 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}

function characterEnd(bytes: Uint8Array, at: number): number {
  let end = at;
  while (end < bytes.length && end < at + 4 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end++;
  return end;
}
