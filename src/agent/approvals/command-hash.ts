// Names a call together with everything that an answer about it depends on, so that a yes covers what was shown alone.
import type { Binding } from "../../core/approval.ts";

/** SHA-256 (hex) over the canonical JSON of tool, arguments and binding (sidecar.md 7.3). */
export function commandHash(tool: string, args: unknown, binding: Binding): string {
  return new Bun.CryptoHasher("sha256").update(canonicalJson({ tool, args, ...binding })).digest("hex");
}

/** JSON with the keys of every object in order, so that equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (isPlainObject(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part));
}

/** The first place that is no longer what it was; undefined when nothing changed. */
export function changedPath(before: Binding, after: Binding): string | undefined {
  if (before.cwd !== after.cwd) return after.cwd;
  const index = Math.max(before.files.length, after.files.length);
  for (let at = 0; at < index; at++) {
    const [old, now] = [before.files[at], after.files[at]];
    if (old?.path !== now?.path || old?.content !== now?.content) return now?.path ?? old?.path ?? after.cwd;
  }
  return undefined;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
