// `atomic models`: what can be had, what is there, and how it gets there. Results go to stdout, everything else to
// stderr; with `--progress json` stdout holds one PullEvent a line.
import { homedir } from "node:os";
import { parseArgs } from "node:util";
import { AgentError, messageOf } from "../core/error.ts";
import { type Catalog, type CustomModel, defaultEntry, findEntry, loadCatalog, type ModelEntry, nearestNames } from "../models/catalog.ts";
import { defaultModel, removeModel, resolveModel, type Store, verifyModel } from "../models/store.ts";
import { formatBytes, pullPrinter } from "./models-progress.ts";
import { modelsTable } from "./models-table.ts";

export interface ModelsIo {
  stdout(text: string): void;
  stderr(text: string): void;
  /** Whether stderr is a terminal. */
  isTerminal: boolean;
  env: Readonly<Record<string, string | undefined>>;
  modelsDir: string;
  /** `localModels.download`. */
  download: { hfEndpoint: string; connections: number };
  /** `localModels.customModels`. */
  customModels?: readonly CustomModel[];
  /** `localModels.managed.modelId`. */
  modelId?: string | null;
  /** Memory that a model may use at most. */
  totalMemoryBytes: number;
  signal?: AbortSignal;
}

/** Runs one sub-command; returns the exit status: 0 done, 1 failed, 2 wrong use. Never throws an expected failure. */
export async function runModels(argv: readonly string[], io: ModelsIo): Promise<number> {
  const [verb, ...rest] = argv;
  if (verb === undefined || verb === "--help" || verb === "-h" || verb === "help" || rest.includes("--help") || rest.includes("-h")) {
    (verb === undefined ? io.stderr : io.stdout)(help);
    return verb === undefined ? 2 : 0;
  }
  try {
    const command = Object.hasOwn(commands, verb) ? commands[verb] : undefined;
    if (!command) throw usage(`there is no \`atomic models ${verb}\``);
    const parsed = parse(rest, command.options);
    if (parsed.positionals.length > command.argumentsMax) throw usage(`too many arguments: ${parsed.positionals.slice(command.argumentsMax).join(" ")}`);
    const store = { modelsDir: io.modelsDir, catalog: loadCatalog(io.customModels, homedir()) };
    return await command.run({ name: parsed.positionals[0], options: parsed.values, store, io });
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    io.stderr(`atomic models: ${error.message}\n`);
    return error.code === "usage" || error.code === "model_unknown" ? 2 : 1;
  }
}

interface Invocation {
  name: string | undefined;
  options: Record<string, string | boolean | undefined>;
  store: Store;
  io: ModelsIo;
}

interface Command {
  argumentsMax: number;
  options: Record<string, { type: "string" | "boolean" }>;
  run(invocation: Invocation): Promise<number>;
}

const commands: Record<string, Command> = {
  list: { argumentsMax: 0, options: {}, run: list },
  pull: { argumentsMax: 1, options: { progress: { type: "string" } }, run: pull },
  add: { argumentsMax: 1, options: { name: { type: "string" } }, run: add },
  path: { argumentsMax: 1, options: {}, run: path },
  verify: { argumentsMax: 1, options: {}, run: verify },
  rm: { argumentsMax: 1, options: {}, run: remove },
};

const help = `Usage: atomic models COMMAND

  list                 models that can be had by name, their size, and which are installed
  pull [NAME]          fetch a model (the default one without a name) and check it;
                       goes on where an earlier try was cut off
      --progress json  one JSON object a line on stdout instead of a progress bar
  add FILE             take a model from a disk or stick
      --name NAME      call it NAME
  path [NAME]          print where a model lies
  verify [NAME]        hash a model again and compare
  rm NAME              remove a model

Wherever a model is named, the path of a .gguf file works too.
Exit status: 0 done, 1 failed, 2 wrong use.
`;

async function list({ store, io }: Invocation): Promise<number> {
  io.stdout(await modelsTable(store, io.totalMemoryBytes));
  return 0;
}

