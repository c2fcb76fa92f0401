// The one way to the llama library: unpacks it when it is inside the executable, makes sure that it runs on this machine,
// loads it. Must not be called before a model is needed: the first call on a machine takes a second.
import type { Llama } from "node-llama-cpp";
import { AgentError } from "../../core/error.ts";
import type { Log } from "../../core/runtime.ts";
import { nativeLibrary } from "../../embedded.ts";
import { loadLlama } from "./load.ts";
import { probeEngine } from "./probe.ts";
import { unpackLibrary } from "./unpack.ts";

export interface LibraryOptions {
  /** Folder for the unpacked library, `<stateDir>/engine`. */
  engineDir: string;
  /** Also gets what the native code says: warnings and errors as `warn`, the rest as `debug`. */
  log: Log;
  signal?: AbortSignal | undefined;
}

/**
 * Each call makes a binding of its own; its user disposes of it. `node-llama-cpp` must not be imported, except for types,
 * before this has resolved.
 * @throws AgentError `engine_unavailable`, `state_unusable`, `storage_full` or `aborted`
 */
export async function openLlamaLibrary({ engineDir, log, signal }: LibraryOptions): Promise<Llama> {
  // Run from source, the binding finds its files in node_modules and tests them itself.
  if (nativeLibrary === undefined) return loadLlama(undefined, log);
  const root = await unpackLibrary(nativeLibrary, engineDir, log);
  throwIfAborted(signal);
  await probeEngine({ engineDir, root, libraryId: nativeLibrary.id, log, signal });
  throwIfAborted(signal);
  return loadLlama(root, log);
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AgentError("aborted", "The engine's start was cancelled.");
}
