// Files named on the command line: @FILE parts of a prompt and texts of flags (json-mode.md 9.1). Read before the stream
// begins, so that every fault is a usage error with an empty stdout.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { AgentError, messageOf } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import type { ImageContent } from "../core/message.ts";
import { kindOf } from "../tools/file-kind.ts";

/** A part of the first prompt. An image has a text of its own that names it, for models that take no images too. */
export interface FilePart {
  text: string;
  image?: ImageContent;
}

/** @throws AgentError `usage` when the file is missing, a folder, too large, or neither text nor an image. */
export function readFilePart(path: string, workingDir: string): FilePart {
  const absolute = absolutePath(path, workingDir);
  const bytes = readBounded(absolute);
  const kind = kindOf(bytes);
  if (kind.kind === "image") {
    if (bytes.length > limits.imageBytesMax) throw usage(`@${path}: the image has ${bytes.length} bytes; at most ${limits.imageBytesMax} are taken`);
    return { text: `<file name="${absolute}"></file>`, image: { type: "image", data: Buffer.from(bytes).toString("base64"), mimeType: kind.mimeType } };
  }
  return { text: `<file name="${absolute}">\n${textOf(bytes, absolute)}\n</file>` };
}

/** The value of a flag that takes a text or `@FILE`. @throws AgentError `usage` as above. */
export function textArgument(value: string, workingDir: string): string {
  if (!value.startsWith("@")) return value;
  const absolute = absolutePath(value.slice(1), workingDir);
  return textOf(readBounded(absolute), absolute);
}

function absolutePath(path: string, workingDir: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return resolve(workingDir, path);
}

/** The whole file; pipes such as a shell's process substitution are read to their end. */
function readBounded(path: string): Uint8Array {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, "r");
    if (fstatSync(descriptor).isDirectory()) throw usage(`${path} is a folder, not a file`);
    const chunks: Uint8Array[] = [];
    let length = 0;
    for (;;) {
      const chunk = new Uint8Array(chunkBytes);
      const count = readSync(descriptor, chunk);
      if (count === 0) return Buffer.concat(chunks);
      length += count;
      if (length > limits.promptPartBytesMax) throw usage(`${path} is larger than ${limits.promptPartBytesMax} bytes`);
      chunks.push(chunk.subarray(0, count));
    }
  } catch (error) {
    if (error instanceof AgentError) throw error;
    throw new AgentError("usage", `can't read ${path}: ${messageOf(error)}`, { cause: error });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

const chunkBytes = 64 * 1024;

/** A BOM is dropped. */
function textOf(bytes: Uint8Array, path: string): string {
  if (kindOf(bytes).kind === "text") {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
  throw usage(`${path} is neither UTF-8 text nor an image`);
}

function usage(message: string): AgentError {
  return new AgentError("usage", message);
}
