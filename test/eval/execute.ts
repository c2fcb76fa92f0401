// Runs a program over what a task left on disk, in a folder of its own, so that code is judged by what it does.
import { spawnSync } from "node:child_process";
import { makeWorkspace } from "../support/workspace.ts";
import type { Files } from "./task.ts";

const limitMs = 10_000;
const environment = { PATH: process.env["PATH"] ?? "", LANG: "C.UTF-8" };
let interpreter: string | undefined;

/** Standard output of `python3 FILE` among these files, or undefined when it fails or takes longer than 10 s. */
export function pythonOutput(files: Files, file: string): string | undefined {
  interpreter ??= findPython();
  return output(files, interpreter, ["-B", "-S", "-s", file]);
}

/** The same for a shell script, by the shell that its first line asks for. */
export function shellOutput(files: Files, file: string): string | undefined {
  return output(files, /^#!.*\bbash\b/.test(files[file] ?? "") ? "bash" : "sh", [file]);
}

function output(files: Files, program: string, args: string[]): string | undefined {
  using workspace = makeWorkspace(files);
  const { status, stdout } = spawnSync(program, args, { cwd: workspace.path, encoding: "utf8", timeout: limitMs, stdio: ["ignore", "pipe", "ignore"], env: environment });
  return status === 0 ? stdout : undefined;
}

/** The interpreter itself: what PATH has may be a script in front of it that takes long to start. */
function findPython(): string {
  const { status, stdout } = spawnSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8", env: environment });
  if (status !== 0 || stdout.trim() === "") throw new Error("the evaluation needs python3, to judge programs by what they do");
  return stdout.trim();
}
