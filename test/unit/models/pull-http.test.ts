import { describe, expect, test } from "bun:test";
import { statSync, utimesSync } from "node:fs";
import { refusedUrl } from "../../support/fault-server.ts";
import { entryOf, expectInstalled, failureOf, pull, rangeBytesMax, types, weights, withServer } from "../../support/pull-here.ts";
import { until } from "../../support/until.ts";
import { type Behaviour, fakeWeights, serveWeights, sha256, type WeightsRequest } from "../../support/weights-server.ts";

describe("a good server", () => {
  for (const connections of [1, 4, 16]) {
    test(`delivers every byte once with ${connections} connections`, () =>
      withServer(() => ({}), async (server, folder) => {
        const { result, events } = await pull(entryOf(server), folder, { connections });
        expect(result).toEqual({ path: folder.at("models/m.gguf"), bytes: weights.length, sha256: sha256(weights), downloaded: true });
        expect(types(events)).toEqual(["pull_started", "pull_finished"]);
        expectInstalled(folder);
        expect(server.sentBytes()).toBe(weights.length);
        expect(server.requests).toHaveLength(10);
        if (process.platform !== "win32") expect(statSync(folder.at("models/m.gguf")).mode & 0o777).toBe(0o644);
      }));
  }

  test("is not asked again for what is installed", () =>
    withServer(() => ({}), async (server, folder) => {
      await pull(entryOf(server), folder);
      const before = server.requests.length;
      const { result, events } = await pull(entryOf(server), folder);
      expect(result).toMatchObject({ downloaded: false });
      expect(types(events)).toEqual(["pull_finished"]);
      expect(server.requests).toHaveLength(before);
    }));

  test("replaces an installed file that was changed since", () =>
    withServer(() => ({}), async (server, folder) => {
      await pull(entryOf(server), folder);
      const bad = weights.slice();
      bad[500_000] = 1 ^ (bad[500_000] ?? 0);
      folder.write({ "models/m.gguf": bad });
      utimesSync(folder.at("models/m.gguf"), 1, 1);
      expect((await pull(entryOf(server), folder)).result).toMatchObject({ downloaded: true });
      expectInstalled(folder);
    }));

  test("is followed through a redirect, also when the address that it led to expires", () => {
    let expired = false;
    const behave = ({ path, index }: WeightsRequest): Behaviour => {
      if (path === "/m.gguf") return { status: 302, headers: { location: `/signed-${index}` } };
      if (index === 5) expired = true;
      return expired && path === "/signed-0" ? { status: 403 } : {};
    };
    return withServer(behave, async (server, folder) => {
      const { result } = await pull(entryOf(server), folder, { connections: 1 });
      expect(result).toMatchObject({ downloaded: true });
      expectInstalled(folder);
      expect(server.requests.filter(({ path }) => path === "/m.gguf")).toHaveLength(2);
    });
  });

  test("may ignore ranges", () =>
    withServer(() => ({ ignoreRange: true }), async (server, folder) => {
      await pull(entryOf(server), folder);
      expectInstalled(folder);
      expect(server.requests).toHaveLength(1);
    }));
});

