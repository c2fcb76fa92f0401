// Prompts, files and stdin of `atomic json` (json-mode.md 9.1 and 9.2).
import { describe, expect, test } from "bun:test";
import { executablePath, runAtomic } from "../support/atomic.ts";
import { expectEnd, expectOrder, finished, isType, makePlace, type Place, runJson, startJson, textOf } from "../support/json-run.ts";
import { at, type JsonObject, listAt } from "../support/json-checker/values.ts";

const answers = (count = 1): { text: string }[][] => Array.from({ length: count }, () => [{ text: "fine" }]);
const oneRun = "AS TS ms(u) me(u) ms(a) mu(text_start) mu(text_delta)+ mu(text_end) me(a,stop) TE[] AE{u,a}";

/** Runs a shell line with `$ATOMIC` and `$MODEL`; stdout of the stream goes to `out`. */
async function shell(place: Place, line: string): Promise<{ status: number; durationMs: number; stderr: string }> {
  const startedAt = performance.now();
  const child = Bun.spawn(["bash", "-c", line], {
    cwd: place.workspace.path,
    env: { PATH: process.env["PATH"], HOME: place.home.path, ATOMIC_AGENT_STATE_DIR: place.home.state, ATOMIC: executablePath(), MODEL: place.script(answers()) },
    stdin: "ignore",
    stderr: "pipe",
  });
  const [stderr, status] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  return { status, stderr, durationMs: performance.now() - startedAt };
}

const streamOf = (place: Place, file = "out"): JsonObject[] => place.workspace.read(file).split("\n").slice(0, -1).map((line) => JSON.parse(line) as JsonObject);
const promptOf = (events: readonly JsonObject[]): string => textOf(events.find((event) => event["type"] === "message_end")?.["message"]);

test("J-41 two prompts: one header, two agent blocks, one agent_settled; the second sees the first", async () => {
  using place = makePlace();
  const model = place.script([[{ text: "fine" }], [{ expect: { contains: "first question", lastRole: "user" } }, { text: "good" }]]);
  const run = await runJson(place, ["--model", model, "first question", "second question"]);
  expectOrder(run, `H ${oneRun} ${oneRun} Z{ok}`);
  expect(run.messages("user").map(textOf)).toEqual(["first question", "second question"]);
});

describe("J-47", () => {
  test("J-47 `sleep 300 | atomic json hi`: the header within 1 s, the run does not wait, a note on stderr", async () => {
    using place = makePlace();
    const { status, durationMs, stderr } = await shell(place, 'exec 3< <(exec sleep 300); "$ATOMIC" json --model "$MODEL" hi <&3 > out; status=$?; kill $!; exit $status');
    expect([status, promptOf(streamOf(place))]).toEqual([0, "hi"]);
    expect(durationMs).toBeLessThan(3000);
    expect(stderr).toContain("stdin");
  });

  test("J-47 `atomic json hi </dev/null`: runs and ends, nothing on stderr", async () => {
    using place = makePlace();
    const { status, durationMs, stderr } = await shell(place, '"$ATOMIC" json --model "$MODEL" hi </dev/null > out');
    expect([status, stderr, promptOf(streamOf(place))]).toEqual([0, "", "hi"]);
    expect(durationMs).toBeLessThan(3000);
  });

  test("J-47 a closed stdin is not read", async () => {
    using place = makePlace();
    const { status } = await shell(place, '"$ATOMIC" json --model "$MODEL" hi <&- > out');
    expect([status, promptOf(streamOf(place))]).toEqual([0, "hi"]);
  });
});

