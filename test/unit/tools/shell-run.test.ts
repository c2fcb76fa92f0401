// shell.run with real processes: output, background processes, timeouts, the sandbox.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../../src/core/limits.ts";
import { type Called, fixture } from "./fixture.ts";

const isLinux = process.platform === "linux";

test("a command's output and status", async () => {
  using at = fixture();
  const done = await at.call("shell.run", { command: "echo one; echo two >&2; echo three; pwd" });
  expect(done).toMatchObject({ isError: false, text: `one\ntwo\nthree\n${at.workspace}` });
  expect(Object.keys(done.details)).toEqual(["exitCode", "durationMs"]);
  const failed = await at.call("shell.run", { command: "echo out; exit 3" });
  expect(failed).toMatchObject({ isError: true, text: "out\n[exit code 3]", details: { exitCode: 3 } });
  expect(await at.call("shell.run", { command: "true" })).toMatchObject({ isError: false, text: "(no output)" });
  const killed = await at.call("shell.run", { command: "echo a; kill -KILL $$" });
  expect(killed).toMatchObject({ isError: true, text: "a\n[ended by signal SIGKILL]", details: { signal: "SIGKILL" } });
  expect(Object.keys(killed.details)).toEqual(["signal", "durationMs"]);
});

test("the folder to run in", async () => {
  using at = fixture();
  await at.call("fs.write", { path: "sub/f", content: "x" });
  expect(await at.call("shell.run", { command: "pwd", cwd: "sub" })).toMatchObject({ text: join(at.workspace, "sub") });
  expect(await at.call("shell.run", { command: "pwd", cwd: "sbu" })).toMatchObject({ isError: true, text: expect.stringContaining("did you mean sub?") });
  expect(await at.call("shell.run", { command: "pwd", cwd: "sub/f" })).toMatchObject({ isError: true, text: expect.stringContaining("not a folder") });
});

test("stdin is empty and there is no terminal", async () => {
  using at = fixture();
  expect(await at.call("shell.run", { command: 'cat; read x; echo "[$x]"' })).toMatchObject({ text: "[]" });
  const terminal = await at.call("shell.run", { command: "exec 3<>/dev/tty; echo opened" });
  expect(terminal).toMatchObject({ isError: true });
  expect(terminal.text).not.toContain("opened\n");
  const commit = await at.call("shell.run", { command: "git init -q . && git -c user.name=a -c user.email=a@b commit --allow-empty" });
  expect(commit).toMatchObject({ isError: true, text: expect.stringContaining("empty commit message") });
  expect(commit.details["durationMs"]).toBeLessThan(2000);
});

test("standard streams can be opened by name", async () => {
  using at = fixture();
  expect(await at.call("shell.run", { command: "echo a > /dev/stderr; echo b > /dev/stdout; echo c > /dev/null" })).toMatchObject({ text: "a\nb", isError: false });
});

test("variables that load code, or are the product's, do not reach a command", async () => {
  const secrets = { LD_PRELOAD: "./evil.so", DYLD_INSERT_LIBRARIES: "x", NODE_OPTIONS: "--x", BUN_OPTIONS: "--x", BUN_BE_BUN: "1", ATOMIC_AGENT_LOCAL_MODELS_API_KEY: "k", MY_KEY: "k" };
  using at = fixture({ shell: { environment: { ...process.env, ...secrets, PLAIN: "kept" }, secretVariables: ["MY_KEY"], self: fixtureSelf } });
  const { text } = await at.call("shell.run", { command: "env" });
  const names = text.split("\n").map((line) => line.split("=")[0]);
  expect(names.filter((name) => name !== undefined && name in secrets)).toEqual([]);
  expect(text).toContain("PLAIN=kept");
});

const backgrounds: [name: string, command: string, expected: string, limitMs: number][] = [
  ["in the group", "sleep 60 & echo done", "done\n[ended what was left in the background: sleep 60 (process ", 1000],
  ["with its output elsewhere", "sleep 60 >/dev/null 2>&1 & echo done", "done\n[ended what was left in the background: sleep 60 (process ", 1000],
  ["in a session of its own", "setsid sleep 30 & echo x", "x\n[ended what was left in the background: ", 1000],
  ["without variables, in a session of its own", "env -i setsid sleep 31 & sleep 0.1; echo x", "x\n[ended what was left in the background: ", 1100],
];
test.if(isLinux).each(backgrounds)("a background process %s never holds the step", async (_name, command, expected, limitMs) => {
  using at = fixture();
  const done = await at.call("shell.run", { command });
  expect(done.isError).toBe(false);
  expect(done.text).toStartWith(expected);
  expect(done.details["durationMs"]).toBeLessThan(limitMs);
  expect(alive(done)).toEqual([]);
});

