// The bytes of an open file, piece by piece, in constant memory. Not as a stream: one that ends early tells of it once more, as an
// event that ends the process.
import { read } from "node:fs";
import { promisify } from "node:util";

const readInto = promisify(read);
const chunkBytes = 256 * 1024;

/** Each chunk is valid until the next one is asked for. Leaves the descriptor open. @throws when the signal aborts or reading fails */
export async function* chunksOf(descriptor: number, start: number, signal: AbortSignal): AsyncGenerator<Buffer, void, void> {
  const chunk = Buffer.allocUnsafe(chunkBytes);
  for (let at = start; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await readInto(descriptor, chunk, 0, chunk.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}
