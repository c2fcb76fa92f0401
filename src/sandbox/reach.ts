// Which folders a confined command may read and write. Landlock can only allow, so a folder that must stay hidden inside
// an allowed one is left out by allowing its neighbours one by one.
import { readdirSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

export interface Reach {
  read: string[];
  write: string[];
}

export interface ReachOptions {
  /** Real paths of the folders that the command may change. */
  write: readonly string[];
  /** Further folders that it may read. */
  read: readonly string[];
  readScope: "working-dir" | "unrestricted";
  /** Never readable nor writable, except for folders below it that are named in `read` or `write`. */
  stateFolder: string;
  home: string;
  /** The value of PATH that the command gets. */
  searchPath: string;
}

/** Absolute real paths, without duplicates; folders that do not exist are left out. */
export function reachOf(options: ReachOptions): Reach {
  const hidden = [realOf(options.stateFolder) ?? options.stateFolder, "/dev"];
  const base = options.readScope === "unrestricted" ? ["/"] : [...systemFolders, ...programFolders(options.searchPath, options.home), ...gitFiles.map((name) => join(options.home, name))];
  const open = (folders: readonly string[]) => [...new Set(folders.flatMap((folder) => around(realOf(folder), hidden)))];
  return { read: open([...base, ...options.read]), write: open(options.write) };
}

/** `folder` itself, or where hidden folders lie in it everything in it but those. */
export function around(folder: string | undefined, hidden: readonly string[]): string[] {
  if (folder === undefined || hidden.includes(folder)) return [];
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  const inside = hidden.filter((path) => path.startsWith(prefix));
  if (inside.length === 0) return [folder];
  return namesIn(folder).flatMap((name) => around(prefix + name, inside));
}

/** Without its own settings git refuses to work at all; files with credentials are not among them. */
const gitFiles = [".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"];

const systemFolders = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/proc", "/sys", "/run", "/var", "/nix", "/snap", "/gnu"];

/** Folders of PATH, with their neighbours (`lib`, `share`) where the folder is one of a tool of its own. */
function programFolders(searchPath: string, home: string): string[] {
  return searchPath.split(delimiter).flatMap((folder) => {
    if (!folder.startsWith("/")) return [];
    const parent = dirname(folder);
    if (parent === join(home, ".local")) return [folder, join(parent, "lib")];
    return parent === home || parent === "/" || !/\/(s?bin|shims)$/.test(folder) ? [folder] : [parent];
  });
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // A folder that we cannot list stays closed to the command as well.
    return [];
  }
}
