// Pulls a model in a process of its own that can be killed: as a script it runs one pull and prints its events.
import { z } from "zod";
import { AgentError } from "../../src/core/error.ts";
import type { ModelEntry } from "../../src/models/catalog.ts";
import { PullEvent } from "../../src/models/pull-event.ts";
import { type Pace, pullModel } from "../../src/models/pull.ts";

export interface PullJob {
  entry: ModelEntry;
  modelsDir: string;
  connections?: number;
  pace?: Partial<Pace>;
}

export interface PullProcess {
  /** Resolves with the first event of this type; rejects when the process ends without it. */
  event<Type extends PullEvent["type"]>(type: Type): Promise<Extract<PullEvent, { type: Type }>>;
  events: readonly PullEvent[];
  /** Exit status, after all events were read. */
  exited: Promise<number>;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
}

/** `wrapper` goes before the command, to run it under a limit. */
export function startPull(job: PullJob, env: Record<string, string | undefined> = {}, wrapper: readonly string[] = []): PullProcess {
  const child = Bun.spawn([...wrapper, process.execPath, import.meta.path, JSON.stringify(job)], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const events: PullEvent[] = [];
  let arrivals = Promise.withResolvers<void>();
  let ended = false;
  const reading = readEvents(child.stdout, (event) => {
    events.push(event);
    arrivals.resolve();
    arrivals = Promise.withResolvers();
  }).finally(() => {
    ended = true;
    arrivals.resolve();
  });
  return {
    events,
    exited: reading.then(() => child.exited),
    async event(type) {
      for (let next = 0; ; next++) {
        while (next >= events.length) {
          if (ended) throw new Error(`no ${type} among ${JSON.stringify(events)}`);
          await arrivals.promise;
        }
        const event = events[next];
        if (event && isOf(event, type)) return event;
      }
    },
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

function isOf<Type extends PullEvent["type"]>(event: PullEvent, type: Type): event is Extract<PullEvent, { type: Type }> {
  return event.type === type;
}

async function readEvents(stream: ReadableStream<Uint8Array>, onEvent: (event: PullEvent) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onEvent(PullEvent.parse(JSON.parse(line)));
  }
}

if (import.meta.main) {
  const job: PullJob = z.custom<PullJob>().parse(JSON.parse(process.argv[2] ?? ""));
  const onEvent = (event: PullEvent): void => void process.stdout.write(`${JSON.stringify(event)}\n`);
  const download = { hfEndpoint: "http://127.0.0.1:9", connections: job.connections ?? 1 };
  try {
    await pullModel(job.entry, { modelsDir: job.modelsDir, download, env: process.env, signal: new AbortController().signal, onEvent, ...(job.pace ? { pace: job.pace } : {}) });
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    onEvent({ type: "pull_failed", model: job.entry.name, code: error.code, message: error.message });
    process.exitCode = 1;
  }
}
