// Case G01 and its relatives: every file is either in force as written, or refused with its place. Never silent defaults.
import { describe, expect, test } from "bun:test";
import { chmodSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type LoadedConfig, loadConfig, unknownSavedProvider } from "../../../src/config/load.ts";
import { AgentError } from "../../../src/core/error.ts";
import { makeWorkspace, type Workspace } from "../../support/workspace.ts";

function load(folder: Workspace, env: Record<string, string> = {}, flags?: Record<string, unknown>): LoadedConfig {
  return loadConfig({ env: { HOME: folder.path, ATOMIC_AGENT_STATE_DIR: folder.at("state"), ...env }, ...(flags === undefined ? {} : { flags }) });
}

/** Loads a configuration file with this content. */
function loadText(content: string | Uint8Array): LoadedConfig {
  using folder = makeWorkspace({ "state/config.json": content });
  return load(folder);
}

/** `code: message` of the failure; the path of the state directory is written `$S`. */
function refused(folder: Workspace, action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof AgentError) return `${error.code}: ${error.message.replaceAll(folder.at("state"), "$S")}`;
    throw error;
  }
  throw new Error("expected a failure");
}

function refusedText(content: string | Uint8Array): string {
  using folder = makeWorkspace({ "state/config.json": content });
  return refused(folder, () => load(folder));
}

const utf16 = (text: string, mark: number[]): Uint8Array => Buffer.concat([Buffer.from(mark), Buffer.from(text, "utf16le")]);

describe("a file in force", () => {
  test("no file: defaults", () => {
    using folder = makeWorkspace();
    const { config, warnings, origin, paths, stateDir } = load(folder);
    expect([config.agent.maxSteps, config.localModels.url, config.defaultProvider, config.localModels.mode]).toEqual([25, "http://127.0.0.1:8080", undefined, null]);
    expect([warnings, origin("agent.maxSteps"), stateDir, paths.sessions]).toEqual([[], "default", folder.at("state"), folder.at("state/sessions.sqlite")]);
    expect(statSync(folder.at("state")).mode & 0o777).toBe(0o700);
  });

  test.each([
    ["comments and trailing commas", '// head\n{ /* in */ "agent": { "maxSteps": 7, }, // tail\n}\n'],
    ["a byte order mark", '\uFEFF{"agent":{"maxSteps":7}}'],
    ["CRLF", '{\r\n  // c\r\n  "agent": {\r\n    "maxSteps": 7\r\n  }\r\n}\r\n'],
    ["all of it", '\uFEFF{\r\n// c\r\n"agent":{"maxSteps":7,},\r\n}'],
    ["1 MB of comments", `${"// a comment line of some length\n".repeat(32_000)}{"agent":{"maxSteps":7}}`],
    ["version", '{"version": 99, "agent":{"maxSteps":7}}'],
  ])("%s", (_, content) => {
    const { config, warnings, origin } = loadText(content);
    expect([config.agent.maxSteps, origin("agent.maxSteps"), config.agent.task.maxSteps, warnings]).toEqual([7, "file", 1000, []]);
  });

  test("an unknown key is told with the nearest one, and the rest counts", () => {
    using folder = makeWorkspace({ "state/config.json": '{\n  "agent": { "maxStep": 3, "toolTimeoutMs": 5 },\n  "maxParallelToolCalls": 2, "xyzzy": {"a": 1},\n  "llm": {"providers": [{"id":"a","kind":"llama-server","url":"http://h","apikey":"k"}]}\n}' });
    const { config, warnings } = load(folder);
    const file = folder.at("state/config.json");
    expect(warnings).toEqual([
      `${file}:2:14: unknown key agent.maxStep is ignored; did you mean agent.maxSteps?`,
      `${file}:3:3: unknown key maxParallelToolCalls is ignored; did you mean agent.maxParallelToolCalls?`,
      `${file}:3:30: unknown key xyzzy is ignored`,
      `${file}:4:74: unknown key llm.providers[0].apikey is ignored; did you mean apiKey?`,
    ]);
    expect([config.agent.maxSteps, config.agent.toolTimeoutMs, config.llm.providers]).toEqual([25, 5, [{ id: "a", kind: "llama-server", url: "http://h" }]]);
  });

  test("a key that is set twice is told, and the last one counts, of groups too", () => {
    using folder = makeWorkspace({ "state/config.json": '{"agent":{"maxSteps":3},\n"agent":{"maxSteps":4,\n"maxSteps":5}}' });
    const { config, warnings } = load(folder);
    const file = folder.at("state/config.json");
    expect([config.agent.maxSteps, warnings]).toEqual([5, [`${file}:2:1: agent is set twice; the last one counts`, `${file}:3:1: agent.maxSteps is set twice; the last one counts`]]);
  });

  test("names of every object are plain data", () => {
    const { config, warnings } = loadText('{"__proto__": {"maxSteps": 1}, "toString": 1, "agent": {"constructor": 1}, "llm":{"providers":[{"id":"a","kind":"llama-server","url":"http://h","extraBody":{"__proto__":{"x":1}}}]}}');
    expect([({} as Record<string, unknown>)["maxSteps"], config.agent.maxSteps, warnings.length]).toEqual([undefined, 25, 3]);
  });

  test("a ratio outside of 0 to 1 counts as one half and is told", () => {
    for (const ratio of [0, 1, -1, 1.5]) {
      const { config, warnings } = loadText(`{"agent":{"compaction":{"compressionRatio":${ratio}}}}`);
      expect([config.agent.compaction.compressionRatio, warnings]).toEqual([0.5, [`agent.compaction.compressionRatio is ${ratio}, not between 0 and 1: 0.5 is used`]]);
    }
    expect(loadText('{"agent":{"compaction":{"compressionRatio":0.25}}}').config.agent.compaction.compressionRatio).toBe(0.25);
  });
});

