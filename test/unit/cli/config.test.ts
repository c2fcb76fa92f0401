import { describe, expect, test } from "bun:test";
import { chmodSync, lstatSync, readdirSync, statSync } from "node:fs";
import { runConfig } from "../../../src/cli/config.ts";
import { keysByName } from "../../../src/config/schema.ts";
import { makeWorkspace, type Workspace } from "../../support/workspace.ts";

function run(folder: Workspace, argv: readonly string[], env: Record<string, string> = {}): { exit: number; stdout: string; stderr: string } {
  const result = { exit: 0, stdout: "", stderr: "" };
  result.exit = runConfig(argv, {
    stdout: (text) => void (result.stdout += text),
    stderr: (text) => void (result.stderr += text),
    env: { ATOMIC_AGENT_STATE_DIR: folder.at("state"), ...env },
  });
  return { ...result, stderr: result.stderr.replaceAll(folder.at("state"), "$S") };
}

/** The file after one edit of this one. */
function edited(before: string, ...argv: string[]): string {
  using folder = makeWorkspace({ "state/config.json": before });
  expect(run(folder, argv)).toEqual({ exit: 0, stdout: "", stderr: "" });
  return folder.read("state/config.json");
}

const commented = `// about everything
{
  "agent": {
    // how long
    "maxSteps": 3, // three
    "toolTimeoutMs": 5 /* five */ // ms
  },
  // the log
  "log": { "level": "warn" }, // loud
}
`;

describe("set and unset keep every other byte", () => {
  test.each([
    ["a value", ["set", "agent.maxSteps", "4"], commented.replace("3, // three", "4, // three")],
    ["a key after one with a comment", ["set", "agent.approvalLevel", "2"], commented.replace("5 /* five */ // ms\n", '5, /* five */ // ms\n    "approvalLevel": 2\n')],
    ["a group in a group", ["set", "agent.loop.warnAt", "9"], commented.replace("5 /* five */ // ms\n", '5, /* five */ // ms\n    "loop": { "warnAt": 9 }\n')],
    ["a group after a trailing comma", ["set", "approvals.timeoutMs", "9"], commented.replace("// loud\n", '// loud\n  "approvals": { "timeoutMs": 9 },\n')],
    ["a key in a one-line group", ["set", "log.level", "info"], commented.replace('"warn"', '"info"')],
    ["removing the first", ["unset", "agent.maxSteps"], commented.replace('    "maxSteps": 3, // three\n', "    // three\n")],
    ["removing the last", ["unset", "agent.toolTimeoutMs"], commented.replace("3, //", "3 //").replace('    "toolTimeoutMs": 5 /* five */ // ms\n', "    /* five */ // ms\n")],
    ["removing from one line", ["unset", "log.level"], commented.replace('{ "level": "warn" }', "{ }")],
    ["removing what is not there", ["unset", "agent.approvalLevel"], commented],
  ])("%s", (_, argv, after) => expect(edited(commented, ...argv)).toBe(after));

  test.each([
    ["{}", '{\n  "agent": { "maxSteps": 4 }\n}'],
    ["{ // nothing yet\n}\n", '{ // nothing yet\n  "agent": { "maxSteps": 4 }\n}\n'],
    ['{"agent":{}}', '{"agent":{\n    "maxSteps": 4\n  }}'],
    ['{"agent":{"maxSteps":1,"maxSteps":2}}', '{"agent":{"maxSteps":1,"maxSteps":4}}'],
    ['{"agent":{"toolTimeoutMs":1}}', '{"agent":{"toolTimeoutMs":1, "maxSteps": 4}}'],
    ['{"agent":{"toolTimeoutMs":1,}}', '{"agent":{"toolTimeoutMs":1, "maxSteps": 4}}'],
    ['{\r\n\t"agent": {\r\n\t\t"toolTimeoutMs": 1\r\n\t}\r\n}\r\n', '{\r\n\t"agent": {\r\n\t\t"toolTimeoutMs": 1,\r\n\t\t"maxSteps": 4\r\n\t}\r\n}\r\n'],
    ['{"agent": "nonsense"}', '{"agent": { "maxSteps": 4 }}'],
  ])("%j", (before, after) => expect(edited(before, "set", "agent.maxSteps", "4")).toBe(after));

  test("a repeated key goes wherever it stands", () => {
    expect(edited('{"agent":{"maxSteps":1,"maxSteps":2},"agent":{"maxSteps":3, "toolTimeoutMs":4}}', "unset", "agent.maxSteps")).toBe('{"agent":{},"agent":{"toolTimeoutMs":4}}');
  });

  test("every key can be set and read back, one after the other", () => {
    using folder = makeWorkspace();
    const samples: Record<string, string> = { "llm.providers": '[{"id":"a","kind":"llama-server","url":"http://h","extraBody":{"a":"\\n x"}}]', "localModels.customModels": '[{"name":"m","path":"/m"}]', "agent.approvalLevel": "3" };
    for (const [name, key] of keysByName) {
      const text = samples[name] ?? (key.default === undefined ? "text" : typeof key.default === "string" ? key.default : JSON.stringify(key.default));
      if (name === "defaultProvider") continue;
      expect([name, run(folder, ["set", name, text])]).toEqual([name, { exit: 0, stdout: "", stderr: "" }]);
      expect([name, run(folder, ["get", name]).stdout]).toEqual([name, `${text}\n`]);
    }
    const names = [...keysByName.keys()].filter((name) => name !== "defaultProvider"); // that is llm.activeTextProvider
    const listed = run(folder, ["list"]).stdout.split("\n").filter((line) => / file +[^ ]/.test(line));
    expect(listed.map((line) => line.split(" ")[0])).toEqual([...keysByName.keys()] as (string | undefined)[]);
    for (const name of names) expect(run(folder, ["unset", name]).exit).toBe(0);
    expect(run(folder, ["list"]).stdout).not.toMatch(/ file +[^ ]/);
  });
});

