// Real jobs by the default model through the executable: judged by what is on disk and by facts in the reply. Never by wording.
import { afterAll, describe, expect, test } from "bun:test";
import { makeHome, runAtomic } from "../support/atomic.ts";
import { checkJsonStream, describeBreaches } from "../support/json-checker.ts";
import { isObject, type JsonObject } from "../support/json-checker/values.ts";
import { modelPath } from "../support/models.ts";
import { makeWorkspace, type FileTree } from "../support/workspace.ts";

const home = makeHome();
afterAll(() => home[Symbol.dispose]());
const model = modelPath("qwen2.5-coder-1.5b");
const limitMs = 240_000;
const isLong = process.env["ATOMIC_TEST_LONG"] === "1";

interface Job {
  prompt: string;
  files: FileTree;
  check: (reply: string, after: { [path: string]: string }) => void;
}

const config = "[database]\nport = 5432\nhost = db\n\n[server]\nhost = 0.0.0.0\nport = 8143\n";
const settings = 'DEBUG = False\nTIMEOUT = 30\nRETRY_TIMEOUT = 30\nNAME = "x"\n';

const jobs: Job[] = [
  {
    prompt: "Which port does the server in config.ini listen on?",
    files: { "config.ini": config },
    check(reply, after) {
      expect(reply).toContain("8143");
      expect(reply).not.toContain("5432");
      expect(after).toEqual({ "config.ini": config });
    },
  },
  {
    prompt: "In settings.py change TIMEOUT to 45.",
    files: { "settings.py": settings },
    check: (_reply, after) => expect(after).toEqual({ "settings.py": settings.replace("\nTIMEOUT = 30", "\nTIMEOUT = 45") }),
  },
  {
    prompt: "Rename notes.txt to ideas.txt.",
    files: { "notes.txt": "a\nb\n", "other.md": "x\n" },
    check: (_reply, after) => expect(after).toEqual({ "ideas.txt": "a\nb\n", "other.md": "x\n" }),
  },
  {
    prompt: "Write hello.py that prints Hello World and run it.",
    files: {},
    check(reply, after) {
      expect(after["hello.py"]).toContain("print");
      expect(reply).toMatch(/Hello,? World/i);
    },
  },
];

function assistantMessages(events: readonly JsonObject[]): JsonObject[] {
  return events.flatMap((event) => (event["type"] === "message_end" && isObject(event["message"]) && event["message"]["role"] === "assistant" ? [event["message"]] : []));
}

function usageOf(message: JsonObject | undefined): { input: number; output: number; cacheRead: number } {
  return message?.["usage"] as { input: number; output: number; cacheRead: number };
}

function lastText(events: readonly JsonObject[]): string {
  const content = assistantMessages(events).at(-1)?.["content"];
  return Array.isArray(content) ? content.map((block) => (isObject(block) && block["type"] === "text" ? String(block["text"]) : "")).join("") : "";
}

describe("jobs of the default model", () => {
  for (const [index, { prompt, files, check }] of jobs.entries()) {
    test(
      `json: ${prompt}`,
      async () => {
        using workspace = makeWorkspace(files);
        const result = await runAtomic(["json", "--model", model, prompt], { cwd: workspace.path, home, timeoutMs: limitMs });
        expect(describeBreaches(checkJsonStream(result.stdout, { exitCode: result.exitCode ?? -1 }))).toBe("");
        expect(result.exitCode).toBe(0);
        check(lastText(result.events()), workspace.snapshot());
      },
      limitMs,
    );

    // What differs between the two is what is printed: once is enough, but for a long run.
    if (index > 0 && !isLong) continue;
    test(
      `run: ${prompt}`,
      async () => {
        using workspace = makeWorkspace(files);
        const result = await runAtomic(["run", "--model", model, prompt], { cwd: workspace.path, home, timeoutMs: limitMs });
        expect({ exitCode: result.exitCode, stderr: result.stderr }).toEqual({ exitCode: 0, stderr: "" });
        check(result.text, workspace.snapshot());
      },
      limitMs,
    );
  }

  test(
    "a step reads only what is new to it",
    async () => {
      using workspace = makeWorkspace({ "config.ini": config });
      const result = await runAtomic(["json", "--model", model, "Which port does the server in config.ini listen on?"], { cwd: workspace.path, home, timeoutMs: limitMs });
      const messages = assistantMessages(result.events());
      expect(messages.length).toBeGreaterThanOrEqual(2);
      for (const [index, message] of messages.entries()) {
        if (index === 0) continue;
        const before = usageOf(messages[index - 1]);
        const now = usageOf(message);
        // The end token of the answer before may have to be read.
        expect(now.cacheRead).toBeGreaterThanOrEqual(before.input + before.cacheRead + before.output - 2);
        expect(now.input).toBeLessThan(200);
      }
    },
    limitMs,
  );

  test(
    "a reply shows before a fifth of it is made",
    async () => {
      using workspace = makeWorkspace();
      const months = "January February March April May June July August September October November December".split(" ");
      const prompt = `Reply with exactly this text: ${months.map((month, index) => `${month} is month number ${index + 1}, and it is as fine as any other.`).join(" ")}`;
      const result = await runAtomic(["json", "--updates", "delta", "--tools", "", "--model", model, prompt], { cwd: workspace.path, home, timeoutMs: limitMs });
      const events = result.events();
      const deltas = events.filter((event) => event["type"] === "message_update" && isObject(event["assistantMessageEvent"]) && event["assistantMessageEvent"]["type"] === "text_delta");
      const { output } = usageOf(assistantMessages(events).at(-1));
      expect(output).toBeGreaterThan(75);
      // A token makes at most one delta: what is missing was made before the first one, or after the last.
      expect((output - deltas.length) / output).toBeLessThan(0.2);
    },
    limitMs,
  );
});
