// Processes that a test finds again by how long they sleep.
import { readdirSync, readFileSync } from "node:fs";

/** How many processes live that sleep for this long. */
export function running(word: string): number {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8") === `sleep\0${word}\0` && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    } catch {
      return false; // it ended while it was looked at
    }
  }).length;
}

/** Commands that sleep for a length of their own: one, and a tree of three, one of them in a session of its own. */
export function sleeper(): { word: string; command: string; tree: string } {
  const word = `3${Math.floor(Math.random() * 1e9)}`;
  return { word, command: `sleep ${word}`, tree: `sleep ${word} & (setsid sleep ${word} &) ; sh -c 'sleep ${word}; true'` };
}
