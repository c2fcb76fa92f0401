// Takes a model file from a disk or stick into the models folder; a file of the catalogue is recognised by its hash.
import { copyFile, open, rm } from "node:fs/promises";
import { basename, extname } from "node:path";
import { AgentError, messageOf } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import { fileInfo, freeBytes, hashFile, install, makeModelsDir, modelPaths } from "./folder.ts";
import { tryLock } from "./lock.ts";
import { resolveModel, type Store } from "./store.ts";

export interface AddOptions {
  /** Instead of the file's own name; refused where it is a name of the catalogue's. */
  name?: string;
  signal?: AbortSignal;
  /** Judges the file's header. @throws AgentError `model_invalid` */
  check?: (path: string) => void;
  freeBytes?: (dir: string) => Promise<number>;
}

export interface AddedModel {
  name: string;
  path: string;
  bytes: number;
  sha256: string;
  /** Its bytes are those of a model of the catalogue. */
  known: boolean;
}

/** @throws AgentError `usage`, `model_missing`, `model_invalid`, `storage_full`, `state_unusable`, `aborted` */
export async function addModel(file: string, store: Store, options: AddOptions = {}): Promise<AddedModel> {
  const { path: source } = await resolveModel(file.includes("/") || file.includes("\\") ? file : `./${file}`, store);
  const found = await fileInfo(source);
  if (!found) throw new AgentError("model_missing", `there is no model file ${source}`);
  options.check?.(source);
  const sha256 = await hashFile(source, options.signal);
  const entry = store.catalog.find((candidate) => candidate.sha256 === sha256 && candidate.path === undefined);
  const name = entry?.name ?? options.name ?? basename(source, extname(source));
  if (!entry) checkName(name, store);
  const paths = modelPaths(store.modelsDir, entry?.file ?? `${name}.gguf`);
  if (paths.file === source) throw new AgentError("usage", `${source} is in the models folder already`);
  await makeModelsDir(store.modelsDir);
  const lock = tryLock(paths.lock);
  if (!lock) throw new AgentError("state_unusable", `${name} is being pulled by another process; stop that first`);
  try {
    await checkSpace(name, found.bytes, store.modelsDir, options.freeBytes ?? freeBytes);
    const copy = `${paths.partial}.copy`;
    await copyWhole(source, copy);
    // The copy counts, not the original: a stick may be pulled out or fail.
    const copied = await hashFile(copy, options.signal).catch((error: unknown) => discard(copy, error));
    if (copied !== sha256) await discard(copy, new AgentError("model_invalid", `the copy of ${source} differs from it (SHA-256 ${copied} instead of ${sha256}); try again`));
    await install(copy, paths, sha256);
    return { name, path: paths.file, bytes: found.bytes, sha256, known: entry !== undefined };
  } finally {
    lock.release();
  }
}

function checkName(name: string, store: Store): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,120}$/.test(name)) {
    throw new AgentError("usage", `${JSON.stringify(name)} cannot be the name of a model (letters, digits, ".", "_" and "-"); give one with --name`);
  }
  const taken = store.catalog.some((entry) => entry.name === name || entry.file === `${name}.gguf`);
  if (taken) throw new AgentError("usage", `the catalogue's ${name} is another file; give yours a name with --name`);
}

async function checkSpace(name: string, bytes: number, modelsDir: string, free: (dir: string) => Promise<number>): Promise<void> {
  const need = bytes + limits.freeSpaceMarginBytes;
  const have = await free(modelsDir);
  if (have >= need) return;
  throw new AgentError("storage_full", `${name} needs ${Math.ceil(need / 2 ** 20)} MiB free in ${modelsDir}, there are ${Math.floor(have / 2 ** 20)} MiB`);
}

async function copyWhole(source: string, copy: string): Promise<void> {
  try {
    await copyFile(source, copy);
    const handle = await open(copy, "r+");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    const full = error instanceof Error && "code" in error && error.code === "ENOSPC";
    await discard(copy, new AgentError(full ? "storage_full" : "state_unusable", `cannot copy ${source} to ${copy}: ${messageOf(error)}`, { cause: error }));
  }
}

async function discard(copy: string, error: unknown): Promise<never> {
  await rm(copy, { force: true });
  throw error;
}
