// The tools inside the executable, on odd files and processes: a scripted model calls them, the JSON stream shows the results.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeHome, type RunOptions, runAtomic, startAtomic } from "../support/atomic.ts";
import { isObject, type JsonObject } from "../support/json-checker/values.ts";
import { writeScript } from "../support/scripted.ts";
import { makeWorkspace, type Workspace } from "../support/workspace.ts";

const isLinux = process.platform === "linux";

type Call = [tool: string, args: { [name: string]: unknown }];

interface Result {
  text: string;
  isError: boolean;
  details: JsonObject;
}

/** One step for each call, then a reply; the results in order. The run must end well. */
async function play(workspace: Workspace, calls: Call[], options: RunOptions = {}): Promise<Result[]> {
  using plans = makeWorkspace();
  const script = writeScript(plans.at("plan.json"), { contextWindow: 200_000, steps: [...calls.map(([call, args]) => [{ call, args }]), [{ text: "done" }]] });
  const run = await runAtomic(["json", "--model", script, "go"], { cwd: workspace.path, ...options });
  expect({ exitCode: run.exitCode, stderr: run.exitCode === 0 ? "" : run.stderr }).toEqual({ exitCode: 0, stderr: "" });
  for (const line of run.text.split("\n")) expect(Buffer.byteLength(line)).toBeLessThan(1024 * 1024);
  return run.events().filter((event) => event["type"] === "tool_execution_end").map(resultOf);
}

function resultOf(event: JsonObject): Result {
  const result = isObject(event["result"]) ? event["result"] : {};
  const content = Array.isArray(result["content"]) ? result["content"] : [];
  const text = content.map((block: unknown) => (isObject(block) ? String(block["text"]) : "")).join("\n");
  return { text, isError: event["isError"] === true, details: isObject(result["details"]) ? result["details"] : {} };
}

const bytes = (text: string) => Buffer.from(text, "latin1");

test("edits keep line ends, BOM and encoding byte for byte", async () => {
  using workspace = makeWorkspace({ crlf: "a\r\nb\r\nc\r\n", bom: bytes("\xef\xbb\xbfx=1\n"), plain: bytes("x=\xc3\xa9\n") });
  const [crlf, shown, bom, plain, written] = await play(workspace, [
    ["fs.edit", { path: "crlf", oldText: "a\nb", newText: "a\nB" }],
    ["fs.read", { path: "bom" }],
    ["fs.edit", { path: "bom", oldText: "x=1", newText: "x=2" }],
    ["fs.edit", { path: "plain", oldText: "x=", newText: "y=" }],
    ["fs.write", { path: "g", content: "é" }],
  ]);
  expect(String(crlf?.details["diff"]).match(/^[+-][^+-].*$/gm)).toEqual(["-b", "+B"]);
  expect(shown?.text).toBe("x=1\n");
  expect([bom?.isError, plain?.isError, written?.isError]).toEqual([false, false, false]);
  const raw = (name: string) => readFileSync(workspace.at(name)).toString("latin1");
  expect(["crlf", "bom", "plain", "g"].map(raw)).toEqual(["a\r\nB\r\nc\r\n", "\xef\xbb\xbfx=2\n", "y=\xc3\xa9\n", "\xc3\xa9"]);
});

test("an edit whose text is absent or not unique is an error and changes nothing", async () => {
  using workspace = makeWorkspace({ f: "def f(a, b):\n    return a+b\n", twice: "x\ny\nx\n" });
  const before = workspace.snapshot();
  const [absent, twice] = await play(workspace, [
    ["fs.edit", { path: "f", oldText: "return a + b", newText: "return a - b" }],
    ["fs.edit", { path: "twice", oldText: "x", newText: "z" }],
  ]);
  expect(absent).toMatchObject({ isError: true, text: expect.stringContaining("2:     return a+b") });
  expect(twice).toMatchObject({ isError: true, text: expect.stringContaining("on lines 1, 3") });
  expect(workspace.snapshot()).toEqual(before);
});

test("a line of 20 MB reaches neither the wire nor the model", async () => {
  const content = Buffer.alloc(20_000_000, "x");
  content.write("needle", 10_000_000);
  using workspace = makeWorkspace({ long: content });
  const [grep, read] = await play(workspace, [["fs.grep", { pattern: "needle" }], ["fs.read", { path: "long" }]]);
  expect(grep?.text).toContain("long:1: [byte 10000000] …xxx");
  expect(read?.text).toContain("too long");
  for (const result of [grep, read]) expect(Buffer.byteLength(result?.text ?? "")).toBeLessThan(51_200);
});

