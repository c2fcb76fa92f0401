// Chats become tokens: which parts may be special, what begins a prompt, what is remembered.
import { describe, expect, test } from "bun:test";
import type { LlamaModel, Token } from "node-llama-cpp";
import { piecesOf, type PromptTokens, promptTokenizer } from "../../../../src/engines/llama/prompt-tokens.ts";

const special = 1000;
const begin = 999;
const control = 998;

/** A vocabulary of code units, where `<s>` and `<x>` are special tokens if those are asked for. */
function model(prependsBegin: boolean): LlamaModel {
  return {
    tokens: { bos: begin, bosString: "<s>", shouldPrependBosToken: prependsBegin },
    tokenize: (text: string, withSpecial: boolean) =>
      withSpecial ? text.split(/(<s>|<x>)/).flatMap((part) => (part === "<s>" ? [begin] : part === "<x>" ? [special] : units(part))) : units(text),
    getTokenAttributes: (token: number) => ({ control: token === control }),
  } as unknown as LlamaModel;
}

const { signal } = new AbortController();

/** @throws when it was given up */
async function tokensOf(tokenizer: ReturnType<typeof promptTokenizer>, segments: Parameters<typeof tokenizer.tokenize>[0]): Promise<PromptTokens> {
  const made = await tokenizer.tokenize(segments, signal);
  if (made === undefined) throw new Error("given up");
  return made;
}

const units = (text: string): Token[] => Array.from(text, (character) => character.charCodeAt(0)) as Token[];

test("only the template's parts may be special", async () => {
  const { tokens } = await tokensOf(promptTokenizer(model(false), false), [
    { text: "<x>", literal: false },
    { text: "<x>", literal: true, role: "user" },
  ]);
  expect(tokens).toEqual([special, ...units("<x>")] as Token[]);
});

test("the head ends before the first message that is not the system's", async () => {
  const { tokens, headLength } = await tokensOf(promptTokenizer(model(false), false), [
    { text: "a", literal: false },
    { text: "rules", literal: true, role: "system" },
    { text: "bc", literal: false },
    { text: "hello", literal: true, role: "user" },
  ]);
  expect(headLength).toBe(8);
  expect(tokens.length).toBe(13);
});

test.each([[1, 12], [3, 7], [9, 0]])("or before the last %d messages, where these change", async (varying, length) => {
  const made = await promptTokenizer(model(false), false).tokenize([
    { text: "a", literal: false },
    { text: "rules", literal: true, role: "system" },
    { text: "b", literal: false },
    { text: "q", literal: true, role: "user" },
    { text: "c", literal: false },
    { text: "r", literal: true, role: "assistant" },
    { text: "de", literal: false },
    { text: "hello", literal: true, role: "user" },
  ], signal, varying);
  expect(made?.headLength).toBe(length);
});

test("a prompt begins with the token that the model wants, once", async () => {
  const user = { text: "u", literal: true, role: "user" as const };
  const wanting = promptTokenizer(model(true), false);
  expect((await tokensOf(wanting, [{ text: "a", literal: false }, user])).tokens).toEqual([begin, ...units("au")] as Token[]);
  expect((await tokensOf(wanting, [{ text: "<s>a", literal: false }, user])).tokens).toEqual([begin, ...units("au")] as Token[]);
  expect((await tokensOf(wanting, [{ ...user, text: "<s>" }])).tokens).toEqual([begin, ...units("<s>")] as Token[]);
  expect((await tokensOf(promptTokenizer(model(false), false), [user])).tokens).toEqual(units("u"));
});

test("a generated text keeps the tokens that made it, unless one of them leaves no text", async () => {
  const tokenizer = promptTokenizer(model(false), false);
  const made = [7, 8] as Token[];
  tokenizer.remember("yes", made);
  expect((await tokensOf(tokenizer, [{ text: "yes", literal: true, role: "assistant" }])).tokens).toEqual(made);
  tokenizer.remember("no", [7, control] as Token[]);
  expect((await tokensOf(tokenizer, [{ text: "no", literal: true, role: "assistant" }])).tokens).toEqual(units("no"));
});

test("what is remembered is bounded, the oldest goes first", async () => {
  const tokenizer = promptTokenizer(model(false), false);
  tokenizer.remember("old", [7] as Token[]);
  for (let index = 0; index < 4; index++) tokenizer.remember(`long ${index}`, Array.from({ length: 100_000 }, () => 9 as Token));
  expect((await tokensOf(tokenizer, [{ text: "old", literal: true }])).tokens).toEqual(units("old"));
  expect((await tokensOf(tokenizer, [{ text: "long 3", literal: true }])).tokens.length).toBe(100_000);
});

test("a long text is done in pieces, with others in between, and is given up when the signal fires", async () => {
  const tokenizer = promptTokenizer(model(false), false);
  const text = "one line of many\n".repeat(10_000);
  const segment = { text, literal: true, role: "user" as const };
  const controller = new AbortController();
  setImmediate(() => controller.abort());
  expect(await tokenizer.tokenize([segment], controller.signal)).toBeUndefined();
  // What was given up is not remembered as if it were whole.
  expect((await tokensOf(tokenizer, [segment])).tokens).toEqual(units(text));
});

test("texts are counted, the very long ones only once they are known", async () => {
  const tokenizer = promptTokenizer(model(false), false);
  expect([tokenizer.count(""), tokenizer.count("four")]).toEqual([0, 4]);
  const text = "x".repeat(140_000);
  expect(tokenizer.count(text)).toBeUndefined();
  await tokensOf(tokenizer, [{ text, literal: true }]);
  expect(tokenizer.count(text)).toBe(140_000);
});

describe("pieces", () => {
  const room = 16_384;

  test("end after lines that text follows, and add up", () => {
    const text = `${"a line\n".repeat(3000)}\n\n  ${"indented\n    more\n".repeat(2000)}`;
    const pieces = piecesOf(text);
    expect(pieces.join("")).toBe(text);
    expect(pieces.length).toBeGreaterThan(3);
    for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(room);
    for (const [index, piece] of pieces.slice(0, -1).entries()) expect([piece.slice(-2), pieces[index + 1]?.[0]]).toEqual([expect.stringMatching(/^\S\n$/), expect.stringMatching(/\S/)]);
  });

  test("without lines are as long as the room, and never cut a code point", () => {
    const text = `x${"\u{1F600}".repeat(20_000)}`;
    const pieces = piecesOf(text);
    expect(pieces.join("")).toBe(text);
    for (const piece of pieces) expect([piece.isWellFormed(), piece.length <= room]).toEqual([true, true]);
  });

  test("a short text is one", () => {
    expect([piecesOf(""), piecesOf("short\ntext")]).toEqual([[""], ["short\ntext"]]);
  });
});
