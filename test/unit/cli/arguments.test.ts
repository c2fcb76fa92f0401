// The command line of run and json: every flag, and every fault with the name of what is at fault.
import { describe, expect, test } from "bun:test";
import { parsePromptArguments, promptFlagNames } from "../../../src/cli/arguments.ts";
import { AgentError } from "../../../src/core/error.ts";

const nothing = { prompts: [], files: [], stdin: false, help: false, continue: false, noSession: false, appendSystemPrompt: [], updates: "snapshot", stdinCommands: false };

describe("arguments", () => {
  const rows: [string[], object][] = [
    [[], {}],
    [["one", "two"], { prompts: ["one", "two"] }],
    [["a", "@f.txt", "b", "@g.png", "-"], { prompts: ["a", "b"], files: ["f.txt", "g.png"], stdin: true }],
    [["a", "--", "@x", "-", "--model", "--", ""], { prompts: ["a", "@x", "-", "--model", "--", ""] }],
    [["/not-a-command", ""], { prompts: ["/not-a-command", ""] }],
    [["--model", "qwen", "hi"], { model: "qwen", prompts: ["hi"] }],
    [["--model=scripted:a=b.json"], { model: "scripted:a=b.json" }],
    [["--model=--continue"], { model: "--continue" }],
    [["--provider", "llama"], { provider: "llama" }],
    [["--thinking", "xhigh"], { thinking: "xhigh" }],
    [["--session", "0199"], { session: "0199" }],
    [["--continue", "hi"], { continue: true, prompts: ["hi"] }],
    [["--no-session"], { noSession: true }],
    [["--tools", "fs.read, fs.*,"], { tools: ["fs.read", "fs.*"] }],
    [["--tools", ""], { tools: [] }],
    [["--tools="], { tools: [] }],
    [["--exclude-tools", "shell.run"], { excludeTools: ["shell.run"] }],
    [["--system-prompt", "- be short"], { systemPrompt: "- be short" }],
    [["--system-prompt", ""], { systemPrompt: "" }],
    [["--append-system-prompt", "a", "--append-system-prompt=@b"], { appendSystemPrompt: ["a", "@b"] }],
    [["--max-steps", "1"], { maxSteps: 1 }],
    [["--approval-level", "5"], { approvalLevel: 5 }],
    [["--updates", "delta"], { updates: "delta" }],
    [["--stdin-commands", "hi"], { stdinCommands: true, prompts: ["hi"] }],
    [["--stdin-commands", "@f"], { stdinCommands: true, files: ["f"] }],
    [["--output-schema", "s.json"], { outputSchema: "s.json" }],
    [["--timeout", "1.5"], { timeoutMs: 1500 }],
    [["--seed", "0"], { seed: 0 }],
    [["--temperature", "2"], { temperature: 2 }],
    [["--temperature", ".5"], { temperature: 0.5 }],
    [["--mode", "json"], { mode: "json" }],
    [["-h"], { help: true }],
    [["--help", "--stdin-commands"], { help: true, stdinCommands: true }],
  ];
  for (const [argv, expected] of rows) {
    test(JSON.stringify(argv), () => expect(parsePromptArguments(argv) as unknown).toEqual({ ...nothing, ...expected }));
  }

  test("every flag occurs in a row above", () => {
    const used = new Set(rows.flatMap(([argv]) => argv.map((argument) => argument.replace(/=.*/s, ""))));
    expect(promptFlagNames().filter((name) => !used.has(name))).toEqual([]);
  });
});

describe("faults", () => {
  const rows: [string[], string][] = [
    [["--modle", "x"], "unknown flag --modle: did you mean --model?"],
    [["--updates=delta", "--no-sesion"], "unknown flag --no-sesion: did you mean --no-session?"],
    [["--frobnicate", "hi"], "unknown flag --frobnicate: --help lists the known ones"],
    [["-x"], "unknown flag -x"],
    [["-5 is a number"], "unknown flag -5 is a number"],
    [["--model"], "--model needs a value"],
    [["--model", "--continue"], "--model needs a value"],
    [["--model", ""], "--model needs a value that is not empty"],
    [["--model=a", "--model=b"], "--model is given twice"],
    [["--continue=yes"], "--continue takes no value"],
    [["--thinking", "hard"], '--thinking "hard": expected one of off, minimal, low, medium, high, xhigh, max'],
    [["--updates", "x"], '--updates "x": expected one of snapshot, delta'],
    [["--mode", "xml"], '--mode "xml": expected one of text, json'],
    [["--max-steps", "0"], '--max-steps "0": expected a whole number of at least 1'],
    [["--max-steps", "1.5"], "--max-steps"],
    [["--max-steps", "-1"], "--max-steps"],
    [["--max-steps", ""], "--max-steps"],
    [["--max-steps", "1e3"], "--max-steps"],
    [["--approval-level", "6"], '--approval-level "6": expected a whole number from 1 to 5'],
    [["--approval-level", "0"], "--approval-level"],
    [["--timeout", "0"], '--timeout "0": expected seconds, more than 0'],
    [["--timeout", "soon"], "--timeout"],
    [["--timeout", "Infinity"], "--timeout"],
    [["--seed", "-1"], "--seed"],
    [["--seed", "4294967296"], "--seed"],
    [["--temperature", "2.1"], '--temperature "2.1": expected a number from 0 to 2'],
    [["--temperature", "NaN"], "--temperature"],
    [["--session", "a", "--continue"], "--session and --continue exclude each other"],
    [["--no-session", "--session", "a"], "--no-session and --session exclude each other"],
    [["--no-session", "--continue"], "--no-session and --continue exclude each other"],
    [["--stdin-commands", "-", "hi"], "--stdin-commands and - exclude each other"],
    [["--stdin-commands"], "--stdin-commands needs a prompt or @FILE"],
    [["@"], "@ names no file"],
  ];
  for (const [argv, message] of rows) {
    test(JSON.stringify(argv), () => {
      let fault: unknown;
      try {
        parsePromptArguments(argv);
      } catch (error) {
        fault = error;
      }
      expect(fault).toBeInstanceOf(AgentError);
      expect([(fault as AgentError).code, (fault as AgentError).message.startsWith(message) || (fault as AgentError).message]).toEqual(["usage", true]);
    });
  }
});