describe("J-48", () => {
  test("J-48 `printf data | atomic json ask`: the prompt is data, a blank line, ask", async () => {
    using place = makePlace();
    const run = await runJson(place, ["--model", place.script(answers()), "ask"], { stdin: "data" });
    expect(promptOf(run.events)).toBe("data\n\nask");
    const { status } = await shell(place, 'printf data | "$ATOMIC" json --model "$MODEL" ask > out');
    expect([status, promptOf(streamOf(place))]).toEqual([0, "data\n\nask"]);
  });

  test("J-48 from a regular file, without its trailing line ends; with `-` also when it is slow", async () => {
    using place = makePlace({ "in.txt": "line 1\r\nline 2\r\n\n" });
    await shell(place, '"$ATOMIC" json --model "$MODEL" ask < in.txt > out');
    expect(promptOf(streamOf(place))).toBe("line 1\r\nline 2\n\nask");
    await shell(place, '(sleep 0.6; echo late) | "$ATOMIC" json --model "$MODEL" - ask > out');
    expect(promptOf(streamOf(place))).toBe("late\n\nask");
  });

  test("J05 (c) stdin alone is the prompt; a BOM is dropped; bytes that are no UTF-8 are shown as U+FFFD, with a warning", async () => {
    using place = makePlace();
    const only = await runJson(place, ["--model", place.script(answers())], { stdin: "\ufeffonly\n" });
    expect([promptOf(only.events), only.result.stderr]).toEqual(["only", ""]);
    const odd = await runJson(place, ["--model", place.script(answers())], { stdin: new Uint8Array([0x61, 0xff, 0x62]) });
    expect(promptOf(odd.events)).toBe("a\ufffdb");
    expect(odd.result.stderr).toContain("UTF-8");
  });
});

describe("J-49", () => {
  test("J-49 no prompt and an empty stdin pipe: order 6.38, exit 0", async () => {
    using place = makePlace();
    for (const stdin of ["", " \n\t\n"]) {
      const run = await runJson(place, ["--model", place.script(answers())], { stdin });
      expectOrder(run, "H Z{empty}");
      expectEnd(run, "empty", 0);
    }
  });

  test.skipIf(process.platform === "win32")("J-49 no prompt from a terminal: exit 2, stdout empty, stderr says what to do", async () => {
    using place = makePlace();
    const child = Bun.spawn(["bash", "-c", '"$ATOMIC" json --model "$MODEL" > out 2> err; echo $? > status'], {
      cwd: place.workspace.path,
      env: { PATH: process.env["PATH"], HOME: place.home.path, ATOMIC_AGENT_STATE_DIR: place.home.state, ATOMIC: executablePath(), MODEL: place.script(answers()) },
      terminal: { cols: 80, rows: 24 },
    });
    await child.exited;
    expect([place.workspace.read("status"), place.workspace.read("out")]).toEqual(["2\n", ""]);
    expect(place.workspace.read("err")).toContain("prompt");
  });
});

test("J-50 a stdin pipe that is silent for 3 s, without a prompt: the header is readable before that", async () => {
  using place = makePlace();
  using running = startJson(place, ["--model", place.script(answers())], { interactive: true });
  const startedAt = performance.now();
  await running.waitFor(isType("session"));
  expect(performance.now() - startedAt).toBeLessThan(1000);
  await Bun.sleep(3000 - (performance.now() - startedAt));
  expect(running.events).toHaveLength(1);
  running.write("at last");
  running.end();
  const run = await finished(running);
  expectOrder(run, `H ${oneRun} Z{ok}`);
  expect(promptOf(run.events)).toBe("at last");
});

