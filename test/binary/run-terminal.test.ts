// `atomic run` on a real terminal: what is done shows, and what goes beyond the approval level is asked for.
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { executablePath, makeHome, runAtomic, type Home } from "../support/atomic.ts";
import { writeScript } from "../support/scripted.ts";
import { makeWorkspace } from "../support/workspace.ts";

interface Answer {
  /** Typed when this text has shown, each once and in order. */
  after: string;
  type: string;
}

/** Runs with a terminal as stdin, stdout and stderr; gives everything that it showed. */
async function onTerminal(args: readonly string[], home: Home, cwd: string, answers: readonly Answer[]): Promise<{ shown: string; exitCode: number }> {
  let shown = "";
  let looked = 0;
  const waiting = [...answers];
  const decoder = new TextDecoder();
  const child = Bun.spawn([executablePath(), ...args], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: home.path, ATOMIC_AGENT_STATE_DIR: home.state, TERM: "xterm" },
    terminal: {
      cols: 200,
      rows: 50,
      data(terminal, bytes) {
        shown += decoder.decode(bytes, { stream: true });
        const next = waiting[0];
        const at = next ? shown.indexOf(next.after, looked) : -1;
        if (!next || at < 0) return;
        looked = at + next.after.length;
        waiting.shift();
        terminal.write(next.type);
      },
    },
  });
  const exitCode = await child.exited;
  return { shown, exitCode };
}

function writesTo(...paths: string[]) {
  return { steps: [...paths.map((path) => [{ call: "fs.write", args: { path, content: "x" } }]), [{ text: "Done." }]] };
}

describe("atomic run on a terminal", () => {
  test("shows each tool and the reply", async () => {
    using home = makeHome();
    using workspace = makeWorkspace();
    const script = writeScript(home.folder.at("script.json"), writesTo("a.txt"));
    const { exitCode, shown } = await onTerminal(["run", "--model", script, "write"], home, workspace.path, []);
    expect(exitCode).toBe(0);
    expect(shown).toContain("• fs.write a.txt");
    expect(shown).toContain("Done.");
    expect(workspace.snapshot()).toEqual({ "a.txt": "x" });
  });

  for (const { type, made } of [
    { type: "y\n", made: true },
    { type: "n\n", made: false },
    { type: "what?\ny\n", made: true },
  ]) {
    test(`asks before a write outside the folder; ${JSON.stringify(type)} is heard`, async () => {
      using home = makeHome();
      using workspace = makeWorkspace();
      const path = home.folder.at("outside.txt");
      const script = writeScript(home.folder.at("script.json"), writesTo(path));
      const { exitCode, shown } = await onTerminal(["run", "--model", script, "write"], home, workspace.path, [{ after: "Allow it?", type }]);
      expect(exitCode).toBe(0);
      expect(shown).toContain(path);
      expect(existsSync(path)).toBe(made);
    });
  }

  test("a yes for the session is not asked for again", async () => {
    using home = makeHome();
    using workspace = makeWorkspace();
    const paths = [home.folder.at("one.txt"), home.folder.at("two.txt")];
    const script = writeScript(home.folder.at("script.json"), writesTo(...paths));
    const { shown } = await onTerminal(["run", "--model", script, "write"], home, workspace.path, [{ after: "Allow it?", type: "s\n" }]);
    expect(paths.map((path) => existsSync(path))).toEqual([true, true]);
    expect(shown.split("Allow it?").length - 1).toBe(1);
  });

  test("control characters of a file name can't steer the terminal", async () => {
    using home = makeHome();
    using workspace = makeWorkspace();
    const script = writeScript(home.folder.at("script.json"), { steps: [[{ call: "fs.read", args: { path: "\u001b]0;owned\u0007" } }], [{ text: "a\u001b[2Jb" }]] });
    const { shown } = await onTerminal(["run", "--model", script, "read"], home, workspace.path, []);
    expect(shown).not.toContain("\u001b]0;owned");
    expect(shown).not.toContain("a\u001b[2J");
    expect(shown).toContain("a\\x1b[2Jb");
  });
});

describe("atomic run without a terminal", () => {
  test("is quiet on stderr, and asks nobody", async () => {
    using home = makeHome();
    using workspace = makeWorkspace();
    const path = home.folder.at("outside.txt");
    const script = writeScript(home.folder.at("script.json"), writesTo(path));
    const result = await runAtomic(["run", "--model", script, "write"], { cwd: workspace.path, home });
    expect({ exitCode: result.exitCode, text: result.text, stderr: result.stderr }).toEqual({ exitCode: 0, text: "Done.\n", stderr: "" });
    expect(existsSync(path)).toBe(false);
  });
});
