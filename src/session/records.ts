// Takes JSON Lines apart that may be damaged: a half last line, NUL bytes, bytes that are no UTF-8. Keeps every whole record.

export interface JsonRecord {
  /** Line number, from 1. */
  number: number;
  /** The record's text, without what was damaged around it. */
  text: string;
  value: { type: string; [field: string]: unknown };
}

/** @returns the records that are objects with a `type`, and one warning a damaged line. */
export function readRecords(bytes: Uint8Array): { records: JsonRecord[]; warnings: string[] } {
  const records: JsonRecord[] = [];
  const warnings: string[] = [];
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  let number = 0;
  for (let start = hasMark ? 3 : 0; start < bytes.length; ) {
    const feed = bytes.indexOf(0x0a, start);
    const end = feed === -1 ? bytes.length : feed;
    number++;
    const { found, problem } = readLine(bytes.subarray(start, end), start, feed !== -1);
    for (const record of found) records.push({ number, ...record });
    if (problem !== undefined) warnings.push(`line ${number}${problem}`);
    start = end + 1;
  }
  return { records, warnings };
}

type Found = Omit<JsonRecord, "number">;

function readLine(line: Uint8Array, offset: number, isWhole: boolean): { found: Found[]; problem?: string } {
  const firstNul = line.indexOf(0);
  if (firstNul === -1) {
    if (isBlank(line)) return { found: [] };
    const record = readRecord(line);
    if (record !== undefined) return { found: [record] };
    return { found: [], problem: isWhole ? " is skipped: no JSON object with a type" : " is dropped: it is incomplete" };
  }
  const nulCount = line.reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0);
  const joined = readRecord(line.filter((byte) => byte !== 0));
  const found = joined === undefined ? piecesOf(line).flatMap((piece) => readRecord(piece) ?? []) : [joined];
  return { found, problem: `, byte offset ${offset + firstNul}: ${nulCount} NUL bytes are skipped; records kept from this line: ${found.length}` };
}

/** What stands between runs of NUL. */
function piecesOf(line: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let start = 0;
  for (let index = 0; index <= line.length; index++) {
    if (index < line.length && line[index] !== 0) continue;
    if (index > start) pieces.push(line.subarray(start, index));
    start = index + 1;
  }
  return pieces;
}

function readRecord(bytes: Uint8Array): Found | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).trim();
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return typeof Reflect.get(value, "type") === "string" ? { text, value: value as Found["value"] } : undefined;
  } catch {
    return undefined; // no UTF-8, no JSON: the caller says which line
  }
}

function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
