// Notices that nobody reads a pipe or socket any more, also while nothing is written to it: an idle sidecar would otherwise
// learn of a closed stdout with its next frame only (sidecar.md 1.1). Asks the system without waiting; never writes.

/** Calls `onGone` once when the other end is closed. @returns what stops the looking; where the system can't be asked, nobody looks. */
export async function watchReader(descriptor: number, onGone: () => void): Promise<() => void> {
  const isGone = await readerCheck(descriptor);
  if (isGone === undefined) return () => {};
  const timer = setInterval(() => {
    if (!isGone()) return;
    clearInterval(timer);
    onGone();
  }, checkMs);
  timer.unref();
  return () => clearInterval(timer);
}

const checkMs = 250;
/** POLLERR, POLLHUP: a pipe without readers, a socket without its other end. Told whatever is asked for. */
const closedBits = 0x08 | 0x10;
const libraries: Partial<Record<NodeJS.Platform, string[]>> = { linux: ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`], darwin: ["libSystem.B.dylib"] };

async function readerCheck(descriptor: number): Promise<(() => boolean) | undefined> {
  const { dlopen, ptr } = await import("bun:ffi");
  for (const name of libraries[process.platform] ?? []) {
    try {
      const { symbols } = dlopen(name, { poll: { args: ["ptr", "u64", "i32"], returns: "i32" } });
      // struct pollfd: int fd, short events, short revents
      const asked = new Int32Array([descriptor, 0]);
      return () => symbols.poll(ptr(asked), 1, 0) === 1 && (((asked[1] ?? 0) >>> 16) & closedBits) !== 0;
    } catch (error) {
      // Another C library may be the one of this system.
      if (!(error instanceof Error)) throw error;
    }
  }
  return undefined;
}