describe("parts of the first prompt", () => {
  test("stdin, files in order, first positional; text files in their tag, an image as a block", async () => {
    const image = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
    using place = makePlace({ "b.txt": "bee\n", "a.txt": "ay", "p.bin": image });
    const run = await runJson(place, ["--model", place.script(answers(2)), "@b.txt", "look", "@a.txt", "@p.bin", "next"], { stdin: "piped\n" });
    const at_ = (name: string): string => place.workspace.at(name);
    const [first, second] = run.messages("user");
    expect(textOf(first)).toStartWith(`piped\n\n<file name="${at_("b.txt")}">\nbee\n\n</file>\n\n<file name="${at_("a.txt")}">\nay\n</file>`);
    expect(textOf(first)).toEndWith("\n\nlook");
    expect(listAt(first, "content").slice(1)).toEqual([{ type: "image", data: image.toString("base64"), mimeType: "image/png" }]);
    expect(textOf(second)).toBe("next");
  });

  test("after -- everything is a prompt, and a slash is plain text", async () => {
    using place = makePlace();
    const run = await runJson(place, ["--model", place.script(answers(4)), "/help", "--", "@x", "-", "--y"]);
    expect(run.messages("user").map(textOf)).toEqual(["/help", "@x", "-", "--y"]);
  });

  test("blank prompts are left out, others run", async () => {
    using place = makePlace();
    const run = await runJson(place, ["--model", place.script(answers(1)), " ", "real"]);
    expect(run.messages("user").map(textOf)).toEqual(["real"]);
  });
});

describe("J-45", () => {
  const refused: [string, string[], RegExp][] = [
    ["J-45 an unknown flag", ["--modle", "x", "hi"], /--modle.*--model/],
    ["J-45 a missing @file", ["@nothing-there.txt", "hi"], /nothing-there\.txt/],
    ["a directory as @file", ["@.", "hi"], /is a folder/],
    ["--mode with another value", ["--mode", "xml", "hi"], /--mode/],
    ["a value that is missing", ["hi", "--model"], /--model/],
    ["a value that is bad", ["--max-steps", "0", "hi"], /--max-steps/],
    ["a temperature that is too high", ["--temperature", "2.1", "hi"], /--temperature/],
    ["a timeout of nothing", ["--timeout", "0", "hi"], /--timeout/],
    ["a level of thinking that does not exist", ["--thinking", "deep", "hi"], /--thinking/],
    ["two flags that exclude each other", ["--session", "x", "--continue", "hi"], /--session.*--continue/],
    ["no session, and one", ["--no-session", "--continue", "hi"], /--no-session.*--continue/],
    ["commands without a prompt", ["--stdin-commands"], /--stdin-commands/],
    ["commands and -", ["--stdin-commands", "-", "hi"], /--stdin-commands/],
    ["a schema file that is missing", ["--output-schema", "none.json", "hi"], /none\.json/],
    ["a model that is unknown", ["--model", "no-such-model", "hi"], /no-such-model/],
    ["a provider that is unknown", ["--provider", "nope", "hi"], /nope/],
    ["a session that is unknown", ["--session", "0199", "hi"], /0199/],
  ];
  for (const [name, args, said] of refused) {
    test(`${name}: exit 2, stdout empty, stderr names it`, async () => {
      using place = makePlace();
      const { exitCode, stdout, stderr } = await runAtomic(["json", ...args], { home: place.home, cwd: place.workspace.path });
      expect([exitCode, stdout.length]).toEqual([2, 0]);
      expect(stderr).toMatch(said);
      expect(stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(3);
    });
  }
});

test("a stdin that is too large ends the run as an error, after the header", async () => {
  using place = makePlace({ "in.txt": "x".repeat(17 * 1024 * 1024) });
  const { status, stderr } = await shell(place, '"$ATOMIC" json --model "$MODEL" < in.txt > out');
  const events = streamOf(place);
  expect([status, events.at(-1)?.["outcome"], stderr.includes("16777216")]).toEqual([1, "error", true]);
  expect(events.find((event) => event["type"] === "message_end" && at(event, "message", "role") === "assistant")?.["message"]).toMatchObject({ stopReason: "error", errorMessage: expect.stringContaining("16777216") });
});

test("system prompts: replaced, and added to, also from files", async () => {
  using place = makePlace({ "rules.txt": "Speak like a poet." });
  const model = place.script([[{ expect: { contains: "Speak like a poet." } }, { expect: { contains: "Be brief." } }, { expect: { absent: "You do jobs" } }, { text: "fine" }]]);
  expectEnd(await runJson(place, ["--model", model, "--system-prompt", "@rules.txt", "--append-system-prompt", "Be brief.", "hi"]), "ok", 0);
});
