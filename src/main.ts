#!/usr/bin/env bun
// The entry: takes stdout away from everybody but the command, guards against being started again as a helper of its own
// engine or sandbox, runs the command line and sets the exit status. The only file with effects at its top level.

const [first, ...rest] = process.argv.slice(2);

if (first === "__probe-engine") {
  const { runProbeChild } = await import("./engines/llama/probe.ts");
  process.exitCode = await runProbeChild(rest[0] ?? "");
} else if (first === "__confine") {
  const { runConfineChild } = await import("./sandbox/confine-child.ts");
  runConfineChild(rest);
} else {
  const { runCommandLine } = await import("./cli/index.ts");
  process.exitCode = await runCommandLine(process.argv.slice(2), process.argv0);
}

export {};
