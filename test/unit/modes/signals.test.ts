// The watch of the real process, each row in a process of its own: signals, a second one, a lost parent, a hang-up that is
// to be ignored.
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { until } from "../../support/until.ts";
import { makeWorkspace } from "../../support/workspace.ts";

const signals = JSON.stringify(new URL("../../../src/modes/signals.ts", import.meta.url).pathname);
/** Says that it is ready, notes what it is told in a file, and stays. */
const watching = (notes: string) => `
  import { appendFileSync } from "node:fs";
  import { watchProcess, exitCodeOfSignal } from ${signals};
  const watch = watchProcess();
  const note = (text) => appendFileSync(${JSON.stringify(notes)}, text + "\\n");
  watch.onSignal((signal) => note(signal + " " + exitCodeOfSignal[signal]));
  watch.onParentGone(() => { note("orphan"); process.exit(0); });
  setTimeout(() => process.exit(99), 15_000);
  note("ready " + process.pid);`;

const notesOf = (path: string): string[] => (existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : []);
const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
};

describe.skipIf(process.platform === "win32")("watchProcess", () => {
  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
    test(`${signal} is told once; a second signal of any kind ends the process with its status`, async () => {
      using folder = makeWorkspace();
      const notes = folder.at("notes");
      const child = Bun.spawn([process.execPath, "-e", watching(notes)], { stdio: ["ignore", "ignore", "inherit"] });
      await until("the process is ready", () => notesOf(notes).length === 1);
      child.kill(signal);
      await until("the signal is told", () => notesOf(notes).length === 2);
      expect([notesOf(notes)[1], child.exitCode]).toEqual([`${signal} ${code}`, null]);
      child.kill("SIGTERM");
      expect(await child.exited).toBe(code);
    });
  }

  test("a parent that is killed is noticed within two seconds, though stdin stays open", async () => {
    using folder = makeWorkspace({ "child.ts": "" });
    const notes = folder.at("notes");
    folder.write({ "child.ts": watching(notes) });
    const parent = Bun.spawn(["sh", "-c", `"${process.execPath}" "${folder.at("child.ts")}" & wait`], { stdio: ["pipe", "ignore", "inherit"] });
    await until("the process is ready", () => notesOf(notes).length === 1);
    const killedAt = performance.now();
    parent.kill("SIGKILL");
    await until("the orphan knows", () => notesOf(notes).length === 2);
    expect(performance.now() - killedAt).toBeLessThan(2000);
    expect(notesOf(notes)[1]).toBe("orphan");
  });

  test.skipIf(process.platform !== "linux")("under nohup neither a hang-up nor a lost parent is told", async () => {
    using folder = makeWorkspace();
    const notes = folder.at("notes");
    folder.write({ "child.ts": watching(notes) });
    const parent = Bun.spawn(["sh", "-c", `trap "" HUP; "${process.execPath}" "${folder.at("child.ts")}" & wait`], { stdio: ["ignore", "ignore", "inherit"] });
    await until("the process is ready", () => notesOf(notes).length === 1);
    const pid = Number(notesOf(notes)[0]?.split(" ")[1]);
    parent.kill("SIGKILL");
    process.kill(pid, "SIGHUP");
    await Bun.sleep(600);
    expect([isGone(pid), notesOf(notes).length]).toEqual([false, 1]);
    process.kill(pid, "SIGINT");
    await until("the signal is told", () => notesOf(notes).length === 2);
    process.kill(pid, "SIGKILL");
    expect(notesOf(notes)[1]).toBe("SIGINT 130");
  });
});
