// Runs the independent Python checkers of the two contracts where they lie beside the checkout (shared/check, one folder up).
// Where they don't, a note on stderr says so once: the project's own checker then stands alone.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { SidecarStream } from "./sidecar-checker.ts";

const folder = resolve(import.meta.dir, "../../../shared/check");
let noted = false;

/** Whether the checkers can be run here; notes on stderr, once a process, when not. */
export function hasIndependentChecker(): boolean {
  const present = existsSync(join(folder, "check_json.py")) && Bun.which("python3") !== null;
  if (!present && !noted) process.stderr.write("independent checker not present\n");
  noted ||= !present;
  return present;
}

/** Breaches of json-mode.md for each stream; undefined where the checker is not present. One Python process for all. */
export function checkJsonIndependently(streams: readonly { stdout: Uint8Array; exitCode?: number }[]): string[][] | undefined {
  if (!hasIndependentChecker()) return undefined;
  const asked = streams.map(({ stdout, exitCode }) => [Buffer.from(stdout).toString("base64"), exitCode ?? null]);
  const done = Bun.spawnSync(["python3", "-B", "-c", checkMany, folder], { stdin: Buffer.from(JSON.stringify(asked)), stdout: "pipe", stderr: "pipe" });
  if (done.exitCode !== 0) throw new Error(`the independent checker failed: ${done.stderr.toString()}`);
  return JSON.parse(done.stdout.toString()) as string[][];
}

const checkMany = `
import base64, json, sys
sys.path.insert(0, sys.argv[1])
from check_json import check
print(json.dumps([check(base64.b64decode(s).splitlines(), rc) for s, rc in json.load(sys.stdin)]))
`;

/** Breaches of sidecar.md for each stream; undefined where the checker is not present. One Python process for all. */
export function checkSidecarIndependently(streams: readonly SidecarStream[]): string[][] | undefined {
  if (!hasIndependentChecker()) return undefined;
  const done = Bun.spawnSync(["python3", "-B", "-c", checkManySidecar, folder, JSON.stringify(furtherTools)], { stdin: Buffer.from(JSON.stringify(streams)), stdout: "pipe", stderr: "pipe" });
  if (done.exitCode !== 0) throw new Error(`the independent checker failed: ${done.stderr.toString()}`);
  return JSON.parse(done.stdout.toString()) as string[][];
}

/** The contract's table of tools grows with the product's; the checker knows those of its first version. By resource class. */
const furtherTools = {
  ...Object.fromEntries(["fs.compare", "fs.count", "table.compute"].map((name) => [name, "read"])),
  ...Object.fromEntries(["fs.append", "fs.copy", "fs.cut", "fs.insert", "fs.move", "fs.replace", "fs.set", "fs.sort", "fs.unset"].map((name) => [name, "serial"])),
};

const checkManySidecar = `
import json, re, sys
sys.path.insert(0, sys.argv[1])
import check_sidecar
from check_sidecar import check
check_sidecar.TOOLS.update(json.loads(sys.argv[2]))
check_sidecar.NAMES["Tool"] = re.compile("|".join(map(re.escape, check_sidecar.TOOLS)))
def objects(text): return [json.loads(line) for line in text.split("\\n") if line.strip()]
print(json.dumps([check(objects(s["frames"]), objects(s["requests"]), not s.get("killed")) for s in json.load(sys.stdin)]))
`;
