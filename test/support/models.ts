// Where tests find real weights. A missing model is an error that says how to get it, never a skipped test.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { defaultConfig } from "../../src/config/schema.ts";
import { stateDirOf, statePaths } from "../../src/config/paths.ts";
import { findEntry, loadCatalog, type ModelEntry } from "../../src/models/catalog.ts";
import { pullModel } from "../../src/models/pull.ts";

/** The folder of the weights: ATOMIC_TEST_MODELS, else the models folder of the state directory. */
export function modelsFolder(): string {
  return process.env["ATOMIC_TEST_MODELS"] || statePaths(stateDirOf(process.env)).models;
}

/** The file of a model of the catalogue: `<name>.gguf` or under its own name. @throws when it is not there. */
export function modelPath(name: string): string {
  const entry = entryOf(name);
  const found = candidates(entry).find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new Error(`this test needs ${candidates(entry).join(" or ")}: run \`atomic models pull ${name}\`, or set ATOMIC_TEST_MODELS to a folder that has it`);
}

/** As modelPath, but fetches what is missing with the product's own code. */
export async function ensureModel(name: string): Promise<string> {
  const entry = entryOf(name);
  const found = candidates(entry).find((path) => existsSync(path));
  if (found !== undefined) return found;
  const { path } = await pullModel(entry, {
    modelsDir: modelsFolder(),
    download: defaultConfig().localModels.download,
    env: process.env,
    signal: new AbortController().signal,
    onEvent(event) {
      if (event.type === "pull_waiting" || event.type === "source_failed") process.stderr.write(`${name}: ${event.message}\n`);
    },
  });
  return path;
}

function entryOf(name: string): ModelEntry {
  const entry = findEntry(loadCatalog(), name);
  if (!entry) throw new Error(`the catalogue has no model ${name}`);
  return entry;
}

function candidates(entry: ModelEntry): string[] {
  return [`${entry.name}.gguf`, entry.file].map((file) => join(modelsFolder(), file));
}
