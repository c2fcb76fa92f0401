// Commands that need the configuration before they begin.
import { totalmem } from "node:os";
import { loadConfig } from "../config/load.ts";
import { configJsonSchema } from "../config/schema.ts";
import { AgentError } from "../core/error.ts";
import { runModels } from "./models.ts";
import type { ProcessIo } from "./process-io.ts";
import { schemaText } from "./schema.ts";

export async function runModelsCommand(argv: readonly string[], io: ProcessIo): Promise<number> {
  const { config, paths, warnings } = loadConfig({ env: io.env });
  for (const warning of warnings) io.warn(warning);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => stop.abort());
  const { customModels, download, managed } = config.localModels;
  return runModels(argv, {
    stdout: io.print,
    stderr: io.write,
    isTerminal: io.stderrIsTerminal,
    env: io.env,
    modelsDir: paths.models,
    download,
    customModels,
    modelId: managed.modelId,
    totalMemoryBytes: totalmem(),
    signal: stop.signal,
  });
}

export async function printSchema(argv: readonly string[], io: ProcessIo): Promise<number> {
  if (argv.length > 1) throw new AgentError("usage", `atomic schema takes one part at most, not ${argv.join(" ")}`);
  io.print(schemaText(argv[0], configJsonSchema));
  return 0;
}