describe("a file that is refused, with its place", () => {
  test.each([
    ['{"agent":', "1:10: expected a value before the end of the file"],
    ["", "1:1: expected a value before the end of the file"],
    ["[]", "1:1: expected an object, found array"],
    ['{"agent": {\n  "maxSteps": NaN }}', '2:15: expected JSON, found "NaN"'],
    ['{"agent": {"maxSteps": 1e999}}', "1:24: agent.maxSteps: expected integer from 1, found Infinity"],
    ['{\r\n"agent": {"maxSteps": "x"}}', '2:23: agent.maxSteps: expected integer from 1, found "x"'],
    ['{"agent": {"maxSteps": 0}}', "1:24: agent.maxSteps: expected integer from 1, found 0"],
    ['{"agent": {"maxSteps": 2.5}}', "1:24: agent.maxSteps: expected integer from 1, found 2.5"],
    ['{"agent": {"maxSteps": null}}', "1:24: agent.maxSteps: expected integer from 1, found null"],
    ['{"agent": 5}', "1:11: agent: expected an object, found number"],
    ['{"localModels": {"thinking": "maybe"}}', '1:30: localModels.thinking: expected "auto" or "on" or "off", found "maybe"'],
    ['{"localModels": {"healthTimeoutMs": 1001}}', "1:37: localModels.healthTimeoutMs: expected integer from 1 to 1000, found 1001"],
    ['{"localModels": {"requestTimeoutMs": 2147483648}}', "1:38: localModels.requestTimeoutMs: expected integer from 1 to 2147483647, found 2147483648"],
    ['{"localModels": {"completionMaxTokens": 63}}', "1:41: localModels.completionMaxTokens: expected integer from 64 to 131072, found 63"],
    ['{"localModels": {"url": "ftp://x"}}', '1:25: localModels.url: expected http or https URL, found "ftp://x"'],
    ['{"localModels": {"url": "http://me:secret@[x"}}', '1:25: localModels.url: expected http or https URL, found "http://***@[x"'],
    ['{"localModels": {"apiKey": 12345}}', "1:28: localModels.apiKey: expected string, found a number"],
    ['{"llm": {"providers": [{"id": "A", "kind": "llama-server", "url": "http://h"}]}}', '1:31: llm.providers[0].id: expected string like ^[a-z][a-z0-9-]{0,31}$, found "A"'],
    ['{"llm": {"providers": [{"id": "a", "kind": "llama-server"}]}}', "1:24: llm.providers[0].url: expected http or https URL, found nothing"],
    ['{"llm": {"providers": [{"id": "llama", "kind": "llama-server", "url": "http://h"}]}}', '1:31: llm.providers[0].id: this id is built in: choose another one, found "llama"'],
    ['{"llm": {"providers": [{"id": "a", "kind": "llama-server", "url": "http://h"}, {"id": "a", "kind": "llama-server", "url": "http://h"}]}}', "1:23: llm.providers: two providers have the same id, found a list"],
    ['{"localModels": {"customModels": [{"name": "m"}]}}', "1:35: localModels.customModels[0]: expected exactly one of path and url, found an object"],
    ['{"agent": {}} {}', '1:15: expected the end of the file, found "{"'],
    ['{"agent": {"maxSteps": 1 "toolTimeoutMs": 5}}', '1:26: expected a comma, found "\\"toolTimeoutMs\\""'],
    ['{"agent": {"maxSteps": 1}', '1:26: expected a comma or "}" before the end of the file'],
    ['{"agent": {}} trailing', '1:15: expected JSON, found "trailing"'],
    ["{'agent': {}}", '1:2: expected JSON, found "\'agent\'"'],
    ['{"agent": {"readScope": "a\u0000"}}', '1:25: invalid character, found "\\"a\\u0000\\""'],
    ['{"defaultProvider": "a", "llm": {"activeTextProvider": "b"}}', ""],
  ])("%j", (content, place) => {
    const expected = place === "" ? 'config_invalid: defaultProvider is "a" and llm.activeTextProvider is "b": they are two names for one setting; unset one of them' : `config_invalid: $S/config.json:${place}`;
    expect(refusedText(content)).toBe(expected);
  });

  test("what is no UTF-8", () => {
    for (const content of [utf16('{"agent":{}}', [0xff, 0xfe]), utf16('{"agent":{}}', []), Buffer.from([0xfe, 0xff, 0x00, 0x7b, 0x00, 0x7d])]) {
      expect(refusedText(content)).toBe("config_invalid: $S/config.json:1:1: the file is UTF-16; save it as UTF-8");
    }
    expect(refusedText(Buffer.from([0x7b, 0x0a, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d]))).toBe("config_invalid: $S/config.json:2:2: expected UTF-8 text");
  });

  test("nesting that no configuration has", () => {
    expect(refusedText(`{"agent":${"[".repeat(200_000)}`)).toStartWith("config_invalid: $S/config.json:");
  });

  test("what is no file, or can't be read", () => {
    using folder = makeWorkspace({ "state/config.json/": "" });
    expect(refused(folder, () => load(folder))).toBe("config_invalid: $S/config.json cannot be read: it is a directory");
    using other = makeWorkspace({ "state/": "" });
    expect(Bun.spawnSync(["mkfifo", other.at("state/config.json")]).exitCode).toBe(0);
    expect(refused(other, () => load(other))).toBe("config_invalid: $S/config.json cannot be read: it is no regular file");
    using loop = makeWorkspace({ "state/": "" });
    symlinkSync("config.json", loop.at("state/config.json"));
    expect(refused(loop, () => load(loop))).toStartWith("config_invalid: $S/config.json cannot be read: ELOOP");
  });

  // A plain user may not reach the runtime where root's folders are closed.
  const asPlainUser = process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--clear-groups", process.execPath] : [process.execPath];
  const isPlainUserAble = Bun.which(asPlainUser[0] ?? "") !== null && Bun.spawnSync([...asPlainUser, "--version"]).exitCode === 0;

  test.skipIf(!isPlainUserAble)("mode 000, as a plain user", () => {
    using folder = makeWorkspace({ "state/config.json": "{}" });
    chmodSync(folder.at("state/config.json"), 0);
    for (const path of [folder.path, folder.at("state")]) chmodSync(path, 0o777);
    const script = `import { loadConfig } from ${JSON.stringify(join(import.meta.dir, "../../../src/config/load.ts"))};
      try { loadConfig({ env: { ATOMIC_AGENT_STATE_DIR: ${JSON.stringify(folder.at("state"))} } }); console.error("loaded"); } catch (error) { console.error(error.code, error.message); }`;
    const { stderr } = Bun.spawnSync([...asPlainUser, "-e", script], { env: { PATH: process.env["PATH"] ?? "" } });
    expect(stderr.toString()).toStartWith(`config_invalid ${folder.at("state/config.json")} cannot be read: EACCES`);
  });
});

