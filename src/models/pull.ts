// Fetches one model into the models folder: one process at a time, source by source, on from the bytes that are there,
// installed only when the hash is right. Knows nothing of terminals.
import { AgentError, messageOf } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import type { ModelEntry, Source } from "./catalog.ts";
import { fileInfo, freeBytes, hashFile, install, knownHash, makeModelsDir, modelPaths, type ModelPaths, writeManifest } from "./folder.ts";
import { downloadByHttp } from "./http-source.ts";
import { waitForLock } from "./lock.ts";
import { downloadPackages } from "./packages-source.ts";
import { PartialFile, removePartial } from "./partial-file.ts";
import type { PullEvent } from "./pull-event.ts";
import { asAborted, SourceError, type SourceTarget } from "./source.ts";

export interface PullOptions {
  modelsDir: string;
  /** `localModels.download`. */
  download: { hfEndpoint: string; connections: number };
  /** Environment of package installers; HTTP takes proxy and certificates from the process's own. */
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  onEvent(event: PullEvent): void;
  /** Free bytes where a folder lies. */
  freeBytes?: (dir: string) => Promise<number>;
  /** Other times and sizes than those of core/limits.ts. */
  pace?: Partial<Pace>;
}

export interface Pace {
  contactMs: number;
  stallMs: number;
  packageStallMs: number;
  rangeBytesMax: number;
  retryBaseMs: number;
}

export interface PulledModel {
  path: string;
  bytes: number;
  sha256: string;
  /** False when it was there already. */
  downloaded: boolean;
}

/** @throws AgentError `download_failed`, `storage_full`, `aborted`, `state_unusable`; what was fetched is kept for the next try,
 * except after a wrong hash */
export async function pullModel(entry: ModelEntry, options: PullOptions): Promise<PulledModel> {
  if (entry.path !== undefined) throw new AgentError("usage", `${entry.name} is your own file ${entry.path}; there is nothing to pull`);
  const startedAt = performance.now();
  const paths = modelPaths(options.modelsDir, entry.file);
  await makeModelsDir(options.modelsDir);
  const lock = await waitForLock(paths.lock, options.signal, () => {
    options.onEvent({ type: "pull_waiting", model: entry.name, message: `another process is pulling ${entry.name}; waiting for it` });
  });
  try {
    const pulled = (await alreadyInstalled(entry, paths, options.signal)) ?? (await fetchAndInstall(entry, paths, options));
    options.onEvent({ type: "pull_finished", model: entry.name, ...pulled, durationMs: Math.round(performance.now() - startedAt) });
    return pulled;
  } finally {
    lock.release();
  }
}

/** The installed file, if it is what the entry says; hashed when no manifest vouches for it. */
async function alreadyInstalled(entry: ModelEntry, paths: ModelPaths, signal: AbortSignal): Promise<PulledModel | undefined> {
  const found = await fileInfo(paths.file);
  if (!found || (entry.bytes !== undefined && entry.bytes !== found.bytes)) return undefined;
  const known = await knownHash(paths);
  const sha256 = known ?? (await hashFile(paths.file, signal));
  if (entry.sha256 !== undefined && entry.sha256 !== sha256) return undefined;
  if (known === undefined) await writeManifest(paths, sha256);
  return { path: paths.file, bytes: found.bytes, sha256, downloaded: false };
}

async function fetchAndInstall(entry: ModelEntry, paths: ModelPaths, options: PullOptions): Promise<PulledModel> {
  const partial = await PartialFile.open(paths, entry.sha256, options.signal);
  try {
    if (entry.bytes !== undefined && partial.bytes > entry.bytes) await partial.restart();
    await fetchFromSources(entry, paths, partial, options);
    const bytes = partial.bytes;
    const sha256 = await partial.finish();
    if (entry.sha256 !== undefined && entry.sha256 !== sha256) {
      await removePartial(paths);
      throw new AgentError(
        "download_failed",
        `${entry.name}: the downloaded bytes are not the model: SHA-256 is ${sha256}, expected ${entry.sha256}; they were thrown away, run the same command to try again`,
      );
    }
    if (entry.sha256 === undefined) await checkHeader(paths);
    await install(paths.partial, paths, sha256);
    await removePartial(paths);
    return { path: paths.file, bytes, sha256, downloaded: true };
  } catch (error) {
    throw asAborted(error, options.signal);
  } finally {
    await partial.close();
  }
}

/** Where no hash tells what the file must be, at least it must be a model. */
async function checkHeader(paths: ModelPaths): Promise<void> {
  const { readGguf } = await import("./gguf.ts");
  try {
    readGguf(paths.partial);
  } catch (error) {
    await removePartial(paths);
    throw error;
  }
}

