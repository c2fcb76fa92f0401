// The header that is kept: read once, in slices that let others work, and never told of a file that has changed.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readGguf } from "../../../src/models/gguf.ts";
import { headerInSlices, headerOf } from "../../../src/models/known-header.ts";
import { ggufBytes, modelParts, text } from "../../support/gguf.ts";

const folder = mkdtempSync(join(tmpdir(), "atomic-header-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

/** A model with so many tokens. */
function modelFile(tokens: number): string {
  const parts = modelParts();
  parts.tokens = [...parts.tokens, ...Array.from({ length: tokens - parts.tokens.length }, (_, index) => `token ${index}`)];
  parts.tensors[0] = { name: "token_embd.weight", shape: [32, tokens], type: 0 };
  const path = join(folder, `${files++}.gguf`);
  const bytes = ggufBytes(parts);
  writeFileSync(path, bytes);
  // Room for the weights, which nobody reads.
  truncateSync(path, bytes.length + tokens * 32 * 4 + 1024);
  return path;
}

describe("a header in slices", () => {
  test("is what is read at once", async () => {
    const path = modelFile(20_000);
    expect(await headerInSlices(path)).toEqual(readGguf(path));
  });

  test("lets others have their turn while it is read", async () => {
    const path = modelFile(100_000);
    let turns = 0;
    let isOver = false;
    const other = (): void => {
      turns++;
      if (!isOver) setImmediate(other);
    };
    setImmediate(other);
    await headerInSlices(path);
    isOver = true;
    // 100,000 tokens are at least ten slices.
    expect(turns).toBeGreaterThan(10);
  });

  test("is kept, for both ways to ask", async () => {
    const path = modelFile(10);
    const first = await headerInSlices(path);
    expect(await headerInSlices(path)).toBe(first);
    expect(headerOf(path)).toBe(first);
  });

  test("two who ask at once get the same content", async () => {
    const path = modelFile(30_000);
    const [first, second] = await Promise.all([headerInSlices(path), headerInSlices(path)]);
    expect(second).toEqual(first);
    expect(headerOf(path).vocabularySize).toBe(30_000);
  });
});

describe("a file that changed", () => {
  test("is read again", async () => {
    const path = modelFile(10);
    expect((await headerInSlices(path)).name).toBe("tiny");
    const parts = modelParts();
    parts.values["general.name"] = text("long");
    writeFileSync(path, ggufBytes(parts));
    expect((await headerInSlices(path)).name).toBe("long");
    expect(headerOf(path).name).toBe("long");
  });

  test("is refused when it is damaged now, each time it is asked for", async () => {
    const path = modelFile(10);
    headerOf(path);
    writeFileSync(path, "GGU");
    const defect = expect.objectContaining({ code: "model_invalid" });
    for (let time = 0; time < 2; time++) {
      await expect(headerInSlices(path)).rejects.toThrow(defect);
      expect(() => headerOf(path)).toThrow(defect);
    }
  });

  test("is missed when it is gone", async () => {
    const path = modelFile(10);
    headerOf(path);
    rmSync(path);
    const missing = expect.objectContaining({ code: "model_missing" });
    await expect(headerInSlices(path)).rejects.toThrow(missing);
    expect(() => headerOf(path)).toThrow(missing);
  });
});
