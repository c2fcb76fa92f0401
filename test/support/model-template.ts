// Real weights with another chat template, for families of which no weights are at hand.
import { copyFileSync, closeSync, openSync, readSync, writeSync } from "node:fs";

const key = "tokenizer.chat_template";
const headerBytes = 16 * 1024 * 1024;

/**
 * Copies a model and writes the template over its own; what is left of that one becomes a comment.
 * @param template shorter than the model's own by at least 4 bytes
 * @throws Error when the model has no template, or the new one does not fit
 */
export function copyWithTemplate(model: string, copy: string, template: string): void {
  copyFileSync(model, copy);
  const file = openSync(copy, "r+");
  try {
    const header = Buffer.alloc(headerBytes);
    readSync(file, header, 0, headerBytes, 0);
    const at = header.indexOf(key);
    // After the key come the type of its value, a text, and the text's length in bytes.
    const start = at + key.length + 4 + 8;
    const length = Number(header.readBigUInt64LE(start - 8));
    const left = length - Buffer.byteLength(template) - 4;
    if (at === -1 || left < 0) throw new Error(`${model}: a template of ${length} bytes can't become this one`);
    writeSync(file, Buffer.from(`${template}{#${" ".repeat(left)}#}`), 0, length, start);
  } finally {
    closeSync(file);
  }
}
