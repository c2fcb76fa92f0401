// A loopback HTTP server that answers well or badly, as told: refuses, stalls, cuts in mid-token, says HTML, any status.
// It keeps every request. Raw sockets, so that even broken HTTP can be said.
import { createServer, type Server, type Socket } from "node:net";

export type Answer =
  /** A whole answer; an object body is sent as JSON. */
  | { status: number; headers?: { [name: string]: string }; body?: string | object }
  /** Server-sent events in chunks of `chunkBytes` (default: one an event); the connection is cut after `cutAfterBytes`, or stalls. */
  | { events: (string | object)[]; chunkBytes?: number; cutAfterBytes?: number; stallAtEnd?: boolean; delayMs?: number }
  | { html: string; status?: number }
  /** Takes the request and never answers. */
  | { stall: true }
  /** Closes the connection without a byte. */
  | { reset: true }
  /** Exactly these bytes, then the connection closes. */
  | { raw: string };

export interface KeptRequest {
  method: string;
  path: string;
  headers: { [lowerCaseName: string]: string };
  body: string;
  /** The body as JSON; undefined when it is none. */
  json: unknown;
  /** Resolves when the client went away or the answer was sent to its end. */
  closed: Promise<"client" | "server">;
}

export interface FaultServer extends AsyncDisposable {
  url: string;
  requests: readonly KeptRequest[];
  /** Resolves when `count` requests have come. */
  received(count: number): Promise<void>;
}

/** @param answers in order, the last one repeats; or a function of the request and its number from 0. */
export async function startFaultServer(answers: readonly [Answer, ...Answer[]] | ((request: KeptRequest, index: number) => Answer)): Promise<FaultServer> {
  const requests: KeptRequest[] = [];
  const sockets = new Set<Socket>();
  let arrivals = Promise.withResolvers<void>();
  const choose = typeof answers === "function" ? answers : (_: KeptRequest, index: number) => answers[index] ?? answers.at(-1) ?? answers[0];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    readRequests(socket, (request) => {
      const index = requests.push(request) - 1;
      arrivals.resolve();
      arrivals = Promise.withResolvers();
      return answer(socket, choose(request, index));
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    received: async (count) => {
      while (requests.length < count) await arrivals.promise;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A URL where nothing listens: connections are refused. */
export async function refusedUrl(): Promise<string> {
  const server = createServer();
  const port = await listen(server);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return `http://127.0.0.1:${port}`;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}

function readRequests(socket: Socket, handle: (request: KeptRequest) => Promise<boolean>): void {
  let pending = Buffer.alloc(0);
  let queue = Promise.resolve();
  socket.on("data", (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    for (let taken = takeRequest(pending); taken; taken = takeRequest(pending)) {
      pending = taken.rest;
      const { promise: closed, resolve } = Promise.withResolvers<"client" | "server">();
      const request = { ...taken.request, closed };
      socket.once("close", () => resolve("client"));
      queue = queue.then(async () => {
        if (await handle(request)) resolve("server");
      });
    }
  });
}

function takeRequest(bytes: Buffer): { request: Omit<KeptRequest, "closed">; rest: Buffer<ArrayBuffer> } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const [first = "", ...headerLines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const headers = Object.fromEntries(headerLines.map((line): [string, string] => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]));
  const body = takeBody(bytes.subarray(headEnd + 4), headers);
  if (!body) return undefined;
  const [method = "", path = ""] = first.split(" ");
  return { request: { method, path, headers, body: body.text, json: parse(body.text) }, rest: Buffer.from(body.rest) };
}

function takeBody(bytes: Buffer, headers: { [name: string]: string }): { text: string; rest: Buffer } | undefined {
  if (headers["transfer-encoding"] !== "chunked") {
    const length = Number(headers["content-length"] ?? 0);
    return bytes.length < length ? undefined : { text: bytes.toString("utf8", 0, length), rest: bytes.subarray(length) };
  }
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (bytes.length < end) return undefined;
    if (size === 0) return { text: Buffer.concat(parts).toString("utf8"), rest: bytes.subarray(end) };
    parts.push(bytes.subarray(lineEnd + 2, end - 2));
    at = end;
  }
}

/** @returns whether the answer was sent to its end. */
async function answer(socket: Socket, told: Answer): Promise<boolean> {
  if ("stall" in told) return false;
  if ("reset" in told) {
    socket.resetAndDestroy();
    return true;
  }
  if ("raw" in told) {
    socket.end(told.raw);
    return true;
  }
  if ("html" in told) return sendWhole(socket, told.status ?? 200, { "content-type": "text/html" }, told.html);
  if ("events" in told) return await sendEvents(socket, told);
  const body = typeof told.body === "string" ? told.body : JSON.stringify(told.body ?? {});
  return sendWhole(socket, told.status, { "content-type": typeof told.body === "string" ? "text/plain" : "application/json", ...told.headers }, body);
}

function sendWhole(socket: Socket, status: number, headers: { [name: string]: string }, body: string): boolean {
  const bytes = Buffer.from(body);
  socket.write(`${head(status, { ...headers, "content-length": String(bytes.length) })}`);
  socket.write(bytes);
  return true;
}

async function sendEvents(socket: Socket, told: Extract<Answer, { events: unknown[] }>): Promise<boolean> {
  socket.write(head(200, { "content-type": "text/event-stream", connection: "close" }));
  const frames = told.events.map((event) => Buffer.from(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`));
  const whole = Buffer.concat(frames).subarray(0, told.cutAfterBytes);
  const chunks = told.chunkBytes === undefined && told.cutAfterBytes === undefined ? frames : slices(whole, told.chunkBytes ?? whole.length);
  for (const chunk of chunks) {
    if (socket.destroyed) return false;
    socket.write(chunk);
    if (told.delayMs !== undefined) await Bun.sleep(told.delayMs);
  }
  if (told.stallAtEnd) return false;
  if (told.cutAfterBytes === undefined) socket.end();
  else socket.destroySoon();
  return true;
}

function slices(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / Math.max(1, size)) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}

function head(status: number, headers: { [name: string]: string }): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Answer\r\n${lines.join("")}\r\n`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
