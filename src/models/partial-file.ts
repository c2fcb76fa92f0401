// A download that grows at its end only, hashed while it grows: whatever is on the disk is a prefix of the file, so
// its length is all that a later process needs to go on from.
import { open, rm, type FileHandle } from "node:fs/promises";
import { z } from "zod";
import { AgentError, messageOf } from "../core/error.ts";
import { type ModelPaths, readChunks, readJson, throwIfAborted, writeJson } from "./folder.ts";

/** What the kept bytes belong to. */
export const PartialState = z.strictObject({
  /** Hash of the whole file, where it is known. */
  sha256: z.string().optional(),
  /** The address that `etag` belongs to. */
  url: z.string().optional(),
  /** A strong validator of the server. */
  etag: z.string().optional(),
});
export type PartialState = z.infer<typeof PartialState>;

export class PartialFile {
  readonly #paths: ModelPaths;
  readonly #handle: FileHandle;
  #hasher = new Bun.CryptoHasher("sha256");
  #bytes = 0;
  #state: PartialState;

  private constructor(paths: ModelPaths, handle: FileHandle, state: PartialState) {
    this.#paths = paths;
    this.#handle = handle;
    this.#state = state;
  }

  /** Opens what is there and hashes it again; what belongs to another file, or to nobody knows what, is thrown away. */
  static async open(paths: ModelPaths, sha256: string | undefined, signal?: AbortSignal): Promise<PartialFile> {
    const kept = await readJson(paths.state, PartialState);
    const usable = kept !== undefined && kept.sha256 === sha256 && (sha256 !== undefined || kept.etag !== undefined);
    if (!usable) await rm(paths.partial, { force: true });
    const state: PartialState = usable ? kept : sha256 === undefined ? {} : { sha256 };
    const partial = new PartialFile(paths, await open(paths.partial, "a", 0o644), state);
    try {
      if (!usable) await writeJson(paths.state, state);
      for await (const chunk of readChunks(paths.partial)) {
        throwIfAborted(signal);
        partial.#hasher.update(chunk);
        partial.#bytes += chunk.length;
      }
      return partial;
    } catch (error) {
      await partial.close();
      throw error;
    }
  }

  get bytes(): number {
    return this.#bytes;
  }

  get state(): PartialState {
    return this.#state;
  }

  /** Notes which version on which server the bytes are from. */
  async noteOrigin(url: string, etag: string | undefined): Promise<void> {
    const { sha256 } = this.#state;
    const next: PartialState = { ...(sha256 === undefined ? {} : { sha256 }), url, ...(etag === undefined ? {} : { etag }) };
    if (next.url === this.#state.url && next.etag === this.#state.etag) return;
    this.#state = next;
    await writeJson(this.#paths.state, next);
  }

  /** @throws AgentError `storage_full` */
  async append(chunk: Uint8Array): Promise<void> {
    try {
      for (let done = 0; done < chunk.length; ) {
        const { bytesWritten } = await this.#handle.write(chunk, done, chunk.length - done);
        this.#hasher.update(chunk.subarray(done, done + bytesWritten));
        this.#bytes += bytesWritten;
        done += bytesWritten;
      }
    } catch (error) {
      throw isStorageFull(error) ? storageFull(this.#paths.partial, error) : error;
    }
  }

  /** Throws all bytes away. */
  async restart(): Promise<void> {
    await this.#handle.truncate(0);
    this.#hasher = new Bun.CryptoHasher("sha256");
    this.#bytes = 0;
  }

  /** Puts everything on the disk, closes, and returns the SHA-256. */
  async finish(): Promise<string> {
    await this.#handle.sync();
    await this.close();
    return this.#hasher.digest("hex");
  }

  async close(): Promise<void> {
    if (this.#handle.fd >= 0) await this.#handle.close();
  }
}

/** Removes what a download left behind, but for the lock. */
export async function removePartial(paths: ModelPaths): Promise<void> {
  for (const path of [paths.partial, paths.state, paths.packagesDir]) await rm(path, { recursive: true, force: true });
}

export function storageFull(path: string, cause: unknown): AgentError {
  return new AgentError("storage_full", `no space left on the disk while writing ${path} (${messageOf(cause)}); free some and run the same command, it goes on from there`, { cause });
}

function isStorageFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT" || error.code === "EFBIG");
}
