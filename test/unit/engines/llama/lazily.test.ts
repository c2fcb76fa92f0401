// Something opened once for many who wait, some of whom give up.
import { expect, test } from "bun:test";
import { lazily } from "../../../../src/engines/llama/lazily.ts";

function subject(): { opened: PromiseWithResolvers<string>[]; signals: AbortSignal[]; report: (progress: number) => void; closed: string[]; thing: ReturnType<typeof lazily<string, number>> } {
  const opened: PromiseWithResolvers<string>[] = [];
  const signals: AbortSignal[] = [];
  const closed: string[] = [];
  const state = { report: (_: number): void => {} };
  const thing = lazily<string, number>(
    (signal, onProgress) => {
      const result = Promise.withResolvers<string>();
      signal.addEventListener("abort", () => result.reject(new Error("given up")));
      opened.push(result);
      signals.push(signal);
      state.report = onProgress;
      return result.promise;
    },
    async (open) => void closed.push(open),
  );
  return { opened, signals, closed, thing, report: (progress) => state.report(progress) };
}

const never = (): AbortSignal => new AbortController().signal;

test("is opened once for all who ask, and tells each of the progress", async () => {
  const { thing, opened, report } = subject();
  const seen: number[][] = [[], []];
  const both = seen.map((list) => thing.open(never(), (progress) => list.push(progress)));
  await Promise.resolve();
  report(0.5);
  opened[0]?.resolve("a");
  expect(await Promise.all(both)).toEqual(["a", "a"]);
  expect(seen).toEqual([[0.5], [0.5]]);
  expect(await thing.open(never(), () => {})).toBe("a");
  expect(opened.length).toBe(1);
  expect(thing.current()).toBe("a");
});

test("is being opened from the first who asks until it is open, failed or given up by all", async () => {
  const { thing, opened } = subject();
  expect(thing.isOpening()).toBe(false);
  const failing = thing.open(never(), () => {});
  expect(thing.isOpening()).toBe(true);
  opened[0]?.reject(new Error("no"));
  await expect(failing).rejects.toThrow("no");
  expect(thing.isOpening()).toBe(false);
  const controller = new AbortController();
  const left = thing.open(controller.signal, () => {});
  expect(thing.isOpening()).toBe(true);
  controller.abort();
  await expect(left).rejects.toThrow("cancelled");
  expect(thing.isOpening()).toBe(false);
  const opening = thing.open(never(), () => {});
  await Bun.sleep(0);
  opened[2]?.resolve("c");
  expect([await opening, thing.isOpening(), thing.current()]).toEqual(["c", false, "c"]);
});

test("one who gives up does not end it for the other", async () => {
  const { thing, opened, signals } = subject();
  const controller = new AbortController();
  const first = thing.open(controller.signal, () => {});
  const second = thing.open(never(), () => {});
  controller.abort();
  expect(first).rejects.toMatchObject({ code: "aborted" });
  await first.catch(() => {});
  expect(signals[0]?.aborted).toBe(false);
  opened[0]?.resolve("a");
  expect(await second).toBe("a");
});

test("when all have given up it is given up, and opened again for the next", async () => {
  const { thing, opened, signals } = subject();
  const controller = new AbortController();
  const first = thing.open(controller.signal, () => {});
  controller.abort();
  await first.catch(() => {});
  expect(signals[0]?.aborted).toBe(true);
  const second = thing.open(never(), () => {});
  await Bun.sleep(0);
  opened[1]?.resolve("b");
  expect(await second).toBe("b");
});

test("a failure is told, and the next to ask tries again", async () => {
  const { thing, opened } = subject();
  const first = thing.open(never(), () => {});
  opened[0]?.reject(new Error("no memory"));
  await expect(first).rejects.toThrow("no memory");
  expect(thing.current()).toBeUndefined();
  const second = thing.open(never(), () => {});
  opened[1]?.resolve("b");
  expect(await second).toBe("b");
});

test("closing frees what is open, and waits for what is being opened", async () => {
  const { thing, opened, closed } = subject();
  const first = thing.open(never(), () => {});
  opened[0]?.resolve("a");
  await first;
  await thing.close();
  expect(closed).toEqual(["a"]);
  const second = thing.open(never(), () => {}).catch(() => "given up");
  await thing.close();
  expect(await second).toBe("given up");
  expect(closed).toEqual(["a"]);
});
