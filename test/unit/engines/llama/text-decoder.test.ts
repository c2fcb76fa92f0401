// Tokens that hold parts of code points become whole text.
import { expect, test } from "bun:test";
import type { Token } from "node-llama-cpp";
import { textDecoder } from "../../../../src/engines/llama/text-decoder.ts";

/** A vocabulary of single bytes. */
const bytesOf = (text: string): Token[] => [...Buffer.from(text)] as Token[];
const detokenize = (tokens: readonly Token[]): string => Buffer.from(tokens as readonly number[]).toString("utf8");

function pieces(tokens: readonly Token[]): string[] {
  const decoder = textDecoder(detokenize, []);
  return [...tokens.map((token) => decoder.push(token)), decoder.end()].filter((piece) => piece !== "");
}

test("each piece is whole", () => {
  expect(pieces(bytesOf("aß漢👩‍👧"))).toEqual(["a", "ß", "漢", "👩", "\u200D", "👧"]);
});

test("bytes that make no text come out as replacement characters and hold nothing back", () => {
  const broken = [0xff, 0xff, 0xff, 0xff, 0x61] as Token[];
  expect(pieces(broken)).toEqual(["\uFFFD\uFFFD\uFFFD\uFFFD", "a"]);
});

test("an incomplete end is told at the end", () => {
  expect(pieces([0x61, 0xe6, 0xbc] as Token[])).toEqual(["a", "\uFFFD"]);
});

test("what came before is given to the vocabulary", () => {
  const seen: number[][] = [];
  const decoder = textDecoder((tokens, before) => (seen.push([...before]), detokenize(tokens)), [1, 2, 3, 4, 5] as Token[]);
  decoder.push(0x61 as Token);
  decoder.push(0x62 as Token);
  expect(seen).toEqual([[2, 3, 4, 5], [3, 4, 5, 0x61]]);
});
