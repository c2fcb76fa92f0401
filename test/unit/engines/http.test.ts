// Requests to a server that refuses, stalls, cuts, redirects, says HTML or any status: kind, category, wait, secrets.
import { describe, expect, test } from "bun:test";
import { EngineError, openAnswer, requestJson, shownUrl, type HttpRequest, type HttpServer } from "../../../src/engines/http.ts";
import { retryAfterMsOf } from "../../../src/engines/http-failure.ts";
import { refusedUrl, startFaultServer, type Answer } from "../../support/fault-server.ts";

const secret = "sk-3c9a77f1e2";

function request(more: Partial<HttpRequest> = {}): HttpRequest {
  return { path: "/x", signal: new AbortController().signal, silenceMs: () => 5000, ...more };
}

async function failureOf(server: HttpServer, sent: HttpRequest = request()): Promise<EngineError> {
  try {
    await requestJson(server, sent);
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
  throw new Error("the request did not fail");
}

async function failureAgainst(answer: Answer, { local = true, sent = request() }: { local?: boolean; sent?: HttpRequest } = {}): Promise<EngineError> {
  await using server = await startFaultServer([answer]);
  return await failureOf({ url: server.url, local, apiKey: secret }, sent);
}

const overflowTexts = {
  OpenAI: { error: { message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", type: "invalid_request_error", code: "context_length_exceeded" } },
  vLLM: { object: "error", message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).", type: "BadRequestError", code: 400 },
  "llama-server": { error: { code: 400, message: "request (5001 tokens) exceeds the available context size (2048 tokens), try increasing it", type: "exceed_context_size_error", n_prompt_tokens: 5001, n_ctx: 2048 } },
  "LM Studio": { error: "Trying to keep the first 6000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough." },
  Ollama: { error: "the input length exceeds the context length" },
  Groq: { error: { message: "Please reduce the length of the messages or completion.", code: "context_length_exceeded" } },
};

describe("what a status means", () => {
  const cases: { name: string; answer: Answer; kind: string; category: string; retryable?: boolean }[] = [
    { name: "400", answer: { status: 400, body: { error: { message: "bad field" } } }, kind: "bad_request", category: "grammar" },
    { name: "422", answer: { status: 422, body: { detail: [{ msg: "field required" }] } }, kind: "bad_request", category: "grammar" },
    { name: "413", answer: { status: 413, body: "too large" }, kind: "overflow", category: "grammar" },
    { name: "401", answer: { status: 401, body: { error: "no" } }, kind: "auth", category: "transport" },
    { name: "403", answer: { status: 403, body: { error: "no" } }, kind: "auth", category: "transport" },
    { name: "402", answer: { status: 402, body: { error: "Payment required" } }, kind: "rate_limit", category: "transport", retryable: false },
    { name: "404 of a path", answer: { status: 404, body: { error: "no such route" } }, kind: "bad_request", category: "transport" },
    { name: "404 of a model", answer: { status: 404, body: { error: 'model "llama9" not found, try pulling it first' } }, kind: "model_missing", category: "transport" },
    { name: "408", answer: { status: 408 }, kind: "timeout", category: "transport" },
    { name: "409", answer: { status: 409 }, kind: "server", category: "transport" },
    { name: "429", answer: { status: 429, body: { error: { message: "Rate limit reached" } } }, kind: "rate_limit", category: "transport" },
    { name: "429 of tokens a minute is no overflow", answer: { status: 429, body: { error: { message: "Limit 8000 tokens per minute; maximum context length 8192" } } }, kind: "rate_limit", category: "transport" },
    { name: "429 without quota", answer: { status: 429, body: { error: { code: "insufficient_quota", message: "You exceeded your current quota" } } }, kind: "rate_limit", category: "transport", retryable: false },
    { name: "500", answer: { status: 500, body: { error: "boom" } }, kind: "server", category: "transport" },
    { name: "503 as HTML", answer: { status: 503, html: "<!DOCTYPE html><title>down</title>" }, kind: "server", category: "transport" },
    { name: "529", answer: { status: 529, body: { error: { type: "overloaded_error" } } }, kind: "server", category: "transport" },
    { name: "200 as HTML", answer: { html: "<html>portal</html>" }, kind: "bad_request", category: "transport" },
    { name: "200 that is no JSON", answer: { status: 200, body: "hello" }, kind: "bad_request", category: "transport" },
    ...Object.entries(overflowTexts).map(([name, body]) => ({ name: `overflow as ${name} says it`, answer: { status: 400, body }, kind: "overflow", category: "grammar" })),
  ];
  for (const { answer, name, ...expected } of cases) {
    test(name, async () => {
      const { failure } = await failureAgainst(answer);
      const { category, kind, retryable } = failure;
      expect({ kind, category, ...(retryable === undefined ? {} : { retryable }) } as unknown).toEqual(expected);
      expect(failure.message).not.toMatch(/[\r\n]|<html|<!DOCTYPE/i);
    });
  }

  test("a remote server's 400 is of category transport", async () => {
    expect((await failureAgainst({ status: 400 }, { local: false })).failure).toMatchObject({ kind: "bad_request", category: "transport" });
  });
});

describe("no answer", () => {
  test("refused", async () => {
    const url = await refusedUrl();
    expect((await failureOf({ url, local: true })).failure).toEqual({ kind: "network", category: "transport", message: `${url} refused the connection; is the server running?` });
  });

  test("reset before a byte", async () => {
    expect((await failureAgainst({ reset: true })).failure).toMatchObject({ kind: "network", category: "transport" });
  });

  test("a host that has no address", async () => {
    expect((await failureOf({ url: "http://nowhere.invalid", local: false })).failure).toMatchObject({ kind: "network", category: "transport" });
  });

  test("silence before the first byte", async () => {
    const { failure } = await failureAgainst({ stall: true }, { sent: request({ silenceMs: () => 50 }) });
    expect(failure).toMatchObject({ kind: "timeout", category: "transport" });
    expect(failure.message).toEndWith("sent nothing for 50 ms");
  });

  test("silence between two bytes", async () => {
    const { failure } = await failureAgainst({ events: ["a"], stallAtEnd: true }, { sent: request({ silenceMs: () => 80 }) });
    expect(failure).toMatchObject({ kind: "timeout" });
  });

  test("the whole request takes too long although bytes come", async () => {
    const { failure } = await failureAgainst({ events: Array.from({ length: 50 }, () => "a"), delayMs: 20 }, { sent: request({ totalMs: 100 }) });
    expect(failure).toMatchObject({ kind: "timeout" });
    expect(failure.message).toEndWith("took longer than 100 ms");
  });

  test("an error whose body stalls still has its status", async () => {
    const raw = "HTTP/1.1 503 No\r\ncontent-length: 100\r\n\r\nhalf";
    expect((await failureAgainst({ raw })).failure).toMatchObject({ kind: "server" });
  });

  test("a URL that is none", async () => {
    for (const url of ["localhost:8080", "ftp://host", "not a url", ""]) {
      expect((await failureOf({ url, local: true })).failure).toMatchObject({ kind: "bad_request" });
    }
  });
});

describe("abort", () => {
  test("drops the connection at once", async () => {
    await using server = await startFaultServer([{ events: ["a"], stallAtEnd: true }]);
    const controller = new AbortController();
    const { bytes } = await openAnswer({ url: server.url, local: true }, request({ signal: controller.signal }));
    await bytes.next();
    const rest = bytes.next();
    controller.abort();
    await expect(rest).rejects.toBeInstanceOf(EngineError);
    expect(await server.requests[0]?.closed).toBe("client");
  });

  test("before the request nothing is sent", async () => {
    await using server = await startFaultServer([{ status: 200, body: {} }]);
    await expect(requestJson({ url: server.url, local: true }, request({ signal: AbortSignal.abort() }))).rejects.toBeInstanceOf(EngineError);
    expect(server.requests).toHaveLength(0);
  });

  test("a reader that stops early drops the connection", async () => {
    await using server = await startFaultServer([{ events: ["a", "b"], stallAtEnd: true }]);
    const { bytes } = await openAnswer({ url: server.url, local: true }, request());
    for await (const _ of bytes) break;
    expect(await server.requests[0]?.closed).toBe("client");
  });
});

describe("secrets", () => {
  test("a server that quotes them is not quoted", async () => {
    await using server = await startFaultServer((kept) => ({ status: 400, body: { error: `bad: ${JSON.stringify(kept.headers)} ${kept.path}` } }));
    const url = `${server.url.replace("http://", "http://ada:pass%20word@")}/base`;
    const { failure } = await failureOf({ url, local: true, headers: { "x-token": `Token ${secret}` } }, request({ body: { a: 1 } }));
    expect(failure.message).not.toMatch(/3c9a77f1e2|pass.*word|YWRh/);
    expect(server.requests[0]).toMatchObject({ method: "POST", path: "/base/x", json: { a: 1 }, headers: { "x-token": `Token ${secret}`, authorization: `Basic ${btoa("ada:pass word")}` } });
  });

  test("a redirect is not followed and its user info not shown", async () => {
    await using server = await startFaultServer([{ status: 302, headers: { location: `http://u:${secret}@elsewhere.example/v1?k=${secret}` } }]);
    const { failure } = await failureOf({ url: server.url, local: true, apiKey: secret });
    expect(failure.kind).toBe("bad_request");
    expect(failure.message).toContain("redirects to http://elsewhere.example/v1,");
    expect(failure.message).not.toContain(secret);
  });

  test("shownUrl", () => {
    expect(shownUrl("https://u:p@host.example:8443/v1/?key=1#x")).toBe("https://host.example:8443/v1");
  });
});

describe("the wait that a server asks for", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const cases: [Record<string, string>, string, number | undefined][] = [
    [{ "retry-after": "7" }, "", 7000],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, "", 30_000],
    [{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, "", 0],
    [{ "retry-after-ms": "1500", "retry-after": "9" }, "", 1500],
    [{}, "Please try again in 20s.", 20_000],
    [{}, "Please try again in 6m0s.", 360_000],
    [{}, "Please try again in 1.5s. Visit", 1500],
    [{}, "try again in 850ms", 850],
    [{ "retry-after": "soon" }, "try again later", undefined],
  ];
  for (const [headers, text, expected] of cases) {
    test(`${JSON.stringify(headers)} ${text}`, () => expect(retryAfterMsOf(new Headers(headers), text, now)).toBe(expected));
  }

  test("reaches the failure", async () => {
    expect((await failureAgainst({ status: 429, headers: { "retry-after": "3" } })).failure).toMatchObject({ kind: "rate_limit", retryAfterMs: 3000 });
  });
});
