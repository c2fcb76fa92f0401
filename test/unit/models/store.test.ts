import { describe, expect, test } from "bun:test";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AgentError } from "../../../src/core/error.ts";
import { addModel } from "../../../src/models/add.ts";
import type { Catalog, ModelEntry } from "../../../src/models/catalog.ts";
import { tryLock } from "../../../src/models/lock.ts";
import { defaultModel, installedModels, removeModel, resolveModel, type Store, verifyModel } from "../../../src/models/store.ts";
import { fakeWeights, sha256 } from "../../support/weights-server.ts";
import { makeWorkspace, type Workspace } from "../../support/workspace.ts";

const weights = fakeWeights(100_000);
const others = fakeWeights(100_000, 5);

function entryOf(name: string, change: Partial<ModelEntry> = {}): ModelEntry {
  return { name, file: `${name}-instruct.gguf`, bytes: weights.length, sha256: sha256(weights), verified: true, default: false, sources: [], ...change };
}

function storeIn(folder: Workspace, ...more: ModelEntry[]): Store {
  const catalog: Catalog = [entryOf("small-1b", { default: true }), entryOf("big-7b", { sha256: "0".repeat(64) }), ...more];
  return { modelsDir: folder.at("models"), catalog };
}

async function failureOf(action: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await action.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AgentError)) throw new Error(`not an AgentError: ${String(error)}`);
  return { code: error.code, message: error.message };
}

describe("a name", () => {
  test("of the catalogue, of its file, or of a file that was added is the installed file", async () => {
    using folder = makeWorkspace({ "models/small-1b-instruct.gguf": weights, "models/mine.gguf": others });
    const store = storeIn(folder);
    const path = folder.at("models/small-1b-instruct.gguf");
    expect(await resolveModel("small-1b", store)).toMatchObject({ path, id: "small-1b", entry: { name: "small-1b" } });
    expect(await resolveModel("small-1b-instruct.gguf", store)).toMatchObject({ path, id: "small-1b" });
    expect(await resolveModel("mine", store)).toEqual({ path: folder.at("models/mine.gguf"), id: "mine" });
    expect(await resolveModel("mine.gguf", store)).toEqual({ path: folder.at("models/mine.gguf"), id: "mine" });
  });

  test("of a model that isn't there brings the command that gets it", async () => {
    using folder = makeWorkspace();
    expect(await failureOf(resolveModel("big-7b", storeIn(folder)))).toEqual({ code: "model_missing", message: "the model big-7b is not installed; run: atomic models pull big-7b" });
  });

  test("that nobody knows brings the near ones", async () => {
    using folder = makeWorkspace({ "models/mine.gguf": others });
    expect(await failureOf(resolveModel("smal-1b", storeIn(folder)))).toEqual({ code: "model_unknown", message: 'there is no model "smal-1b"; did you mean small-1b?' });
    expect((await failureOf(resolveModel("min", storeIn(folder)))).message).toContain("did you mean mine?");
    expect((await failureOf(resolveModel("../../no/such/model", storeIn(folder)))).code).toBe("model_missing");
    expect((await failureOf(resolveModel("", storeIn(folder)))).code).toBe("model_unknown");
  });

  test("of a file that was cut off is refused", async () => {
    using folder = makeWorkspace({ "models/small-1b-instruct.gguf": weights });
    truncateSync(folder.at("models/small-1b-instruct.gguf"), 5000);
    const { code, message } = await failureOf(resolveModel("small-1b", storeIn(folder)));
    expect(code).toBe("model_invalid");
    expect(message).toEndWith("has 5000 bytes instead of 100000; run: atomic models pull small-1b");
  });

  test("of the user's own model is the file where it lies", async () => {
    using folder = makeWorkspace({ "elsewhere/own.bin": others });
    const own = { name: "own", file: "own.gguf", verified: false, default: false, sources: [], path: folder.at("elsewhere/own.bin") };
    expect(await resolveModel("own", storeIn(folder, own))).toMatchObject({ path: own.path, id: "own" });
    const gone = { ...own, path: folder.at("nowhere.gguf") };
    expect((await failureOf(resolveModel("own", storeIn(folder, gone)))).message).toContain("correct its path in localModels.customModels");
  });
});

