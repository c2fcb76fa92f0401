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
  // Holds what is typed ahead.
  const lines = reader[Symbol.asyncIterator]();
  try {
    for (;;) {
      io.write(question);
      const line = (await nextLine(lines, signal))?.trim().toLowerCase();
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
async function nextLine(lines: AsyncIterator<string>, signal: AbortSignal): Promise<string | undefined> {
  const cancelled = Promise.withResolvers<undefined>();
  const cancel = (): void => cancelled.resolve(undefined);
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  const next = await Promise.race([lines.next(), cancelled.promise]);
  signal.removeEventListener("abort", cancel);
  return next === undefined || next.done === true ? undefined : next.value;
}
