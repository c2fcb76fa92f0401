// Bytes to lines and back: framing rules of both wires, whatever the cut.
import { describe, expect, test } from "bun:test";
import { encodeLine, type InputLine, LineReader } from "../../../src/wire/lines.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function readAll(input: Uint8Array, pieceBytes: number, reader = new LineReader()): InputLine[] {
  const lines: InputLine[] = [];
  for (let at = 0; at < input.length; at += pieceBytes) lines.push(...reader.push(input.slice(at, at + pieceBytes)));
  return [...lines, ...reader.end()];
}

const text = (line: string): InputLine => ({ ok: true, text: line });

describe("LineReader", () => {
  const rows: [string, Uint8Array, InputLine[]][] = [
    ["LF and CRLF end a line, CR alone does not", bytes("a\r\nb\rc\nd"), [text("a"), text("b\rc"), text("d")]],
    ["blank lines are skipped", bytes("\n   \n\t\r\na\n\r\n"), [text("a")]],
    ["U+2028 and U+2029 end no line", bytes("a\u2028b\u2029c\n"), [text("a\u2028b\u2029c")]],
    ["a BOM before the first line is dropped", bytes("\ufeffa\nb\n"), [text("a"), text("b")]],
    ["a BOM before another line stays", bytes("a\n\ufeffb\n"), [text("a"), text("\ufeffb")]],
    ["a BOM alone is a blank line", bytes("\ufeff\na\n"), [text("a")]],
    ["a last line without LF counts", bytes("a\nb"), [text("a"), text("b")]],
    ["a NUL is data", bytes("a\0b\n"), [text("a\0b")]],
    ["an emoji survives every cut", bytes("😀é\n"), [text("😀é")]],
    ["bytes that are not UTF-8 are shown", new Uint8Array([0x61, 0xff, 0x62, 0x0a, 0x63, 0x0a]), [{ ok: false, reason: "not_utf8", text: "a\ufffdb" }, text("c")]],
    ["an encoded surrogate is not UTF-8", new Uint8Array([0xed, 0xa0, 0x80, 0x0a]), [{ ok: false, reason: "not_utf8", text: "\ufffd\ufffd\ufffd" }]],
    ["nothing at all is no line", bytes(""), []],
  ];
  for (const [name, input, expected] of rows) {
    test(name, () => {
      for (const pieceBytes of [1, 2, 3, 7, 4096]) expect(readAll(input, pieceBytes)).toEqual(expected);
    });
  }

  test("a line of exactly the limit is whole, one byte more is too long, whatever the cut", () => {
    const bounds = { lineBytesMax: 10, quotedBytesMax: 4 };
    for (const pieceBytes of [1, 3, 10, 100]) {
      expect(readAll(bytes(`${"a".repeat(10)}\nb\n`), pieceBytes, new LineReader(bounds))).toEqual([text("a".repeat(10)), text("b")]);
      expect(readAll(bytes(`${"a".repeat(11)}\nb\n`), pieceBytes, new LineReader(bounds))).toEqual([{ ok: false, reason: "too_long", text: "aaaa" }, text("b")]);
    }
  });

  test("an over-long line is told at once and only once, its head cut at a character", () => {
    const reader = new LineReader({ lineBytesMax: 8, quotedBytesMax: 4 });
    expect(reader.push(bytes("abc"))).toEqual([]);
    expect(reader.push(bytes("é12345"))).toEqual([{ ok: false, reason: "too_long", text: "abc" }]);
    expect(reader.push(bytes("more and more"))).toEqual([]);
    expect(reader.push(bytes("end\nnext\n"))).toEqual([text("next")]);
    expect(reader.end()).toEqual([]);
  });

  test("a line of 16 MiB comes through in small pieces in linear time, and 64 MiB more are not kept", () => {
    const reader = new LineReader();
    const piece = new Uint8Array(4096).fill(0x61);
    const lines: InputLine[] = [];
    const started = performance.now();
    for (let count = 0; count < 4096; count++) lines.push(...reader.push(piece));
    lines.push(...reader.push(bytes("\n")));
    const heapBytes = process.memoryUsage().rss;
    for (let count = 0; count < 16384; count++) lines.push(...reader.push(piece));
    lines.push(...reader.push(bytes("\nz\n")));
    expect(lines.map((line) => [line.ok, line.text.length])).toEqual([[true, 16 * 1024 * 1024], [false, 1024], [true, 1]]);
    expect(process.memoryUsage().rss - heapBytes).toBeLessThan(48 * 1024 * 1024);
    expect(performance.now() - started).toBeLessThan(4000);
  });
});

describe("encodeLine", () => {
  test("escapes line separators and lone surrogates, and nothing else", () => {
    expect(encodeLine({ a: "x\u2028y\u2029z", b: "\ud800", c: "😀é\n" })).toBe('{"a":"x\\u2028y\\u2029z","b":"\\ud800","c":"😀é\\n"}\n');
  });

  test("escapes them in keys too", () => {
    expect(encodeLine({ "\u2028": 1 })).toBe('{"\\u2028":1}\n');
  });

  test("leaves out what has no value", () => {
    expect(encodeLine({ a: undefined, b: null })).toBe('{"b":null}\n');
  });
});
