// A loopback server of one file, with ranges, that can behave badly: per request it cuts, flips, ignores, redirects,
// waits. It counts the bytes of the file that it sent.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";

export interface WeightsRequest {
  /** From 0, in order of arrival. */
  index: number;
  path: string;
  range: string | undefined;
  ifRange: string | undefined;
}

/** What one request meets; an empty object is a well-behaved answer. */
export interface Behaviour {
  status?: number;
  headers?: Record<string, string>;
  /** Instead of the file's bytes. */
  body?: string;
  /** The whole file, whatever range was asked for. */
  ignoreRange?: boolean;
  /** Breaks the connection after so many bytes of the answer. */
  cutAfterBytes?: number;
  /** Sends so many bytes of the answer, then nothing more. */
  stallAfterBytes?: number;
  /** The file's bytes with the one at this offset changed. */
  flipAt?: number;
  /** Other contents of the file. */
  content?: Uint8Array;
  etag?: string | null;
  /** No answer before this resolves. */
  wait?: Promise<void>;
  /** Bytes of the file from this offset on are not sent before `release()`. */
  gateAt?: number;
}

export interface WeightsServer extends AsyncDisposable {
  url: string;
  requests: readonly WeightsRequest[];
  /** Bytes of the file handed to sockets so far. */
  sentBytes(): number;
  /** Opens the gate, for good. */
  release(): void;
}

export async function serveWeights(
  content: Uint8Array,
  behave: (request: WeightsRequest) => Behaviour = () => ({}),
  tls?: { key: string; cert: string },
): Promise<WeightsServer> {
  const requests: WeightsRequest[] = [];
  const gate = Promise.withResolvers<void>();
  let sent = 0;
  const handle = (message: IncomingMessage, response: ServerResponse): void => {
    const header = (name: string): string | undefined => message.headers[name]?.toString();
    const request = { index: requests.length, path: message.url ?? "", range: header("range"), ifRange: header("if-range") };
    requests.push(request);
    void answer(response, request, behave(request), content, gate.promise, (bytes) => (sent += bytes));
  };
  const server = tls ? createTlsServer(tls, handle) : createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    url: `${tls ? "https://localhost" : "http://127.0.0.1"}:${address.port}`,
    requests,
    sentBytes: () => sent,
    release: () => gate.resolve(),
    [Symbol.asyncDispose]: async () => {
      gate.resolve();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Bytes that look like weights: `GGUF`, then noise that does not pack well; the same for the same seed. */
export function fakeWeights(bytes: number, seed = 1): Uint8Array {
  const words = new Uint32Array(Math.ceil(bytes / 4));
  let state = seed;
  for (let index = 0; index < words.length; index++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[index] = state;
  }
  const content = new Uint8Array(words.buffer, 0, bytes);
  content.set(new TextEncoder().encode("GGUF"));
  return content;
}

export function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

async function answer(response: ServerResponse, request: WeightsRequest, behaviour: Behaviour, good: Uint8Array, gate: Promise<void>, count: (bytes: number) => void): Promise<void> {
  await behaviour.wait;
  const content = flipped(behaviour.content ?? good, behaviour.flipAt);
  const etag = behaviour.etag === undefined ? `"${sha256(content).slice(0, 16)}"` : behaviour.etag;
  const asked = /^bytes=(\d+)-(\d+)$/.exec(request.range ?? "");
  const fresh = request.ifRange === undefined || request.ifRange === etag;
  const from = Number(asked?.[1] ?? 0);
  const to = Math.min(Number(asked?.[2] ?? content.length - 1) + 1, content.length);
  const tag: Record<string, string> = etag === null ? {} : { etag };
  if (behaviour.body !== undefined || behaviour.status !== undefined) {
    response.writeHead(behaviour.status ?? 200, behaviour.headers ?? {}).end(behaviour.body ?? "");
  } else if (!asked || !fresh || behaviour.ignoreRange) {
    response.writeHead(200, { "content-length": content.length, ...tag, ...behaviour.headers });
    await send(response, content, 0, behaviour, gate, count);
  } else if (from >= content.length) {
    response.writeHead(416, { "content-range": `bytes */${content.length}` }).end();
  } else {
    response.writeHead(206, { "content-length": to - from, "content-range": `bytes ${from}-${to - 1}/${content.length}`, ...tag, ...behaviour.headers });
    await send(response, content.subarray(from, to), from, behaviour, gate, count);
  }
}

async function send(response: ServerResponse, body: Uint8Array, from: number, behaviour: Behaviour, gate: Promise<void>, count: (bytes: number) => void): Promise<void> {
  const stop = Math.min(behaviour.cutAfterBytes ?? body.length, behaviour.stallAfterBytes ?? body.length);
  const step = 512 * 1024;
  const gone = new Promise<void>((resolve) => response.once("close", resolve));
  for (let at = 0; at < stop; ) {
    if (behaviour.gateAt !== undefined && from + at >= behaviour.gateAt) await gate;
    const boundary = behaviour.gateAt !== undefined && from + at < behaviour.gateAt ? behaviour.gateAt - from : stop;
    const piece = body.subarray(at, Math.min(at + step, boundary, stop));
    if (response.destroyed) return;
    const flushed = new Promise<void>((resolve) => response.write(piece, () => resolve()));
    await Promise.race([flushed, gone]);
    count(piece.length);
    at += piece.length;
  }
  if (behaviour.cutAfterBytes !== undefined) response.socket?.end();
  else if (behaviour.stallAfterBytes === undefined) response.end();
}

function flipped(content: Uint8Array, at: number | undefined): Uint8Array {
  if (at === undefined) return content;
  const changed = content.slice();
  changed[at] = (changed[at] ?? 0) ^ 0xff;
  return changed;
}
