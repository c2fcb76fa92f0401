// The commands that come in on stdin while a JSON stream runs (json-mode.md 9.4). A bad line is told on stderr and changes
// nothing else; the end of stdin means nothing.
import { messageOf } from "../core/error.ts";
import { type InputLine, LineReader } from "../wire/lines.ts";
import type { StdinCommand } from "../wire/json/schema.ts";

/** Handles the commands in order until they end or the returned function is called. */
export function runStdinCommands(
  input: ReadableStream<Uint8Array>,
  warn: (message: string) => void,
  handle: (command: StdinCommand) => Promise<void> | void,
): () => Promise<void> {
  let stopped = false;
  const bytes = input.getReader();
  const take = async (line: InputLine) => {
    const command = await readCommand(line);
    if (stopped) return;
    if (typeof command === "string") warn(`stdin command ignored: ${command}`);
    else await handle(command);
  };
  const run = async () => {
    const reader = new LineReader();
    for (let next = await bytes.read(); !stopped; next = await bytes.read()) {
      for (const line of next.done ? reader.end() : reader.push(next.value)) await take(line);
      if (next.done) return;
    }
  };
  run().catch((error: unknown) => {
    if (!stopped) warn(`stdin commands ended: ${messageOf(error)}`);
  });
  return async () => {
    stopped = true;
    // A stdin that failed can't be let go again: that is no failure of its own.
    await Promise.allSettled([bytes.cancel()]);
  };
}

/** The command of a line, or what is wrong with it. */
async function readCommand(line: InputLine): Promise<StdinCommand | string> {
  if (!line.ok) return line.reason === "not_utf8" ? "the line is not UTF-8" : "the line is longer than 16 MiB";
  const { StdinCommand } = await import("../wire/json/schema.ts");
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch (error) {
    return `not JSON: ${messageOf(error)}`;
  }
  const result = StdinCommand.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  return `${issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `}${issue?.message ?? "unknown command"}`;
}