describe("a path", () => {
  test("is taken as it is: absolute, relative, or ending in .gguf", async () => {
    using folder = makeWorkspace({ "m.gguf": weights, noend: weights });
    const store = storeIn(folder);
    expect(await resolveModel(folder.at("m.gguf"), store)).toEqual({ path: folder.at("m.gguf"), id: "m" });
    expect(await resolveModel(folder.at("noend"), store)).toEqual({ path: folder.at("noend"), id: "noend" });
    const relative = join(...Array<string>(30).fill(".."), folder.at("m.gguf"));
    expect(await resolveModel(relative, store)).toEqual({ path: folder.at("m.gguf"), id: "m" });
  });

  test("of nothing, or of a folder, is an error that names it", async () => {
    using folder = makeWorkspace({ "dir.gguf/": "" });
    for (const path of [folder.at("nothing.gguf"), folder.at("dir.gguf"), "./no/where.gguf", "nowhere.gguf", "~/no/such/file.gguf"]) {
      const { code, message } = await failureOf(resolveModel(path, storeIn(folder)));
      expect(code).toBe("model_missing");
      expect(message).toContain(path.replace(/^(~|\.)\//, ""));
    }
  });
});

describe("without a name", () => {
  test("the catalogue's default is used, or the configured model", async () => {
    using folder = makeWorkspace({ "models/small-1b-instruct.gguf": weights, "models/mine.gguf": others });
    expect(await defaultModel(null, storeIn(folder))).toMatchObject({ id: "small-1b" });
    expect(await defaultModel("mine", storeIn(folder))).toMatchObject({ id: "mine" });
  });

  test("and without a model there is one command to run", async () => {
    using folder = makeWorkspace();
    expect(await failureOf(defaultModel(null, storeIn(folder)))).toEqual({ code: "model_missing", message: "no model is installed that could be used without a name; run: atomic models pull" });
    folder.write({ "models/mine.gguf": others });
    expect((await failureOf(defaultModel(null, storeIn(folder)))).message).toEndWith("run: atomic models pull (or name one that is installed: mine)");
  });
});

describe("installed models", () => {
  test("are those of the catalogue, then the others; unfinished ones are none", async () => {
    using folder = makeWorkspace({ "models/b.gguf": others, "models/a.gguf": others, "models/notes.txt": "x", "models/big-7b-instruct.gguf": weights, "models/.downloads/small-1b-instruct.gguf.partial": weights });
    expect((await installedModels(storeIn(folder))).map(({ id, bytes }) => [id, bytes])).toEqual([["big-7b", 100_000], ["a", 100_000], ["b", 100_000]]);
  });

  test("without a folder are none", async () => {
    using folder = makeWorkspace();
    expect(await installedModels(storeIn(folder))).toEqual([]);
  });
});

describe("verify", () => {
  test("tells good files from bad, and lets the next pull replace a bad one", async () => {
    using folder = makeWorkspace({ "models/small-1b-instruct.gguf": weights, "models/big-7b-instruct.gguf": weights, "models/big-7b-instruct.gguf.manifest.json": "{}" });
    const store = storeIn(folder);
    expect(await verifyModel("small-1b", store)).toEqual({ path: folder.at("models/small-1b-instruct.gguf"), sha256: sha256(weights), expected: sha256(weights), from: "catalogue" });
    expect(await verifyModel("big-7b", store)).toMatchObject({ sha256: sha256(weights), expected: "0".repeat(64) });
    expect(Object.keys(folder.snapshot())).not.toContain("models/big-7b-instruct.gguf.manifest.json");
  });

  test("compares an added file with what it was when it was added", async () => {
    using folder = makeWorkspace({ "stick/mine.gguf": others });
    const store = storeIn(folder);
    await addModel(folder.at("stick/mine.gguf"), store);
    expect(await verifyModel("mine", store)).toMatchObject({ expected: sha256(others), from: "installation" });
    expect(await verifyModel(folder.at("stick/mine.gguf"), store)).toMatchObject({ expected: undefined, from: "nowhere" });
  });
});

describe("remove", () => {
  test("takes the file, its manifest and unfinished bytes away", async () => {
    using folder = makeWorkspace({ "stick/mine.gguf": others, "models/.downloads/small-1b-instruct.gguf.partial": weights });
    const store = storeIn(folder);
    await addModel(folder.at("stick/mine.gguf"), store);
    expect(await removeModel("mine", store)).toEqual({ path: folder.at("models/mine.gguf"), bytes: 100_000 });
    expect(await removeModel("small-1b", store)).toMatchObject({ bytes: 100_000 });
    expect(Object.keys(folder.snapshot()).toSorted()).toEqual(["models/.downloads/mine.gguf.lock", "stick/mine.gguf"]);
  });

  test("refuses what isn't there, what is being pulled, and files outside the folder", async () => {
    using folder = makeWorkspace({ "models/small-1b-instruct.gguf": weights, "models/.downloads/small-1b-instruct.gguf.lock": "", "m.gguf": weights });
    const store = storeIn(folder);
    expect((await failureOf(removeModel("big-7b", store))).code).toBe("model_missing");
    expect((await failureOf(removeModel("nosuch", store))).code).toBe("model_unknown");
    expect((await failureOf(removeModel(folder.at("m.gguf"), store))).code).toBe("usage");
    const lock = tryLock(folder.at("models/.downloads/small-1b-instruct.gguf.lock"));
    expect((await failureOf(removeModel("small-1b", store))).message).toContain("is being pulled by another process");
    lock?.release();
    expect(await removeModel("small-1b", store)).toMatchObject({ bytes: 100_000 });
  });
});

describe("add", () => {
  test("recognises a file of the catalogue whatever it is called", async () => {
    using folder = makeWorkspace({ "stick/x": weights });
    const store = storeIn(folder);
    expect(await addModel(folder.at("stick/x"), store)).toMatchObject({ name: "small-1b", known: true, path: folder.at("models/small-1b-instruct.gguf") });
    expect(await resolveModel("small-1b", store)).toMatchObject({ id: "small-1b" });
  });

  test("refuses what can't be taken, and leaves nothing behind", async () => {
    using folder = makeWorkspace({ "stick/small-1b.gguf": others, "stick/a b.gguf": others, "stick/ok.gguf": others });
    const store = storeIn(folder);
    const cases: [string, Parameters<typeof addModel>[2], string, string][] = [
      ["stick/none.gguf", {}, "model_missing", "there is no model file"],
      ["stick/small-1b.gguf", {}, "usage", "the catalogue's small-1b is another file; give yours a name with --name"],
      ["stick/a b.gguf", {}, "usage", "give one with --name"],
      ["stick/ok.gguf", { name: "../up" }, "usage", 'cannot be the name of a model'],
      ["stick/ok.gguf", { freeBytes: async () => 5 }, "storage_full", "needs 65 MiB free"],
      ["stick/ok.gguf", { check: () => { throw new AgentError("model_invalid", "no header"); } }, "model_invalid", "no header"],
      ["stick/ok.gguf", { signal: AbortSignal.abort() }, "aborted", "stopped"],
    ];
    for (const [file, options, code, message] of cases) {
      const failure = await failureOf(addModel(folder.at(file), store, options));
      expect(failure.code).toBe(code);
      expect(failure.message).toContain(message);
    }
    expect(await installedModels(store)).toEqual([]);
    expect(await addModel(folder.at("stick/a b.gguf"), store, { name: "ab" })).toMatchObject({ name: "ab", known: false });
  });

  test("refuses a file that is in the folder already", async () => {
    using folder = makeWorkspace({ "models/mine.gguf": others });
    expect((await failureOf(addModel(folder.at("models/mine.gguf"), storeIn(folder)))).message).toContain("is in the models folder already");
  });
});

describe("the lock", () => {
  test("has one holder, and a file that can't be one is an error", () => {
    using folder = makeWorkspace();
    const lock = tryLock(folder.at("a.lock"));
    expect(tryLock(folder.at("a.lock"))).toBeUndefined();
    lock?.release();
    const again = tryLock(folder.at("a.lock"));
    expect(again).toBeDefined();
    again?.release();
    writeFileSync(folder.at("b.lock"), "x".repeat(5000));
    expect(() => tryLock(folder.at("b.lock"))).toThrow("cannot lock");
  });
});