test.if(isLinux)("background processes never hold the step, are named, and are gone", async () => {
  using workspace = makeWorkspace();
  const commands = ["sleep 60 & echo done", "yes & sleep 1; echo done", "setsid sleep 30 & echo x"];
  const results = await play(workspace, commands.map((command): Call => ["shell.run", { command }]));
  expect(results.map(({ isError, details }) => [isError, details["exitCode"]])).toEqual([[false, 0], [false, 0], [false, 0]]);
  expect(results[0]?.text).toStartWith("done\n[ended what was left in the background: sleep 60 (process ");
  expect(results[1]?.text).toContain("[output cut: ");
  expect(results[2]?.text).toStartWith("x\n[ended what was left in the background: ");
  const pids = results.flatMap(({ text }) => [...text.matchAll(/\(process ([0-9]+)\)/g)].map(([, pid]) => `/proc/${pid}`));
  expect(pids.length).toBe(3);
  expect(pids.filter((path) => existsSync(path))).toEqual([]);
});

test("a command reads nothing, asks nothing and sees no terminal", async () => {
  using workspace = makeWorkspace();
  const [cat, read, terminal] = await play(workspace, [
    ["shell.run", { command: "cat" }],
    ["shell.run", { command: 'read x; echo "[$x]"' }],
    ["shell.run", { command: "exec 3<>/dev/tty && echo opened" }],
  ]);
  expect(cat).toMatchObject({ text: "(no output)", isError: false });
  expect(read).toMatchObject({ text: "[]", isError: false });
  expect(terminal?.isError).toBe(true);
});

test.if(isLinux)("odd names are listed in a form that the other tools take back", async () => {
  using workspace = makeWorkspace({ "-rf": "needle", " a\nb": "needle", "\u00fc": "needle", "u\u0308": "needle", ["n".repeat(255)]: "needle" });
  writeFileSync(Buffer.concat([Buffer.from(`${workspace.path}/z`), Buffer.from([0xff])]), "needle");
  const [list] = await play(workspace, [["fs.list", {}]]);
  const names = list?.text.split("\n") ?? [];
  expect(names).toHaveLength(6);
  const results = await play(workspace, names.flatMap((name): Call[] => [["fs.read", { path: name }], ["fs.grep", { pattern: "needle", path: name }], ["fs.trash", { paths: [name] }]]));
  expect(results.map(({ isError }) => isError)).toEqual(results.map(() => false));
  expect(readdirSync(workspace.path)).toEqual([]);
});

test("the real path decides: links out of the workspace are denied, a search does not follow them", async () => {
  using outside = makeWorkspace({ "secret.txt": "the secret" });
  using workspace = makeWorkspace({ own: "no match" });
  symlinkSync(outside.path, workspace.at("link"));
  const results = await play(workspace, [
    ["fs.read", { path: "link/secret.txt" }],
    ["fs.list", { path: "link" }],
    ["fs.grep", { pattern: "secret" }],
    ["fs.write", { path: "link/new", content: "x" }],
    ["shell.run", { command: "cat link/secret.txt; echo x > link/new" }],
  ]);
  expect(results.map(({ details }) => details["category"])).toEqual(["fs_read_outside", "fs_read_outside", undefined, "other", undefined]);
  expect(results[2]).toMatchObject({ text: "(no line matches; fs.read shows a whole file)", isError: false });
  for (const { text } of results) expect(text).not.toContain("the secret");
  expect(readdirSync(outside.path)).toEqual(["secret.txt"]);
});

test("neither the folder's .env nor loader and runtime variables reach a command", async () => {
  using workspace = makeWorkspace({ ".env": "ATOMIC_AGENT_LOCAL_MODELS_URL=http://127.0.0.1:9\nLD_PRELOAD=./evil.so\nNODE_OPTIONS=--x\nBUN_OPTIONS=--x\nFROM_FILE=1\n" });
  const env = { NODE_OPTIONS: "--no-warnings", LD_LIBRARY_PATH: "/nowhere", ATOMIC_AGENT_LOCAL_MODELS_API_KEY: "key-value", PLAIN: "kept" };
  const [shown] = await play(workspace, [["shell.run", { command: "env" }]], { env });
  expect(shown?.text).not.toMatch(/^(ATOMIC_AGENT_|LD_|DYLD_|NODE_OPTIONS|BUN_|FROM_FILE)/m);
  expect(shown?.text).not.toContain("key-value");
  expect(shown?.text).toContain("PLAIN=kept");
});

test.if(isLinux)("a command dies with the program, and nothing private is left", async () => {
  using workspace = makeWorkspace();
  using home = makeHome();
  using plans = makeWorkspace();
  const script = writeScript(plans.at("plan.json"), { steps: [[{ call: "shell.run", args: { command: "echo $$; sleep 97; echo after" } }], [{ text: "done" }]] });
  using running = startAtomic(["json", "--model", script, "go"], { cwd: workspace.path, home, env: { TMPDIR: plans.path } });
  const update = await running.waitFor((event) => event["type"] === "tool_execution_update");
  const shell = /[0-9]+/.exec(JSON.stringify(isObject(update["partialResult"]) ? update["partialResult"]["content"] : ""))?.[0];
  running.signal("SIGTERM");
  const { exitCode } = await running.result();
  expect(exitCode).toBe(143);
  expect(existsSync(`/proc/${shell}`)).toBe(false);
  expect(readdirSync(plans.path)).toEqual(["plan.json"]);
  expect(existsSync(join(home.state, "output"))).toBe(false);
});
