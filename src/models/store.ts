// From a name or a path to a file of weights that is there. Reads the folder at each call; loads nothing.
import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, isAbsolute, join, resolve } from "node:path";
import { AgentError } from "../core/error.ts";
import { type Catalog, defaultEntry, findEntry, type ModelEntry, nearestNames } from "./catalog.ts";
import { fileInfo, hashFile, knownHash, modelPaths } from "./folder.ts";
import { removePartial } from "./partial-file.ts";

export interface Store {
  modelsDir: string;
  catalog: Catalog;
}

export interface ResolvedModel {
  path: string;
  /** Name of the model, or of the file without `.gguf`. */
  id: string;
  entry?: ModelEntry;
}

export interface InstalledModel extends ResolvedModel {
  bytes: number;
}

/** Finds the file of a name, or takes a path as it is. Checks that it exists and, for a known model, its size.
 * @throws AgentError `model_unknown`, `model_missing`, `model_invalid` */
export async function resolveModel(nameOrPath: string, store: Store): Promise<ResolvedModel> {
  if (isPath(nameOrPath)) return resolvePath(nameOrPath);
  const entry = findEntry(store.catalog, nameOrPath);
  if (entry) return resolveEntry(entry, store);
  const installed = (await installedModels(store)).find(({ id, path }) => id === nameOrPath || basename(path) === nameOrPath);
  if (installed) return { path: installed.path, id: installed.id };
  if (nameOrPath.endsWith(".gguf")) return resolvePath(nameOrPath);
  throw unknownModel(nameOrPath, await knownNames(store));
}

/** The model to use when none is named: `modelId` of the configuration, else the catalogue's default.
 * @throws AgentError as resolveModel */
export async function defaultModel(modelId: string | null, store: Store): Promise<ResolvedModel> {
  if (modelId !== null) return resolveModel(modelId, store);
  const entry = defaultEntry(store.catalog);
  const path = entry.path ?? modelPaths(store.modelsDir, entry.file).file;
  if (await fileInfo(path)) return resolveEntry(entry, store);
  const others = (await installedModels(store)).map(({ id }) => id);
  const hint = others.length === 0 ? "" : ` (or name one that is installed: ${others.join(", ")})`;
  throw new AgentError("model_missing", `no model is installed that could be used without a name; run: atomic models pull${hint}`);
}

/** Whether a model is there to use when none is named. Does not wait for the disk's answer in the background. */
export function isDefaultInstalled({ catalog, modelsDir }: Store): boolean {
  const entry = defaultEntry(catalog);
  return existsSync(entry.path ?? modelPaths(modelsDir, entry.file).file);
}

/** All models that can be used now, those of the catalogue first. */
export async function installedModels(store: Store): Promise<InstalledModel[]> {
  const models: InstalledModel[] = [];
  for (const entry of store.catalog) {
    const path = entry.path ?? modelPaths(store.modelsDir, entry.file).file;
    const found = await fileInfo(path);
    if (found) models.push({ path, id: entry.name, entry, bytes: found.bytes });
  }
  const taken = new Set(models.map(({ path }) => path));
  const names = await readdir(store.modelsDir).catch(() => []); // no folder yet: nothing installed
  for (const name of names.filter((candidate) => candidate.endsWith(".gguf")).toSorted()) {
    const path = join(store.modelsDir, name);
    const found = taken.has(path) ? undefined : await fileInfo(path);
    if (found) models.push({ path, id: basename(name, ".gguf"), bytes: found.bytes });
  }
  return models;
}

export interface Verdict {
  path: string;
  sha256: string;
  /** undefined when nothing is known to compare with. */
  expected: string | undefined;
  /** Where `expected` is from. */
  from: "catalogue" | "installation" | "nowhere";
}

/** Hashes the file anew and compares. A wrong file loses its manifest, so that the next pull replaces it.
 * @throws AgentError as resolveModel, and `aborted` */
