// One ranged request: sent, judged by its status and headers, its body read ahead into a bounded buffer.
import { messageOf } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import { SourceError } from "./source.ts";

export interface RangeRequest {
  /** First byte, and the one after the last. */
  from: number;
  to: number;
  /** The version that the bytes must be of. */
  etag: string | undefined;
  signal: AbortSignal;
  firstByteMs: number;
  stallMs: number;
  /** The body is read ahead up to this size, before anybody asks for it. */
  bufferBytes: number;
}

export interface RangeResponse {
  /** Address after redirects. */
  address: string;
  /** The server ignored the range and sends the file from its start. */
  whole: boolean;
  to: number;
  /** Size of the whole file. */
  total: number | undefined;
  /** Strong validator. */
  etag: string | undefined;
  body: Body;
}

interface Body {
  /** Ends early on a failure: an error would take the bytes with it that were read ahead. */
  chunks: ReadableStream<Uint8Array>;
  /** Why `chunks` ended early. */
  failure(): SourceError | undefined;
}

/** @throws SourceError */
export async function openRange(address: string, request: RangeRequest): Promise<RangeResponse> {
  const stalled = new AbortController();
  const headers = new Headers({ range: `bytes=${request.from}-${request.to - 1}`, "accept-encoding": "identity" });
  if (request.etag !== undefined && request.from > 0) headers.set("if-range", request.etag);
  const timer = setTimeout(() => stalled.abort(), request.firstByteMs);
  try {
    const response = await fetch(address, { headers, redirect: "follow", signal: AbortSignal.any([request.signal, stalled.signal]) });
    const judged = judge(response, request);
    return { ...judged, address: response.url || address, body: response.status === 416 ? emptyBody() : readAhead(response, request, stalled) };
  } catch (error) {
    if (error instanceof SourceError) throw error;
    if (stalled.signal.aborted) throw new SourceError(`no answer within ${seconds(request.firstByteMs)} s`, { transient: true });
    throw unreachable(error);
  } finally {
    clearTimeout(timer);
  }
}

function judge(response: Response, request: RangeRequest): Omit<RangeResponse, "address" | "body"> {
  const { status } = response;
  const end = /^bytes \*\/(\d+)$/.exec(response.headers.get("content-range") ?? "");
  // Nothing is left after the last byte; the tag was compared, or the server would have sent the whole file.
  if (status === 416 && end && Number(end[1]) <= request.from) {
    return { whole: false, to: Number(end[1]), total: Number(end[1]), etag: request.etag };
  }
  if (status !== 200 && status !== 206) {
    throw new SourceError(`the server answers ${status} ${response.statusText}`.trim(), {
      transient: status === 408 || status === 425 || status === 429 || status >= 500,
      refused: status === 401 || status === 403 || status === 404 || status === 410,
      retryAfterMs: retryAfterMs(response.headers.get("retry-after")),
    });
  }
  const type = response.headers.get("content-type") ?? "";
  if (/^text\/html/i.test(type)) throw new SourceError("the server answers with a web page instead of the file");
  const tag = response.headers.get("etag");
  const etag = tag !== null && tag.startsWith('"') ? tag : undefined;
  if (status === 200) {
    const length = response.headers.get("content-length");
    const encoded = response.headers.get("content-encoding") !== null;
    return { whole: true, to: Number.POSITIVE_INFINITY, total: length === null || encoded ? undefined : Number(length), etag };
  }
  const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.headers.get("content-range") ?? "");
  const [from, last, total] = (range ?? []).slice(1).map(Number);
  if (from !== request.from || last === undefined || total === undefined || last >= request.to || last < from) {
    throw new SourceError(`the server sends another range than the one asked for (${response.headers.get("content-range") ?? "none"})`);
  }
  return { whole: false, to: last + 1, total, etag };
}

/** Reads from the start, not from the first demand; a pause of the server is an error, one of the reader is not. */
function readAhead(response: Response, request: RangeRequest, stalled: AbortController): Body {
  let failure: SourceError | undefined;
  const reader = response.body?.getReader();
  const chunks = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const timer = setTimeout(() => stalled.abort(), request.stallMs);
        try {
          const piece = await reader?.read();
          if (!piece || piece.done) controller.close();
          else controller.enqueue(piece.value);
        } catch (error) {
          const message = stalled.signal.aborted ? `no byte came for ${seconds(request.stallMs)} s` : `the connection broke (${messageOf(error)})`;
          failure = new SourceError(message, { transient: true, cause: error });
          controller.close();
        } finally {
          clearTimeout(timer);
        }
      },
      async cancel(reason) {
        await reader?.cancel(reason);
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: request.bufferBytes }),
  );
  return { chunks, failure: () => failure };
}

function emptyBody(): Body {
  return { chunks: new ReadableStream({ start: (controller) => controller.close() }), failure: () => undefined };
}

function unreachable(error: unknown): SourceError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (/CERT|SIGNATURE|ALTNAME|ISSUER/.test(code)) {
    return new SourceError(`its certificate is not trusted (${messageOf(error)}); if a company's certificate is in between, name its file in NODE_EXTRA_CA_CERTS`, { cause: error });
  }
  // No name, no route, nobody listening: it will not be better in a second.
  const refused = /ConnectionRefused|FailedToOpenSocket|ENOTFOUND|ECONNREFUSED|DNS|UnsupportedProxy|InvalidURL|TooManyRedirects/i.test(code);
  return new SourceError(`it cannot be reached (${messageOf(error)})`, { transient: !refused, cause: error });
}

function retryAfterMs(header: string | null): number {
  if (header === null) return 0;
  const waitMs = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(waitMs) ? Math.min(Math.max(0, waitMs), limits.downloadRetryDelayMs) : 0;
}

function seconds(durationMs: number): string {
  return (durationMs / 1000).toFixed(durationMs < 1000 ? 1 : 0);
}
