// `atomic sidecar`: takes no arguments; everything is configuration (sidecar.md 1.1).
import { loadConfig, unknownSavedProvider } from "../config/load.ts";
import { AgentError } from "../core/error.ts";
import { version } from "../embedded.ts";
import { runSidecar } from "../modes/sidecar.ts";
import { watchProcess } from "../modes/signals.ts";
import { sandboxKind } from "../sandbox/sandbox.ts";
import type { ProcessIo } from "./process-io.ts";

/** @returns the exit status. @throws AgentError `usage`, `config_invalid`, `state_unusable` before the first frame */
export async function runSidecarCommand(argv: readonly string[], io: ProcessIo): Promise<number> {
  if (argv.length > 0) throw new AgentError("usage", `the sidecar takes no arguments, not ${argv.join(" ")}`);
  const watch = watchProcess();
  const loaded = loadConfig({ env: io.env });
  const { config, stateDir, warnings } = loaded;
  for (const warning of warnings) io.warn(warning);
  const fault = unknownSavedProvider(config);
  if (fault !== undefined) throw new AgentError("config_invalid", fault);
  const { localModels, tools } = config;
  const llamaUrl = localModels.mode === "external" ? localModels.url : `http://127.0.0.1:${localModels.managed.port}`;
  return runSidecar({
    input: Bun.stdin.stream(),
    output: io.stdoutDescriptor,
    llamaUrl,
    stateDir,
    agentVersion: version,
    sandbox: sandboxKind(tools.shell.sandbox),
    logLevel: config.log.level,
    loadParts: async (log) => (await import("./sidecar-parts.ts")).sidecarParts(loaded, io, llamaUrl, log),
    watch,
    warn: io.warn,
  });
}
