// Makes small model files, good or with a defect of choice. They hold no model that could run.

export interface GgufValue {
  type: number;
  bytes: Uint8Array;
}

interface Tensor {
  name: string;
  shape: number[];
  type: number;
  /** Absent = after the one before. */
  offset?: number;
}

export interface GgufParts {
  version: number;
  /** Absent = the real numbers. */
  tensorCount?: bigint;
  valueCount?: bigint;
  values: Record<string, GgufValue>;
  /** Values at the end, where a key may come again. */
  extra: [string, GgufValue][];
  tokens: string[];
  tensors: Tensor[];
}

const alignment = 32;

/** The smallest file that is taken: four tokens, two tensors of 32-bit numbers. */
export function modelParts(): GgufParts {
  return {
    version: 3,
    values: {
      "general.architecture": text("llama"),
      "general.name": text("tiny"),
      "llama.block_count": u32(2),
      "llama.context_length": u32(128),
      "llama.embedding_length": u32(32),
      "llama.attention.head_count": u32(4),
      "llama.attention.head_count_kv": u32(2),
      "tokenizer.ggml.model": text("llama"),
      "tokenizer.ggml.bos_token_id": u32(1),
      "tokenizer.ggml.eos_token_id": u32(2),
    },
    extra: [],
    tokens: ["<unk>", "<s>", "</s>", "<0x0A>"],
    tensors: [
      { name: "token_embd.weight", shape: [32, 4], type: 0 },
      { name: "output_norm.weight", shape: [32], type: 0 },
    ],
  };
}

export function ggufBytes(parts: GgufParts): Uint8Array {
  const values: [string, GgufValue][] = [...Object.entries(parts.values), ["tokenizer.ggml.tokens", list(8, parts.tokens.map((token) => text(token).bytes))], ...parts.extra];
  let end = 0;
  const infos = parts.tensors.map(({ name, shape, type, offset = end }) => {
    end = Math.ceil((offset + shape.reduce((product, size) => product * size, 4)) / alignment) * alignment;
    return Buffer.concat([text(name).bytes, u32(shape.length).bytes, ...shape.map((size) => u64(BigInt(size))), u32(type).bytes, u64(BigInt(offset))]);
  });
  const header = Buffer.concat([
    Buffer.from("GGUF"),
    u32(parts.version).bytes,
    u64(parts.tensorCount ?? BigInt(parts.tensors.length)),
    u64(parts.valueCount ?? BigInt(values.length)),
    ...values.map(([key, { type, bytes }]) => Buffer.concat([text(key).bytes, u32(type).bytes, bytes])),
    ...infos,
  ]);
  const data = modelParts().tensors.reduce((sum, { shape }) => sum + shape.reduce((product, size) => product * size, 4), 0);
  return Buffer.concat([header, Buffer.alloc((alignment - (header.length % alignment)) % alignment), Buffer.alloc(data)]);
}

export function text(value: string): GgufValue {
  const bytes = Buffer.from(value);
  return { type: 8, bytes: Buffer.concat([u64(BigInt(bytes.length)), bytes]) };
}

export function u32(value: number): GgufValue {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return { type: 4, bytes };
}

/** @param entries already as bytes */
export function list(type: number, entries: Uint8Array[]): GgufValue {
  return { type: 9, bytes: Buffer.concat([u32(type).bytes, u64(BigInt(entries.length)), ...entries]) };
}

function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}