test.if(isLinux)("a background process without the sandbox is found by its variable", async () => {
  using at = fixture({ shell: { sandbox: "off" } });
  const done = await at.call("shell.run", { command: "setsid sleep 32 & sleep 0.1; echo x" });
  expect(done.text).toStartWith("x\n[ended what was left in the background: ");
  expect(alive(done)).toEqual([]);
});

test("a background process that floods the output is cut and ended", async () => {
  using at = fixture();
  const began = performance.now();
  const done = await at.call("shell.run", { command: "yes & sleep 1; echo done" });
  expect(performance.now() - began).toBeLessThan(2500);
  expect(done.isError).toBe(false);
  expect(done.text).toContain("[output cut: ");
  expect(done.text).toContain("[ended what was left in the background: yes (process ");
  expect(done.details["truncation"]).toMatchObject({ truncated: true, maxLines: limits.resultLinesMax, maxBytes: limits.resultBytesMax });
  expect(Buffer.byteLength(done.text)).toBeLessThanOrEqual(limits.resultBytesMax);
  expect(statSync(String(done.details["fullOutputPath"])).size).toBeLessThanOrEqual(limits.keptOutputBytesMax);
});

test("long output keeps its end, and all of it in a private file that fs.read may read", async () => {
  using at = fixture();
  const done = await at.call("shell.run", { command: "seq 1 100000" });
  const lines = done.text.split("\n");
  expect(lines[0]).toBe("98001");
  expect(lines[1999]).toBe("100000");
  const path = String(done.details["fullOutputPath"]);
  expect(done.details["truncation"]).toEqual({ truncated: true, truncatedBy: "lines", totalLines: 100_000, totalBytes: 588_895, outputLines: 2000, outputBytes: 12_001, maxLines: 2000, maxBytes: 51_200 });
  expect(Object.keys(done.details)).toEqual(["exitCode", "durationMs", "truncation", "fullOutputPath"]);
  expect(readFileSync(path, "utf8")).toBe(`${Array.from({ length: 100_000 }, (_, index) => index + 1).join("\n")}\n`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(at.options.temporaryFolder).mode & 0o777).toBe(0o700);
  expect(await at.needs("fs.read", { path })).toEqual([]);
  const failed = await at.call("shell.run", { command: "head -c 200000 /dev/zero | tr '\\0' x; exit 1" });
  expect(failed).toMatchObject({ isError: true, details: { exitCode: 1, truncation: { truncatedBy: "bytes", lastLinePartial: true, totalBytes: 200_000 } } });
  expect(failed.text).toEndWith("[exit code 1]");
});

test("bytes that are not UTF-8 become U+FFFD", async () => {
  using at = fixture();
  expect(await at.call("shell.run", { command: "printf 'a\\377b'" })).toMatchObject({ text: "a\uFFFDb" });
});

test("a timeout ends the whole group, also what ignores SIGTERM", async () => {
  using at = fixture();
  const done = await at.call("shell.run", { command: "trap '' TERM; echo begun; sleep 61 & sleep 62; sleep 63", timeoutMs: 200 });
  expect(done).toMatchObject({ isError: true, text: "begun\n[timed out after 200 ms and was ended]", details: { timedOut: true } });
  expect(processesWith(/sleep 6[123]/)).toEqual([]);
});

test("an abort ends the command and keeps its output", async () => {
  using at = fixture();
  const controller = new AbortController();
  at.context.signal = controller.signal;
  at.context.onUpdate = () => controller.abort();
  const done = await at.call("shell.run", { command: "echo begun; sleep 64" });
  expect(done).toMatchObject({ isError: true, text: "begun\n[cancelled and ended]" });
  expect(processesWith(/sleep 64/)).toEqual([]);
});

