// Server-sent events from bytes that are cut anywhere.
import { describe, expect, test } from "bun:test";
import { limits } from "../../../src/core/limits.ts";
import { readEvents } from "../../../src/engines/sse.ts";

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(text: string, size: number): Promise<{ event: string; data: string }[]> {
  return Array.fromAsync(readEvents(inPieces(new TextEncoder().encode(text), size)));
}

const message = (data: string) => ({ event: "message", data });

describe("readEvents", () => {
  const cases: { name: string; text: string; events: { event: string; data: string }[] }[] = [
    { name: "LF", text: "data: a\n\ndata: b\n\n", events: [message("a"), message("b")] },
    { name: "CRLF", text: "data: a\r\n\r\ndata: b\r\n\r\n", events: [message("a"), message("b")] },
    { name: "CR", text: "data: a\r\rdata: b\r\r", events: [message("a"), message("b")] },
    { name: "characters of two to four bytes", text: 'data: {"x":"é漢🙂"}\n\n', events: [message('{"x":"é漢🙂"}')] },
    { name: "several data lines", text: "data: a\ndata:\ndata: b\n\n", events: [message("a\n\nb")] },
    { name: "comments and other fields", text: ": ping\n\nid: 7\nretry: 3\nevent: error\ndata: x\n\n", events: [{ event: "error", data: "x" }] },
    { name: "only the first space goes", text: "data:  a\n\ndata:b\n\n", events: [message(" a"), message("b")] },
    { name: "an empty event is none", text: "\n\n\nevent: x\n\ndata: a\n\n", events: [message("a")] },
    { name: "U+2028 ends no line", text: "data: a\u2028b\n\n", events: [message("a\u2028b")] },
    { name: "an end without blank line", text: "data: a\n", events: [message("a")] },
    { name: "a line cut in its middle is dropped", text: 'data: a\n\ndata: {"half', events: [message("a")] },
    { name: "the error field of older llama-servers", text: 'error: {"code":500}\n\n', events: [{ event: "error", data: '{"code":500}' }] },
  ];
  for (const { events, name, text } of cases) {
    test(name, async () => {
      for (const size of [1, 2, 3, 5, 1000]) expect(await read(text, size)).toEqual(events);
    });
  }

  test("an event beyond the bound is an error, not memory", async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) yield new Uint8Array(1024 * 1024).fill(0x61);
    }
    const reading = Array.fromAsync(readEvents(endless()));
    await expect(reading).rejects.toThrow(`longer than ${limits.answerBytesMax}`);
  });
});
