// Loads the llama library into this process, wherever its files are. Must not be called before they are unpacked and
// known to run here (library.ts does both): native code that doesn't fit the machine ends the process.
import { join } from "node:path";
import type { Llama, LlamaLogLevel } from "node-llama-cpp";
import { AgentError, messageOf } from "../../core/error.ts";
import type { Log } from "../../core/runtime.ts";
import { libraryRoot, nativeLibrary } from "../../embedded.ts";

/** Ends every message that tells of a library which can't be used. */
export const useServerInstead = 'Or let a llama-server run the model: set localModels.mode to "external" and localModels.url to its address.';

/**
 * @param root folder from `unpackLibrary`; undefined when run from source, where the binding finds its own files
 * @throws AgentError `engine_unavailable` when there is no library for this machine or it can't be loaded
 */
export async function loadLlama(root: string | undefined, log: Log): Promise<Llama> {
  // The binding takes a process with this variable for its own test process.
  delete process.env["TEST_BINDING_CP"];
  if (root !== undefined) libraryRoot.path = root;
  const { getLlama, NoBinaryFoundError } = await import("node-llama-cpp");
  try {
    return await getLlama({
      gpu: gpuOf(),
      build: "never",
      skipDownload: true,
      usePrebuiltBinaries: true,
      progressLogs: false,
      debug: false,
      logLevel: "debug" as LlamaLogLevel,
      logger: (level, message) => logNative(log, level, message),
    });
  } catch (error) {
    const reason = error instanceof NoBinaryFoundError ? reasonOf(root) : messageOf(error);
    throw new AgentError("engine_unavailable", `The llama library can't be loaded: ${reason}. ${useServerInstead}`, { cause: error });
  }
}

function gpuOf(): "metal" | false {
  if (nativeLibrary !== undefined) return nativeLibrary.gpu;
  return process.platform === "darwin" && process.arch === "arm64" ? "metal" : false;
}

/** The binding doesn't say why it found nothing; the dynamic loader does. */
function reasonOf(root: string | undefined): string {
  const machine = `${process.platform}-${process.arch}`;
  if (root === undefined || nativeLibrary === undefined) return `node_modules/@node-llama-cpp has no package for ${machine}`;
  const path = join(root, "bins", nativeLibrary.folder, "llama-addon.node");
  try {
    process.dlopen({ exports: {} }, path);
    return `${path} loads, but not as ${nativeLibrary.folder}, which this executable was built for (this machine is ${machine})`;
  } catch (error) {
    return messageOf(error);
  }
}

function logNative(log: Log, level: LlamaLogLevel, message: string): void {
  const text = message.trimEnd();
  if (text !== "") log(["fatal", "error"].includes(level) ? "warn" : "debug", text, { from: "llama" });
}
