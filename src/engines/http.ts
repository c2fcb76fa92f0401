// The one way from an engine to a server: a request with an abort, bounded silence and a bounded body. Every failure is
// an EngineError that says what kind it is; no message of one holds a header, a key or the user info of a URL.
import type { EngineFailure } from "../core/engine.ts";
import { messageOf } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import { classifyStatus, readErrorText, retryAfterMsOf } from "./http-failure.ts";

export interface HttpServer {
  /** Without a slash at its end; may hold user info, which is sent as basic authorization. */
  url: string;
  apiKey?: string;
  headers?: Readonly<Record<string, string>>;
  /** A server of the user's own machine: sidecar.md section 6 judges its HTTP errors by their status. */
  local: boolean;
}

export interface HttpRequest {
  path: string;
  /** Sent as JSON by POST; a GET without it. */
  body?: unknown;
  signal: AbortSignal;
  /** Milliseconds of silence that are allowed now; asked again after every piece. */
  silenceMs: () => number;
  /** Milliseconds for the whole exchange. */
  totalMs?: number;
}

export interface HttpAnswer {
  contentType: string;
  /** Ends when the body does; throws an EngineError when it breaks off. Closing it drops the connection. */
  bytes: AsyncGenerator<Uint8Array, void, void>;
}

/** What an engine throws inside; its `failure` becomes the last event. */
export class EngineError extends Error {
  readonly failure: EngineFailure;
  readonly status: number | undefined;

  constructor(failure: EngineFailure, status?: number) {
    super(failure.message);
    this.name = "EngineError";
    this.failure = failure;
    this.status = status;
  }
}

/** @throws EngineError for every failure, an abort by the caller included (whoever aborted looks at the signal). */
export async function openAnswer(server: HttpServer, request: HttpRequest): Promise<HttpAnswer> {
  const exchange = new Exchange(server, request);
  try {
    const response = await exchange.send();
    if (response.status < 200 || response.status > 299) throw await exchange.refusal(response);
    const contentType = (response.headers.get("content-type") ?? "").toLowerCase();
    if (contentType.includes("text/html")) throw exchange.failed("bad_request", "answered with a web page instead of data; check the URL");
    return { contentType, bytes: exchange.read(response) };
  } catch (error) {
    exchange.close();
    throw exchange.explain(error);
  }
}

/** A whole JSON answer. @throws EngineError also when the body is no JSON or too long. */
export async function requestJson(server: HttpServer, request: HttpRequest): Promise<unknown> {
  const { bytes } = await openAnswer(server, request);
  return readJson(bytes, server);
}

/** @throws EngineError when the body is no JSON or too long. */
export async function readJson(bytes: AsyncIterable<Uint8Array>, server: HttpServer): Promise<unknown> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of bytes) {
    length += piece.length;
    if (length > limits.answerBytesMax) throw failure(server, "server", `answered with more than ${limits.answerBytesMax} bytes`);
    pieces.push(piece);
  }
  const text = new TextDecoder().decode(Buffer.concat(pieces));
  try {
    return JSON.parse(text);
  } catch {
    throw failure(server, "bad_request", `did not answer with JSON but with ${JSON.stringify(redact(text.slice(0, 80), server))}; check the URL`);
  }
}

/** `http://host:port/path` of a server, without user info, query and fragment. */
export function shownUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed ? `${parsed.origin}${parsed.pathname.replace(/\/+$/, "")}` : "(not a URL)";
}

/** Whether the host of the URL is this machine. */
export function isLoopback(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? "";
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || host.startsWith("127.");
}

/** The text without any secret of the server, on one line, bounded. */
export function redact(text: string, server: HttpServer): string {
  let clean = text;
  for (const secret of secretsOf(server)) clean = clean.replaceAll(secret, "[secret]");
  clean = clean.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, " ").trim();
  return clean.length > limits.errorTextCharsMax ? `${clean.slice(0, limits.errorTextCharsMax)} …` : clean;
}

function secretsOf({ apiKey, headers, url }: HttpServer): string[] {
  const parsed = URL.parse(url);
  const info = parsed ? [parsed.username, parsed.password].flatMap((part) => [part, decoded(part)]) : [];
  const values = Object.values(headers ?? {}).flatMap((value) => [value, ...value.split(/\s+/)]);
  const query = parsed ? [...parsed.searchParams.values()] : [];
  // A value of one or two characters hides nothing and would spoil every text.
  return [apiKey ?? "", (parsed && loginOf(parsed)) ?? "", ...values, ...info, ...query].filter((secret) => secret.length > 2).toSorted((a, b) => b.length - a.length);
}

