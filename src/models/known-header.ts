// The header of the model file that was looked at last, so that the start of a model reads it once and not whenever something
// about the model is asked. Must not tell of a file that has changed since.
import { statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { type GgufInfo, readGguf, readGgufInSlices } from "./gguf.ts";

let known: { identity: string; info: GgufInfo } | undefined;

/** @throws AgentError as `readGguf` */
export function headerOf(path: string): GgufInfo {
  const identity = identityOf(path);
  return knownOf(identity) ?? keep(identity, readGguf(path));
}

/** As `headerOf`, but other work of the process has its turn while it reads. @throws AgentError as `readGguf` */
export async function headerInSlices(path: string): Promise<GgufInfo> {
  const identity = identityOf(path);
  const found = knownOf(identity);
  if (found !== undefined) return found;
  const reading = readGgufInSlices(path);
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return keep(identity, value);
    await setImmediate();
  }
}

function knownOf(identity: string | undefined): GgufInfo | undefined {
  return identity !== undefined && known?.identity === identity ? known.info : undefined;
}

/** `identity` is from before the reading: a file that was changed meanwhile is read again. */
function keep(identity: string | undefined, info: GgufInfo): GgufInfo {
  if (identity !== undefined) known = { identity, info };
  return info;
}

/** undefined when the file can't be looked at: reading it tells why. */
function identityOf(path: string): string | undefined {
  try {
    const { ctimeNs, dev, ino, mtimeNs, size } = statSync(path, { bigint: true });
    return [path, dev, ino, size, mtimeNs, ctimeNs].join(" ");
  } catch {
    return undefined;
  }
}
