// Configuration and saved choices, as `atomic json` obeys them (json-mode.md 9.5 and 9.6).
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { executablePath, type AtomicResult } from "../support/atomic.ts";
import { configureServer, says, startChatServer } from "../support/chat-server.ts";
import { reply, startCompletionServer } from "../support/completion-server.ts";
import { expectEnd, makePlace, type Place, runJson, startJson, textOf } from "../support/json-run.ts";

async function refused(place: Place, args: readonly string[], env = {}): Promise<AtomicResult> {
  using running = startJson(place, args, { env });
  const result = await running.result();
  expect({ exitCode: result.exitCode, stdout: result.text }).toEqual({ exitCode: 3, stdout: "" });
  return result;
}

describe("J-43", () => {
  test("J-43 a saved provider that nobody knows, and a saved model: exit 3, stdout empty, no request", async () => {
    await using server = await startCompletionServer([reply("hello")]);
    using place = makePlace();
    place.configure({ defaultProvider: "nope", defaultModel: "m", localModels: { url: server.url } });
    const { stderr } = await refused(place, ["hi"]);
    expect(stderr).toContain('"nope"');
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(server.server.requests).toEqual([]);
  });

  test("J-43 with --model or --provider the saved ones do not count", async () => {
    using place = makePlace();
    place.configure({ defaultProvider: "nope", defaultModel: "m" });
    expectEnd(await runJson(place, ["--model", place.script([[{ text: "a" }]]), "hi"]), "ok", 0);
  });
});

describe("J-44", () => {
  const rows: [string, (url: string) => object][] = [
    ["J-44 the model is missing", () => ({ defaultProvider: "llama", defaultModel: "no-such-model" })],
    ["the script is missing", () => ({ defaultProvider: "scripted", defaultModel: "scripted:none.json" })],
    ["the key is missing", (url) => ({ defaultProvider: "cloud", defaultModel: "m", llm: { providers: [{ id: "cloud", kind: "openai-compatible", url, apiKeyEnvVar: "CLOUD_KEY" }] } })],
    ["only a provider is saved, and nobody knows it", () => ({ defaultProvider: "nope" })],
    ["only a model is saved, and nobody has it", () => ({ defaultModel: "no-such-model" })],
  ];
  for (const [name, saved] of rows) {
    test(`${name}: the automatic choice, exit 0, a warning on stderr`, async () => {
      await using server = await startCompletionServer([[...reply("hello")]]);
      using place = makePlace();
      place.configure({ localModels: { url: server.url }, ...saved(server.url) });
      const run = await runJson(place, ["hi"]);
      expectEnd(run, "ok", 0);
      expect(run.events[0]).toMatchObject({ provider: "llama-server" });
      expect(textOf(run.messages("assistant")[0])).toBe("hello");
      expect(run.result.stderr).toContain("the saved model is not used");
    });
  }

  test("nothing saved and nothing there: exit 3, stdout empty", async () => {
    using place = makePlace();
    place.configure({ localModels: { url: "http://127.0.0.1:9" } });
    const { stderr } = await refused(place, ["hi"]);
    expect(stderr).toContain("atomic models pull");
  });

  test("what is saved and there is used", async () => {
    await using server = await startChatServer([says({ text: ["hi"] })]);
    using place = makePlace();
    place.configure({ defaultProvider: "here", defaultModel: "big", llm: { providers: [{ id: "here", kind: "openai-compatible", url: server.url, apiKeyEnvVar: "HERE_KEY" }] } });
    const run = await runJson(place, ["hi"], { env: { HERE_KEY: "k" } });
    expectEnd(run, "ok", 0);
    expect(server.chats()[0]).toMatchObject({ model: "big" });
    expect(run.result.stderr).toBe("");
  });
});

