// What sub-commands are handed instead of the process: the real stdout, stderr, and what kind of places they are.
import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import type { Environment } from "../config/paths.ts";

export interface ProcessIo {
  env: Environment;
  /** The descriptor of the real stdout; 1 is stderr by then. */
  stdoutDescriptor: number;
  stdoutIsTerminal: boolean;
  stderrIsTerminal: boolean;
  /** Somebody sits at stdin and stderr and can be asked. */
  canAsk: boolean;
  columns: number;
  /** To stdout, whole; for commands that print and end. */
  print: (text: string) => void;
  /** To stderr, as it is. */
  write: (text: string) => void;
  /** One line for people on stderr. */
  warn: (message: string) => void;
}

export function processIo(stdoutDescriptor: number): ProcessIo {
  const write = (text: string): void => writeAll(2, text);
  const stderrIsTerminal = isatty(2);
  return {
    env: process.env,
    stdoutDescriptor,
    stdoutIsTerminal: isatty(stdoutDescriptor),
    stderrIsTerminal,
    canAsk: isatty(0) && stderrIsTerminal,
    columns: process.stderr.columns ?? 80,
    print: (text) => writeAll(stdoutDescriptor, text),
    write,
    warn: (message) => write(`atomic: ${message}\n`),
  };
}

/** Waits for a slow reader; what a closed one doesn't take is lost without a word. */
function writeAll(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EPIPE") return;
      if (code !== "EAGAIN") throw error;
      Bun.sleepSync(1);
    }
  }
}
