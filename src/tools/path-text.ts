// How a file name is written for the model and read back. Inside the tools a path is a RawPath: one character a byte, so
// that names of any encoding survive. What is shown is UTF-8, one line, and is accepted back by every tool.
import { ToolError } from "../core/error.ts";

/** A path as its bytes, each one as the character of that code (latin1). Never shown. */
export type RawPath = string;

/** The path in the form that the system calls take. */
export function onDisk(path: RawPath): Buffer {
  return Buffer.from(path, "latin1");
}

/** The bytes of an ordinary string or of what the file system returned. */
export function rawPath(path: string | Buffer): RawPath {
  return (typeof path === "string" ? Buffer.from(path, "utf8") : path).toString("latin1");
}

/**
 * Reads a path as a tool's argument gives it: plain, or in the quoted form of `showPath`.
 * @throws ToolError for an empty path, a NUL, or a wrong escape.
 */
export function readPathText(text: string): RawPath {
  const path = text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? unquote(text) : rawPath(text);
  if (path === "") throw new ToolError("the path is empty; name a file or a folder, such as \".\"");
  if (path.includes("\0")) throw new ToolError("a path cannot hold a NUL character");
  return path;
}

/** The path on one line: as it is, or in quotes with `\n`, `\"`, `\\` and `\xHH` where it could be misread. */
export function showPath(path: RawPath): string {
  const bytes = onDisk(path);
  const text = bytes.toString("utf8");
  const plain = Buffer.from(text, "utf8").equals(bytes) && !text.startsWith('"') && !unsafe.test(text);
  return plain ? text : quote(bytes);
}

/** Control characters, and the two that some readers take for a line end. */
const unsafe = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
const shortEscapes: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\" };
const longEscapes: Record<string, string> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\" };

function quote(bytes: Buffer): string {
  let shown = "";
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    const character = length > 0 ? bytes.toString("utf8", at, at + length) : "";
    const escape = shortEscapes[character];
    if (escape !== undefined) shown += escape;
    else if (length > 0 && !unsafe.test(character)) shown += character;
    else for (const byte of bytes.subarray(at, at + Math.max(1, length))) shown += `\\x${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    at += Math.max(1, length);
  }
  return `"${shown}"`;
}

/** Bytes of the UTF-8 character at `at`, 0 when they are none. */
function characterLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  const length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  const slice = bytes.subarray(at, at + length);
  return length > 0 && Buffer.from(slice.toString("utf8"), "utf8").equals(slice) ? length : 0;
}

function unquote(text: string): RawPath {
  const inner = text.slice(1, -1);
  let path = "";
  let plainFrom = 0;
  for (const match of inner.matchAll(/\\(?:x([0-9A-Fa-f]{2})|([\s\S])|$)/g)) {
    const [whole, hex, letter] = match;
    const value = hex !== undefined ? String.fromCharCode(Number.parseInt(hex, 16)) : letter === undefined ? undefined : longEscapes[letter];
    if (value === undefined) throw new ToolError(`the quoted path ${text} has an unknown escape "${whole}"; known are \\n \\r \\t \\" \\\\ \\xHH`);
    path += rawPath(inner.slice(plainFrom, match.index)) + value;
    plainFrom = match.index + whole.length;
  }
  return path + rawPath(inner.slice(plainFrom));
}
