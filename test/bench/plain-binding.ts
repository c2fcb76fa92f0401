// The reference of the engine's speed: the same weights through the binding's own `evaluate`, with nothing of ours around it.
// `bun test/bench/plain-binding.ts MODEL THREADS`; prints one JSON line on stdout.
import { getLlama, LlamaLogLevel } from "node-llama-cpp";
import { measurePieces, type SpeedJob, speedJob } from "./speed.ts";

const [modelPath = "", threads = "0"] = process.argv.slice(2);

const llama = await getLlama({ build: "never", skipDownload: true, progressLogs: false, logLevel: LlamaLogLevel.error, logger: (_, message) => void process.stderr.write(message), maxThreads: Number(threads) });
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({ contextSize: speedJob.contextSize, threads: Number(threads), batchSize: speedJob.contextSize });
process.stdout.write(`${JSON.stringify(await measurePieces(() => pieces(speedJob)))}\n`);
await llama.dispose();

async function* pieces(job: SpeedJob): AsyncGenerator<{ promptTokens: number } | { tokens: number }> {
  const sequence = context.getSequence();
  const tokens = model.tokenize(job.prompt);
  yield { promptTokens: tokens.length };
  let count = 0;
  for await (const _ of sequence.evaluate(tokens, { temperature: 0 })) {
    yield { tokens: 1 };
    if (++count >= job.outputTokens) break;
  }
  sequence.dispose();
}
