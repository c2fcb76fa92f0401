import { describe, expect, test } from "bun:test";
import catalogFile from "../../../models/catalog.json" with { type: "json" };
import { CatalogFile, defaultEntry, findEntry, loadCatalog, nearestNames } from "../../../src/models/catalog.ts";
import { AgentError } from "../../../src/core/error.ts";

const good = CatalogFile.parse(catalogFile);

/** The catalogue with its first entry changed. */
function changed(change: Record<string, unknown>): unknown {
  return { models: good.models.map((entry, index) => (index === 0 ? { ...entry, ...change } : entry)) };
}

function problemsOf(value: unknown): string[] {
  return CatalogFile.safeParse(value).error?.issues.map(({ message }) => message) ?? [];
}

describe("the shipped catalogue", () => {
  test("has the default, and what tests need, with the official source first", () => {
    const catalog = loadCatalog();
    expect(defaultEntry(catalog).name).toBe("qwen2.5-coder-1.5b");
    const kinds = catalog.map(({ name, verified, sources }) => ({ name, verified, kinds: sources.map(({ kind }) => kind) }));
    expect(kinds.filter(({ verified }) => verified)).toEqual([
      { name: "qwen2.5-coder-1.5b", verified: true, kinds: ["huggingface", "packages"] },
      { name: "qwen2.5-coder-0.5b", verified: true, kinds: ["huggingface", "packages"] },
      { name: "smollm2-135m", verified: true, kinds: ["packages"] },
    ]);
    expect(kinds.filter(({ verified }) => !verified).every((entry) => entry.kinds.join() === "huggingface")).toBeTrue();
  });

  test("finds an entry by name and by file", () => {
    const catalog = loadCatalog();
    expect(findEntry(catalog, "SmolLM2-135M-Instruct.Q4_1.gguf")?.name).toBe("smollm2-135m");
    expect(findEntry(catalog, "smollm2")).toBeUndefined();
  });
});

describe("a wrong catalogue is refused", () => {
  const cases: [string, unknown, string][] = [
    ["an unknown key", changed({ colour: "red" }), "Unrecognized key"],
    ["a hash in capitals", changed({ sha256: good.models[0]?.sha256.toUpperCase() }), "64 lower-case hexadecimal digits"],
    ["packages that don't add up", changed({ bytes: 1_000_000 }), "do not add up"],
    ["no default", changed({ default: undefined }), "exactly one model must be the default"],
    ["a name twice", changed({ name: "smollm2-135m" }), "two models have one name"],
    ["a file that leaves the folder", changed({ file: "../x.gguf" }), "plain file name"],
    ["no source", changed({ sources: [] }), "expected array to have >=1 items"],
    ["a branch as revision", changed({ sources: [{ kind: "huggingface", repository: "a/b", revision: "main", file: "a.gguf" }] }), "whole commit id"],
  ];
  for (const [title, value, problem] of cases) {
    test(title, () => expect(problemsOf(value).join("\n")).toContain(problem));
  }
});

describe("models of the user's own", () => {
  test("are added with what is known of them", () => {
    const own = loadCatalog([{ name: "Mine", url: "https://example.org/x.gguf", bytes: 5 }, { name: "there.gguf", path: "~/m/there.gguf", sha256: "AB".repeat(32) }], "/home/u");
    expect(own.slice(-2)).toEqual([
      { name: "Mine", bytes: 5, verified: false, default: false, file: "Mine.gguf", sources: [{ kind: "url", url: "https://example.org/x.gguf" }] },
      { name: "there.gguf", sha256: "ab".repeat(32), verified: false, default: false, file: "there.gguf", sources: [], path: "/home/u/m/there.gguf" },
    ]);
  });

  test("replace the catalogue's of the same name", () => {
    const catalog = loadCatalog([{ name: "smollm2-135m", path: "/x/y.gguf" }]);
    expect(catalog.filter(({ name }) => name === "smollm2-135m").map(({ path }) => path)).toEqual(["/x/y.gguf"]);
  });

  const wrong: [string, Parameters<typeof loadCatalog>[0], string][] = [
    ["a path as name", [{ name: "../x", path: "/x" }], 'localModels.customModels[0]: name "../x"'],
    ["neither path nor url", [{ name: "x" }], "needs either path or url"],
    ["both", [{ name: "x", path: "/x", url: "https://example.org" }], "needs either path or url"],
    ["a relative path", [{ name: "x", path: "x.gguf" }], "must be absolute"],
    ["another scheme", [{ name: "x", url: "file:///etc/passwd" }], "must start with http"],
    ["a short hash", [{ name: "x", path: "/x", sha256: "abc" }], "64 hexadecimal digits"],
    ["one name twice", [{ name: "x", path: "/x" }, { name: "x", path: "/y" }], "two models have one name"],
  ];
  for (const [title, models, problem] of wrong) {
    test(`are refused: ${title}`, () => {
      expect(() => loadCatalog(models)).toThrow(problem);
      expect(() => loadCatalog(models)).toThrow(AgentError);
    });
  }
});

test("near names are found, far ones are not", () => {
  const names = loadCatalog().map(({ name }) => name);
  expect(nearestNames("smolm2-135m", names)).toEqual(["smollm2-135m"]);
  expect(nearestNames("qwen3-4b", names)[0]).toBe("qwen3-4b-instruct");
  expect(nearestNames("gpt-oss-120b", names)).toEqual([]);
});
