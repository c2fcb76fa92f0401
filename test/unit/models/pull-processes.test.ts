import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import type { ModelEntry } from "../../../src/models/catalog.ts";
import { startPull } from "../../support/pull-process.ts";
import { until } from "../../support/until.ts";
import { fakeWeights, serveWeights, sha256 } from "../../support/weights-server.ts";
import { makeWorkspace, type Workspace } from "../../support/workspace.ts";

setDefaultTimeout(60_000);

const mebibyte = 1024 * 1024;
const weights = fakeWeights(50 * mebibyte);
const fewWeights = fakeWeights(3 * mebibyte);
const tlsFolder = join(import.meta.dir, "../../support/tls");
const tls = { key: readFileSync(join(tlsFolder, "server.key"), "utf8"), cert: readFileSync(join(tlsFolder, "server.pem"), "utf8") };
const ca = join(tlsFolder, "ca.pem");

function entryOf(server: { url: string }, content = weights): ModelEntry {
  const sources = [{ kind: "url" as const, url: `${server.url}/m.gguf` }];
  return { name: "m", file: "m.gguf", bytes: content.length, sha256: sha256(content), verified: false, default: false, sources };
}

function expectInstalled(folder: Workspace, content = weights): void {
  expect(sha256(readFileSync(folder.at("models/m.gguf")))).toBe(sha256(content));
  expect(Object.keys(folder.snapshot()).toSorted()).toEqual(["models/.downloads/m.gguf.lock", "models/m.gguf", "models/m.gguf.manifest.json"]);
}

function partialBytes(folder: Workspace): number {
  return statSync(folder.at("models/.downloads/m.gguf.partial"), { throwIfNoEntry: false })?.size ?? 0;
}

describe("two pulls of one model at once", () => {
  test("one fetches, the other waits and says so; every byte is sent once", async () => {
    using folder = makeWorkspace();
    await using server = await serveWeights(weights, () => ({ gateAt: 20 * mebibyte }));
    const job = { entry: entryOf(server), modelsDir: folder.at("models"), connections: 4 };
    const first = startPull(job);
    await first.event("pull_started");
    const second = startPull(job);
    expect(await second.event("pull_waiting")).toMatchObject({ message: "another process is pulling m; waiting for it" });
    server.release();
    expect([await first.exited, await second.exited]).toEqual([0, 0]);
    expect(await first.event("pull_finished")).toMatchObject({ downloaded: true });
    expect(await second.event("pull_finished")).toMatchObject({ downloaded: false, sha256: sha256(weights) });
    expect(server.sentBytes()).toBe(weights.length);
    expectInstalled(folder);
  });

  for (const connections of [1, 4]) {
    test(`the waiting one goes on from the bytes there when the first is killed (${connections} connections)`, async () => {
      using folder = makeWorkspace();
      await using server = await serveWeights(weights, () => ({ gateAt: 30 * mebibyte }));
      const job = { entry: entryOf(server), modelsDir: folder.at("models"), connections };
      const first = startPull(job);
      await first.event("pull_started");
      const second = startPull(job);
      await second.event("pull_waiting");
      await until("the first has all bytes before the gate", () => partialBytes(folder) === 30 * mebibyte);
      await first.kill();
      server.release();
      expect(await second.exited).toBe(0);
      expect(await second.event("pull_started")).toMatchObject({ bytes: 30 * mebibyte });
      expect(server.sentBytes()).toBeLessThanOrEqual(1.1 * weights.length);
      expectInstalled(folder);
    });
  }
});

test("a run after kill -9 starts from the kept bytes", async () => {
  using folder = makeWorkspace();
  await using server = await serveWeights(weights, ({ index }) => (index < 40 ? { gateAt: 30 * mebibyte } : {}));
  const job = { entry: entryOf(server), modelsDir: folder.at("models") };
  const first = startPull(job);
  await until("60 % are there", () => partialBytes(folder) === 30 * mebibyte);
  await first.kill();
  server.release();
  const second = startPull(job);
  expect(await second.exited).toBe(0);
  expect(second.events[0]).toMatchObject({ type: "pull_started", bytes: 30 * mebibyte });
  expect(server.sentBytes()).toBeLessThanOrEqual(1.02 * weights.length);
  expectInstalled(folder);
});

test("a disk that takes no more is an error that says so, and the next run goes on", async () => {
  using folder = makeWorkspace();
  await using server = await serveWeights(weights);
  const job = { entry: entryOf(server), modelsDir: folder.at("models") };
  // No file may grow beyond 8 MiB: writes fail as they do on a full disk.
  const first = startPull(job, {}, ["/bin/sh", "-c", 'trap "" XFSZ; ulimit -f 16384; exec "$@"', "sh"]);
  expect(await first.exited).toBe(1);
  expect(await first.event("pull_failed")).toMatchObject({ code: "storage_full", message: expect.stringContaining("no space left on the disk") });
  const second = startPull(job);
  expect(await second.exited).toBe(0);
  expect(second.events[0]).toMatchObject({ bytes: 8 * mebibyte });
  expectInstalled(folder);
});

describe("HTTPS", () => {
  test("a certificate of nobody known is refused, with what to do", async () => {
    using folder = makeWorkspace();
    await using server = await serveWeights(fewWeights, undefined, tls);
    const refused = startPull({ entry: entryOf(server, fewWeights), modelsDir: folder.at("models") });
    expect(await refused.exited).toBe(1);
    expect(await refused.event("pull_failed")).toMatchObject({ code: "download_failed", message: expect.stringContaining("name its file in NODE_EXTRA_CA_CERTS") });
    expect(server.requests).toEqual([]);
  });

  for (const variable of ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"]) {
    test(`an authority of the user's own is trusted through ${variable}`, async () => {
      using folder = makeWorkspace();
      await using server = await serveWeights(fewWeights, undefined, tls);
      expect(await startPull({ entry: entryOf(server, fewWeights), modelsDir: folder.at("models") }, { [variable]: ca }).exited).toBe(0);
      expectInstalled(folder, fewWeights);
    });
  }

  test("goes through the proxy of HTTPS_PROXY, but not to the hosts of NO_PROXY", async () => {
    await using server = await serveWeights(fewWeights, undefined, tls);
    await using proxy = await startProxy();
    const env = { NODE_EXTRA_CA_CERTS: ca, HTTPS_PROXY: proxy.url };
    const target = new URL(server.url).host;
    using folder = makeWorkspace();
    expect(await startPull({ entry: entryOf(server, fewWeights), modelsDir: folder.at("models") }, env).exited).toBe(0);
    expect(new Set(proxy.targets)).toEqual(new Set([target]));
    const through = proxy.targets.length;
    using other = makeWorkspace();
    expect(await startPull({ entry: entryOf(server, fewWeights), modelsDir: other.at("models") }, { ...env, NO_PROXY: "localhost" }).exited).toBe(0);
    expect(proxy.targets).toHaveLength(through);
    expectInstalled(other, fewWeights);
  });
});

/** A proxy that tunnels (CONNECT) to loopback and keeps where to. */
async function startProxy(): Promise<AsyncDisposable & { url: string; targets: string[] }> {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    client.on("error", () => client.destroy());
    client.once("data", (head) => {
      const [, target = "", port = ""] = /^CONNECT (\S+:(\d+)) /.exec(head.toString("latin1")) ?? [];
      targets.push(target);
      const upstream = connect(Number(port), "127.0.0.1", () => {
        client.write("HTTP/1.1 200 Connection established\r\n\r\n");
        client.pipe(upstream).pipe(client);
      });
      sockets.add(upstream);
      upstream.on("error", () => client.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    targets,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