describe("J-46", () => {
  const rows: [string, string | Uint8Array, RegExp][] = [
    ["J-46 a value of the wrong type", '{\n  "agent": { "maxSteps": "seven" }\n}', /config\.json:2:\d+.*agent\.maxSteps/],
    ["F09 (b) half an object", '{"agent":', /config\.json:1:\d+/],
    ["G01 NaN", '{"agent": {"maxSteps": NaN}}', /config\.json:1:\d+/],
    ["G01 UTF-16", Buffer.from('\ufeff{"agent":{}}', "utf16le"), /config\.json/],
  ];
  for (const [name, content, said] of rows) {
    test(`${name}: exit 3, its place on stderr, stdout empty`, async () => {
      using place = makePlace();
      place.home.folder.write({ "state/config.json": content });
      expect((await refused(place, ["--model", place.script([[{ text: "a" }]]), "hi"])).stderr).toMatch(said);
    });
  }

  test("F09 (a) a state folder below a file, G01 a folder in the file's place: exit 3", async () => {
    using place = makePlace();
    const model = place.script([[{ text: "a" }]]);
    place.home.folder.write({ "file.txt": "" });
    expect((await refused(place, ["--model", model, "hi"], { ATOMIC_AGENT_STATE_DIR: place.home.folder.at("file.txt/x") })).stderr).toContain("file.txt");
    mkdirSync(`${place.home.state}/config.json`);
    expect((await refused(place, ["--model", model, "hi"])).stderr).toContain("config.json");
  });

  test.skipIf(process.platform === "win32")("G01 a file that may not be read: exit 3", () => {
    using place = makePlace();
    place.configure({});
    chmodSync(`${place.home.state}/config.json`, 0o000);
    chmodSync(place.home.path, 0o777);
    chmodSync(place.home.state, 0o777);
    const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    const model = place.script([[{ text: "a" }]]);
    const { status, stdout, stderr } = spawnSync(executablePath(), ["json", "--model", model, "hi"], { cwd: "/", env: { HOME: place.home.path, ATOMIC_AGENT_STATE_DIR: place.home.state }, encoding: "utf8", ...nobody });
    expect([status, stdout, stderr.includes("config.json")]).toEqual([3, "", true]);
  });
});

test("G01 what is odd but readable is in force, and what is doubtful is said", async () => {
  const call = [{ call: "fs.list", args: {} }, { call: "fs.list", args: { hidden: true } }];
  const rows: [string, string, RegExp][] = [
    ["a byte order mark, CRLF, comments, commas", '\ufeff{\r\n// c\r\n"agent": {"task": {"maxSteps": 1,},},\r\n}\r\n', /^$/],
    ["a megabyte of comments", `${"// a comment line of some length\n".repeat(32_000)}{"agent":{"task":{"maxSteps":1}}}`, /^$/],
    ["an unknown key", '{"agent":{"task":{"maxSteps":1}, "maxStep": 5}}', /agent\.maxStep\b.*agent\.maxSteps/],
    ["the same key twice", '{"agent":{"task":{"maxSteps":5, "maxSteps":1}}}', /maxSteps/],
  ];
  for (const [name, content, said] of rows) {
    using place = makePlace();
    place.home.folder.write({ "state/config.json": content });
    const run = await runJson(place, ["--model", place.script([call, [{ text: "a" }]]), "hi"]);
    expect([name, run.settled["outcome"]]).toEqual([name, "max_steps"]);
    expect(run.result.stderr).toMatch(said);
  }
});

test("G02 nothing in the workspace changes the settings or the environment of a child", async () => {
  await using server = await startChatServer([says({ calls: [{ name: "shell_run", args: '{"command":"env"}' }] }), says({ text: ["done"] })]);
  using place = makePlace({
    ".env": 'ATOMIC_AGENT_LOCAL_MODELS_URL=http://127.0.0.1:9\nLD_PRELOAD=./evil.so\nNODE_OPTIONS=--require ./evil.js\nBUN_OPTIONS=--preload ./evil.ts\nATOMIC_AGENT_STATE_DIR=here\n',
    "bunfig.toml": 'preload = ["./evil.ts"]\n',
    "evil.ts": 'require("node:fs").writeFileSync("obeyed", "");',
    "config.json": '{"defaultProvider":"nope","defaultModel":"m"}',
    ".atomic-agent/config.json": '{"defaultProvider":"nope","defaultModel":"m"}',
  });
  configureServer(place, server);
  const before = place.workspace.snapshot();
  const run = await runJson(place, ["--model", "here/m", "hi"], { env: { BUN_OPTIONS: "--smol", NODE_OPTIONS: "--require ./evil.js" } });
  expectEnd(run, "ok", 0);
  const shown = textOf(run.messages("toolResult")[0]);
  expect(shown).toContain("PATH=");
  for (const name of ["LD_PRELOAD", "NODE_OPTIONS", "BUN_OPTIONS", "ATOMIC_AGENT_LOCAL_MODELS_URL"]) expect([name, shown.includes(`${name}=`)]).toEqual([name, false]);
  expect(place.workspace.snapshot()).toEqual(before);
});

test("J-22 a llama-server that takes the request and never answers: its own limit for the first byte counts", async () => {
  await using server = await startCompletionServer([{ stall: true }, [...reply("hello")]]);
  using place = makePlace();
  place.configure({ localModels: { url: server.url, mode: "external", firstTokenTimeoutMs: 700 }, llm: { idleTimeoutMs: 100_000, retry: { baseDelayMs: 5 } } });
  const run = await runJson(place, ["hi"]);
  expectEnd(run, "ok", 0);
  expect(run.messages("assistant").map(({ stopReason, errorKind }) => [stopReason, errorKind])).toEqual([["error", "timeout"], ["stop", undefined]]);
});

