import { describe, expect, test } from "bun:test";
import { ratioOf, sizesOf } from "../../../../src/agent/compaction/sizes.ts";
import { settings } from "./messages.ts";

describe("sizes", () => {
  test.each([
    [512, 384, 448, 64, 256, 26],
    [4096, 3072, 3840, 512, 256, 205],
    [8192, 6144, 7680, 1024, 256, 410],
    [32_768, 24_576, 31_744, 4096, 656, 1639],
    [131_072, 114_688, 130_048, 4096, 2622, 6554],
  ])("of a window of %i", (window, threshold, hardLimit, plannerAnswer, progressMin, growthMin) => {
    expect(sizesOf(window, settings)).toEqual({ window, threshold, hardLimit, plannerAnswer, progressMin, growthMin });
  });

  test("the setting replaces the number, never the quarter", () => {
    expect(sizesOf(131_072, { ...settings, reserveTokens: 1000 }).threshold).toBe(130_072);
    expect(sizesOf(8192, { ...settings, reserveTokens: 8000 }).threshold).toBe(6144);
  });

  test("a share outside of 0 to 1 is a half", () => {
    expect([0, 1, -1, 7, Number.NaN, 0.25].map((compressionRatio) => ratioOf({ ...settings, compressionRatio }))).toEqual([0.5, 0.5, 0.5, 0.5, 0.5, 0.25]);
  });
});
