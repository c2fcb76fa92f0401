// A fresh folder for one test: made with files, looked at afterwards, removed by `using`.
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Relative paths to contents; a path that ends in `/` is an empty folder. */
export type FileTree = { [path: string]: string | Uint8Array };

export interface Workspace extends Disposable {
  /** Real, absolute path. */
  path: string;
  /** Path of something inside. */
  at(relative: string): string;
  write(files: FileTree): void;
  read(relative: string): string;
  /** Every file by its path, with `/` between folders: text as it is, bytes that are not UTF-8 as `base64:…`, a link as `-> target`. */
  snapshot(): { [path: string]: string };
}

export function makeWorkspace(files: FileTree = {}): Workspace {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "atomic-test-")));
  const at = (relative: string): string => join(path, relative);
  const write = (tree: FileTree): void => {
    for (const [relative, content] of Object.entries(tree)) {
      if (relative.endsWith("/")) mkdirSync(at(relative), { recursive: true });
      else {
        mkdirSync(dirname(at(relative)), { recursive: true });
        writeFileSync(at(relative), content);
      }
    }
  };
  write(files);
  return {
    path,
    at,
    write,
    read: (relative) => readFileSync(at(relative), "utf8"),
    snapshot: () => snapshot(path),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

function snapshot(root: string): { [path: string]: string } {
  const found: { [path: string]: string } = {};
  const visit = (folder: string, prefix: string): void => {
    for (const name of readdirSync(folder).toSorted()) {
      const [path, shown] = [join(folder, name), `${prefix}${name}`];
      const kind = lstatSync(path);
      if (kind.isSymbolicLink()) found[shown] = `-> ${readlinkSync(path)}`;
      else if (kind.isDirectory()) visit(path, `${shown}/`);
      else found[shown] = kind.isFile() ? contentOf(readFileSync(path)) : "(special)";
    }
  };
  visit(root, "");
  return found;
}

function contentOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return `base64:${Buffer.from(bytes).toString("base64")}`;
  }
}
