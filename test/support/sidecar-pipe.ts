// Reads the frames of a sidecar from its pipe at the pace of the test: nothing is taken from the pipe unless it is asked for.
import type { Frame } from "./sidecar-transport.ts";

export interface ByteReader {
  /** Every frame up to the first that fits. @throws when the stream ends before. */
  until(fits: (frame: Frame) => boolean): Promise<Frame[]>;
  /** Bytes read so far. */
  bytes(): number;
}

export function lineReader(stream: ReadableStream<Uint8Array>): ByteReader {
  const reader = stream.getReader();
  const waiting: Frame[] = [];
  const decoder = new TextDecoder();
  let rest: string[] = [];
  let size = 0;
  const take = (text: string): void => {
    const lines = text.split("\n");
    const last = lines.pop() ?? "";
    for (const line of lines) {
      waiting.push(JSON.parse(rest.join("") + line) as Frame);
      rest = [];
    }
    rest.push(last);
  };
  return {
    bytes: () => size,
    async until(fits) {
      const found: Frame[] = [];
      for (;;) {
        for (let frame = waiting.shift(); frame !== undefined; frame = waiting.shift()) {
          found.push(frame);
          if (fits(frame)) return found;
        }
        const { done, value } = await reader.read();
        if (done) throw new Error(`the stream ended; the last frames: ${JSON.stringify(found.slice(-5)).slice(0, 1000)}`);
        size += value.length;
        take(decoder.decode(value, { stream: true }));
      }
    },
  };
}
