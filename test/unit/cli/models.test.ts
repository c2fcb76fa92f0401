import { describe, expect, test } from "bun:test";
import { formatBytes, pullPrinter } from "../../../src/cli/models-progress.ts";
import { memoryNeedBytes } from "../../../src/cli/models-table.ts";
import { type ModelsIo, runModels } from "../../../src/cli/models.ts";
import { PullEvent } from "../../../src/models/pull-event.ts";
import { ggufBytes, modelParts } from "../../support/gguf.ts";
import { fakeWeights, serveWeights, sha256 } from "../../support/weights-server.ts";
import { makeWorkspace, type Workspace } from "../../support/workspace.ts";

const weights = fakeWeights(300_000);

interface Ran {
  status: number;
  stdout: string;
  stderr: string;
}

async function models(folder: Workspace, argv: string[], io: Partial<ModelsIo> = {}): Promise<Ran> {
  let stdout = "";
  let stderr = "";
  const status = await runModels(argv, {
    stdout: (text) => (stdout += text),
    stderr: (text) => (stderr += text),
    isTerminal: false,
    env: {},
    modelsDir: folder.at("models"),
    download: { hfEndpoint: "http://127.0.0.1:9", connections: 2 },
    totalMemoryBytes: 2e9,
    ...io,
  });
  return { status, stdout, stderr };
}

async function withOwnModel(body: (folder: Workspace, io: Partial<ModelsIo>) => Promise<void>): Promise<void> {
  using folder = makeWorkspace();
  await using server = await serveWeights(weights);
  await body(folder, { customModels: [{ name: "mine", url: `${server.url}/x.gguf`, sha256: sha256(weights), bytes: weights.length }] });
}

describe("use", () => {
  test("without a sub-command, or with --help, shows the help", async () => {
    using folder = makeWorkspace();
    expect(await models(folder, [])).toMatchObject({ status: 2, stdout: "", stderr: expect.stringContaining("Usage: atomic models COMMAND") });
    for (const argv of [["--help"], ["-h"], ["pull", "--help"], ["help"]]) {
      expect(await models(folder, argv)).toMatchObject({ status: 0, stdout: expect.stringContaining("pull [NAME]"), stderr: "" });
    }
  });

  const wrong: [string[], string][] = [
    [["frobnicate"], "there is no `atomic models frobnicate`"],
    [["constructor"], "there is no `atomic models constructor`"],
    [["list", "x"], "too many arguments: x"],
    [["pull", "a", "b"], "too many arguments: b"],
    [["pull", "--force"], "Unknown option '--force'"],
    [["pull", "--progress", "xml"], '--progress takes only "json", not "xml"'],
    [["pull", "smolm2-135m"], "did you mean smollm2-135m?"],
    [["pull", "/x/y.gguf"], "for a file of your own: atomic models add FILE"],
    [["path", "smolm2-135m"], "did you mean smollm2-135m?"],
    [["rm"], "needs the name of a model"],
    [["add"], "needs the path of a .gguf file"],
  ];
  for (const [argv, message] of wrong) {
    test(`wrong: ${argv.join(" ")}`, async () => {
      using folder = makeWorkspace();
      expect(await models(folder, argv)).toMatchObject({ status: 2, stdout: "", stderr: expect.stringContaining(message) });
    });
  }
});

describe("list", () => {
  test("shows size, licence, what is there and what fits", async () => {
    using folder = makeWorkspace({ "models/extra.gguf": weights, "models/.downloads/SmolLM2-135M-Instruct.Q4_1.gguf.partial": weights });
    const { stdout, status } = await models(folder, ["list"]);
    expect(status).toBe(0);
    const rows = stdout.split("\n").map((line) => line.split(/ {2,}/));
    expect(rows[0]).toEqual(["NAME", "SIZE", "LICENCE", "INSTALLED", "FITS"]);
    expect(rows.find(([name]) => name === "qwen2.5-coder-1.5b")).toEqual(["qwen2.5-coder-1.5b", "1.12 GB", "Apache-2.0", "no", "yes", "default"]);
    expect(rows.find(([name]) => name === "smollm2-135m")).toEqual(["smollm2-135m", "98.4 MB", "Apache-2.0", "partly (0 %)", "yes"]);
    expect(rows.find(([name]) => name === "qwen3.5-4b")).toEqual(["qwen3.5-4b", "2.74 GB", "Apache-2.0", "no", "no", "not run by us"]);
    expect(rows.find(([name]) => name === "extra")).toEqual(["extra", "300 kB", "?", "yes", "yes", folder.at("models/extra.gguf")]);
  });

  test("counts what a model needs beside its weights", () => {
    expect(memoryNeedBytes(1e9)).toBe(1.1e9 + 512 * 1024 * 1024);
  });
});