test("updates are cumulative and at least 100 ms apart", async () => {
  using at = fixture();
  const times: number[] = [];
  const { onUpdate } = at.context;
  at.context.onUpdate = (partial) => {
    times.push(performance.now());
    onUpdate(partial);
  };
  const done = await at.call("shell.run", { command: "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.06; done" });
  const texts = at.updates.map(({ content }) => (content[0]?.type === "text" ? content[0].text : ""));
  expect(texts.length).toBeGreaterThan(2);
  for (const [index, text] of [...texts, done.text].entries()) expect(text).toStartWith((texts[index - 1] ?? "").trimEnd());
  for (const [index, time] of times.slice(1).entries()) expect(time - (times[index] ?? 0)).toBeGreaterThan(limits.toolUpdateIntervalMs - 5);
  const none = at.updates.length;
  await at.call("shell.run", { command: "true" });
  expect(at.updates.length).toBe(none);
});

test("what a command needs depends on the sandbox and the network", async () => {
  const silentFrom = async (shell: Parameters<typeof fixture>[0] & object) => {
    using at = fixture(shell);
    return (await at.needs("shell.run", { command: "ls" }))[0];
  };
  expect(await silentFrom({})).toMatchObject({ category: "shell", silentFrom: 2, preview: "ls" });
  expect(await silentFrom({ shell: { sandbox: "off" } })).toMatchObject({ silentFrom: 4 });
  expect(await silentFrom({ shell: { network: true } })).toMatchObject({ silentFrom: 4 });
});

test.if(isLinux)("the folder of a call can be written by that call, wherever it is, and by no other", async () => {
  using at = fixture();
  const command = "echo x > made && cat made";
  expect(await at.needs("shell.run", { command, cwd: at.outside })).toMatchObject([{ category: "shell", silentFrom: 4, affectedResources: [at.outside] }]);
  expect(await at.call("shell.run", { command, cwd: at.outside })).toMatchObject({ isError: false, text: "x" });
  expect(await at.call("shell.run", { command: `echo y > ${at.outside}/other` })).toMatchObject({ isError: true, text: expect.stringContaining("[perhaps the sandbox: ") });
  expect(await at.call("shell.run", { command: "echo y > ../other", cwd: at.outside })).toMatchObject({ isError: true });
  expect(readdirSync(at.outside)).toEqual(["made"]);
  const state = join(at.options.stateFolder, "models");
  mkdirSync(state);
  for (const cwd of [state, at.options.stateFolder]) expect(await at.call("shell.run", { command: `echo z > ${state}/made`, cwd })).toMatchObject({ isError: true });
  expect(readdirSync(state)).toEqual([]);
});

test.if(isLinux)("the sandbox refuses, and the result names it", async () => {
  using at = fixture();
  writeFileSync(join(at.outside, "secret.txt"), "secret");
  const write = await at.call("shell.run", { command: `echo x > ${at.outside}/x` });
  expect(write).toMatchObject({ isError: true, text: expect.stringContaining("[perhaps the sandbox: ") });
  expect(existsSync(join(at.outside, "x"))).toBe(false);
  const read = await at.call("shell.run", { command: `cat ${at.outside}/secret.txt` });
  expect(read).toMatchObject({ isError: true, text: expect.stringContaining("Permission denied") });
  const plain = await at.call("shell.run", { command: "echo wrong; exit 1" });
  expect(plain.text).not.toContain("sandbox");
  expect(await at.call("shell.run", { command: "echo x > f && mkdir d && mv f d/f && echo $TMPDIR && echo y > $TMPDIR/y && cat d/f" })).toMatchObject({ isError: false, text: `${at.options.temporaryFolder}\nx` });
});

test("a large output of awkward bytes is cut and says so", async () => {
  using at = fixture();
  writeFileSync(join(at.workspace, "x.txt"), Buffer.alloc(5_100_000, Buffer.from([0x22, 0x5c, 0x0a])));
  const done = await at.call("shell.run", { command: "cat x.txt" });
  expect(done.details["truncation"]).toMatchObject({ totalBytes: 5_100_000, totalLines: 1_700_000, outputLines: 2000 });
  expect(done.text).toContain("1698000 lines before this (of 5.1 MB in all) left out");
});

const fixtureSelf = [process.execPath, join(import.meta.dir, "../sandbox/confine-entry.ts")];

function alive(done: Called): string[] {
  return [...done.text.matchAll(/\(process ([0-9]+)\)/g)].map(([, pid]) => `/proc/${pid}`).filter((path) => existsSync(path) && !/\) Z /.test(readFileSync(`${path}/stat`, "utf8")));
}

function processesWith(pattern: RegExp): string[] {
  if (!isLinux) return [];
  return readdirSync("/proc").filter((name) => {
    try {
      return /^[0-9]+$/.test(name) && pattern.test(readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " "));
    } catch {
      return false;
    }
  });
}
