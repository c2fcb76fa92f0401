// What the build puts into the executable beside the code: its version, the native library, the licences.
// build/embed-llama.ts replaces this module's exports; these are the values of a run from source.
import packageJson from "../package.json" with { type: "json" };

export interface NativeFile {
  name: string;
  /** Where the executable holds the bytes; readable with Bun.file. */
  source: string;
  bytes: number;
  /** Hex. */
  sha256: string;
}

export interface NativeLibrary {
  /** Folder that the binding looks for, such as `linux-x64`. */
  folder: string;
  gpu: "metal" | false;
  /** Names the content: binding version, folder and the head of the files' common hash. */
  id: string;
  files: readonly NativeFile[];
}

export const version: string = packageJson.version;

/** First characters of the hash of the sources that the executable was built from. */
export const buildId: string = "source";

/** Absent when run from source: the binding then finds its files in node_modules. */
export const nativeLibrary: NativeLibrary | undefined = undefined;

/** File with the licence texts of everything inside; absent when run from source. */
export const licensesFile: string | undefined = undefined;

/** Folder that holds `bins/<folder>/`; the bundled binding reads it when it is first imported. */
export const libraryRoot = { path: "" };