async function pull({ name, options, store, io }: Invocation): Promise<number> {
  const { progress } = options;
  if (progress !== undefined && progress !== "json") throw usage(`--progress takes only "json", not ${JSON.stringify(progress)}`);
  const printer = pullPrinter(io, progress === "json");
  const label = name ?? defaultEntry(store.catalog).name;
  try {
    const entry = name === undefined ? defaultEntry(store.catalog) : pullable(name, store.catalog);
    const { pullModel } = await import("../models/pull.ts");
    const { modelsDir, download, env } = io;
    await pullModel(entry, { modelsDir, download, env, signal: io.signal ?? new AbortController().signal, onEvent: printer.onEvent });
    return 0;
  } catch (error) {
    const code = error instanceof AgentError ? error.code : "internal";
    printer.onEvent({ type: "pull_failed", model: label, code, message: messageOf(error) });
    throw error;
  }
}

async function add({ name: file, options, store, io }: Invocation): Promise<number> {
  if (file === undefined) throw usage("`atomic models add` needs the path of a .gguf file");
  const [{ addModel }, { readGguf }] = await Promise.all([import("../models/add.ts"), import("../models/gguf.ts")]);
  const name = options["name"];
  const added = await addModel(file, store, {
    check: (path) => void readGguf(path),
    ...(typeof name === "string" ? { name } : {}),
    ...(io.signal ? { signal: io.signal } : {}),
  });
  io.stderr(`installed ${added.name} (${formatBytes(added.bytes)}, ${added.known ? "the catalogue's file" : `SHA-256 ${added.sha256}, not in the catalogue`})\n`);
  io.stdout(`${added.path}\n`);
  return 0;
}

async function path({ name, store, io }: Invocation): Promise<number> {
  const model = name === undefined ? await defaultModel(io.modelId ?? null, store) : await resolveModel(name, store);
  io.stdout(`${model.path}\n`);
  return 0;
}

async function verify({ name, store, io }: Invocation): Promise<number> {
  const wanted = name ?? (await defaultModel(io.modelId ?? null, store)).path;
  const verdict = await verifyModel(wanted, store, io.signal);
  if (verdict.expected === verdict.sha256) {
    io.stdout(`${verdict.path}: good, SHA-256 ${verdict.sha256} is that of the ${verdict.from}\n`);
    return 0;
  }
  if (verdict.expected === undefined) {
    io.stdout(`${verdict.path}: SHA-256 ${verdict.sha256}, nothing is known to compare it with\n`);
    return 1;
  }
  io.stdout(`${verdict.path}: BAD, SHA-256 is ${verdict.sha256}, expected ${verdict.expected}; fetch it anew with: atomic models pull ${name ?? ""}\n`.replace(/ \n$/, "\n"));
  return 1;
}

async function remove({ name, store, io }: Invocation): Promise<number> {
  if (name === undefined) throw usage("`atomic models rm` needs the name of a model");
  const removed = await removeModel(name, store);
  io.stdout(`removed ${removed.path} (${formatBytes(removed.bytes)})\n`);
  return 0;
}

function pullable(name: string, catalog: Catalog): ModelEntry {
  const entry = findEntry(catalog, name);
  if (entry) return entry;
  const near = nearestNames(name, catalog.map((candidate) => candidate.name));
  const hint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : "`atomic models list` shows the names; for a file of your own: atomic models add FILE";
  throw new AgentError("model_unknown", `there is no model ${JSON.stringify(name)} to pull; ${hint}`);
}

function parse(args: string[], options: Command["options"]): { values: Invocation["options"]; positionals: string[] } {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true });
    return { values, positionals };
  } catch (error) {
    throw new AgentError("usage", `${messageOf(error)}; see \`atomic models --help\``, { cause: error });
  }
}

function usage(problem: string): AgentError {
  return new AgentError("usage", `${problem}; see \`atomic models --help\``);
}
