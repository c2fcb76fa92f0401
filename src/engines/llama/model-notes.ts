// What was found out about a model, in small files beside its prompt states; named by the weights, so that others begin anew.
// Must not fail: what can't be kept is found out again.
import { statSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelTraits } from "../../core/engine.ts";

export function modelNotes(directory: string, modelPath: string): NonNullable<ModelTraits["notes"]> {
  const pathOf = (name: string): string => {
    const { mtimeMs, size } = statSync(modelPath);
    return join(directory, `${new Bun.CryptoHasher("sha256").update(JSON.stringify([size, mtimeMs])).digest("hex").slice(0, 32)}.${name}`);
  };
  return {
    read: (name) => attempt(async () => readFile(pathOf(name), "utf8")),
    write: (name, text) =>
      attempt(async () => {
        const path = pathOf(name);
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await writeFile(`${path}.${process.pid}.part`, text, { mode: 0o600 });
        await rename(`${path}.${process.pid}.part`, path);
      }),
  };
}

async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch {
    return undefined;
  }
}