describe("a connection that breaks", () => {
  test("is taken up where it was cut, by a try of the same run", () =>
    withServer(({ index }) => (index === 3 ? { gateAt: 350_000, cutAfterBytes: 50_001 } : {}), async (server, folder) => {
      const pulling = pull(entryOf(server), folder, { connections: 1 });
      await until("all bytes before the cut are kept", () => sizeOf(folder.at("models/.downloads/m.gguf.partial")) === 350_000);
      server.release();
      expect(types((await pulling).events)).toEqual(["pull_started", "source_retried", "pull_finished"]);
      expectInstalled(folder);
      // The byte that came together with the cut may be lost.
      expect(server.requests[4]?.range).toBeOneOf(["bytes=350000-449999", "bytes=350001-450000"]);
    }));

  test("in a range that runs ahead loses nothing before it", () =>
    withServer(({ index }) => (index === 3 ? { cutAfterBytes: 50_000 } : {}), async (server, folder) => {
      await pull(entryOf(server), folder, { connections: 4 });
      expectInstalled(folder);
      expect(server.sentBytes()).toBeLessThanOrEqual(weights.length + 4 * rangeBytesMax);
    }));

  test("is taken up by a later run when the tries are used up", () => {
    let broken = true;
    return withServer(({ index }) => (broken && index >= 5 ? { cutAfterBytes: 0 } : {}), async (server, folder) => {
      const failed = await pull(entryOf(server), folder, { connections: 1 });
      expect(failureOf(failed).code).toBe("download_failed");
      expect(types(failed.events).filter((type) => type === "source_retried")).toHaveLength(5);
      broken = false;
      const { events } = await pull(entryOf(server), folder);
      expect(events[0]).toMatchObject({ type: "pull_started", bytes: 500_000 });
      expectInstalled(folder);
      expect(server.sentBytes()).toBe(weights.length);
    });
  });

  test("starts over when the server then ignores the range", () =>
    withServer(({ index }) => (index === 0 ? { cutAfterBytes: 70_000 } : { ignoreRange: true }), async (server, folder) => {
      await pull(entryOf(server), folder);
      expectInstalled(folder);
    }));

  test("starts over when the server's file changed meanwhile", () => {
    const other = fakeWeights(weights.length, 7);
    return withServer(({ index }) => (index < 3 ? { content: other } : index === 3 ? { content: other, cutAfterBytes: 10 } : {}), async (server, folder) => {
      await pull(entryOf(server), folder, { connections: 1 });
      expectInstalled(folder);
      expect(server.requests[4]?.ifRange).toBe(`"${sha256(other).slice(0, 16)}"`);
    });
  });

  test("or stands still is tried again", () =>
    withServer(({ index }) => (index === 2 ? { stallAfterBytes: 10_000 } : {}), async (server, folder) => {
      const { events } = await pull(entryOf(server), folder, { connections: 1, pace: { stallMs: 200 } });
      expect(events.find(({ type }) => type === "source_retried")).toMatchObject({ message: "no byte came for 0.2 s" });
      expectInstalled(folder);
    }));

  test("is waited for as long as the server asks, and busy servers are tried again", () =>
    withServer(({ index }) => (index === 0 ? { status: 503, headers: { "retry-after": "0" } } : index === 1 ? { status: 429 } : {}), async (server, folder) => {
      const { events } = await pull(entryOf(server), folder);
      expect(types(events)).toEqual(["pull_started", "source_retried", "source_retried", "pull_finished"]);
      expectInstalled(folder);
    }));
});

describe("a server that can't deliver is given up at once, with its reason", () => {
  const bad = new TextEncoder().encode("x".repeat(weights.length));
  const cases: [string, Behaviour, string][] = [
    ["no such file", { status: 404 }, "the server answers 404"],
    ["a web page", { body: "<html>Please log in</html>", headers: { "content-type": "text/html; charset=utf-8" } }, "a web page instead of the file"],
    ["a page that says that it is a file", { content: bad }, 'not a GGUF file (it starts with "xxxxxxxxxxxxxxxx")'],
    ["another size", { content: weights.subarray(0, 999) }, "the server's file has 999 bytes, expected 1000000"],
    ["another range", { status: 206, headers: { "content-range": "bytes 5-9/1000000" }, body: "GGUF!" }, "another range than the one asked for (bytes 5-9/1000000)"],
  ];
  for (const [title, behaviour, reason] of cases) {
    test(title, () =>
      withServer(() => behaviour, async (server, folder) => {
        const failure = failureOf(await pull(entryOf(server), folder, { connections: 1 }));
        expect(failure.code).toBe("download_failed");
        expect(failure.message).toContain(reason);
        expect(failure.message).toContain("atomic models add FILE");
        expect(server.requests).toHaveLength(1);
        expect(Object.keys(folder.snapshot())).not.toContain("models/m.gguf");
      }));
  }

  test("for the next source: nobody listens at the first, the second silent one is given up in time", () =>
    withServer(() => ({}), async (server, folder) => {
      await using silent = await serveWeights(weights, () => ({ wait: new Promise<void>(() => {}) }));
      const urls = [await refusedUrl(), silent.url, server.url].map((url) => ({ kind: "url" as const, url: `${url}/m.gguf` }));
      const { events } = await pull(entryOf(server, { sources: urls }), folder, { pace: { contactMs: 300 } });
      expect(types(events)).toEqual(["pull_started", "source_failed", "pull_started", "source_failed", "pull_started", "pull_finished"]);
      expect(events.filter(({ type }) => type === "source_failed")[1]).toMatchObject({ message: "no answer within 0.3 s" });
      expectInstalled(folder);
    }));

  test("and the next source goes on from its bytes", () =>
    withServer(() => ({}), async (server, folder) => {
      await using dying = await serveWeights(weights, ({ index }) => (index >= 4 ? { status: 404 } : {}));
      const urls = [dying.url, server.url].map((url) => ({ kind: "url" as const, url: `${url}/m.gguf` }));
      await pull(entryOf(server, { sources: urls }), folder, { connections: 1 });
      expectInstalled(folder);
      expect(server.sentBytes()).toBe(600_000);
    }));
});

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