describe("the environment", () => {
  test("wins over the file, the flag over both; each origin is told", () => {
    using folder = makeWorkspace({ "state/config.json": '{"agent":{"maxSteps":3,"loop":{"warnAt":4}},"log":{"level":"warn"}}' });
    const { config, origin, warnings } = load(
      folder,
      { ATOMIC_AGENT_AGENT_MAX_STEPS: "8", ATOMIC_AGENT_LOG_LEVEL: "debug", ATOMIC_AGENT_LOCAL_MODELS_URL: "http://h:1", ATOMIC_AGENT_AGENT_LOOP_WARN_AT: "" },
      { "agent.maxSteps": 9, "agent.approvalLevel": undefined },
    );
    expect([config.agent.maxSteps, config.log.level, config.localModels.url, config.agent.loop.warnAt, warnings]).toEqual([9, "debug", "http://h:1", 4, []]);
    expect(["agent.maxSteps", "log.level", "agent.loop.warnAt", "agent.approvalLevel"].map(origin)).toEqual(["flag", "environment", "file", "default"]);
  });

  test("values of every kind", () => {
    using folder = makeWorkspace({ "state/config.json": '{"localModels":{"mode":"external","managed":{"modelId":"m"}},"defaultModel":"x"}' });
    for (const [text, value] of [["1", true], ["TRUE", true], ["yes", true], ["on", true], ["0", false], ["false", false], ["No", false], ["off", false]] as const) {
      expect(load(folder, { ATOMIC_AGENT_TOOLS_SHELL_NETWORK: text }).config.tools.shell.network).toBe(value);
    }
    const { config } = load(folder, {
      ATOMIC_AGENT_LOCAL_MODELS_MODE: "null",
      ATOMIC_AGENT_DEFAULT_MODEL: "null",
      ATOMIC_AGENT_LOCAL_MODELS_MANAGED_MODEL_ID: "12",
      ATOMIC_AGENT_LOCAL_MODELS_MANAGED_GPU_LAYERS: "12",
      ATOMIC_AGENT_TOOLS_SHELL_READ_PATHS: '["/a", "/b c"]',
      ATOMIC_AGENT_TRACING_TRACE_ENABLED: "on",
      ATOMIC_AGENT_LLM_PROVIDERS: '[{"id":"a","kind":"openai-compatible","url":"http://h/v1"}]',
    });
    expect([config.localModels.mode, config.defaultModel, config.localModels.managed.modelId, config.localModels.managed.gpuLayers]).toEqual([null, undefined, "12", 12]);
    expect([config.tools.shell.readPaths, config.tracing.trace.enabled, config.llm.providers]).toEqual([["/a", "/b c"], true, [{ id: "a", kind: "openai-compatible", url: "http://h/v1" }]]);
  });

  test.each([
    ["ATOMIC_AGENT_AGENT_MAX_STEPS", "many", 'agent.maxSteps: expected integer from 1, found "many"'],
    ["ATOMIC_AGENT_AGENT_MAX_STEPS", "0x10", 'agent.maxSteps: expected integer from 1, found "0x10"'],
    ["ATOMIC_AGENT_AGENT_MAX_STEPS", "null", 'agent.maxSteps: expected integer from 1, found "null"'],
    ["ATOMIC_AGENT_TOOLS_SHELL_NETWORK", "maybe", 'tools.shell.network: expected boolean, found "maybe"'],
    ["ATOMIC_AGENT_TOOLS_SHELL_NETWORK", "constructor", 'tools.shell.network: expected boolean, found "constructor"'],
    ["ATOMIC_AGENT_SKILLS_DISABLED", "a,b", "skills.disabled: expected list of strings as JSON ("],
  ])("%s=%s is refused by name", (variable, text, message) => {
    using folder = makeWorkspace();
    expect(refused(folder, () => load(folder, { [variable]: text }))).toStartWith(`config_invalid: ${variable}: ${message}`);
  });

  test("unknown names with the prefix are told, a wrong flag is a wrong use", () => {
    using folder = makeWorkspace();
    expect(load(folder, { ATOMIC_AGENT_LLAMA_URL: "x", ATOMIC_AGENT_AGENT_MAX_STEP: "1", OTHER: "y" }).warnings).toEqual([
      expect.stringMatching(/^unknown variable ATOMIC_AGENT_LLAMA_URL is ignored/),
      "unknown variable ATOMIC_AGENT_AGENT_MAX_STEP is ignored; did you mean ATOMIC_AGENT_AGENT_MAX_STEPS?",
    ]);
    expect(refused(folder, () => load(folder, {}, { "agent.maxSteps": -1 }))).toBe("usage: agent.maxSteps: expected integer from 1, found -1");
  });

  test("a .env in the working folder is nothing (G02)", () => {
    using folder = makeWorkspace({ "work/.env": "ATOMIC_AGENT_LOCAL_MODELS_URL=http://127.0.0.1:9\n", "work/config.json": '{"agent":{"maxSteps":1}}', "work/.atomic-agent/config.json": '{"agent":{"maxSteps":1}}' });
    const script = `import { loadConfig } from ${JSON.stringify(join(import.meta.dir, "../../../src/config/load.ts"))};
      const { config, warnings } = loadConfig({ env: process.env }); console.error(JSON.stringify([config.localModels.url, config.agent.maxSteps, warnings]));`;
    const { stderr } = Bun.spawnSync([process.execPath, "--no-env-file", "-e", script], { cwd: folder.at("work"), env: { PATH: process.env["PATH"] ?? "", HOME: folder.at("home") } });
    expect(stderr.toString()).toBe('["http://127.0.0.1:8080",25,[]]\n');
  });
});

