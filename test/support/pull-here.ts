// Pulls a small file of noise from a test server, in this process.
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { AgentError } from "../../src/core/error.ts";
import type { ModelEntry } from "../../src/models/catalog.ts";
import { PullEvent } from "../../src/models/pull-event.ts";
import { type PulledModel, pullModel, type PullOptions } from "../../src/models/pull.ts";
import { type Behaviour, fakeWeights, serveWeights, sha256, type WeightsRequest, type WeightsServer } from "./weights-server.ts";
import { makeWorkspace, type Workspace } from "./workspace.ts";

export const weights = fakeWeights(1_000_000);
export const rangeBytesMax = 100_000;

export function entryOf(server: { url: string }, change: Partial<ModelEntry> = {}): ModelEntry {
  const sources = [{ kind: "url" as const, url: `${server.url}/m.gguf` }];
  return { name: "m", file: "m.gguf", bytes: weights.length, sha256: sha256(weights), verified: false, default: false, sources, ...change };
}

export interface Pulled {
  result: PulledModel | AgentError;
  events: PullEvent[];
}

export async function pull(entry: ModelEntry, folder: Workspace, options: Partial<PullOptions> & { connections?: number } = {}): Promise<Pulled> {
  const events: PullEvent[] = [];
  const { connections = 4, pace, ...rest } = options;
  try {
    const result = await pullModel(entry, {
      modelsDir: folder.at("models"),
      download: { hfEndpoint: "http://127.0.0.1:9", connections },
      env: {},
      signal: new AbortController().signal,
      onEvent: (event) => events.push(PullEvent.parse(event)),
      pace: { rangeBytesMax, retryBaseMs: 1, contactMs: 5000, ...pace },
      ...rest,
    });
    return { result, events };
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    return { result: error, events };
  }
}

export function types(events: readonly PullEvent[]): string[] {
  return events.map(({ type }) => type).filter((type) => type !== "pull_progressed");
}

export function expectInstalled(folder: Workspace): void {
  expect(sha256(readFileSync(folder.at("models/m.gguf")))).toBe(sha256(weights));
  const paths = Object.keys(folder.snapshot()).toSorted();
  expect(paths).toEqual(["models/.downloads/m.gguf.lock", "models/m.gguf", "models/m.gguf.manifest.json"]);
}

export function failureOf({ result }: Pulled): AgentError {
  if (!(result instanceof AgentError)) throw new Error("the pull should have failed");
  return result;
}

export async function withServer(behave: (request: WeightsRequest) => Behaviour, body: (server: WeightsServer, folder: Workspace) => Promise<void>): Promise<void> {
  using folder = makeWorkspace();
  await using server = await serveWeights(weights, behave);
  await body(server, folder);
}
