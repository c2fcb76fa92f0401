// A file by HTTP in ranges. Several requests run ahead, their bytes are written in order: what is on the disk stays a
// prefix of the file. Proxies and certificates are fetch's business: it reads HTTPS_PROXY, NO_PROXY,
// NODE_EXTRA_CA_CERTS and SSL_CERT_FILE by itself.
import { messageOf } from "../core/error.ts";
import { limits } from "../core/limits.ts";
import { openRange, type RangeResponse } from "./http-range.ts";
import { appendWithin, asAborted, pause, SourceError, type SourceTarget } from "./source.ts";

export interface HttpSettings {
  /** Requests at a time. */
  connections: number;
  /** The first byte must come within this time, all tries together. */
  contactMs: number;
  stallMs: number;
  rangeBytesMax: number;
  retryBaseMs: number;
}

/** Appends the rest of the file. @throws SourceError when the source is given up, AgentError `aborted`, `storage_full` */
export async function downloadByHttp(url: string, target: SourceTarget, settings: HttpSettings): Promise<void> {
  const contactEnds = performance.now() + settings.contactMs;
  const contact = { address: url, reached: false };
  for (let failures = 0; ; ) {
    const before = target.partial.bytes;
    const firstByteMs = contact.reached ? settings.stallMs : Math.max(1, contactEnds - performance.now());
    try {
      await downloadRest(url, contact, target, { ...settings, firstByteMs });
      return;
    } catch (thrown) {
      const error = asAborted(thrown, target.signal);
      if (!(error instanceof SourceError)) throw error;
      const expired = error.refused && contact.address !== url;
      if (!error.transient && !expired) throw error;
      failures = target.partial.bytes > before ? 1 : failures + 1;
      const wanted = Math.max(error.retryAfterMs, settings.retryBaseMs * 2 ** (failures - 1));
      const delayMs = Math.min(wanted, limits.downloadRetryDelayMs);
      const late = !contact.reached && performance.now() + delayMs >= contactEnds;
      if (late || failures > limits.downloadRetriesMax) throw error;
      contact.address = url; // where a redirect led may have expired
      target.onRetry(error.message, failures, delayMs);
      await pause(delayMs, target.signal);
    }
  }
}

interface Contact {
  /** Where the last redirect led. */
  address: string;
  /** Some byte of the file came from this source. */
  reached: boolean;
}

type AttemptSettings = HttpSettings & { firstByteMs: number };

async function downloadRest(url: string, contact: Contact, target: SourceTarget, settings: AttemptSettings): Promise<void> {
  const { partial } = target;
  if (target.bytes !== undefined && partial.bytes === target.bytes) return;
  const etag = partial.state.url === url ? partial.state.etag : undefined;
  // Without a hash or a validator nothing tells that the rest is of the same version.
  if (etag === undefined && partial.state.sha256 === undefined) await partial.restart();
  const attempt = new AbortController();
  const signal = AbortSignal.any([target.signal, attempt.signal]);
  const request = (from: number, to: number, validator: string | undefined): Promise<RangeResponse> =>
    openRange(contact.address, { from, to, etag: validator, signal, firstByteMs: settings.firstByteMs, stallMs: settings.stallMs, bufferBytes: settings.rangeBytesMax });
  try {
    const first = await request(partial.bytes, partial.bytes + rangeBytes(target.bytes, settings), etag);
    checkSize(first, target.bytes);
    const changed = partial.bytes > 0 && ((etag !== undefined && first.etag !== etag) || first.to < partial.bytes);
    if (first.whole || changed) await partial.restart();
    if (!first.whole && changed) throw new SourceError("the file on the server changed", { transient: true });
    if (first.total !== undefined) await target.checkSpace(first.total, 0);
    await partial.noteOrigin(url, first.etag);
    contact.address = first.address;
    const step = rangeBytes(first.total, settings);
    const end = first.whole ? 0 : (first.total ?? 0);
    const open = [Promise.resolve(first)];
    let next = first.to;
    for (;;) {
      for (; next < end && open.length < settings.connections; next += step) open.push(silent(request(next, Math.min(next + step, end), first.etag)));
      const current = open[0];
      if (!current) break;
      await appendRange(await current, first, contact, target);
      open.shift();
    }
    if (first.total !== undefined && partial.bytes < first.total) throw new SourceError("the connection ended early", { transient: true });
  } finally {
    attempt.abort();
  }
}

async function appendRange(range: RangeResponse, first: RangeResponse, contact: Contact, target: SourceTarget): Promise<void> {
  if (range !== first && (range.whole || range.etag !== first.etag || range.total !== first.total)) {
    throw new SourceError("the file on the server changed", { transient: true });
  }
  const ends = range.whole ? range.total : range.to;
  for await (const chunk of range.body.chunks) {
    if (ends !== undefined && target.partial.bytes + chunk.length > ends) throw new SourceError("the server sent more than it announced", { transient: true });
    await appendWithin(target, chunk);
    contact.reached = true;
  }
  const failure = range.body.failure();
  if (failure) throw failure;
  if (ends !== undefined && target.partial.bytes < ends) {
    throw new SourceError(`the connection ended early, at ${target.partial.bytes} bytes`, { transient: true });
  }
}

/** Small enough that little is lost when what ran ahead is cut off, large enough that requests don't count. */
function rangeBytes(total: number | undefined, settings: HttpSettings): number {
  return Math.min(settings.rangeBytesMax, Math.max(1024 * 1024, Math.ceil((total ?? 0) / 64)));
}

function checkSize(range: RangeResponse, expected: number | undefined): void {
  if (expected === undefined || range.total === undefined || range.total === expected) return;
  throw new SourceError(`the server's file has ${range.total} bytes, expected ${expected}`);
}

/** A request that runs ahead may fail before its turn: the failure is seen when it is awaited. */
function silent<T>(promise: Promise<T>): Promise<T> {
  promise.catch((error: unknown) => messageOf(error));
  return promise;
}
