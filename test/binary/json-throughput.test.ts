// A stream of 100,000 deltas through a pipe, judged by ratios alone: speed beside a bare loop that writes the same bytes,
// memory beside a stream of a tenth of the length, and with a reader that stops (J-27).
import { describe, expect, test } from "bun:test";
import { measureSpeed, measureWaiting, streamBounds } from "../bench/stream.ts";

// What a process holds is read from /proc.
describe.skipIf(process.platform !== "linux")("100,000 deltas", () => {
  test("leave at a third of a bare loop's speed or more, in memory that hardly grows with their number", async () => {
    // Other work on the machine can only make the stream look slower: three processes share what the loop has to itself.
    let best = await measureSpeed(5);
    for (let tries = 1; tries < 6 && best.speed.ratio <= streamBounds.speedLeast; tries += 1) best = await measureSpeed(5);
    expect(best.speed.ratio).toBeGreaterThan(streamBounds.speedLeast);
    expect(best.growth.ratio).toBeLessThan(streamBounds.growthMost);
  }, 60_000);

  test("and snapshots of 150 MiB in all wait for a slow reader outside of memory", async () => {
    const { deltas, snapshots, snapshotMebibytes } = await measureWaiting(1);
    expect(deltas.ratio).toBeLessThan(streamBounds.waitingMost);
    expect(snapshots.ratio).toBeLessThan(streamBounds.snapshotsMost);
    // The figure says nothing when the stream is no longer than what a process holds anyway.
    expect(snapshotMebibytes).toBeGreaterThan(140);
  }, 60_000);
});
