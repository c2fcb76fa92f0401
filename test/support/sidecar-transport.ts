// What carries lines between a host of tests and the sidecar, and what a frame looks like to both.

export interface Frame {
  kind: string;
  id: string;
  type?: string;
  correlationId?: string | number;
  ok?: boolean;
  // Payloads differ by type; what a test reads of one it compares at once.
  payload: { [name: string]: unknown } | null;
  error?: { message: string; code: string; field?: string };
}

/** What carries lines between host and sidecar. */
export interface Transport {
  frames: Frame[];
  write(text: string | Uint8Array): void;
  end(): void;
  /** Resolves when a frame came, or the stream ended. */
  changed(): Promise<void>;
  ended(): boolean;
  exit: Promise<number | null>;
}

/** Both ends in this process. */
export function memoryTransport() {
  const frames: Frame[] = [];
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let rest = "";
  let isOver = false;
  let isClosed = false;
  let change = Promise.withResolvers<void>();
  const notify = (): void => {
    change.resolve();
    change = Promise.withResolvers<void>();
  };
  return {
    frames,
    input: new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) }),
    output: async (bytes: Uint8Array, offset: number): Promise<number> => {
      const lines = (rest + Buffer.from(bytes.subarray(offset)).toString()).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) frames.push(JSON.parse(line) as Frame);
      notify();
      return bytes.length - offset;
    },
    write: (text: string | Uint8Array) => controller?.enqueue(Buffer.from(text as string)),
    end: () => {
      if (!isClosed) controller?.close();
      isClosed = true;
    },
    changed: () => change.promise,
    ended: () => isOver,
    finish: () => {
      isOver = true;
      notify();
    },
  };
}
