// Names the content of a skill's folder, so that trust in it ends as soon as anything in it changes.
import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../core/limits.ts";

/**
 * SHA-256 (hex) over names and contents of everything below a folder.
 * @throws Error for a link that leaves the folder, what is neither file nor folder, and what is too much to look at
 */
export function folderHash(folder: string): string {
  const root = realpathSync(folder);
  const hash = new Bun.CryptoHasher("sha256");
  let [files, bytes] = [0, 0];
  for (const { isLink, path } of filesBelow(root)) {
    const file = join(root, path);
    if (isLink && !realpathSync(file).startsWith(`${root}/`)) throw new Error(`${file} is a link that leaves the skill's folder`);
    const stats = statSync(file);
    if (!isLink && !stats.isFile()) throw new Error(`${file} is no file`);
    files += 1;
    bytes += isLink ? 0 : stats.size;
    if (files > limits.skillFilesMax || bytes > limits.skillBytesMax) throw new Error(`${root} holds more than ${limits.skillFilesMax} files or ${limits.skillBytesMax} bytes`);
    // What a link inside leads to is met by itself.
    const content = isLink ? Buffer.from(readlinkSync(file)) : readFileSync(file);
    hash.update(`${isLink ? "link" : "file"} ${JSON.stringify(path)} ${content.length}\n`).update(content);
  }
  return hash.digest("hex");
}

/** Paths relative to the root, in an order that does not depend on the disk. */
function* filesBelow(root: string, below = ""): Generator<{ path: string; isLink: boolean }> {
  const entries = readdirSync(join(root, below), { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(root, path);
    else yield { path, isLink: entry.isSymbolicLink() };
  }
}
