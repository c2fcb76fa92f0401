// The fault server must do exactly the harm that it is asked for, and keep what it was sent.
import { describe, expect, test } from "bun:test";
import { refusedUrl, startFaultServer } from "../../support/fault-server.ts";

describe("fault server", () => {
  test("answers in order, the last one again, and keeps the requests", async () => {
    await using server = await startFaultServer([{ status: 503, body: { error: "busy" }, headers: { "retry-after": "1" } }, { html: "<p>no</p>" }]);
    const post = (): Promise<Response> => fetch(`${server.url}/v1/chat`, { method: "POST", body: JSON.stringify({ a: "é" }), headers: { "x-key": "k" } });
    const first = await post();
    expect([first.status, first.headers.get("retry-after"), await first.json()]).toEqual([503, "1", { error: "busy" }]);
    for (const _ of [1, 2]) {
      const next = await post();
      expect([next.status, next.headers.get("content-type"), await next.text()]).toEqual([200, "text/html", "<p>no</p>"]);
    }
    await server.received(3);
    expect(server.requests.map(({ method, path, headers, json }) => ({ method, path, key: headers["x-key"], json }))).toEqual([1, 2, 3].map(() => ({ method: "POST", path: "/v1/chat", key: "k", json: { a: "é" } })));
  });

  test("server-sent events, whole and cut inside an event", async () => {
    await using server = await startFaultServer([{ events: [{ text: "a" }, "[DONE]"], chunkBytes: 3 }, { events: [{ text: "a" }], cutAfterBytes: 10 }]);
    expect(await (await fetch(server.url)).text()).toBe('data: {"text":"a"}\n\ndata: [DONE]\n\n');
    const cut = await fetch(server.url);
    expect(await cut.text().catch((error: unknown) => String(error))).not.toContain("}");
  });

  test("a stall ends when the client leaves, and is seen", async () => {
    await using server = await startFaultServer([{ stall: true }]);
    const leave = new AbortController();
    const asked = fetch(server.url, { signal: leave.signal }).then(() => "answered", () => "left");
    await server.received(1);
    leave.abort();
    expect(await asked).toBe("left");
    expect(await server.requests[0]?.closed).toBe("client");
  });

  test("a reset and a refused connection fail at once", async () => {
    await using server = await startFaultServer([{ reset: true }]);
    const outcome = (url: string): Promise<string> => fetch(url).then(() => "answered", () => "failed");
    expect(await outcome(server.url)).toBe("failed");
    expect(await outcome(await refusedUrl())).toBe("failed");
  });
});