export async function verifyModel(nameOrPath: string, store: Store, signal?: AbortSignal): Promise<Verdict> {
  const { path, entry } = await resolveModel(nameOrPath, store);
  const paths = modelPaths(store.modelsDir, basename(path));
  const noted = paths.file === path ? await knownHash(paths) : undefined;
  const sha256 = await hashFile(path, signal);
  const catalogued = entry?.sha256 ?? store.catalog.find((candidate) => candidate.sha256 === sha256)?.sha256;
  const expected = catalogued ?? noted;
  if (expected !== undefined && expected !== sha256 && paths.file === path) await rm(paths.manifest, { force: true });
  return { path, sha256, expected, from: catalogued !== undefined ? "catalogue" : noted !== undefined ? "installation" : "nowhere" };
}

/** Removes a model and what an unfinished pull of it left; returns the bytes that were freed.
 * @throws AgentError `model_unknown`, `model_missing`, `usage`, `state_unusable` when it is being pulled */
export async function removeModel(name: string, store: Store): Promise<{ path: string; bytes: number }> {
  const entry = findEntry(store.catalog, name);
  if (isPath(name) || entry?.path !== undefined) {
    throw new AgentError("usage", `${entry?.path ?? name} is your own file, not one of the models folder ${store.modelsDir}; remove it yourself`);
  }
  const installed = (await installedModels(store)).find(({ id, path }) => id === name || basename(path) === name);
  const file = installed ? basename(installed.path) : entry?.file;
  if (file === undefined) throw unknownModel(name, await knownNames(store));
  const paths = modelPaths(store.modelsDir, file);
  const partial = await fileInfo(paths.partial);
  if (!installed && !partial) throw new AgentError("model_missing", `${name} is not installed`);
  const { tryLock } = await import("./lock.ts"); // not at the top: every start imports this file
  const lock = (await fileInfo(paths.lock)) ? tryLock(paths.lock) : { release() {} };
  if (!lock) throw new AgentError("state_unusable", `${name} is being pulled by another process; stop that first`);
  try {
    await rm(paths.file, { force: true });
    await rm(paths.manifest, { force: true });
    await removePartial(paths);
  } finally {
    lock.release();
  }
  return { path: installed?.path ?? paths.partial, bytes: (installed?.bytes ?? 0) + (partial?.bytes ?? 0) };
}

async function resolveEntry(entry: ModelEntry, store: Store): Promise<ResolvedModel> {
  const path = entry.path ?? modelPaths(store.modelsDir, entry.file).file;
  const found = await fileInfo(path);
  if (!found && entry.path !== undefined) throw new AgentError("model_missing", `${entry.name}: there is no file ${path}; correct its path in localModels.customModels`);
  if (!found) throw new AgentError("model_missing", `the model ${entry.name} is not installed; run: atomic models pull ${entry.name}`);
  if (entry.bytes !== undefined && found.bytes !== entry.bytes) {
    throw new AgentError("model_invalid", `${path} has ${found.bytes} bytes instead of ${entry.bytes}; run: atomic models pull ${entry.name}`);
  }
  return { path, id: entry.name, entry };
}

async function resolvePath(given: string): Promise<ResolvedModel> {
  const path = resolve(given === "~" || /^~[/\\]/.test(given) ? join(homedir(), given.slice(1)) : given);
  if (!(await fileInfo(path))) throw new AgentError("model_missing", `there is no model file ${path}; \`atomic models list\` shows what can be had by name`);
  return { path, id: basename(path).replace(/\.gguf$/i, "") };
}

/** A relative path without `./` is one only when no model has that name. */
function isPath(text: string): boolean {
  return isAbsolute(text) || /^(\.\.?|~)([/\\]|$)/.test(text);
}

async function knownNames(store: Store): Promise<string[]> {
  return [...new Set([...store.catalog.map(({ name }) => name), ...(await installedModels(store)).map(({ id }) => id)])];
}

function unknownModel(name: string, names: readonly string[]): AgentError {
  const near = nearestNames(name, names);
  const hint = near.length > 0 ? `; did you mean ${near.join(" or ")}?` : "; `atomic models list` shows what can be had, and a path to a .gguf file works too";
  return new AgentError("model_unknown", `there is no model ${JSON.stringify(name)}${hint}`);
}
