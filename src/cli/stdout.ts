// Takes the real standard output away from everybody but the protocol's one writer: afterwards descriptor 1 is stderr,
// so that a console.log or a printf of native code can't break a stream. Must run before anything else writes.
import { fstatSync } from "node:fs";

/**
 * Moves stdout to a private descriptor and points descriptor 1 at stderr.
 * Where the system's library can't be reached, the answer is descriptor 1 itself: the stream works, unprotected.
 */
export async function takeStdout(): Promise<{ fd: number }> {
  const { dlopen } = await import("bun:ffi");
  try {
    return { fd: process.platform === "win32" ? onWindows(dlopen) : onUnix(dlopen) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { fd: 1 };
  }
}

type Open = (typeof import("bun:ffi"))["dlopen"];

const oneNumber = { args: ["i32"], returns: "i32" } as const;
const twoNumbers = { args: ["i32", "i32"], returns: "i32" } as const;
const threeNumbers = { args: ["i32", "i32", "i32"], returns: "i32" } as const;

/** Linux: the copy is closed in children. fcntl is variadic, which macOS on ARM calls differently; there spawn closes it. */
const F_DUPFD_CLOEXEC = 1030;

function onUnix(dlopen: Open): number {
  if (process.platform === "linux") {
    const { symbols } = openFirst(dlopen, ["libc.so.6", "libc.so"], { dup2: twoNumbers, fcntl: threeNumbers });
    return moved(symbols.fcntl(1, F_DUPFD_CLOEXEC, 3), symbols.dup2);
  }
  const { symbols } = openFirst(dlopen, ["libSystem.B.dylib", "libc.dylib"], { dup: oneNumber, dup2: twoNumbers });
  return moved(symbols.dup(1), symbols.dup2);
}

function onWindows(dlopen: Open): number {
  const { symbols } = openFirst(dlopen, ["ucrtbase.dll", "msvcrt.dll"], { _dup: oneNumber, _dup2: twoNumbers });
  return moved(symbols._dup(1), symbols._dup2);
}

/** Checks that the runtime can use the copy before descriptor 1 is given up: two C libraries may number differently. */
function moved(copy: number, dup2: (from: number, to: number) => number): number {
  if (copy < 0) return 1;
  fstatSync(copy);
  dup2(2, 1);
  return copy;
}

function openFirst<Functions extends Parameters<Open>[1]>(dlopen: Open, names: readonly string[], functions: Functions): ReturnType<typeof dlopen<Functions>> {
  let failure: unknown;
  for (const name of names) {
    try {
      return dlopen(name, functions);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
