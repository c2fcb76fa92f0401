// The speed of the in-process engine, for comparison with plain-binding.ts: the same weights, prompt and number of tokens.
// `bun test/bench/engine.ts MODEL THREADS`; prints one JSON line on stdout.
import { createLlamaEngine } from "../../src/engines/llama/engine.ts";
import { openLlamaLibrary } from "../../src/engines/llama/library.ts";
import { makeWorkspace } from "../support/workspace.ts";
import { measurePieces, speedJob } from "./speed.ts";

const [modelPath = "", threads = "0"] = process.argv.slice(2);

const signal = new AbortController().signal;
using engines = makeWorkspace();
const engine = createLlamaEngine({
  modelPath,
  modelId: "bench",
  openLibrary: () => openLlamaLibrary({ engineDir: engines.path, log, signal }),
  threads: Number(threads),
  contextSize: speedJob.contextSize,
  gpuLayers: "auto",
  log,
});
await engine.open(signal, () => undefined);
process.stdout.write(`${JSON.stringify(await measurePieces(pieces))}\n`);
await engine.close();

/** Text pieces may hold several tokens: the count comes from the end's usage, less the first piece's one. */
async function* pieces(): AsyncGenerator<{ promptTokens: number } | { tokens: number }> {
  let outputTokens = 0;
  let pieceCount = 0;
  const chat = [{ role: "user" as const, text: speedJob.prompt }];
  for await (const event of engine.complete({ purpose: "step", chat, temperature: 0, maxTokens: speedJob.outputTokens, signal })) {
    if (event.type === "prompt_accepted") yield { promptTokens: event.promptTokens };
    if (event.type === "failed") throw new Error(event.failure.message);
    if (event.type === "ended") outputTokens = event.usage.output;
    if (event.type === "text") {
      pieceCount++;
      yield { tokens: 1 };
    }
  }
  if (pieceCount > 0 && outputTokens > pieceCount) yield { tokens: outputTokens - pieceCount };
}

function log(level: string, message: string): void {
  if (level === "warn" || level === "error") process.stderr.write(`${level}: ${message}\n`);
}
