// Replaces text in the bytes of a file without touching any other byte: BOM, line ends, final newline and bytes of an
// unknown encoding stay. Text is looked up with its line ends taken as LF; the new text gets those of where it goes.

export interface Edit {
  bytes: Buffer;
  /** Lines on which the replaced places begin, from 1. */
  lines: number[];
  /** How many of them began with a capital that the text to be replaced does not have; absent = none. */
  capitals?: number;
}

/**
 * Which of the places where a text occurs are meant: every one; the only one where it does not stand inside a longer word,
 * else every one; all of those, else every one.
 */
export type Scope = "all" | "one" | "words";

/** The places that `oldText` names, as lines from 1, without changing anything. */
export function linesOf(content: Buffer, oldText: string, scope: Scope): number[] {
  const text = plainText(content);
  return lineNumbers(text.bytes, named(text.bytes, withLf(oldText), scope));
}

/** `content` with the places that `oldText` names replaced. Whole lines that are replaced by nothing go with their line end. */
export function replaceText(content: Buffer, oldText: string, newText: string, scope: Scope): Edit {
  const text = plainText(content);
  const wanted = withLf(oldText);
  return replaceAt(content, text, new Map(named(text.bytes, wanted, scope).map((start) => [start, newText])), wanted.length);
}

/**
 * The same for a word in small letters, and for the same word where it begins with a capital: the new one does so there too.
 * @returns undefined when one of the texts is no such word, or when there is none with a capital
 */
export function replaceWithCapitals(content: Buffer, oldText: string, newText: string): Edit | undefined {
  const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
  const [plain, capitals] = [withLf(oldText), withLf(capital(oldText))];
  if (oldText === newText || ![oldText, newText].every((word) => /^\p{Ll}[\p{Ll} -]*$/u.test(word)) || plain.length !== capitals.length) return undefined;
  const text = plainText(content);
  const begun = alone(text.bytes, capitals);
  const places = [...named(text.bytes, plain, "words").map((start) => [start, newText] as const), ...begun.map((start) => [start, capital(newText)] as const)];
  return begun.length === 0 ? undefined : { ...replaceAt(content, text, new Map(places.toSorted(([a], [b]) => a - b)), plain.length), capitals: begun.length };
}

/** @param places by where they begin, ascending, what takes the place of the `length` bytes there */
function replaceAt(content: Buffer, text: PlainText, places: ReadonlyMap<number, string>, length: number): Edit {
  const parts: Buffer[] = [];
  let copied = 0;
  for (const [start, newText] of places) {
    const from = text.original(start);
    const end = start + length;
    const to = text.original(newText === "" && isWholeLines(text.bytes, start, end) ? end + 1 : end);
    parts.push(content.subarray(copied, from), lineEndAt(content, from, to) ? withCrlf(newText) : withLf(newText));
    copied = to;
  }
  parts.push(content.subarray(copied));
  return { bytes: Buffer.concat(parts), lines: lineNumbers(text.bytes, [...places.keys()]) };
}

/** Without the line end of the last one, which exists. */
function isWholeLines(bytes: Buffer, start: number, end: number): boolean {
  return (start === 0 || bytes[start - 1] === lf) && bytes[end - 1] !== lf && bytes[end] === lf;
}

const cr = 0x0d;
const lf = 0x0a;

interface PlainText {
  /** Without BOM and without the CR of each CRLF. */
  bytes: Buffer;
  /** Where a position of `bytes` is in the file. */
  original(position: number): number;
}

function plainText(content: Buffer): PlainText {
  const bom = content[0] === 0xef && content[1] === 0xbb && content[2] === 0xbf ? 3 : 0;
  const body = content.subarray(bom);
  /** Positions in the result before which a CR was left out, ascending. */
  const left: number[] = [];
  const parts: Buffer[] = [];
  let copied = 0;
  for (let at = body.indexOf("\r\n"); at >= 0; at = body.indexOf("\r\n", at + 2)) {
    parts.push(body.subarray(copied, at));
    left.push(at - left.length);
    copied = at + 1;
  }
  parts.push(body.subarray(copied));
  return { bytes: left.length === 0 ? body : Buffer.concat(parts), original: (position) => bom + position + countBelow(left, position) };
}

function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** `TIMEOUT = 3` does not name a place in `RETRY_TIMEOUT = 30` when it also stands by itself, once. */
function named(bytes: Buffer, wanted: Buffer, scope: Scope): number[] {
  const starts = occurrences(bytes, wanted);
  if (scope === "all" || starts.length < 2) return starts;
  const words = alone(bytes, wanted);
  return words.length === 1 || (scope === "words" && words.length > 0) ? words : starts;
}

/** Whether a text stands somewhere as a word of its own. */
export function standsAlone(content: Buffer, text: string): boolean {
  return alone(plainText(content).bytes, withLf(text)).length > 0;
}

/** Where it does not stand inside a longer word. */
function alone(bytes: Buffer, wanted: Buffer): number[] {
  return occurrences(bytes, wanted).filter((start) => !joins(bytes, start) && !joins(bytes, start + wanted.length));
}

/** Whether a word goes on across this position. */
function joins(bytes: Buffer, at: number): boolean {
  return isWordByte(bytes[at - 1]) && isWordByte(bytes[at]);
}

/** Letters, digits, `_`, and every byte of a character beyond ASCII. */
function isWordByte(byte: number | undefined): boolean {
  return byte !== undefined && (byte >= 0x80 || byte === 0x5f || (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a));
}

function occurrences(bytes: Buffer, wanted: Buffer): number[] {
  const starts: number[] = [];
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + wanted.length)) starts.push(at);
  return starts;
}

/** True where the stretch has CRLF line ends; without any, the nearest line end before or after it decides. */
function lineEndAt(content: Buffer, from: number, to: number): boolean {
  const inside = content.subarray(from, to).indexOf(lf);
  const at = inside >= 0 ? from + inside : content.indexOf(lf, to) >= 0 ? content.indexOf(lf, to) : content.lastIndexOf(lf, from);
  return at > 0 && content[at - 1] === cr;
}

function lineNumbers(bytes: Buffer, starts: readonly number[]): number[] {
  let line = 1;
  let counted = 0;
  return starts.map((start) => {
    for (let at = bytes.indexOf(lf, counted); at >= 0 && at < start; at = bytes.indexOf(lf, at + 1)) line++;
    counted = start;
    return line;
  });
}

function withLf(text: string): Buffer {
  return Buffer.from(text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n"), "utf8");
}

function withCrlf(text: string): Buffer {
  return Buffer.from(text.replace(/^\uFEFF/, "").replace(/\r?\n/g, "\r\n"), "utf8");
}