describe("pull, path, verify, rm", () => {
  test("of a model by name", () =>
    withOwnModel(async (folder, io) => {
      const path = folder.at("models/mine.gguf");
      expect(await models(folder, ["path", "mine"], io)).toEqual({ status: 1, stdout: "", stderr: "atomic models: the model mine is not installed; run: atomic models pull mine\n" });
      const pulled = await models(folder, ["pull", "mine"], io);
      expect(pulled).toMatchObject({ status: 0, stdout: `${path}\n` });
      expect(pulled.stderr).toMatch(/^mine from 127\.0\.0\.1:\d+\/x\.gguf, 300 kB\n(\d+ % of 300 kB.*\n)*installed mine \(300 kB, hash checked\) in \d+ s\n$/);
      expect(await models(folder, ["pull", "mine"], io)).toEqual({ status: 0, stdout: `${path}\n`, stderr: "mine is installed already\n" });
      expect(await models(folder, ["path", "mine"], io)).toEqual({ status: 0, stdout: `${path}\n`, stderr: "" });
      expect(await models(folder, ["path"], { ...io, modelId: "mine" })).toEqual({ status: 0, stdout: `${path}\n`, stderr: "" });
      expect(await models(folder, ["verify", "mine"], io)).toEqual({ status: 0, stdout: `${path}: good, SHA-256 ${sha256(weights)} is that of the catalogue\n`, stderr: "" });
      const bad = weights.slice();
      bad[9999] = 1 ^ (bad[9999] ?? 0);
      folder.write({ "models/mine.gguf": bad });
      const verdict = `${path}: BAD, SHA-256 is ${sha256(bad)}, expected ${sha256(weights)}; fetch it anew with: atomic models pull mine\n`;
      expect(await models(folder, ["verify", "mine"], io)).toEqual({ status: 1, stdout: verdict, stderr: "" });
      expect(await models(folder, ["pull", "mine"], io)).toMatchObject({ status: 0, stderr: expect.stringContaining("installed mine") });
      expect(await models(folder, ["rm", "mine"], io)).toEqual({ status: 0, stdout: `removed ${path} (300 kB)\n`, stderr: "" });
      expect(await models(folder, ["rm", "mine"], io)).toMatchObject({ status: 1, stderr: "atomic models: mine is not installed\n" });
    }));

  test("with --progress json prints one event a line and nothing else", () =>
    withOwnModel(async (folder, io) => {
      const { status, stdout, stderr } = await models(folder, ["pull", "mine", "--progress", "json"], io);
      expect([status, stderr]).toEqual([0, ""]);
      const events = stdout.trimEnd().split("\n").map((line) => PullEvent.parse(JSON.parse(line)));
      expect(events[0]).toMatchObject({ type: "pull_started", bytes: 0, totalBytes: 300_000 });
      expect(events.at(-2)).toMatchObject({ type: "pull_progressed", bytes: 300_000 });
      expect(events.at(-1)).toMatchObject({ type: "pull_finished", path: folder.at("models/mine.gguf"), downloaded: true });
    }));

  test("with --progress json ends with pull_failed on a failure, also of the name", async () => {
    using folder = makeWorkspace();
    const unknown = await models(folder, ["pull", "nosuch", "--progress", "json"]);
    expect(unknown.status).toBe(2);
    expect(PullEvent.parse(JSON.parse(unknown.stdout))).toMatchObject({ type: "pull_failed", model: "nosuch", code: "model_unknown" });
    const unreachable = await models(folder, ["pull", "qwen3-0.6b", "--progress", "json"]);
    expect(unreachable.status).toBe(1);
    const lines = unreachable.stdout.trimEnd().split("\n").map((line) => PullEvent.parse(JSON.parse(line)));
    expect(lines.map(({ type }) => type)).toEqual(["pull_started", "source_failed", "pull_failed"]);
    expect(unreachable.stderr).toContain("Check the network");
  });

  test("without a model names the one command", async () => {
    using folder = makeWorkspace();
    expect(await models(folder, ["path"])).toMatchObject({ status: 1, stderr: expect.stringContaining("run: atomic models pull\n") });
  });

  test("a wrong custom model is an error of the configuration", async () => {
    using folder = makeWorkspace();
    expect(await models(folder, ["list"], { customModels: [{ name: "x" }] })).toMatchObject({ status: 1, stderr: expect.stringContaining("localModels.customModels[0]") });
  });
});

