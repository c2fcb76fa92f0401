// Envelope checks, duplicate ids and failures of handlers: exactly one response a request, in the right order.
import { describe, expect, test } from "bun:test";
import { Dispatcher, PayloadError } from "../../../src/modes/sidecar-dispatch.ts";
import { SidecarEvent, SidecarResponse } from "../../../src/wire/sidecar/schema.ts";

type Frame = Record<string, unknown>;

function dispatcher() {
  const frames: Frame[] = [];
  const waiting: PromiseWithResolvers<unknown>[] = [];
  const made = new Dispatcher(
    {
      ping: () => ({ ok: true }),
      get_session: () => null,
      cancel: (payload) => {
        if (payload.sessionId === undefined) throw new PayloadError("sessionId", "sessionId: missing");
        return { cancelled: true };
      },
      send_message: () => {
        const answer = Promise.withResolvers<unknown>();
        waiting.push(answer);
        return answer.promise;
      },
    },
    (frame) => frames.push(frame as unknown as Frame),
  );
  return { frames, waiting, take: (text: string) => made.take({ ok: true, text }), takeLine: made.take.bind(made) };
}

const request = (fields: Record<string, unknown>) => JSON.stringify({ kind: "request", ...fields });

/** A frame without what differs between runs. */
function plain({ id: _id, payload, ...frame }: Frame): Frame {
  const { stack, ...rest } = (payload ?? {}) as Frame;
  return { ...frame, payload: payload === null ? null : { ...rest, ...(stack === undefined ? {} : { stack: typeof stack === "string" && stack.includes("\n") ? "…" : stack }) } };
}

const failed = (correlationId: unknown, message: string, field?: string): Frame[] => [
  { kind: "response", correlationId, ok: false, payload: {}, error: { message, code: "handler_failed", ...(field === undefined ? {} : { field }) } },
  { kind: "event", type: "error", ...(correlationId === "" ? {} : { correlationId }), payload: { message, code: "handler_failed", stack: "…" } },
];
const unknown = (type: string): Frame[] => [{ kind: "response", correlationId: "1", ok: false, payload: {}, error: { message: `no handler for request type: ${type}`, code: "unknown_request" } }];
const parseError = (reason: string, stack: string): Frame[] => [{ kind: "event", type: "error", payload: { message: `failed to parse NDJSON line: ${reason}`, code: "parse_error", stack } }];
const idMessage = "a request needs an id: a text that is not empty, or a number";

