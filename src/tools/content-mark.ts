// Tells one content of a file from another, so that an answer about a call counts only while the files that it is about
// stay as they were.
import { closeSync, readSync } from "node:fs";
import type { Binding } from "../core/approval.ts";
import { ToolError } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import { openForReading } from "./open.ts";
import type { Place } from "./path.ts";

/** What an answer about a call on these places is bound to. */
export function bindingOf(places: readonly Place[], cwd: string): Binding {
  return { cwd, files: places.map((place) => ({ path: place.absolute, content: contentMark(place) })) };
}

/** SHA-256 (hex) of a file's content; of a very large one its size and times; else what is there instead. */
export function contentMark(place: Place): string {
  const { stats } = place;
  if (!stats) return "nothing";
  if (!stats.isFile()) return stats.isDirectory() ? "folder" : "special";
  if (stats.size > limits.editFileBytesMax) return `${stats.size} bytes, changed ${stats.mtimeMs}, ${stats.ctimeMs}, file ${stats.ino}`;
  try {
    return hashOf(place);
  } catch (error) {
    if (error instanceof ToolError) return "not readable";
    throw error;
  }
}

const chunkBytes = 1024 * 1024;

function hashOf(place: Place): string {
  const { descriptor } = openForReading(place);
  const hash = new Bun.CryptoHasher("sha256");
  const chunk = Buffer.alloc(Math.min(chunkBytes, Math.max(1, place.stats?.size ?? 1)));
  try {
    for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) hash.update(chunk.subarray(0, read));
  } finally {
    closeSync(descriptor);
  }
  return hash.digest("hex");
}
