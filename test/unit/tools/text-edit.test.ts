import { describe, expect, test } from "bun:test";
import { linesOf, replaceText } from "../../../src/tools/text-edit.ts";

const settings = Buffer.from("DEBUG = 1\nTIMEOUT = 30\nRETRY_TIMEOUT = 300\n");

describe("the places that a text names", () => {
  test("one that stands by itself is meant, not the ones inside longer words", () => {
    expect(linesOf(settings, "TIMEOUT = 30", "one")).toEqual([2]);
    expect(replaceText(settings, "TIMEOUT = 30", "TIMEOUT = 45", "one").bytes.toString()).toBe("DEBUG = 1\nTIMEOUT = 45\nRETRY_TIMEOUT = 300\n");
  });

  test("all are meant when all are asked for", () => {
    expect(linesOf(settings, "TIMEOUT = 30", "all")).toEqual([2, 3]);
    expect(replaceText(settings, "TIMEOUT", "T", "all").bytes.toString()).toBe("DEBUG = 1\nT = 30\nRETRY_T = 300\n");
  });

  test("several that stand by themselves stay ambiguous, and so do several inside words", () => {
    expect(linesOf(Buffer.from("a b\na b\nxa b\n"), "a b", "one")).toEqual([1, 2, 3]);
    expect(linesOf(Buffer.from("xay\nxaz\n"), "a", "one")).toEqual([1, 2]);
  });

  test("a text without word characters at its edges is compared as it is", () => {
    expect(linesOf(Buffer.from("(x)\ny(x)\n"), "(x)", "one")).toEqual([1, 2]);
  });

  test("the only place may be inside a word", () => {
    expect(linesOf(Buffer.from("foobar\n"), "oba", "one")).toEqual([1]);
  });
});
