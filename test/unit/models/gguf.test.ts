// Model files as they should not be: every defect is refused in TypeScript, quickly, with the path and what is wrong.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentError } from "../../../src/core/error.ts";
import { readGguf } from "../../../src/models/gguf.ts";
import { type GgufParts, ggufBytes, list, modelParts, text, u32 } from "../../support/gguf.ts";

const folder = mkdtempSync(join(tmpdir(), "gguf-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function fileOf(bytes: Uint8Array): string {
  const path = join(folder, `${files++}.gguf`);
  writeFileSync(path, bytes);
  return path;
}

/** The message of the refusal; fails when there is none, or when it takes a second. */
function refusal(bytes: Uint8Array): string {
  const path = fileOf(bytes);
  const start = performance.now();
  try {
    readGguf(path);
  } catch (error) {
    expect(performance.now() - start).toBeLessThan(1000);
    expect(error).toBeInstanceOf(AgentError);
    const { code, message } = error as AgentError;
    expect(code).toBe("model_invalid");
    expect(message).toStartWith(`${path}: `);
    return message;
  }
  throw new Error("the file was taken");
}

function changed(change: (parts: GgufParts) => void): Uint8Array {
  const parts = modelParts();
  change(parts);
  return ggufBytes(parts);
}

describe("a good file", () => {
  test("tells what is in it", () => {
    const parts = modelParts();
    parts.values["tokenizer.chat_template"] = text("{{ messages }}");
    const bytes = ggufBytes(parts);
    expect(readGguf(fileOf(bytes))).toEqual({
      architecture: "llama",
      name: "tiny",
      blockCount: 2,
      contextLength: 128,
      embeddingLength: 32,
      headCountsKv: [2, 2],
      keyLength: 8,
      valueLength: 8,
      vocabularySize: 4,
      tokenizer: "llama",
      fileType: undefined,
      chatTemplate: "{{ messages }}",
      bosToken: 1,
      eosToken: 2,
      eotToken: undefined,
      tensorBytes: 32 * 4 * 4 + 32 * 4,
      parameterCount: 32 * 4 + 32,
      sizeBytes: bytes.length,
    });
  });

  test("has heads for each block", () => {
    const bytes = changed(({ values }) => void (values["llama.attention.head_count_kv"] = list(5, [u32(0).bytes, u32(2).bytes])));
    expect(readGguf(fileOf(bytes)).headCountsKv).toEqual([0, 2]);
  });
});

describe("refused", () => {
  const cases: [string, () => Uint8Array, RegExp][] = [
    ["an empty file", () => new Uint8Array(), /it is empty/],
    ["a head of seven bytes", () => Buffer.from("GGUF\x03\0\0"), /ends inside the version/],
    ["noise", () => Buffer.concat([Buffer.from("GGUF"), Buffer.alloc(1024, 0xa7)]), /big-endian/],
    ["another format", () => Buffer.from("PK\x03\x04 and more"), /not a GGUF file/],
    ["version 1", () => changed((parts) => (parts.version = 1)), /version is 1/],
    ["2^61 tensors", () => changed((parts) => (parts.tensorCount = 2n ** 61n)), /number of tensors is 2305843009213693952/],
    ["2^63 values", () => changed((parts) => (parts.valueCount = 2n ** 63n)), /number of metadata values is 9223372036854775808/],
    ["a text of 2^63", () => changed(({ values }) => (values["general.name"] = { type: 8, bytes: Buffer.from([0, 0, 0, 0, 0, 0, 0, 0x80]) })), /length of general.name is 9223372036854775808/],
    ["a list of 2^61", () => changed(({ values }) => (values["x"] = { type: 9, bytes: Buffer.concat([u32(4).bytes, Buffer.from([0, 0, 0, 0, 0, 0, 0, 0x20])]) })), /entries of x is 2305843009213693952/],
    ["a list that the file can't hold", () => changed(({ values }) => (values["x"] = { type: 9, bytes: Buffer.concat([u32(10).bytes, Buffer.from([0, 0, 0x20, 0, 0, 0, 0, 0])]) })), /ends inside x/],
    ["a list of lists", () => changed(({ values }) => (values["x"] = list(9, [Buffer.alloc(8)]))), /unknown type 9/],
    ["an unknown type", () => changed(({ values }) => (values["x"] = { type: 77, bytes: Buffer.alloc(8) })), /unknown type 77/],
    ["513 blocks", () => changed(({ values }) => (values["llama.block_count"] = u32(513))), /block_count is 513; it must be from 1 to 512/],
    ["no block", () => changed(({ values }) => (values["llama.block_count"] = u32(0))), /block_count is 0/],
    ["no context length", () => changed(({ values }) => delete values["llama.context_length"]), /does not hold llama.context_length/],
    ["no architecture", () => changed(({ values }) => delete values["general.architecture"]), /which architecture/],
    ["heads for other blocks", () => changed(({ values }) => (values["llama.attention.head_count_kv"] = list(4, [u32(1).bytes]))), /1 entries for 2 blocks/],
    ["a negative byte", () => changed((parts) => (parts.tokens[3] = "<0x-1>")), /token 3 is written like a byte/],
    ["a byte that is none", () => changed(({ values }) => (values["tokenizer.ggml.token_type"] = list(5, [2, 3, 6, 6].map((type) => u32(type).bytes)))), /token 2 is marked as a byte/],
    ["no tokens", () => changed((parts) => (parts.tokens = [])), /vocabulary is empty/],
    ["fewer scores than tokens", () => changed(({ values }) => (values["tokenizer.ggml.scores"] = list(6, [Buffer.alloc(4)]))), /scores has 1 entries for 4 tokens/],
    ["an id outside the vocabulary", () => changed(({ values }) => (values["tokenizer.ggml.eos_token_id"] = u32(4))), /eos_token_id is 4, but there are 4 tokens/],
    ["more tokens than weights", () => changed((parts) => parts.tokens.push("e")), /vocabulary has 5 tokens, its weights know 4/],
    ["no weights", () => changed((parts) => (parts.tensors = [])), /no weights/],
    ["a tensor twice", () => changed(({ tensors }) => void (tensors[1] = { ...tensors[1], name: "token_embd.weight" } as never)), /token_embd.weight is there twice/],
    ["a tensor at an odd place", () => changed(({ tensors }) => void ((tensors[1] as { offset?: number }).offset = 513)), /not a multiple of 32/],
    ["tensors in one another", () => changed(({ tensors }) => void ((tensors[1] as { offset?: number }).offset = 32)), /overlap/],
    ["a tensor outside", () => changed(({ tensors }) => void ((tensors[1] as { offset?: number }).offset = 2 ** 40)), /cut off: 1099511\d+ bytes are needed/],
    ["a shape that overflows", () => changed(({ tensors }) => void ((tensors[1] as { shape: number[] }).shape = [2 ** 40, 2 ** 40])), /shape 1099511627776 × 1099511627776/],
    ["five dimensions", () => changed(({ tensors }) => void ((tensors[1] as { shape: number[] }).shape = [1, 1, 1, 1, 1])), /5 dimensions/],
    ["rows that a type can't hold", () => changed(({ tensors }) => void ((tensors[1] as { type: number }).type = 12)), /rows of 32/],
    ["an alignment of 3", () => changed(({ values }) => (values["general.alignment"] = u32(3))), /general.alignment is 3/],
    ["one of two parts", () => changed(({ values }) => (values["split.count"] = u32(2))), /one of 2 parts/],
    ["a value twice", () => changed((parts) => parts.extra.push(["general.name", text("again")])), /general.name is there twice/],
  ];
  for (const [name, bytes, message] of cases) test(name, () => expect(refusal(bytes())).toMatch(message));

  test("a good file cut at each sixteenth, and at each byte of its header", () => {
    const whole = ggufBytes(modelParts());
    for (let part = 0; part < 16; part++) refusal(whole.subarray(0, Math.floor((whole.length * part) / 16)));
    for (let length = 0; length < whole.length; length++) refusal(whole.subarray(0, length));
  });

  test("a folder, and a file that is not there", () => {
    expect(() => readGguf(folder)).toThrow(/can't be read|not a regular file/);
    expect(() => readGguf(join(folder, "none.gguf"))).toThrow(expect.objectContaining({ code: "model_missing" }));
  });

  test("a header of many gigabytes of zeros, without reading them", () => {
    const path = fileOf(changed(({ values }) => (values["x"] = { type: 9, bytes: Buffer.concat([u32(8).bytes, Buffer.from([0xff, 0xff, 0x3f, 0, 0, 0, 0, 0])]) })));
    truncateSync(path, 8 * 2 ** 30);
    const start = performance.now();
    const before = process.memoryUsage().rss;
    expect(() => readGguf(path)).toThrow(/model_invalid|gguf/);
    expect(performance.now() - start).toBeLessThan(1000);
    expect(process.memoryUsage().rss - before).toBeLessThan(100e6);
  });
});
