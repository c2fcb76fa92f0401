// Chats become tokens: which parts may be special, what begins a prompt, what is remembered.
import { expect, test } from "bun:test";
import type { LlamaModel, Token } from "node-llama-cpp";
import { promptTokenizer } from "../../../../src/engines/llama/prompt-tokens.ts";

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

const units = (text: string): Token[] => Array.from(text, (character) => character.charCodeAt(0)) as Token[];

test("only the template's parts may be special", () => {
  const { tokens } = promptTokenizer(model(false), false).tokenize([
    { text: "<x>", literal: false },
    { text: "<x>", literal: true, role: "user" },
  ]);
  expect(tokens).toEqual([special, ...units("<x>")] as Token[]);
});

test("the head ends before the first message that is not the system's", () => {
  const { tokens, headLength } = promptTokenizer(model(false), false).tokenize([
    { text: "a", literal: false },
    { text: "rules", literal: true, role: "system" },
    { text: "bc", literal: false },
    { text: "hello", literal: true, role: "user" },
  ]);
  expect(headLength).toBe(8);
  expect(tokens.length).toBe(13);
});

test("a prompt begins with the token that the model wants, once", () => {
  const user = { text: "u", literal: true, role: "user" as const };
  const wanting = promptTokenizer(model(true), false);
  expect(wanting.tokenize([{ text: "a", literal: false }, user]).tokens).toEqual([begin, ...units("au")] as Token[]);
  expect(wanting.tokenize([{ text: "<s>a", literal: false }, user]).tokens).toEqual([begin, ...units("au")] as Token[]);
  expect(wanting.tokenize([{ ...user, text: "<s>" }]).tokens).toEqual([begin, ...units("<s>")] as Token[]);
  expect(promptTokenizer(model(false), false).tokenize([user]).tokens).toEqual(units("u"));
});

test("a generated text keeps the tokens that made it, unless one of them leaves no text", () => {
  const tokenizer = promptTokenizer(model(false), false);
  const made = [7, 8] as Token[];
  tokenizer.remember("yes", made);
  expect(tokenizer.tokenize([{ text: "yes", literal: true, role: "assistant" }]).tokens).toEqual(made);
  tokenizer.remember("no", [7, control] as Token[]);
  expect(tokenizer.tokenize([{ text: "no", literal: true, role: "assistant" }]).tokens).toEqual(units("no"));
});

test("what is remembered is bounded, the oldest goes first", () => {
  const tokenizer = promptTokenizer(model(false), false);
  tokenizer.remember("old", [7] as Token[]);
  for (let index = 0; index < 4; index++) tokenizer.remember(`long ${index}`, Array.from({ length: 100_000 }, () => 9 as Token));
  expect(tokenizer.tokenize([{ text: "old", literal: true }]).tokens).toEqual(units("old"));
  expect(tokenizer.tokenize([{ text: "long 3", literal: true }]).tokens.length).toBe(100_000);
});
