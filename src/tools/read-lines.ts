// Reads a stretch of lines out of a file of any size in constant memory, and counts the rest.
import { closeSync } from "node:fs";
import { linesIn, type Totals } from "./clip.ts";
import { chunksOf } from "./file-chunks.ts";

export interface Stretch {
  /** The bytes of the lines asked for, at most `maxBytes` of them and never more. */
  bytes: Buffer;
  /** Of the whole file. */
  totals: Totals;
}

/**
 * @param offset the first line wanted, from 1. @param limit lines wanted. @param maxBytes where collecting stops.
 * Closes the descriptor. @throws when the signal aborts or reading fails.
 */
export async function readLines(descriptor: number, offset: number, limit: number, maxBytes: number, signal: AbortSignal): Promise<Stretch> {
  try {
    return await linesOf(descriptor, offset, limit, maxBytes, signal);
  } finally {
    closeSync(descriptor);
  }
}

async function linesOf(descriptor: number, offset: number, limit: number, maxBytes: number, signal: AbortSignal): Promise<Stretch> {
  const parts: Buffer[] = [];
  const end = offset + limit;
  let collected = 0;
  let line = 1;
  let bytes = 0;
  let last = 0x0a;
  for await (const chunk of chunksOf(descriptor, 0, signal)) {
    bytes += chunk.length;
    last = chunk[chunk.length - 1] ?? last;
    const linesBefore = line;
    if (line < end && collected < maxBytes) {
      const from = line >= offset ? 0 : afterLines(chunk, offset - line);
      const to = afterLines(chunk, end - line);
      const part = chunk.subarray(from, Math.min(to, from + maxBytes - collected));
      if (part.length > 0) parts.push(Buffer.from(part));
      collected += part.length;
    }
    line = linesBefore + lineEnds(chunk);
  }
  return { bytes: Buffer.concat(parts), totals: { lines: line - 1 + (last === 0x0a ? 0 : 1), bytes } };
}

function lineEnds(chunk: Buffer): number {
  return linesIn(chunk) - (chunk.length > 0 && chunk[chunk.length - 1] !== 0x0a ? 1 : 0);
}

/** Where the bytes after `count` line ends begin, or the chunk's length. */
function afterLines(chunk: Buffer, count: number): number {
  let at = 0;
  for (let done = 0; done < count; done++) {
    const next = chunk.indexOf(0x0a, at);
    if (next < 0) return chunk.length;
    at = next + 1;
  }
  return at;
}
