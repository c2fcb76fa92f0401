import { describe, expect, test } from "bun:test";
import type { PullEvent } from "../../../src/models/pull-event.ts";
import { entryOf, expectInstalled, failureOf, pull, rangeBytesMax, weights, withServer } from "../../support/pull-here.ts";
import { ggufBytes, modelParts } from "../../support/gguf.ts";
import { serveWeights, sha256 } from "../../support/weights-server.ts";
import { makeWorkspace } from "../../support/workspace.ts";

describe("bytes that are not the model", () => {
  test("are never installed: both hashes are named, and the next try starts clean", () => {
    let first = true;
    return withServer(() => (first ? { flipAt: 100_000, etag: '"same"' } : { etag: '"same"' }), async (server, folder) => {
      const failure = failureOf(await pull(entryOf(server), folder));
      const wrong = weights.slice();
      wrong[100_000] = (wrong[100_000] ?? 0) ^ 0xff;
      expect(failure.code).toBe("download_failed");
      expect(failure.message).toContain(`SHA-256 is ${sha256(wrong)}, expected ${sha256(weights)}`);
      expect(Object.keys(folder.snapshot())).toEqual(["models/.downloads/m.gguf.lock"]);
      first = false;
      const { events } = await pull(entryOf(server), folder);
      expect(events[0]).toMatchObject({ type: "pull_started", bytes: 0 });
      expectInstalled(folder);
    });
  });

  test("from an earlier version of the catalogue are thrown away", () => {
    let broken = true;
    return withServer(({ index }) => (broken && index > 0 ? { status: 404 } : {}), async (server, folder) => {
      await pull(entryOf(server, { sha256: "0".repeat(64) }), folder, { connections: 1 });
      broken = false;
      const { events } = await pull(entryOf(server), folder);
      expect(events[0]).toMatchObject({ type: "pull_started", bytes: 0 });
      expectInstalled(folder);
    });
  });

  test("without a known hash or a tag of the server are not mixed with what comes later", () => {
    let broken = true;
    return withServer(({ index }) => (broken && index > 0 ? { status: 404 } : { etag: null }), async (server, folder) => {
      const { sha256: _hash, ...entry } = entryOf(server);
      await pull(entry, folder, { connections: 1 });
      broken = false;
      const second = await pull(entry, folder);
      expect(second.events[0]).toMatchObject({ type: "pull_started", bytes: 0 });
      // It came whole, but noise behind the magic number is no model.
      expect(failureOf(second).code).toBe("model_invalid");
      expect(Object.keys(folder.snapshot())).toEqual(["models/.downloads/m.gguf.lock"]);
    });
  });
});

describe("bytes kept of a file whose size and hash nobody told", () => {
  const model = ggufBytes(modelParts());
  const etag = `"${sha256(model).slice(0, 16)}"`;
  const cases: [string, Uint8Array, string, number][] = [
    ["all of them: nothing is left to fetch", model, etag, 0],
    ["some of them: the rest is fetched", model.subarray(0, 100), etag, model.length - 100],
    ["more than there are: all is fetched again", Buffer.concat([model, model]), etag, model.length],
    ["of another version: all is fetched again", new Uint8Array(model.length - 5), '"other"', model.length],
  ];
  for (const [title, kept, keptTag, sent] of cases) {
    test(title, async () => {
      using folder = makeWorkspace();
      await using server = await serveWeights(model);
      const entry = { name: "m", file: "m.gguf", verified: false, default: false, sources: [{ kind: "url" as const, url: `${server.url}/m.gguf` }] };
      folder.write({ "models/.downloads/m.gguf.partial": kept, "models/.downloads/m.gguf.state.json": JSON.stringify({ url: `${server.url}/m.gguf`, etag: keptTag }) });
      expect((await pull(entry, folder)).result).toMatchObject({ sha256: sha256(model), downloaded: true });
      expect(server.sentBytes()).toBe(sent);
    });
  }

  test("are thrown away when their note is cut off", async () => {
    using folder = makeWorkspace();
    await using server = await serveWeights(weights);
    folder.write({ "models/.downloads/m.gguf.partial": new Uint8Array(500), "models/.downloads/m.gguf.state.json": '{"sha2' });
    await pull(entryOf(server), folder);
    expectInstalled(folder);
  });
});

describe("space and signals", () => {
  test("too little space is said before the first byte, with need and have", () =>
    withServer(() => ({}), async (server, folder) => {
      const failure = failureOf(await pull(entryOf(server), folder, { freeBytes: async () => 10 * 2 ** 20 }));
      expect(failure.code).toBe("storage_full");
      expect(failure.message).toBe(`m needs 64 MiB free in ${folder.at("models")}, there are 10 MiB; free some and run the same command`);
      expect(server.sentBytes()).toBeLessThanOrEqual(rangeBytesMax);
    }));

  test("an abort ends it at once and keeps the bytes", () =>
    withServer(() => ({ gateAt: 300_000 }), async (server, folder) => {
      const stop = new AbortController();
      const onEvent = (event: PullEvent): void => {
        if (event.type === "pull_progressed") stop.abort();
      };
      expect(failureOf(await pull(entryOf(server), folder, { signal: stop.signal, onEvent })).code).toBe("aborted");
      server.release();
      const { events } = await pull(entryOf(server), folder);
      expect(events[0]?.type === "pull_started" ? events[0].bytes : 0).toBeGreaterThan(0);
      expectInstalled(folder);
    }));

  test("a user's own file is not pulled", async () => {
    using folder = makeWorkspace();
    const { result } = await pull(entryOf({ url: "http://127.0.0.1:9" }, { path: "/x/m.gguf", sources: [] }), folder);
    expect(result).toMatchObject({ code: "usage" });
  });

  test("a models folder that can't be made is an error that names it", async () => {
    using folder = makeWorkspace({ models: "a file" });
    const { result } = await pull(entryOf({ url: "http://127.0.0.1:9" }), folder);
    expect(result).toMatchObject({ code: "state_unusable", message: expect.stringContaining(folder.at("models")) });
  });
});
