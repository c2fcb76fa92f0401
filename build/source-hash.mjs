// One hash over everything that the executable is built from, so that a build knows whether it is still the right one.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const sources = ["src", "build", "models/catalog.json", "package.json", "package-lock.json"];

/** SHA-256 in hex over the paths and contents below `rootDir`, in a fixed order. */
export function sourceHash(rootDir) {
  const hash = createHash("sha256");
  for (const source of sources) add(hash, rootDir, source);
  return hash.digest("hex");
}

function add(hash, rootDir, path) {
  const absolute = join(rootDir, path);
  if (!existsSync(absolute)) return;
  if (statSync(absolute).isDirectory()) {
    for (const name of readdirSync(absolute).toSorted()) add(hash, rootDir, `${path}/${name}`);
    return;
  }
  const bytes = readFileSync(absolute);
  hash.update(`${path}\n${bytes.length}\n`).update(bytes);
}
