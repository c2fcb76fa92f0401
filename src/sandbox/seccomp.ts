// A system call filter for what Landlock does not cover: sockets of any kind where the network is off (UDP, and local
// sockets, behind which other programs act unconfined), and truncation by name on kernels whose Landlock lacks it.
import { ptr } from "bun:ffi";
import { openLinuxCalls } from "./libc.ts";

export type Machine = "x64" | "arm64";

/**
 * The filter as an array of `struct sock_filter` (linux/filter.h): 8 bytes an instruction, little-endian.
 * Calls of another instruction set (32 bits, x32) are refused as a whole, or they would be a way around it.
 */
export function socketFilter(machine: Machine, options: { network: boolean; truncate: boolean }): Uint8Array<ArrayBuffer> {
  const numbers = callNumbers[machine];
  const refused: [number, number][] = [];
  if (!options.network) refused.push([numbers.socket, errno.EACCES], [numbers.ioUringSetup, errno.ENOSYS]);
  if (!options.truncate) refused.push([numbers.truncate, errno.EACCES]);
  const program: Instruction[] = [
    [op.load, 0, 0, offset.machine],
    [op.jumpEqual, 1, 0, auditMachine[machine]],
    [op.give, 0, 0, fail | errno.EPERM],
    [op.load, 0, 0, offset.number],
    [op.jumpGreaterOrEqual, 0, 1, x32Bit],
    [op.give, 0, 0, fail | errno.ENOSYS],
  ];
  for (const [number, error] of refused) program.push([op.jumpEqual, 0, 1, number], [op.give, 0, 0, fail | error]);
  program.push([op.give, 0, 0, allowed]);
  return encode(program);
}

/** Installs a filter for the calling thread and what it executes. No-new-privileges must be set. @throws when refused. */
export function installFilter(filter: Uint8Array<ArrayBuffer>): void {
  const program = new DataView(new ArrayBuffer(16));
  program.setUint16(0, filter.length / 8, true);
  program.setBigUint64(8, BigInt(ptr(filter)), true);
  if (openLinuxCalls().prctl(setSeccomp, filterMode, ptr(program), 0, 0) !== 0) throw new Error("the kernel refused the system call filter");
}

type Instruction = [code: number, jumpTrue: number, jumpFalse: number, value: number];

const setSeccomp = 22;
const filterMode = 2;
const op = { load: 0x20, jumpEqual: 0x15, jumpGreaterOrEqual: 0x35, give: 0x06 };
const offset = { number: 0, machine: 4 };
const allowed = 0x7fff0000;
const fail = 0x00050000;
const errno = { EPERM: 1, EACCES: 13, ENOSYS: 38 };
const x32Bit = 0x40000000;
const auditMachine: Record<Machine, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };
const callNumbers: Record<Machine, { socket: number; truncate: number; ioUringSetup: number }> = {
  x64: { socket: 41, truncate: 76, ioUringSetup: 425 },
  arm64: { socket: 198, truncate: 45, ioUringSetup: 425 },
};

function encode(program: Instruction[]): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(program.length * 8));
  for (const [index, [code, jumpTrue, jumpFalse, value]] of program.entries()) {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, jumpTrue);
    view.setUint8(index * 8 + 3, jumpFalse);
    view.setUint32(index * 8 + 4, value >>> 0, true);
  }
  return new Uint8Array(view.buffer);
}