test("a seed and a temperature reach the server", async () => {
  await using server = await startCompletionServer([[...reply("hello")]]);
  using place = makePlace();
  place.configure({ localModels: { url: server.url, mode: "external" } });
  expectEnd(await runJson(place, ["--seed", "7", "--temperature", "0.5", "hi"]), "ok", 0);
  expect(server.completions()[0]).toMatchObject({ seed: 7, temperature: 0.5 });
});

describe("J-59 on a server", () => {
  test("a model that doesn't reason: the level that was asked for becomes off, before agent_start", async () => {
    await using server = await startCompletionServer([[...reply("hello")]]);
    using place = makePlace();
    place.configure({ localModels: { url: server.url, mode: "external" } });
    const run = await runJson(place, ["--thinking", "max", "hi"]);
    expect(run.events.slice(1, 3)).toEqual([{ type: "thinking_level_changed", level: "off" }, { type: "agent_start" }]);
    const scripted = await runJson(place, ["--thinking", "max", "--model", place.script([[{ text: "a" }]]), "hi"]);
    expect(scripted.all("thinking_level_changed")).toEqual([]);
  });
});

describe("schema of the answer under a grammar", () => {
  const rows: [string, object, string][] = [
    ["an object", { type: "object", properties: { n: { type: "integer" } }, required: ["n"] }, '{"n":12}'],
    ["a list", { type: "array", items: { type: "string" } }, '["a","b"]'],
    ["a text", { type: "string" }, '"a }text] with \\"all\\""'],
    ["a number", { type: "number" }, "-12.5e3"],
    ["a boolean", { type: "boolean" }, "true"],
    ["nothing", { type: "null" }, "null"],
    ["a choice by reference", { $ref: "#/$defs/c", $defs: { c: { enum: ["red", "green"] } } }, '"green"'],
  ];
  test("whatever the root is, the answer is exactly the value's text", async () => {
    for (const [name, schema, value] of rows) {
      await using server = await startCompletionServer([[...`{"tool":"reply","args":${value}}`]]);
      using place = makePlace({ "schema.json": JSON.stringify(schema) });
      place.configure({ localModels: { url: server.url, mode: "external" } });
      const run = await runJson(place, ["--output-schema", "schema.json", "hi"]);
      expect([name, run.settled["outcome"], textOf(run.messages("assistant")[0])]).toEqual([name, "ok", value]);
      expect(server.completions()[0]?.prompt).toContain(JSON.stringify(schema));
      expect(String(server.completions()[0]?.["grammar"])).toMatch(/^root ::= .*\n(.*\n)*reply ::= /);
    }
  });

  test("what the grammar can't say is checked afterwards, and told", async () => {
    await using server = await startCompletionServer([[...'{"tool":"reply","args":"abc"}'], [...'{"tool":"reply","args":"xyz"}']]);
    using place = makePlace({ "schema.json": JSON.stringify({ type: "string", pattern: "^x" }) });
    place.configure({ localModels: { url: server.url, mode: "external" } });
    const run = await runJson(place, ["--output-schema", "schema.json", "hi"]);
    expectEnd(run, "ok", 0);
    expect(run.messages("assistant").map(textOf)).toEqual(['"abc"', '"xyz"']);
    expect(server.completions()[1]?.prompt).toContain("does not keep to the output schema");
  });

  test("a file that is no schema: exit 2, stdout empty, the fault named", async () => {
    const faults: [string, string][] = [["{", "not JSON"], ['{"type":"strng"}', "not a JSON Schema"], ["[]", "a JSON Schema is"], ['{"$ref":"https://elsewhere.example/x"}', "not a JSON Schema"], ['{"$schema":"http://json-schema.org/draft-04/schema#"}', "not a JSON Schema"]];
    for (const [content, said] of faults) {
      using place = makePlace({ "schema.json": content });
      using running = startJson(place, ["--output-schema", "schema.json", "--model", place.script([[{ text: "1" }]]), "hi"]);
      const { exitCode, stdout, stderr } = await running.result();
      expect([content, exitCode, stdout.length, stderr.includes(said)]).toEqual([content, 2, 0, true]);
    }
  });

  test("a schema of draft 7 counts as such", async () => {
    using place = makePlace({ "schema.json": JSON.stringify({ $schema: "http://json-schema.org/draft-07/schema#", definitions: { n: { type: "integer" } }, items: [{ $ref: "#/definitions/n" }], additionalItems: false }) });
    expectEnd(await runJson(place, ["--output-schema", "schema.json", "--model", place.script([[{ text: "[1]" }]]), "hi"]), "ok", 0);
    expectEnd(await runJson(place, ["--output-schema", "schema.json", "--model", place.script([[{ text: "[1,2]" }], [{ text: "[1,2]" }], [{ text: "[1,2]" }]]), "hi"]), "schema", 1);
  });
});
