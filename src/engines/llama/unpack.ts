// Writes the embedded llama library to a private folder and sees to it that the folder holds exactly those bytes: native
// code is loaded from there. Any number of processes may do this at once; each file appears whole, by a rename.
import { createHash, randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, readdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { AgentError, messageOf } from "../../core/error.ts";
import type { Log } from "../../core/runtime.ts";
import type { NativeFile, NativeLibrary } from "../../embedded.ts";
import { hashFile } from "../../models/folder.ts";

/** A temporary file this old belongs to no running process. */
const abandonedAfterMs = 10 * 60_000;
const pieceBytes = 1024 * 1024;
/** Folders of other versions that nothing has used for so long are removed. */
const unusedAfterMs = 30 * 24 * 3_600_000;

/**
 * Resolves with the folder that holds `bins/<folder>/`, every file in it verified by SHA-256. Damaged files are replaced,
 * strange ones removed: the library loads what it finds beside itself.
 * @throws AgentError `state_unusable` when the folder can't be used, `storage_full` when there is no room,
 *   `engine_unavailable` when the executable itself is damaged
 */
export async function unpackLibrary(library: NativeLibrary, engineDir: string, log: Log): Promise<string> {
  const root = join(engineDir, library.id);
  const folder = join(root, "bins", library.folder);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const path of [root, join(root, "bins"), folder]) await makePrivate(path);
    await removeStrangers(folder, library, log);
    let isChanged = false;
    // One after the other: hashes of many at once would keep this process from answering.
    for (const file of library.files) isChanged = (await ensureFile(folder, file, log)) || isChanged;
    if (isChanged) await removeUnused(engineDir, library.id, log);
    await markUsed(root);
  } catch (error) {
    throw unusable(error, engineDir);
  }
  return root;
}

/** Nobody else may write where native code is loaded from. */
async function makePrivate(path: string): Promise<void> {
  const stats = await lstat(path);
  const owner = process.getuid?.();
  if (!stats.isDirectory()) throw new Error(`${path} is not a folder`);
  if (owner !== undefined && stats.uid !== owner) throw new Error(`${path} belongs to another user`);
  if (process.platform !== "win32" && (stats.mode & 0o022) !== 0) await chmod(path, 0o700);
}

async function removeStrangers(folder: string, library: NativeLibrary, log: Log): Promise<void> {
  const known = new Set(library.files.map((file) => file.name));
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (known.has(name) || (name.endsWith(".tmp") && !(await olderThan(path, abandonedAfterMs)))) continue;
    log(name.endsWith(".tmp") ? "debug" : "warn", `removed ${path}, which is no part of the llama library`);
    await rm(path, { recursive: true, force: true });
  }
}

/** Resolves with true when the file had to be written. */
async function ensureFile(folder: string, file: NativeFile, log: Log): Promise<boolean> {
  const path = join(folder, file.name);
  const state = await stateOf(path, file);
  if (state === "intact") return false;
  if (state === "damaged") log("warn", `${path} was damaged; it is unpacked again`);
  const bytes = new Uint8Array(await Bun.file(file.source).arrayBuffer());
  if ((await sha256Of(bytes)) !== file.sha256) throw new AgentError("engine_unavailable", `${file.name} inside the executable is damaged; install the executable again.`);
  const temporary = `${path}.${process.pid}-${randomBytes(4).toString("hex")}.tmp`;
  try {
    await writeFile(temporary, bytes, { mode: 0o600, flag: "wx" });
    const found = await lstat(path).catch(ignoreMissing);
    if (found?.isDirectory()) await rm(path, { recursive: true, force: true });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    // Where a loaded file can't be replaced (Windows), another process has put the right one there in the meantime.
    if ((await stateOf(path, file)) !== "intact") throw error;
  }
  return true;
}

async function stateOf(path: string, file: NativeFile): Promise<"intact" | "damaged" | "missing"> {
  const stats = await lstat(path).catch(ignoreMissing);
  if (stats === undefined) return "missing";
  if (!stats.isFile() || stats.size !== file.bytes) return "damaged";
  return (await hashFile(path)) === file.sha256 ? "intact" : "damaged";
}

async function removeUnused(engineDir: string, current: string, log: Log): Promise<void> {
  for (const name of await readdir(engineDir)) {
    const path = join(engineDir, name);
    if (name === current || !/^(linux|mac|win)-.*-[0-9a-f]{16}$/.test(name) || !(await olderThan(path, unusedAfterMs))) continue;
    log("debug", `removed the unused llama library ${basename(path)}`);
    await rm(path, { recursive: true, force: true });
  }
}

/** The folder's time tells when it was last used, to a day; a folder that can only be read keeps its time. */
async function markUsed(root: string): Promise<void> {
  if (!(await olderThan(root, 24 * 3_600_000))) return;
  const now = new Date();
  await utimes(root, now, now).catch((error: unknown) => {
    if (!isSystemError(error) || !["EROFS", "EPERM", "EACCES"].includes(error.code)) throw error;
  });
}

async function olderThan(path: string, ageMs: number): Promise<boolean> {
  const stats = await lstat(path).catch(ignoreMissing);
  return stats !== undefined && Date.now() - stats.mtimeMs > ageMs;
}

function unusable(error: unknown, engineDir: string): AgentError {
  if (error instanceof AgentError) return error;
  const full = isSystemError(error) && ["ENOSPC", "EDQUOT"].includes(error.code);
  const advice = full ? "free some space" : "make it a folder that you can write to";
  return new AgentError(
    full ? "storage_full" : "state_unusable",
    `The llama library can't be unpacked to ${engineDir} (${messageOf(error)}); ${advice}, or set ATOMIC_AGENT_STATE_DIR to another one.`,
    { cause: error },
  );
}

/** In pieces, with other work of the process in between. */
async function sha256Of(bytes: Uint8Array): Promise<string> {
  const hash = createHash("sha256");
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    hash.update(bytes.subarray(from, from + pieceBytes));
    await setImmediate();
  }
  return hash.digest("hex");
}

function ignoreMissing(error: unknown): undefined {
  if (!isSystemError(error) || error.code !== "ENOENT") throw error;
}

function isSystemError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
