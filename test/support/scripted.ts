// Writes the file of a scripted model: what a test wants the model to say. The executable plays it with `--model scripted:FILE`.
import { writeFileSync } from "node:fs";

/** What one generation plays, in order. */
export type ScriptItem =
  | { thinking: string; chunk?: number }
  | { text: string; chunk?: number }
  | { call: string; args: { [name: string]: unknown } }
  | { error: string; category: "transport" | "grammar" | "model" | "tool"; retryable?: boolean; errorKind?: string }
  | { overflow: true }
  | { stop: "length" }
  | { delayMs: number }
  | { hang: true }
  | { usage: { input: number; output: number; cacheRead?: number } }
  | { expect: { lastRole?: string; contains?: string; absent?: string; tools?: string[] } }
  | { repeat: number; items: ScriptItem[] };

export interface Script {
  /** Tokens. */
  contextWindow?: number;
  /** One list of items for each generation. */
  steps: ScriptItem[][];
  /** Answers of the planner of compactions. */
  compaction?: (string | ScriptItem[] | Extract<ScriptItem, { error: string }>)[];
}

/** @returns the value for `--model`. */
export function writeScript(path: string, script: Script): string {
  writeFileSync(path, `${JSON.stringify(script, null, 2)}\n`);
  return `scripted:${path}`;
}