test("the file is made private, a link stays a link, nothing is left beside it", () => {
  using folder = makeWorkspace({ "real/shared.json": "{}" });
  run(folder, ["set", "agent.maxSteps", "4"]);
  expect([statSync(folder.at("state/config.json")).mode & 0o777, statSync(folder.at("state")).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(readdirSync(folder.at("state"))).toEqual(["config.json"]);
  Bun.spawnSync(["ln", "-sf", "../real/shared.json", folder.at("state/config.json")]);
  run(folder, ["set", "agent.maxSteps", "5"]);
  expect([lstatSync(folder.at("state/config.json")).isSymbolicLink(), folder.read("real/shared.json")]).toEqual([true, '{\n  "agent": { "maxSteps": 5 }\n}']);
});

test("what would be wrong is not written", () => {
  using folder = makeWorkspace({ "state/config.json": '{"llm":{"activeTextProvider":"a"}}' });
  const refusals = [
    [["set", "agent.maxStep", "4"], "unknown key agent.maxStep; did you mean agent.maxSteps?\n"],
    [["set", "agent.maxSteps", "0"], "agent.maxSteps: expected integer from 1, found 0\n"],
    [["set", "llm.providers", "[{]"], "llm.providers: expected list of objects as JSON ("],
    [["set", "agent", "4"], "agent is a group of keys: agent.maxSteps, "],
    [["unset", "agent.loop"], "agent.loop is a group of keys: agent.loop.warnAt, "],
    [["get", "version"], "unknown key version"],
    [["set", "agent.maxSteps"], "config set takes 2 arguments, not 1\n"],
    [["lst"], 'unknown command "lst"; did you mean list?\n'],
    [[], "config needs a command\n"],
  ] as const;
  for (const [argv, message] of refusals) {
    const { exit, stdout, stderr } = run(folder, argv);
    expect([exit, stdout, stderr.slice(0, "atomic: ".length + message.length)]).toEqual([2, "", `atomic: ${message}`]);
  }
  expect(run(folder, ["set", "defaultProvider", "b"])).toMatchObject({ exit: 3, stdout: "" });
  expect(folder.read("state/config.json")).toBe('{"llm":{"activeTextProvider":"a"}}');
});

test("a faulty file can be repaired by setting the key, not by guessing its syntax", () => {
  using folder = makeWorkspace({ "state/config.json": '{"agent":{"maxSteps":"x","toolTimeoutMs":0}}' });
  expect(run(folder, ["list"])).toEqual({ exit: 3, stdout: "", stderr: 'atomic: $S/config.json:1:22: agent.maxSteps: expected integer from 1, found "x"\n' });
  expect(run(folder, ["set", "agent.maxSteps", "4"])).toEqual({ exit: 0, stdout: "", stderr: "atomic: another fault is left: $S/config.json:1:40: agent.toolTimeoutMs: expected integer from 1 to 2147483647, found 0\n" });
  expect(run(folder, ["unset", "agent.toolTimeoutMs"])).toEqual({ exit: 0, stdout: "", stderr: "" });
  expect(folder.read("state/config.json")).toBe('{"agent":{"maxSteps":4}}');
  folder.write({ "state/config.json": '{"agent":' });
  expect(run(folder, ["set", "agent.maxSteps", "4"])).toEqual({ exit: 3, stdout: "", stderr: "atomic: $S/config.json:1:10: expected a value before the end of the file\n" });
  expect(folder.read("state/config.json")).toBe('{"agent":');
});

test("list masks secrets, names origins; a variable that wins is told", () => {
  using folder = makeWorkspace({ "state/config.json": '{"localModels":{"apiKey":"SECRET1","url":"http://user:SECRET2@h/"},"llm":{"providers":[{"id":"a","kind":"llama-server","url":"http://x:SECRET3@h","apiKey":"SECRET4","headers":{"Authorization":"SECRET5"}}]}}', "state/.env": "KEY=SECRET6\n" });
  chmodSync(folder.at("state/.env"), 0o600);
  const { exit, stdout, stderr } = run(folder, ["list"], { ATOMIC_AGENT_AGENT_MAX_STEPS: "9" });
  expect([exit, stderr, stdout.includes("SECRET")]).toEqual([0, "", false]);
  expect(stdout).toMatch(/^agent\.maxSteps +9 +environment +Steps of a leg/m);
  expect(stdout).toMatch(/^localModels\.apiKey +"\*\*\*" +file +/m);
  expect(stdout.trimEnd().split("\n").length).toBe(keysByName.size);
  expect(run(folder, ["set", "agent.maxSteps", "4"], { ATOMIC_AGENT_AGENT_MAX_STEPS: "9" }).stderr).toBe("atomic: ATOMIC_AGENT_AGENT_MAX_STEPS is set and wins over the file\n");
});
