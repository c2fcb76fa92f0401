// `atomic doctor`: what this machine offers, and whether the parts of the program work on it. Loads the engine, no model.
import { homedir } from "node:os";
import { loadConfig } from "../config/load.ts";
import { AgentError, messageOf } from "../core/error.ts";
import { version } from "../embedded.ts";
import { loadCatalog } from "../models/catalog.ts";
import { fitThreads } from "../models/fit.ts";
import { readMachine } from "../models/machine.ts";
import { defaultModel } from "../models/store.ts";
import { sandboxKind } from "../sandbox/sandbox.ts";
import type { ProcessIo } from "./process-io.ts";

interface Finding {
  label: string;
  text: string;
  ok: boolean;
}

/** @returns 0 when everything works, 1 when something that a job needs doesn't */
export async function runDoctor(argv: readonly string[], io: ProcessIo): Promise<number> {
  if (argv.length > 0) throw new AgentError("usage", `atomic doctor takes no arguments, not ${argv.join(" ")}`);
  const loaded = loadConfig({ env: io.env });
  const { config, paths, stateDir } = loaded;
  const machine = readMachine();
  const findings: Finding[] = [
    { label: "atomic", text: `${version} (Bun ${Bun.version}, ${process.platform}-${process.arch})`, ok: true },
    { label: "state", text: stateDir, ok: true },
    { label: "config", text: loaded.warnings.length === 0 ? paths.config : loaded.warnings.join("; "), ok: true },
    { label: "threads", text: String(fitThreads(config.localModels.managed.threads, machine)), ok: true },
    { label: "memory", text: `${Math.floor(machine.memoryBytes / 2 ** 20)} MiB available`, ok: true },
    sandboxFinding(sandboxKind(config.tools.shell.sandbox)),
    await check("engine", () => engineText(paths.engine)),
    await check("model", async () => {
      const store = { modelsDir: paths.models, catalog: loadCatalog(config.localModels.customModels, homedir()) };
      const { id, path } = await defaultModel(config.localModels.managed.modelId, store);
      return `${id} (${path})`;
    }),
  ];
  const width = Math.max(...findings.map(({ label }) => label.length));
  io.print(findings.map(({ label, ok, text }) => `${ok ? "ok  " : "FAIL"} ${label.padEnd(width)}  ${text}\n`).join(""));
  return findings.every(({ ok }) => ok) ? 0 : 1;
}

function sandboxFinding(kind: ReturnType<typeof sandboxKind>): Finding {
  const text = { landlock: "Landlock", seatbelt: "Seatbelt", none: "none on this system: commands need approval level 5", off: "off (tools.shell.sandbox)" }[kind];
  return { label: "sandbox", text, ok: true };
}

async function engineText(engineDir: string): Promise<string> {
  const { openLlamaLibrary } = await import("../engines/llama/library.ts");
  const llama = await openLlamaLibrary({ engineDir, log: () => {} });
  const text = `llama.cpp ${llama.llamaCppRelease.release}, ${llama.gpu === false ? "CPU" : llama.gpu}`;
  await llama.dispose();
  return text;
}

async function check(label: string, find: () => Promise<string>): Promise<Finding> {
  try {
    return { label, text: await find(), ok: true };
  } catch (error) {
    return { label, text: messageOf(error), ok: false };
  }
}
