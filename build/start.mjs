// `npm start -- ARGS`: runs the executable with ARGS where npm was called, after doing what is missing for it: packages,
// the build, and the default model when ARGS need a model and name none. stdout belongs to the executable alone.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { cleanEnvironment, ensurePackages, fail, findBun, rootDir, runThrough, say } from "./setup.mjs";
import { sourceHash } from "./source-hash.mjs";

const executable = join(rootDir, "dist", process.platform === "win32" ? "atomic.exe" : "atomic");

/** Sub-commands that run no model. */
const withoutModel = new Set(["config", "doctor", "help", "licenses", "models", "schema", "session", "sessions", "skill", "skills", "version"]);
/** Words that name a model, or ask for something that needs none. */
const ownChoice = /^(--(model|provider|help|version)(=.*)?|-[hmvV])$/;
/** Settings that choose what runs the model. */
const modelVariables = ["DEFAULT_MODEL", "DEFAULT_PROVIDER", "LLM_ACTIVE_TEXT_PROVIDER", "LOCAL_MODELS_MODE", "LOCAL_MODELS_MANAGED_MODEL_ID"];
const modelKeys = /"(defaultModel|defaultProvider|activeTextProvider|modelId|mode)"\s*:\s*"/;

try {
  const args = process.argv.slice(2);
  const cwd = process.env.INIT_CWD ?? process.cwd();
  ensurePackages();
  build();
  if (needsDefaultModel(args)) pullDefaultModel(cwd);
  runThrough(executable, args, { cwd });
} catch (error) {
  fail(error.message);
}

function build() {
  if (existsSync(executable) && builtFrom() === sourceHash(rootDir)) return;
  say("building (a few seconds)");
  const { status, error } = spawnSync(findBun(), [join(rootDir, "build/compile.ts")], { cwd: rootDir, env: cleanEnvironment(), stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error(`the build failed${error ? `: ${error.message}` : "; its messages are above"}`);
}

function builtFrom() {
  try {
    return JSON.parse(readFileSync(join(rootDir, "dist/build.json"), "utf8")).sourceHash;
  } catch {
    return undefined;
  }
}

function needsDefaultModel(args) {
  if (args.length === 0 || withoutModel.has(args[0]) || args[0].startsWith("__")) return false;
  if (args.some((arg) => ownChoice.test(arg))) return false;
  if (modelVariables.some((name) => process.env[`ATOMIC_AGENT_${name}`])) return false;
  const stateDir = process.env.ATOMIC_AGENT_STATE_DIR || join(homedir(), ".atomic-agent");
  const config = join(stateDir, "config.json");
  if (existsSync(config) && modelKeys.test(readFileSync(config, "utf8"))) return false;
  const { models } = JSON.parse(readFileSync(join(rootDir, "models/catalog.json"), "utf8"));
  return !existsSync(join(stateDir, "models", models.find((model) => model.default).file));
}

function pullDefaultModel(cwd) {
  say("fetching the default model (once); name another with --model");
  const { status, signal } = spawnSync(executable, ["models", "pull"], { cwd, env: cleanEnvironment(), stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error(`the default model could not be fetched (${signal ?? `status ${status}`}); try again, or name one with --model`);
}