describe("the file of provider keys", () => {
  const write = (text: string): Workspace => {
    const folder = makeWorkspace({ "state/.env": text });
    chmodSync(folder.at("state/.env"), 0o600);
    return folder;
  };

  test("gives variables, below the process environment", () => {
    using folder = write("# keys\nexport A_KEY=abc # note\nB_KEY = \"x \\\"y\\\" \\n#\" \nC_KEY='$HOME \\n'\r\nD_KEY=\nE_KEY=a=b#c\nATOMIC_AGENT_AGENT_MAX_STEPS=6\nATOMIC_AGENT_STATE_DIR=/elsewhere\n");
    const before = { ...process.env };
    const { variable, config, warnings, stateDir } = load(folder, { A_KEY: "", E_KEY: "process" });
    expect(["A_KEY", "B_KEY", "C_KEY", "D_KEY", "E_KEY", "NONE"].map(variable)).toEqual(["abc", 'x "y" \n#', "$HOME \\n", undefined, "process", undefined]);
    expect([config.agent.maxSteps, warnings, stateDir]).toEqual([6, [], folder.at("state")]);
    expect(load(folder, { ATOMIC_AGENT_AGENT_MAX_STEPS: "7" }).config.agent.maxSteps).toBe(7);
    expect(process.env).toEqual(before);
  });

  test("is refused by line, its text never shown; open permissions are told", () => {
    for (const text of ["GOOD=1\nsk-secret\n", "GOOD=1\nBAD=\"sk-secret\n", "GOOD=1\n1BAD=sk-secret"]) {
      using folder = write(text);
      expect(refused(folder, () => load(folder))).toBe("config_invalid: $S/.env:2: expected NAME=value, the value bare or in one pair of quotes");
    }
    using open = write("A=b");
    chmodSync(open.at("state/.env"), 0o644);
    expect(load(open).warnings).toEqual([`${open.at("state/.env")} can be read by others; make it private with chmod 600`]);
  });
});