/** Tries the sources in their order until one has delivered the last byte. */
async function fetchFromSources(entry: ModelEntry, paths: ModelPaths, partial: PartialFile, options: PullOptions): Promise<void> {
  const failures: string[] = [];
  for (const [index, source] of entry.sources.entries()) {
    const label = sourceLabel(source, options.download.hfEndpoint);
    const target = sourceTarget(entry, label, partial, options);
    options.onEvent({ type: "pull_started", model: entry.name, source: label, bytes: partial.bytes, ...total(entry) });
    try {
      await fetchFrom(source, target, paths, options, index === entry.sources.length - 1);
      if (entry.bytes !== undefined && partial.bytes < entry.bytes) throw new SourceError(`only ${partial.bytes} of ${entry.bytes} bytes came`);
      return;
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      options.onEvent({ type: "source_failed", model: entry.name, source: label, message: error.message });
      failures.push(`${label}: ${error.message}`);
    }
  }
  throw new AgentError(
    "download_failed",
    `cannot fetch ${entry.name}: ${failures.join("; ")}. Check the network (HTTPS_PROXY, localModels.download.hfEndpoint), or copy the file here and run: atomic models add FILE`,
  );
}

async function fetchFrom(source: Source, target: SourceTarget, paths: ModelPaths, options: PullOptions, last: boolean): Promise<void> {
  const pace: Pace = {
    contactMs: last ? limits.downloadStallMs : limits.downloadContactMs,
    stallMs: limits.downloadStallMs,
    packageStallMs: limits.packageStallMs,
    rangeBytesMax: limits.downloadRangeBytesMax,
    retryBaseMs: 1000,
    ...options.pace,
  };
  if (source.kind === "packages") {
    const settings = { env: options.env, dir: paths.packagesDir, width: packagesAtATime, stallMs: pace.packageStallMs, retryBaseMs: pace.retryBaseMs };
    return downloadPackages(source.packages, target, settings);
  }
  const connections = Math.min(Math.max(1, options.download.connections), limits.downloadConnectionsMax);
  return downloadByHttp(addressOf(source, options.download.hfEndpoint), target, { ...pace, connections });
}

function sourceTarget(entry: ModelEntry, label: string, partial: PartialFile, options: PullOptions): SourceTarget {
  const start = { bytes: partial.bytes, at: performance.now() };
  let toldAt = Number.NEGATIVE_INFINITY;
  return {
    partial,
    bytes: entry.bytes,
    signal: options.signal,
    onBytes() {
      const now = performance.now();
      if (now - toldAt < progressIntervalMs && partial.bytes !== entry.bytes) return;
      toldAt = now;
      const bytesPerSecond = Math.max(0, Math.round(((partial.bytes - start.bytes) * 1000) / Math.max(1, now - start.at)));
      options.onEvent({ type: "pull_progressed", model: entry.name, bytes: partial.bytes, ...total(entry), bytesPerSecond });
    },
    onRetry(message, attempt, delayMs) {
      options.onEvent({ type: "source_retried", model: entry.name, source: label, message, attempt, delayMs });
    },
    async checkSpace(bytes, extraBytes) {
      const need = bytes - partial.bytes + extraBytes + limits.freeSpaceMarginBytes;
      const have = await (options.freeBytes ?? freeBytes)(options.modelsDir);
      if (have >= need) return;
      throw new AgentError("storage_full", `${entry.name} needs ${mebibytes(need)} MiB free in ${options.modelsDir}, there are ${mebibytes(have)} MiB; free some and run the same command`);
    },
  };
}

const progressIntervalMs = 250;
/** More don't help: pip's own work is what takes the time. */
const packagesAtATime = 2;

function addressOf(source: Exclude<Source, { kind: "packages" }>, endpoint: string): string {
  if (source.kind === "url") return source.url;
  return `${endpoint.replace(/\/+$/, "")}/${source.repository}/resolve/${source.revision}/${source.file}`;
}

/** For people; never with the user name and password of an address. */
function sourceLabel(source: Source, endpoint: string): string {
  if (source.kind === "packages") return "packages";
  try {
    const { host, pathname } = new URL(addressOf(source, endpoint));
    return host + pathname;
  } catch (error) {
    throw new AgentError("config_invalid", `localModels.download.hfEndpoint is not a URL: ${messageOf(error)}`, { cause: error });
  }
}

function total(entry: ModelEntry): { totalBytes?: number } {
  return entry.bytes === undefined ? {} : { totalBytes: entry.bytes };
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / (1024 * 1024));
}
