// Asks the system about a descriptor without waiting: can it take bytes now, is its reader gone. Never reads or writes.

export interface DescriptorState {
  /** At least a memory page (4096 bytes) can be written without waiting. Known on Linux only; elsewhere false. */
  canTake: boolean;
  /** Nobody will ever read: a pipe without readers, a socket without its other end. */
  isClosed: boolean;
}

/** @returns what asks for the state as it is at that moment; undefined where the system can't be asked */
export async function pollOf(descriptor: number): Promise<(() => DescriptorState) | undefined> {
  library ??= openLibrary();
  const poll = await library;
  // struct pollfd: int fd, short events, short revents
  const asked = new Int32Array([descriptor, writable]);
  return poll && (() => stateOf(poll(asked) === 1 ? (asked[1] ?? 0) >>> 16 : 0));
}

type Poll = (asked: Int32Array) => number;

let library: Promise<Poll | undefined> | undefined;
/** POLLOUT, and POLLERR with POLLHUP, which are told whatever is asked for. */
const writable = 0x04;
const closed = 0x08 | 0x10;
const libraries: Partial<Record<NodeJS.Platform, string[]>> = { linux: ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`], darwin: ["libSystem.B.dylib"] };

/** On Linux a pipe is writable when it has a free page, a socket when most of its buffer is free. */
function stateOf(events: number): DescriptorState {
  return { canTake: process.platform === "linux" && (events & writable) !== 0, isClosed: (events & closed) !== 0 };
}

async function openLibrary(): Promise<Poll | undefined> {
  const { dlopen, ptr } = await import("bun:ffi");
  for (const name of libraries[process.platform] ?? []) {
    try {
      const { symbols } = dlopen(name, { poll: { args: ["ptr", "u64", "i32"], returns: "i32" } });
      return (asked) => symbols.poll(ptr(asked), 1, 0);
    } catch (error) {
      // Another C library may be the one of this system.
      if (!(error instanceof Error)) throw error;
    }
  }
  return undefined;
}
