// A process that answers lines, the sidecar or the echo, driven so that nothing but the way of a line is timed.
// Looks at no more of a line than it must: this process shares the cores with what it measures.

export type Frame = { kind?: string; type?: string; correlationId?: string; ok?: boolean; payload?: { [name: string]: unknown } };

export class Peer implements AsyncDisposable {
  /** Resolves with the first line that comes. */
  readonly started: Promise<void>;
  /** Takes every line but answers of `ping`. */
  onLine: (line: string) => void = () => undefined;
  readonly #child: Bun.Subprocess<"pipe", "pipe", "inherit">;
  readonly #waiting = new Map<string, () => void>();
  #nextId = 0;

  constructor(argv: string[], { cwd, env }: { cwd: string; env: { [name: string]: string | undefined } }) {
    this.#child = Bun.spawn(argv, { cwd, env, stdin: "pipe", stdout: "pipe", stderr: "inherit" });
    const first = Promise.withResolvers<void>();
    this.started = first.promise;
    void this.#read(first.resolve);
  }

  /** From a request to its answer, in ms. The echo's answer is the request itself. */
  async ping(): Promise<number> {
    const id = `p${this.#nextId++}`;
    const answered = new Promise<void>((resolve) => this.#waiting.set(id, resolve));
    const startedAt = performance.now();
    this.send({ kind: "request", id, type: "ping", payload: {} });
    await answered;
    return performance.now() - startedAt;
  }

  send(frame: object): void {
    this.#child.stdin.write(`${JSON.stringify(frame)}\n`);
    void this.#child.stdin.flush();
  }

  /** Resolves with the first frame from now on that fits; for what is not timed. */
  async frame(fits: (frame: Frame) => boolean): Promise<Frame> {
    const before = this.onLine;
    const found = Promise.withResolvers<Frame>();
    this.onLine = (line) => {
      before(line);
      const frame = JSON.parse(line) as Frame;
      if (fits(frame)) found.resolve(frame);
    };
    const frame = await found.promise;
    this.onLine = before;
    return frame;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.exited;
  }

  async #read(started: () => void): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of this.#child.stdout) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(line);
      if (lines.length > 0) started();
    }
  }

  #take(line: string): void {
    const [, id] = ownId.exec(line) ?? [];
    if (id === undefined) return this.onLine(line);
    this.#waiting.get(id)?.();
    this.#waiting.delete(id);
  }
}

/** Ids of `ping`: no other id on this wire begins so. */
const ownId = /"(?:id|correlationId)":"(p\d+)"/;
