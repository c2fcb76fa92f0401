// The few calls into the C library that Bun has no name for. Loaded when a command is first run, never at start-up.
import { dlopen, ptr } from "bun:ffi";

export interface Libc {
  /** A pipe whose two ends are closed on exec. @throws when the system has no descriptor left. */
  pipe(): { read: number; write: number };
  /** Collects one ended child that Bun did not start, without waiting. */
  reap(pid: number): void;
  /** Linux: orphans of our children become our own children. False where the system has no such thing. */
  adoptOrphans(): boolean;
}

/** The C library, opened once. @throws where it cannot be opened. */
export function libc(): Libc {
  opened ??= process.platform === "linux" ? openLinux() : openDarwin();
  return opened;
}

/** Linux only: raw system calls for the sandbox. Negative results are failures, as the C library reports them. */
export function openLinuxCalls() {
  return (calls ??= openCalls());
}

let opened: Libc | undefined;
let calls: ReturnType<typeof openCalls> | undefined;

function openCalls() {
  const { symbols } = openAny(linuxNames(), {
    syscall: { args: ["i64", "i64", "i64", "i64", "i64", "i64"], returns: "i64" },
    prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
    execv: { args: ["ptr", "ptr"], returns: "i32" },
    signal: { args: ["i32", "i64"], returns: "i64" },
    sigprocmask: { args: ["i32", "ptr", "ptr"], returns: "i32" },
  });
  return symbols;
}

const setChildSubreaper = 36;
const closeOnExecLinux = 0o2000000;
const noHang = 1;

function openLinux(): Libc {
  const { symbols } = openAny(linuxNames(), {
    pipe2: { args: ["ptr", "i32"], returns: "i32" },
    waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" },
    prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
  });
  return {
    pipe: () => pipeBy((ends) => symbols.pipe2(ptr(ends), closeOnExecLinux)),
    reap: (pid) => void symbols.waitpid(pid, null, noHang),
    adoptOrphans: () => symbols.prctl(setChildSubreaper, 1, 0, 0, 0) === 0,
  };
}

function openDarwin(): Libc {
  const { symbols } = openAny(["libSystem.B.dylib"], {
    pipe: { args: ["ptr"], returns: "i32" },
    waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" },
  });
  return {
    pipe: () => pipeBy((ends) => symbols.pipe(ptr(ends))),
    reap: (pid) => void symbols.waitpid(pid, null, noHang),
    adoptOrphans: () => false,
  };
}

function pipeBy(call: (ends: Int32Array) => number): { read: number; write: number } {
  const ends = new Int32Array(2);
  const [read, write] = call(ends) === 0 ? ends : [];
  if (read === undefined || write === undefined) throw new Error("no pipe could be made; too many files are open");
  return { read, write };
}

function linuxNames(): string[] {
  const machine = process.arch === "arm64" ? "aarch64" : "x86_64";
  return ["libc.so.6", `libc.musl-${machine}.so.1`];
}

function openAny<const Symbols extends Parameters<typeof dlopen>[1]>(names: string[], symbols: Symbols) {
  let failure: unknown;
  for (const name of names) {
    try {
      return dlopen(name, symbols);
    } catch (error) {
      failure = error;
    }
  }
  throw new Error(`the C library could not be opened (${names.join(", ")})`, { cause: failure });
}