test("add refuses a file that is no model, with the defect", async () => {
  using folder = makeWorkspace({ "noise.gguf": weights });
  const { status, stdout, stderr } = await models(folder, ["add", folder.at("noise.gguf")]);
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(folder.at("noise.gguf"));
});

test("add takes a good model under its own name or another", async () => {
  const model = ggufBytes(modelParts());
  using folder = makeWorkspace({ "stick/tiny.gguf": model });
  const added = await models(folder, ["add", folder.at("stick/tiny.gguf")]);
  expect(added).toMatchObject({ status: 0, stdout: `${folder.at("models/tiny.gguf")}\n` });
  expect(added.stderr).toBe(`installed tiny (${formatBytes(model.length)}, SHA-256 ${sha256(model)}, not in the catalogue)\n`);
  expect(await models(folder, ["add", folder.at("stick/tiny.gguf"), "--name", "other"])).toMatchObject({ status: 0 });
  expect(await models(folder, ["path", "other"])).toMatchObject({ status: 0, stdout: `${folder.at("models/other.gguf")}\n` });
  expect(await models(folder, ["verify", "tiny"])).toMatchObject({ status: 0, stdout: expect.stringContaining("is that of the installation") });
});

test("pull takes a model whose size and hash nobody told", async () => {
  const model = ggufBytes(modelParts());
  using folder = makeWorkspace();
  await using server = await serveWeights(model, () => ({ etag: null }));
  const io = { customModels: [{ name: "tiny", url: `${server.url}/t.gguf` }] };
  expect(await models(folder, ["pull", "tiny"], io)).toMatchObject({ status: 0, stdout: `${folder.at("models/tiny.gguf")}\n` });
  expect(await models(folder, ["verify", "tiny"], io)).toMatchObject({ status: 0 });
});

test("an interrupted pull says that it goes on later", () =>
  withOwnModel(async (folder, io) => {
    const stopped = await models(folder, ["pull", "mine"], { ...io, signal: AbortSignal.abort() });
    expect(stopped).toEqual({ status: 1, stdout: "", stderr: "atomic models: stopped; the same command goes on from what is there\n" });
  }));

describe("progress", () => {
  function shown(isTerminal: boolean, totalBytes: number | undefined): string {
    let text = "";
    const printer = pullPrinter({ stdout: (line) => (text += `out:${line}`), stderr: (line) => (text += line), isTerminal }, false);
    const total = totalBytes === undefined ? {} : { totalBytes };
    for (let bytes = 0; bytes <= 1e9; bytes += 50e6) printer.onEvent({ type: "pull_progressed", model: "m", bytes, ...total, bytesPerSecond: 10e6 });
    printer.onEvent({ type: "pull_finished", model: "m", path: "/p", bytes: 1e9, sha256: "", downloaded: true, durationMs: 100_000 });
    return text;
  }

  test("is a line a tenth where nobody watches", () => {
    const lines = shown(false, 1e9).split("\n");
    expect(lines.slice(0, 2)).toEqual(["10 % of 1.00 GB, 10.0 MB/s, 1 min 30 s left", "20 % of 1.00 GB, 10.0 MB/s, 1 min 20 s left"]);
    expect(lines.slice(9)).toEqual(["100 % of 1.00 GB, 10.0 MB/s", "installed m (1.00 GB, hash checked) in 1 min 40 s", "out:/p", ""]);
  });

  test("is a line every 100 MB where the size is unknown", () => {
    expect(shown(false, undefined).split("\n").slice(0, 2)).toEqual(["100 MB, 10.0 MB/s", "200 MB, 10.0 MB/s"]);
  });

  test("is a bar on a terminal", () => {
    const text = shown(true, 1e9);
    expect(text).toContain("\r[############------------] 50 % of 1.00 GB, 10.0 MB/s, 50 s left\u001b[K");
    expect(text).toEndWith("left\u001b[K\r[########################] 100 % of 1.00 GB, 10.0 MB/s\u001b[K\ninstalled m (1.00 GB, hash checked) in 1 min 40 s\nout:/p\n");
  });

  test("sizes have three digits", () => {
    expect([0, 999, 1000, 1234, 98_362_432, 999_600, 1_117_320_768].map(formatBytes)).toEqual(["0 B", "999 B", "1.00 kB", "1.23 kB", "98.4 MB", "1.00 MB", "1.12 GB"]);
  });
});