/** User info as basic authorization writes it. */
function loginOf({ password, username }: URL): string | undefined {
  return username === "" && password === "" ? undefined : Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64");
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function failure(server: HttpServer, kind: EngineFailure["kind"], what: string): EngineError {
  return new EngineError({ kind, category: "transport", message: `${shownUrl(server.url)} ${what}` });
}

class Exchange {
  readonly #server: HttpServer;
  readonly #request: HttpRequest;
  readonly #controller = new AbortController();
  readonly #onAbort = (): void => this.#controller.abort();
  readonly #startedAt = performance.now();
  #timer: Timer | undefined;
  #timeout: string | undefined;

  constructor(server: HttpServer, request: HttpRequest) {
    this.#server = server;
    this.#request = request;
    request.signal.addEventListener("abort", this.#onAbort, { once: true });
    if (request.signal.aborted) this.#controller.abort();
  }

  async send(): Promise<Response> {
    const { apiKey, headers, local, url } = this.#server;
    const { body, path } = this.#request;
    const target = URL.parse(url);
    if (!target || !/^https?:$/.test(target.protocol)) throw this.failed("bad_request", "is no http or https URL");
    const login = loginOf(target);
    target.username = "";
    target.password = "";
    target.pathname = `${target.pathname.replace(/\/+$/, "")}${path}`;
    const authorization = apiKey ? `Bearer ${apiKey}` : login === undefined ? undefined : `Basic ${login}`;
    this.#watch();
    return fetch(target, {
      method: body === undefined ? "GET" : "POST",
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...(authorization ? { authorization } : {}), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // Following would hand the headers to another host.
      redirect: "manual",
      // A connection that waits may be closed by the server just as it is used; on this machine a new one costs nothing.
      keepalive: !local,
      signal: this.#controller.signal,
    });
  }

  async *read(response: Response): AsyncGenerator<Uint8Array, void, void> {
    try {
      this.#watch();
      for await (const piece of response.body ?? []) {
        // A reader that takes its time is no silence of the server.
        clearTimeout(this.#timer);
        yield piece;
        this.#watch();
      }
    } catch (error) {
      throw this.explain(error);
    } finally {
      this.close();
    }
  }

  /** Drops the connection if it is still open. */
  close(): void {
    clearTimeout(this.#timer);
    this.#request.signal.removeEventListener("abort", this.#onAbort);
    this.#controller.abort();
  }

  async refusal(response: Response): Promise<EngineError> {
    if (response.status >= 300 && response.status < 400) {
      const location = URL.parse(response.headers.get("location") ?? "", this.#server.url);
      return this.failed("bad_request", `redirects to ${location ? shownUrl(location.href) : "another place"}, which is not followed; set the URL to where the server really is`);
    }
    const { status } = response;
    const { text, facts } = readErrorText(await this.#head(response));
    const said = redact(text, this.#server);
    const { category, kind, retryable } = classifyStatus(status, facts, this.#server.local);
    const retryAfterMs = retryAfterMsOf(response.headers, facts);
    const message = `${shownUrl(this.#server.url)} answered ${status}${said === "" ? "" : `: ${said}`}`;
    return new EngineError({ kind, category, message, ...(retryable === undefined ? {} : { retryable }), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }, status);
  }

  failed(kind: EngineFailure["kind"], what: string): EngineError {
    return failure(this.#server, kind, what);
  }

  /** The EngineError of whatever `fetch` threw. */
  explain(error: unknown): EngineError {
    if (error instanceof EngineError) return error;
    if (this.#request.signal.aborted) return new EngineError({ kind: "network", category: "cancelled", message: "aborted" });
    if (this.#timeout !== undefined) return this.failed("timeout", this.#timeout);
    const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
    const refused = /ConnectionRefused|ECONNREFUSED/.test(code);
    const what = refused ? "refused the connection; is the server running?" : `can't be reached: ${redact(messageOf(error), this.#server)}${code === "" ? "" : ` (${code})`}`;
    return this.failed("network", what);
  }

  /** The beginning of an error's body; an error page may never end. */
  async #head(response: Response): Promise<string> {
    const pieces: Uint8Array[] = [];
    let length = 0;
    try {
      for await (const piece of this.read(response)) {
        pieces.push(piece);
        length += piece.length;
        if (length >= limits.errorBodyBytesMax) break;
      }
    } catch (error) {
      // The status says enough when the body breaks off.
      if (this.#request.signal.aborted) throw error;
    }
    return new TextDecoder().decode(Buffer.concat(pieces));
  }

  #watch(): void {
    clearTimeout(this.#timer);
    const silenceMs = this.#request.silenceMs();
    const leftMs = (this.#request.totalMs ?? Number.POSITIVE_INFINITY) - (performance.now() - this.#startedAt);
    const waitMs = Math.max(0, Math.min(silenceMs, leftMs));
    const reason = silenceMs <= leftMs ? `sent nothing for ${silenceMs} ms` : `took longer than ${this.#request.totalMs} ms`;
    this.#timer = setTimeout(() => {
      this.#timeout = reason;
      this.#controller.abort();
    }, Math.min(waitMs, 2 ** 31 - 1));
  }
}
