// Starts llama.cpp's own HTTP server out of the Python package xllamacpp, on a free port. The package goes into
// test/.cache on first use, out of a folder of wheels (ATOMIC_TEST_WHEELS) or from the configured index.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "./atomic.ts";

/** The release that the answers in the tests were seen with. */
const requirement = "xllamacpp==2026.10.11549";
const packagesFolder = join(repositoryRoot, "test/.cache/xllamacpp");

const program = `
import json, os, sys, threading
from xllamacpp import CommonParams, Server
options = json.loads(sys.argv[1])
params = CommonParams()
params.model.path = options["model"]
params.port = 0
params.n_ctx = options["contextSize"]
params.n_parallel = options["slots"]
params.n_batch = options["batch"]
params.cpuparams.n_threads = options["threads"]
params.use_jinja = True
# Else the weights are read twice, once to see that they fit.
params.fit_params = False
if options.get("apiKey"):
    params.api_keys = [options["apiKey"]]
server = Server(params)
print("listening " + server.listening_address, flush=True)
sys.stdin.read()
os._exit(0)
`;

export interface LlamaServerOptions {
  /** Absolute path of the weights. */
  model: string;
  /** Tokens of all slots together. */
  contextSize?: number;
  slots?: number;
  /** Tokens of one batch: an abort acts between two. */
  batch?: number;
  apiKey?: string;
}

export interface LlamaServer extends AsyncDisposable {
  url: string;
}

export async function startLlamaServer({ apiKey, batch = 128, contextSize = 2048, model, slots = 1 }: LlamaServerOptions): Promise<LlamaServer> {
  installLlamaServer();
  const options = JSON.stringify({ model, contextSize, slots, batch, threads: 2, apiKey });
  const child = Bun.spawn(["python3", "-c", program, options], {
    // Its end tells the server to end, also when this process dies.
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, PYTHONPATH: packagesFolder },
  });
  const log = new Response(child.stderr).text();
  const url = await listeningUrl(child.stdout);
  if (url === undefined) throw new Error(`the llama-server did not start: ${(await log).slice(-2000)}`);
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      await child.stdin.end();
      child.kill();
      await child.exited;
    },
  };
}

async function listeningUrl(stdout: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of stdout) {
    text += decoder.decode(piece, { stream: true });
    const [, url] = /listening (http:\S+)\s/.exec(text) ?? [];
    if (url !== undefined) return url;
  }
  return undefined;
}

/** Puts the package into test/.cache unless it is there. @throws when pip can't get it. */
export function installLlamaServer(): void {
  if (existsSync(join(packagesFolder, "xllamacpp"))) return;
  const unfinished = `${packagesFolder}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  const wheels = process.env["ATOMIC_TEST_WHEELS"];
  const source = wheels ? ["--no-index", "--find-links", wheels] : [];
  const pip = Bun.spawnSync(["python3", "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", ...source, "--target", unfinished, requirement]);
  if (pip.exitCode !== 0) throw new Error(`${requirement} can't be installed: ${pip.stderr.toString().slice(-2000)}`);
  try {
    renameSync(unfinished, packagesFolder);
  } catch (error) {
    // Another process was faster.
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(join(packagesFolder, "xllamacpp"))) throw error;
  }
}
