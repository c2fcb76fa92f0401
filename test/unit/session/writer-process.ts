// A process that writes to the store until it is killed or done; tests start it. Prints one line for everything that is
// acknowledged. Arguments: store path, session id or `new`, number of entries (or `forever`), and for `own` nothing more.
import { AgentError } from "../../../src/core/error.ts";
import { openStore } from "../../../src/session/store.ts";
import { takeOwnership } from "../../../src/session/owner.ts";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const [mode = "", path = "", ...rest] = process.argv.slice(2);

function say(line: string): void {
  appendFileSync(1, `${line}\n`);
}

function write([id = "new", count = "forever"]: string[]): void {
  const store = openStore(path);
  const session = id === "new" ? store.createSession({ cwd: "/work" }) : store.resumeSession(id);
  say(`session ${session.id}`);
  const most = count === "forever" ? Infinity : Number(count);
  for (let index = 0; index < most; index++) say(store.appendEntry(session.id, { type: "custom", customType: "test", data: `${index} ${"x".repeat(3000)}` }).id);
  store.close();
}

/** Proves that no two processes are inside at once: what is written must still be there when it leaves. */
function exclude([mark = "", count = "0"]: string[]): void {
  for (let entered = 0; entered < Number(count); ) {
    const ownership = takeOwnership(path);
    if (ownership === undefined) continue;
    writeFileSync(mark, String(process.pid), { flag: "wx" });
    if (readFileSync(mark, "utf8") !== String(process.pid)) throw new Error("somebody else is inside");
    rmSync(mark);
    ownership.release();
    entered++;
  }
}

async function hold([id = ""]: string[]): Promise<void> {
  const store = openStore(path);
  store.resumeSession(id);
  say("held");
  for await (const _ of Bun.stdin.stream()) continue;
  store.close();
}

try {
  if (mode === "write") write(rest);
  else if (mode === "exclude") exclude(rest);
  else if (mode === "hold") await hold(rest);
  else throw new Error(`unknown mode ${mode}`);
} catch (error) {
  if (!(error instanceof AgentError)) throw error;
  say(`${error.code}: ${error.message}`);
  process.exitCode = 1;
}
