// Asks the person at the terminal whether a call may run: yes, no, or yes for the session.
import { createInterface } from "node:readline/promises";
import type { ApprovalAnswer, AskApproval } from "../core/approval.ts";
import type { ProcessIo } from "./process-io.ts";

export function askOnTerminal(io: ProcessIo): AskApproval {
  // One question at a time, in the order of asking.
  let last: Promise<unknown> = Promise.resolve();
  return ({ call, need }, signal) => {
    const question = [
      `\n${call.name}: ${need.reason}`,
      ...(need.preview === undefined ? [] : [need.preview]),
      `Allow it? [y]es, [n]o${need.grant === undefined ? "" : ", [s]ession"}: `,
    ];
    const answer = last.then(() => ask(question.join("\n"), need.grant !== undefined, io, signal));
    last = answer.catch(() => undefined);
    return answer;
  };
}

async function ask(question: string, grantable: boolean, io: ProcessIo, signal: AbortSignal): Promise<ApprovalAnswer> {
  if (signal.aborted) return { approved: false };
  const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  try {
    for (;;) {
      io.write(question);
      const line = (await firstLine(reader, signal))?.trim().toLowerCase();
      if (line === undefined || line === "n" || line === "no") return { approved: false };
      if (line === "y" || line === "yes") return { approved: true, grant: "once" };
      if (grantable && (line === "s" || line === "session")) return { approved: true, grant: "session" };
    }
  } finally {
    reader.close();
    process.stdin.pause();
  }
}

/** undefined when the terminal is closed or the turn is cancelled. */
async function firstLine(reader: ReturnType<typeof createInterface>, signal: AbortSignal): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const none = (): void => resolve(undefined);
  reader.once("line", resolve);
  reader.once("close", none);
  signal.addEventListener("abort", none, { once: true });
  const line = await promise;
  reader.off("line", resolve);
  reader.off("close", none);
  signal.removeEventListener("abort", none);
  return line;
}