describe("the state directory", () => {
  test("below a file can't be made (F09 a)", () => {
    using folder = makeWorkspace({ "file.txt": "" });
    const state = folder.at("file.txt/x");
    expect(refused(folder, () => load(folder, { ATOMIC_AGENT_STATE_DIR: state }))).toMatch(
      new RegExp(`^state_unusable: the state directory ${state} cannot be used: .+; set ATOMIC_AGENT_STATE_DIR to a directory that can be written$`),
    );
    expect(refused(folder, () => load(folder, { ATOMIC_AGENT_STATE_DIR: folder.at("file.txt") }))).toStartWith("state_unusable: ");
  });

  test("is in the home folder unless named", () => {
    using folder = makeWorkspace();
    expect(load(folder, { ATOMIC_AGENT_STATE_DIR: "" }).stateDir).toBe(folder.at(".atomic-agent"));
    expect(load(folder, { ATOMIC_AGENT_STATE_DIR: "~/mine" }).stateDir).toBe(folder.at("mine"));
  });
});

test("two names of one setting agree, and a saved provider nobody knows is told (J-43)", () => {
  const { config, origin } = loadText('{"llm":{"activeTextProvider":"nope"}, "defaultModel": "m"}');
  expect([config.defaultProvider, origin("defaultProvider")]).toEqual(["nope", "file"]);
  expect(unknownSavedProvider(config)).toBe('the saved provider "nope" is unknown; known ones are llama, llama-server, scripted. Set defaultProvider, or give --provider or --model');
  expect(unknownSavedProvider(config, ["nope"])).toBeUndefined();
  expect(unknownSavedProvider(loadText('{"defaultProvider":"nope"}').config)).toBeUndefined();
  expect(unknownSavedProvider(loadText('{"defaultProvider":"llama","llm":{"activeTextProvider":"llama"},"defaultModel":"m"}').config)).toBeUndefined();
});
