// The metadata of a model file: key-value pairs, of which long texts and lists are kept only where they are needed.
// Must not keep the vocabulary: its tokens are looked at as they pass.
import { limits } from "../core/limits.ts";
import { type GgufCursor, GgufDefect } from "./gguf-cursor.ts";

/** What is remembered of the list of tokens: its length and what each entry looks like. */
export interface TokenList {
  count: number;
  /** For each token: 1 where it is written like a byte (`<0x0A>`), 2 where it looks like one but names none. */
  byteLike: Uint8Array;
}

export interface GgufValues {
  has(key: string): boolean;
  text(key: string): string | undefined;
  /** Also true and false, as 1 and 0. */
  number(key: string): number | undefined;
  numbers(key: string): readonly number[] | undefined;
  /** Entries of a list, kept or not. */
  length(key: string): number | undefined;
  tokens: TokenList | undefined;
}

type Value = { text: string } | { number: number } | { length: number; numbers?: number[] };

const typeText = 8;
const typeList = 9;
/** Bytes of each number type; the format's numbering. */
const widths: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };
const keyBytesMax = 65_535;
/** Entries of a list between two pauses: about a millisecond. */
const entriesPerSlice = 8192;

/** Pauses (a bare `yield`) wherever it has worked for about a millisecond. */
export function* readValues(cursor: GgufCursor, count: number): Generator<void, GgufValues, void> {
  const values = new Map<string, Value>();
  let tokens: TokenList | undefined;
  for (let index = 0; index < count; index++) {
    const key = readText(cursor, keyBytesMax, `the name of metadata value ${index + 1} of ${count}`);
    if (values.has(key)) throw new GgufDefect(`the metadata value ${key} is there twice`);
    const type = cursor.u32(`the type of ${key}`);
    if (key === "tokenizer.ggml.tokens") {
      tokens = yield* readTokens(cursor, type, key);
      values.set(key, { length: tokens.count });
    } else values.set(key, yield* readValue(cursor, type, key));
    if (cursor.position > limits.ggufHeaderBytesMax) throw new GgufDefect(`its header is larger than ${limits.ggufHeaderBytesMax} bytes`);
  }
  const of = (key: string): Value | undefined => values.get(key);
  return {
    has: (key) => values.has(key),
    text: (key) => textOf(of(key)),
    number: (key) => numberOf(of(key)),
    numbers: (key) => listOf(of(key))?.numbers,
    length: (key) => listOf(of(key))?.length,
    tokens,
  };
}

/** @returns the text; longer than `bytesMax` is a defect */
export function readText(cursor: GgufCursor, bytesMax: number, what: string): string {
  const bytes = cursor.count(bytesMax, `the length of ${what}`);
  return cursor.take(bytes, what).toString("utf8");
}

function* readValue(cursor: GgufCursor, type: number, key: string): Generator<void, Value, void> {
  if (type === typeText) return { text: readText(cursor, limits.ggufTextBytesMax, key) };
  if (type === typeList) return yield* readList(cursor, key);
  const width = widths[type];
  if (width === undefined) throw new GgufDefect(`${key} has the unknown type ${type}`);
  return { number: numberAt(cursor.take(width, key), 0, type) };
}

function* readList(cursor: GgufCursor, key: string): Generator<void, Value, void> {
  const type = cursor.u32(`the type of the entries of ${key}`);
  const length = cursor.count(limits.ggufListMax, `the number of entries of ${key}`);
  if (type === typeText) {
    const what = `the length of an entry of ${key}`;
    for (const [from, to] of slices(length)) {
      skipTexts(cursor, to - from, key, what);
      yield;
    }
    return { length };
  }
  const width = widths[type];
  if (width === undefined) throw new GgufDefect(`the entries of ${key} have the unknown type ${type}`);
  const kept = length <= limits.ggufBlocksMax || key === "tokenizer.ggml.token_type";
  if (!kept) {
    cursor.skip(length * width, key);
    return { length };
  }
  if (length * width > cursor.sizeBytes - cursor.position) cursor.skip(length * width, key);
  const numbers: number[] = [];
  for (const [from, to] of slices(length)) {
    const bytes = cursor.take((to - from) * width, key);
    for (let at = 0; at < bytes.length; at += width) numbers.push(numberAt(bytes, at, type));
    yield;
  }
  return { length, numbers };
}

/** Passes over so many texts. */
function skipTexts(cursor: GgufCursor, count: number, key: string, what: string): void {
  for (let index = 0; index < count; index++) cursor.skip(cursor.count(limits.ggufTextBytesMax, what), key);
}

function* readTokens(cursor: GgufCursor, type: number, key: string): Generator<void, TokenList, void> {
  if (type !== typeList || cursor.u32(`the type of the entries of ${key}`) !== typeText) throw new GgufDefect(`${key} is not a list of texts`);
  const count = cursor.count(limits.ggufListMax, `the number of entries of ${key}`);
  if (count * 8 > cursor.sizeBytes - cursor.position) cursor.skip(count * 8, key);
  const byteLike = new Uint8Array(count);
  for (const [from, to] of slices(count)) {
    lookAtTokens(cursor, byteLike, from, to);
    yield;
  }
  return { count, byteLike };
}

function lookAtTokens(cursor: GgufCursor, byteLike: Uint8Array, from: number, to: number): void {
  let index = from;
  const length = (): string => `the length of token ${index}`;
  const token = (): string => `token ${index}`;
  for (; index < to; index++) {
    const bytes = cursor.count(keyBytesMax, length);
    if (bytes === byteTokenLength) byteLike[index] = likenessOf(cursor.take(bytes, token));
    else cursor.skip(bytes, token);
  }
}

const byteTokenLength = "<0x00>".length;

/** See `TokenList.byteLike`. */
function likenessOf(token: Buffer): number {
  if (token[0] !== 0x3c || token[1] !== 0x30 || token[2] !== 0x78 || token[5] !== 0x3e) return 0;
  return /^[0-9A-Fa-f]{2}$/.test(token.toString("latin1", 3, 5)) ? 1 : 2;
}

function* slices(count: number): Generator<readonly [from: number, to: number], void, void> {
  for (let from = 0; from < count; from += entriesPerSlice) yield [from, Math.min(count, from + entriesPerSlice)];
}

function numberAt(bytes: Buffer, at: number, type: number): number {
  switch (type) {
    case 0:
    case 7:
      return bytes.readUInt8(at);
    case 1:
      return bytes.readInt8(at);
    case 2:
      return bytes.readUInt16LE(at);
    case 3:
      return bytes.readInt16LE(at);
    case 4:
      return bytes.readUInt32LE(at);
    case 5:
      return bytes.readInt32LE(at);
    case 6:
      return bytes.readFloatLE(at);
    case 10:
      return Number(bytes.readBigUInt64LE(at));
    case 11:
      return Number(bytes.readBigInt64LE(at));
    default:
      return bytes.readDoubleLE(at);
  }
}

function textOf(value: Value | undefined): string | undefined {
  return value !== undefined && "text" in value ? value.text : undefined;
}

function numberOf(value: Value | undefined): number | undefined {
  return value !== undefined && "number" in value ? value.number : undefined;
}

function listOf(value: Value | undefined): { length: number; numbers?: number[] } | undefined {
  return value !== undefined && "length" in value ? value : undefined;
}
