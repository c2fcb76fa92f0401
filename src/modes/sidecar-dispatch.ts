// One line of a host to one answer (sidecar.md 1.2, 1.3, 2, 6): framing errors, envelope checks, duplicate ids, payload
// shapes, failures of handlers. Knows no handler: they are handed in.
import { messageOf } from "../core/error.ts";
import type { HostRequestType, RequestId, ResponseError, SidecarEvent, SidecarEventOf, SidecarEventPayloads, SidecarEventType, SidecarResponse } from "../wire/sidecar/schema.ts";
import type { InputLine } from "../wire/lines.ts";

/** Answers one request with the payload of its response. What it throws becomes the one failed response. */
export type Handler = (payload: Record<string, unknown>, request: { id: RequestId }) => unknown;
export type Handlers = { readonly [Type in HostRequestType]?: Handler };

/** A payload that a handler can't take; `field` is its dotted path. */
export class PayloadError extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** An event frame with a fresh id. */
export function eventFrame<Type extends SidecarEventType>(type: Type, payload: SidecarEventPayloads[Type], correlationId?: RequestId): SidecarEventOf<Type> {
  return { kind: "event", id: crypto.randomUUID(), type, ...(correlationId === undefined ? {} : { correlationId }), payload };
}

export class Dispatcher {
  readonly #handlers: ReadonlyMap<string, Handler>;
  readonly #write: (frame: SidecarEvent | SidecarResponse) => void;
  readonly #unanswered = new Set<RequestId>();

  constructor(handlers: Handlers, write: (frame: SidecarEvent | SidecarResponse) => void) {
    this.#handlers = new Map(Object.entries(handlers));
    this.#write = write;
  }

  /** Starts the request of a line. The promise resolves when it is answered; a request that needs no waiting is answered at once. */
  take(line: InputLine): Promise<void> | undefined {
    if (!line.ok) return this.#refuseLine(line.reason === "not_utf8" ? "the line is not UTF-8" : "the line is longer than 16777216 bytes", line.text);
    let frame: unknown;
    try {
      frame = JSON.parse(line.text);
    } catch (error) {
      // A RangeError comes from nesting that is deeper than the parser's stack.
      return this.#refuseLine(messageOf(error), line.text);
    }
    return isObject(frame) && frame.kind === "request" ? this.#request(frame) : undefined;
  }

  #refuseLine(reason: string, line: string): undefined {
    this.#write(eventFrame("error", { message: `failed to parse NDJSON line: ${reason}`, code: "parse_error", stack: line }));
  }

  #request(frame: Record<string, unknown>): Promise<void> | undefined {
    const { id, type } = frame;
    if (!isRequestId(id)) return this.#fail(undefined, new PayloadError("id", "a request needs an id: a text that is not empty, or a number"));
    const handler = typeof type === "string" ? this.#handlers.get(type) : undefined;
    if (handler === undefined) return this.#answer(id, { error: { message: `no handler for request type: ${String(type)}`, code: "unknown_request" } });
    if (this.#unanswered.has(id)) return this.#fail(id, new Error("duplicate request id"));
    const payload = frame.payload ?? {};
    const ignored = typeof type === "string" && withoutPayload.has(type);
    if (!ignored && !isObject(payload)) return this.#fail(id, new PayloadError("payload", "payload: expected an object"));
    return this.#run(id, handler, isObject(payload) ? payload : {});
  }

  #run(id: RequestId, handler: Handler, payload: Record<string, unknown>): Promise<void> | undefined {
    this.#unanswered.add(id);
    try {
      const result = handler(payload, { id });
      if (!(result instanceof Promise)) return this.#end(id, () => this.#answer(id, { payload: result }));
      return result.then(
        (value: unknown) => this.#end(id, () => this.#answer(id, { payload: value })),
        (error: unknown) => this.#end(id, () => this.#fail(id, error)),
      );
    } catch (error) {
      return this.#end(id, () => this.#fail(id, error));
    }
  }

  /** The id is free again before the answer is written. */
  #end(id: RequestId, answer: () => void): undefined {
    this.#unanswered.delete(id);
    answer();
  }

  #fail(id: RequestId | undefined, error: unknown): undefined {
    const message = messageOf(error);
    const field = error instanceof PayloadError ? { field: error.field } : {};
    this.#answer(id ?? "", { error: { message, code: "handler_failed", ...field } });
    const stack = error instanceof Error && error.stack !== undefined ? error.stack : message;
    this.#write(eventFrame("error", { message, code: "handler_failed", stack }, id));
  }

  #answer(correlationId: RequestId, { payload, error }: { payload?: unknown; error?: ResponseError }): undefined {
    const id = crypto.randomUUID();
    if (error !== undefined) this.#write({ kind: "response", id, correlationId, ok: false, payload: {}, error });
    else this.#write({ kind: "response", id, correlationId, ok: true, payload: isObject(payload) || payload === null ? payload : {} });
  }
}

/** Requests whose payload is ignored, whatever it is. */
const withoutPayload: ReadonlySet<string> = new Set<HostRequestType>(["ping", "skill_list", "shutdown"]);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isRequestId(value: unknown): value is RequestId {
  return (typeof value === "string" && value !== "") || (typeof value === "number" && Number.isFinite(value));
}
