// Runs Bun with the given arguments: `node build/bun.mjs FILE ARGS`. Installs the packages first where they are missing.
import { ensurePackages, fail, findBun, runThrough } from "./setup.mjs";

try {
  ensurePackages();
  runThrough(findBun(), process.argv.slice(2));
} catch (error) {
  fail(error.message);
}
