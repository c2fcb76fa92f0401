// `atomic sessions` on the store of a place, for tests that look at what was kept.
import { runAtomic } from "./atomic.ts";
import type { JsonObject } from "./json-checker/values.ts";
import type { JsonRun, Place } from "./json-run.ts";

export const idOf = (run: JsonRun): string => String(run.events[0]?.["id"]);

export async function sessions(place: Place, args: readonly string[], stdin?: string | Uint8Array): Promise<{ text: string; stderr: string; exitCode: number | null }> {
  return await runAtomic(["sessions", ...args], { home: place.home, cwd: place.workspace.path, ...(stdin === undefined ? {} : { stdin }) });
}

/** The lines of an export. @throws when there is none */
export async function exported(place: Place, id: string): Promise<JsonObject[]> {
  const { text, exitCode, stderr } = await sessions(place, ["export", id]);
  if (exitCode !== 0) throw new Error(`sessions export ended with ${exitCode}: ${stderr}`);
  return text.split("\n").slice(0, -1).map((line) => JSON.parse(line) as JsonObject);
}
