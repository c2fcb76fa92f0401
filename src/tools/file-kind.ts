// Tells text, images and other binary files apart by their first bytes.
import { readSync } from "node:fs";

export type FileKind = { kind: "text"; bomBytes: 0 | 3 } | { kind: "image"; mimeType: string } | { kind: "utf-16" } | { kind: "binary" };

/** Looks at the head of an open file, without moving its position. */
export function fileKind(descriptor: number): FileKind {
  const head = Buffer.alloc(headBytes);
  return kindOf(head.subarray(0, readSync(descriptor, head, 0, headBytes, 0)));
}

export function kindOf(head: Uint8Array): FileKind {
  for (const { mimeType, at, bytes } of images) {
    if (bytes.every((byte, index) => head[at + index] === byte)) return { kind: "image", mimeType };
  }
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) return { kind: "utf-16" };
  if (head.subarray(0, headBytes).includes(0)) return { kind: "binary" };
  return { kind: "text", bomBytes: head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0 };
}

const headBytes = 8192;

const ascii = (text: string) => [...Buffer.from(text, "latin1")];
const images = [
  { mimeType: "image/png", at: 0, bytes: ascii("\x89PNG\r\n\x1a\n") },
  { mimeType: "image/jpeg", at: 0, bytes: [0xff, 0xd8, 0xff] },
  { mimeType: "image/gif", at: 0, bytes: ascii("GIF87a") },
  { mimeType: "image/gif", at: 0, bytes: ascii("GIF89a") },
  { mimeType: "image/webp", at: 8, bytes: ascii("WEBPVP8") },
];
