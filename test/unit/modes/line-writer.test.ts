// One writer: whole lines in order, back-pressure, a reader that goes away, a loop that keeps turning.
import { describe, expect, test } from "bun:test";
import { isReaderGone, LineWriter } from "../../../src/modes/line-writer.ts";
import { makeWorkspace } from "../../support/workspace.ts";

/** A reader that takes at most so many bytes a write, and only when it is told to. */
function slowReader(bytesPerWrite: number) {
  const taken: Uint8Array[] = [];
  let gate = Promise.withResolvers<void>();
  return {
    write: async (bytes: Uint8Array, offset: number): Promise<number> => {
      await gate.promise;
      const piece = bytes.slice(offset, offset + bytesPerWrite);
      taken.push(piece);
      return piece.length;
    },
    open: () => gate.resolve(),
    close: () => (gate = Promise.withResolvers<void>()),
    text: () => Buffer.concat(taken).toString(),
    writes: () => taken.length,
  };
}

const failing = (code: string) => Object.assign(new Error(code), { code });

describe("LineWriter", () => {
  test("lines of one tick leave in one write, in order", async () => {
    const reader = slowReader(Number.MAX_SAFE_INTEGER);
    reader.open();
    const writer = new LineWriter(reader.write);
    for (let count = 0; count < 100; count++) expect(writer.write(`${count}\n`)).toBeUndefined();
    await writer.flush();
    expect(reader.text()).toBe(Array.from({ length: 100 }, (_, count) => `${count}\n`).join(""));
    expect(reader.writes()).toBe(1);
  });

  test("a short write goes on where it stopped, also inside a character", async () => {
    const reader = slowReader(3);
    reader.open();
    const writer = new LineWriter(reader.write);
    void writer.write("añ😀 end\n");
    await writer.flush();
    expect(reader.text()).toBe("añ😀 end\n");
  });

  test("over the bound the promise waits for the reader; under it nobody waits", async () => {
    const reader = slowReader(1000);
    const writer = new LineWriter(reader.write, { pendingBytesMax: 10 });
    expect(writer.write("12345678\n")).toBeUndefined();
    const room = writer.write("ü\n");
    let waited = false;
    const resumed = room?.then(() => (waited = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect([room === undefined, waited, writer.busy]).toEqual([false, false, true]);
    reader.open();
    await resumed;
    await writer.flush();
    expect([waited, writer.busy, reader.text()]).toEqual([true, false, "12345678\nü\n"]);
  });

  test("a descriptor that is not ready is tried again", async () => {
    let refusals = 2;
    const taken: string[] = [];
    const writer = new LineWriter(async (bytes) => {
      if (refusals-- > 0) throw failing("EAGAIN");
      taken.push(Buffer.from(bytes).toString());
      return bytes.length;
    });
    void writer.write("a\n");
    await writer.flush();
    expect(taken).toEqual(["a\n"]);
  });

  test("when the reader is gone it is told once, waiting writers go on, and nothing more is written", async () => {
    const closings: unknown[] = [];
    let writes = 0;
    const writer = new LineWriter(
      async () => {
        writes += 1;
        throw failing("EPIPE");
      },
      { pendingBytesMax: 1, onClosed: (error) => closings.push(isReaderGone(error)) },
    );
    await writer.write("abc\n");
    await writer.flush();
    expect(writer.write("d\n")).toBeUndefined();
    await writer.flush();
    expect([closings, writes, writer.closed, writer.busy]).toEqual([[true], 1, true, false]);
    expect(isReaderGone(failing("ENOSPC"))).toBe(false);
  });

  test("lines written while another flush waits are flushed too", async () => {
    const reader = slowReader(1000);
    const writer = new LineWriter(reader.write);
    void writer.write("a\n");
    const flushed = writer.flush();
    void writer.write("b\n");
    reader.open();
    await flushed;
    expect(reader.text()).toBe("a\nb\n");
  });

  test("a real pipe whose reader sleeps: no line is cut, timers go on, pending bytes are bounded", async () => {
    const program = `
      import { LineWriter } from ${JSON.stringify(new URL("../../../src/modes/line-writer.ts", import.meta.url).pathname)};
      const writer = new LineWriter(1);
      let ticks = 0;
      const timer = setInterval(() => ticks++, 10);
      void writer.write(JSON.stringify("x".repeat(3_000_000)) + "\\n");
      for (let count = 0; count < 20_000; count++) await writer.write(JSON.stringify({ count, text: "y".repeat(100) }) + "\\n");
      await writer.flush();
      clearInterval(timer);
      process.stderr.write(JSON.stringify({ ticks, rssBytes: process.memoryUsage().rss }));`;
    const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "pipe", stdin: "ignore" });
    const reader = child.stdout.getReader();
    const first = await reader.read();
    await Bun.sleep(300);
    const chunks = [first.value ?? new Uint8Array()];
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) chunks.push(chunk.value);
    const lines = Buffer.concat(chunks).toString().split("\n");
    expect([lines.length, lines[0]?.length, lines.at(-1)]).toEqual([20_002, 3_000_002, ""]);
    expect(lines.slice(1, -1).map((line) => (JSON.parse(line) as { count: number }).count)).toEqual(Array.from({ length: 20_000 }, (_, count) => count));
    const { ticks, rssBytes } = JSON.parse(await new Response(child.stderr).text()) as { ticks: number; rssBytes: number };
    expect(ticks).toBeGreaterThan(5);
    expect(rssBytes).toBeLessThan(200 * 1024 * 1024);
  });

  test("a short line after a pause leaves before `write` returns; what follows at once keeps its place behind it", async () => {
    const program = `
      import { fstatSync, readFileSync } from "node:fs";
      import { LineWriter } from ${JSON.stringify(new URL("../../../src/modes/line-writer.ts", import.meta.url).pathname)};
      const writer = new LineWriter(1);
      const atOnce = [];
      for (let round = 0; round < 5; round++) {
        await Bun.sleep(20);
        for (let count = 0; count < 3; count++) void writer.write(round + "." + count + "\\n");
        atOnce.push(fstatSync(1).size);
        await writer.flush();
      }
      void writer.write("x".repeat(5000) + "\\n");
      atOnce.push(writer.busy);
      await writer.flush();
      process.stderr.write(JSON.stringify(atOnce));`;
    // A file grows with every write, so that what has left can be seen from inside.
    using folder = makeWorkspace();
    const child = Bun.spawn([process.execPath, "-e", program], { stdout: Bun.file(folder.at("out")), stderr: "pipe", stdin: "ignore" });
    const sizes = JSON.parse(await child.stderr.text()) as unknown[];
    const rounds = [0, 1, 2, 3, 4].map((round) => `${round}.0\n${round}.1\n${round}.2\n`);
    expect(folder.read("out")).toBe(`${rounds.join("")}${"x".repeat(5000)}\n`);
    // The first one looks the system's library up.
    const isLeft = sizes.slice(1, 5).map((size, index) => Number(size) > 12 * (index + 1));
    expect([isLeft, sizes.at(-1)]).toEqual([Array(4).fill(process.platform === "linux"), true]);
  });

  test("a real pipe whose reader goes away: told, silent, no crash", async () => {
    const program = `
      import { LineWriter } from ${JSON.stringify(new URL("../../../src/modes/line-writer.ts", import.meta.url).pathname)};
      const writer = new LineWriter(1, { onClosed: () => (process.exitCode = 7) });
      for (let count = 0; count < 1_000_000 && !writer.closed; count++) await writer.write("some line or other\\n");
      await writer.flush();`;
    const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "pipe", stdin: "ignore" });
    const reader = child.stdout.getReader();
    await reader.read();
    await reader.cancel();
    expect([await child.exited, await new Response(child.stderr).text()]).toEqual([7, ""]);
  });
});
