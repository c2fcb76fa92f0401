// The models folder: what is called how in it, the manifest beside each installed file, hashes and free space.
// `<file>` and `<file>.manifest.json` are installed; everything unfinished lies under `.downloads/`.
import { chmod, mkdir, open, readFile, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { AgentError, messageOf } from "../core/error.ts";

export const Manifest = z.strictObject({
  version: z.literal(1),
  sha256: z.string(),
  bytes: z.int(),
  /** Modification time when the hash was taken; another one means that the hash says nothing. */
  mtimeMs: z.number(),
});
export type Manifest = z.infer<typeof Manifest>;

export interface ModelPaths {
  /** Where the file is when it is installed. */
  file: string;
  manifest: string;
  /** A prefix of the file, always without holes. */
  partial: string;
  /** What the prefix belongs to. */
  state: string;
  lock: string;
  /** Packages on their way into the prefix. */
  packagesDir: string;
}

export function modelPaths(modelsDir: string, file: string): ModelPaths {
  const unfinished = join(modelsDir, ".downloads", file);
  return {
    file: join(modelsDir, file),
    manifest: join(modelsDir, `${file}.manifest.json`),
    partial: `${unfinished}.partial`,
    state: `${unfinished}.state.json`,
    lock: `${unfinished}.lock`,
    packagesDir: `${unfinished}.packages`,
  };
}

/** @throws AgentError `state_unusable` */
export async function makeModelsDir(modelsDir: string): Promise<void> {
  try {
    await mkdir(join(modelsDir, ".downloads"), { recursive: true });
  } catch (error) {
    throw new AgentError("state_unusable", `cannot create the models folder ${modelsDir}: ${messageOf(error)}`, { cause: error });
  }
}

/** The hash noted at installation; undefined when there is none or the file changed since. */
export async function knownHash(paths: ModelPaths): Promise<string | undefined> {
  const manifest = await readJson(paths.manifest, Manifest);
  const found = await fileInfo(paths.file);
  return manifest && found && found.bytes === manifest.bytes && found.mtimeMs === manifest.mtimeMs ? manifest.sha256 : undefined;
}

export async function writeManifest(paths: ModelPaths, sha256: string): Promise<void> {
  const { size, mtimeMs } = await stat(paths.file);
  const manifest: Manifest = { version: 1, sha256, bytes: size, mtimeMs };
  await writeJson(paths.manifest, manifest);
}

/** Moves a finished, closed file to its place: mode 0644, on the disk before it has its name. */
export async function install(from: string, paths: ModelPaths, sha256: string): Promise<void> {
  await chmod(from, 0o644);
  await rm(paths.manifest, { force: true });
  await rename(from, paths.file);
  await syncFolder(dirname(paths.file));
  await writeManifest(paths, sha256);
}

/** undefined when there is no such file, or it is a folder. */
export async function fileInfo(path: string): Promise<{ bytes: number; mtimeMs: number } | undefined> {
  const found = await stat(path).catch(ignoreMissing);
  return found?.isFile() ? { bytes: found.size, mtimeMs: found.mtimeMs } : undefined;
}

/** SHA-256 of a file as hexadecimal digits; `onBytes` is told how much is done. */
export async function hashFile(path: string, signal?: AbortSignal, onBytes: (bytes: number) => void = () => {}): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  for await (const chunk of readChunks(path)) {
    throwIfAborted(signal);
    hasher.update(chunk);
    onBytes((bytes += chunk.length));
  }
  return hasher.digest("hex");
}

/** The file in pieces of 1 MiB; each is valid until the next is asked for. */
export async function* readChunks(path: string): AsyncGenerator<Uint8Array, void, void> {
  const handle = await open(path, "r");
  try {
    const buffer = new Uint8Array(1024 * 1024);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** Bytes that this user can still write where the folder lies. */
export async function freeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}

/** undefined when the file is missing or is not what the schema says. */
export async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const text = await readFile(path, "utf8").catch(ignoreMissing);
  if (text === undefined) return undefined;
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // cut off by a crash: as good as missing
  }
}

export async function writeJson(path: string, value: unknown): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  await Bun.write(temporary, `${JSON.stringify(value)}\n`);
  await rename(temporary, path);
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AgentError("aborted", "stopped; the same command goes on from what is there");
}

function ignoreMissing(error: unknown): undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return undefined;
  throw error;
}

/** A rename survives a power cut only when its folder is on the disk; Windows has no such call. */
async function syncFolder(dir: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(dir, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
