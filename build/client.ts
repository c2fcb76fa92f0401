// Makes the library for hosts: `node build/bun.mjs build/client.ts`. dist/client gets JavaScript that Node runs and the types
// beside it; zod is left to the package's dependencies. Bun reads the sources themselves.
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { say } from "./setup.mjs";

const rootDir = resolve(import.meta.dir, "..");

/** Name of each file in dist/client (see `exports` in package.json) and what it is made from. */
const entries = { sidecar: "client/index.ts", protocol: "wire/index.ts", "sidecar-events": "sidecar/sidecar-events.ts" };

/** Builds into a folder, in place of what was there. @throws Error that says what does not bundle or has no types. */
export async function buildClient(outDir = join(rootDir, "dist/client")): Promise<void> {
  const scratchDir = `${outDir}.${process.pid}`;
  mkdirSync(scratchDir, { recursive: true });
  try {
    for (const [name, entry] of Object.entries(entries)) {
      await Bun.build({ entrypoints: [join(rootDir, "src", entry)], outdir: scratchDir, naming: `${name}.js`, target: "node", format: "esm", external: ["zod"] });
    }
    writeTypes(join(scratchDir, "types"));
    rmSync(outDir, { recursive: true, force: true });
    renameSync(scratchDir, outDir);
  } finally {
    rmSync(scratchDir, { recursive: true, force: true });
  }
}

function writeTypes(outDir: string): void {
  const sources = Object.values(entries).map((entry) => join(rootDir, "src", entry));
  const options = ["--ignoreConfig", "--declaration", "--emitDeclarationOnly", "--rootDir", join(rootDir, "src"), "--outDir", outDir];
  const shared = ["--target", "esnext", "--lib", "esnext", "--module", "nodenext", "--types", "node", "--strict", "--skipLibCheck", "--allowImportingTsExtensions", "--exactOptionalPropertyTypes"];
  const run = Bun.spawnSync([process.execPath, join(rootDir, "node_modules/typescript/bin/tsc"), ...options, ...shared, ...sources], { cwd: rootDir });
  if (run.exitCode !== 0) throw new Error(`no types for the client: ${run.stdout.toString()}${run.stderr.toString()}`);
}

if (import.meta.main) {
  try {
    await buildClient();
    say(`built ${join(rootDir, "dist/client")}`);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