describe("one line", () => {
  const rows: [string, string, Frame[]][] = [
    ["a request", request({ id: "1", type: "ping" }), [{ kind: "response", correlationId: "1", ok: true, payload: { ok: true } }]],
    ["a numeric id is echoed as that number", request({ id: 1.5, type: "ping" }), [{ kind: "response", correlationId: 1.5, ok: true, payload: { ok: true } }]],
    ["unknown fields are ignored", request({ id: "1", type: "ping", more: { a: 1 } }), [{ kind: "response", correlationId: "1", ok: true, payload: { ok: true } }]],
    ["a null payload counts as empty", request({ id: "1", type: "get_session", payload: null }), [{ kind: "response", correlationId: "1", ok: true, payload: null }]],
    ["ping ignores any payload", request({ id: "1", type: "ping", payload: [1] }), [{ kind: "response", correlationId: "1", ok: true, payload: { ok: true } }]],
    ["no id", request({ type: "ping" }), failed("", idMessage, "id")],
    ["an empty id", request({ id: "", type: "ping" }), failed("", idMessage, "id")],
    ["an id of another type", request({ id: { a: 1 }, type: "ping" }), failed("", idMessage, "id")],
    ["an id that is no finite number", '{"kind":"request","id":1e999,"type":"ping"}', failed("", idMessage, "id")],
    ["no type", request({ id: "1" }), unknown("undefined")],
    ["an unknown type", request({ id: "1", type: "run_step" }), unknown("run_step")],
    ["a type of Object.prototype", request({ id: "1", type: "constructor" }), unknown("constructor")],
    ["a type that is no text", request({ id: "1", type: 5 }), unknown("5")],
    ["an array as payload", request({ id: "1", type: "cancel", payload: [] }), failed("1", "payload: expected an object", "payload")],
    ["a scalar as payload", request({ id: "1", type: "cancel", payload: "x" }), failed("1", "payload: expected an object", "payload")],
    ["a fault of the payload", request({ id: "1", type: "cancel" }), failed("1", "sessionId: missing", "sessionId")],
    ["another kind", '{"kind":"event","id":"1","type":"ping"}', []],
    ["no kind", '{"id":"1","type":"ping"}', []],
    ["null", "null", []],
    ["a number", "5", []],
    ["a text", '"x"', []],
    ["an array", "[]", []],
  ];
  for (const [name, text, expected] of rows) {
    test(name, () => {
      const { frames, take } = dispatcher();
      expect(take(text)).toBeUndefined();
      expect(frames.map(plain)).toEqual(expected);
      for (const frame of frames) expect(frame.kind === "event" ? SidecarEvent.parse(frame) : SidecarResponse.parse(frame)).toBeDefined();
    });
  }

  test("a line that is not JSON is shown whole, and nested ones are no crash", () => {
    for (const text of ["{", "[".repeat(100_000), 'x{"kind":"request"}', '{"a":"\0"}']) {
      const { frames, take } = dispatcher();
      take(text);
      const payload = (frames[0]?.payload ?? {}) as Frame;
      expect([frames.length, frames[0]?.type, payload.code, payload.stack]).toEqual([1, "error", "parse_error", text]);
      expect(payload.message).toStartWith("failed to parse NDJSON line: ");
    }
  });

  test("a line that can't be read says why", () => {
    const { frames, takeLine } = dispatcher();
    takeLine({ ok: false, reason: "not_utf8", text: "a\ufffd" });
    takeLine({ ok: false, reason: "too_long", text: "aaa" });
    expect(frames.map(plain)).toEqual([...parseError("the line is not UTF-8", "a\ufffd"), ...parseError("the line is longer than 16777216 bytes", "aaa")]);
  });

  test("`__proto__` in a payload is plain data", () => {
    const { frames, take } = dispatcher();
    take('{"kind":"request","id":"1","type":"cancel","payload":{"sessionId":"s","__proto__":{"polluted":1}}}');
    expect(frames.map((frame) => frame.ok)).toEqual([true]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test("keys stand in the order of the contract", () => {
    const { frames, take } = dispatcher();
    take(request({ id: "1", type: "cancel", payload: 1 }));
    take(request({ id: "1", type: "ping" }));
    expect(frames.map((frame) => Object.keys(frame))).toEqual([
      ["kind", "id", "correlationId", "ok", "payload", "error"],
      ["kind", "id", "type", "correlationId", "payload"],
      ["kind", "id", "correlationId", "ok", "payload"],
    ]);
  });
});

describe("ids", () => {
  test("the id of an unanswered request is refused; the first request goes on, and then the id is free", async () => {
    const { frames, waiting, take } = dispatcher();
    const first = take(request({ id: "7", type: "send_message" }));
    take(request({ id: "7", type: "ping" }));
    take(request({ id: 7, type: "ping" }));
    waiting[0]?.resolve({ reason: "reply" });
    await first;
    take(request({ id: "7", type: "ping" }));
    expect(frames.map(plain)).toEqual([
      ...failed("7", "duplicate request id"),
      { kind: "response", correlationId: 7, ok: true, payload: { ok: true } },
      { kind: "response", correlationId: "7", ok: true, payload: { reason: "reply" } },
      { kind: "response", correlationId: "7", ok: true, payload: { ok: true } },
    ]);
  });

  test("a handler that rejects answers once, with the event right behind", async () => {
    const { frames, waiting, take } = dispatcher();
    const answered = take(request({ id: "1", type: "send_message" }));
    waiting[0]?.reject(new Error("broken\npipe"));
    await answered;
    expect(frames.map(plain)).toEqual(failed("1", "broken pipe"));
  });

  test("answers come in completion order", async () => {
    const { frames, waiting, take } = dispatcher();
    const answers = [take(request({ id: "a", type: "send_message" })), take(request({ id: "b", type: "send_message" }))];
    waiting[1]?.resolve({});
    await answers[1];
    waiting[0]?.resolve({});
    await answers[0];
    expect(frames.map((frame) => frame.correlationId)).toEqual(["b", "a"]);
  });
});
