// The result of a command in words short enough for a small model: its output, then what became of it.
import { ToolError } from "../core/error.ts";
import type { ToolResult } from "../core/tool.ts";
import { sizeText } from "./clip.ts";
import type { OutputTail } from "./output-tail.ts";
import type { CommandEnd } from "./run-command.ts";

export interface ShellResultOptions {
  timeoutMs: number;
  confined: boolean;
  network: boolean;
}

/** @throws ToolError, with the output kept, for a status other than 0, a signal, the timeout and an abort. */
export function shellResult(end: CommandEnd, output: OutputTail, options: ShellResultOptions): ToolResult {
  const { text, truncation } = output.snapshot();
  const fullOutputPath = truncation ? output.finishFile() : undefined;
  const details = {
    ...(end.exitCode === undefined ? {} : { exitCode: end.exitCode }),
    ...(end.signal === undefined ? {} : { signal: end.signal }),
    ...(end.cause === "timeout" ? { timedOut: true } : {}),
    durationMs: end.durationMs,
    ...(truncation ? { truncation } : {}),
    ...(fullOutputPath === undefined ? {} : { fullOutputPath }),
  };
  const failure = failureOf(end, options.timeoutMs);
  const notes: string[] = [];
  if (truncation && fullOutputPath !== undefined) {
    const left = truncation.totalLines - truncation.outputLines;
    const what = truncation.lastLinePartial || left === 0 ? `${sizeText(truncation.totalBytes - truncation.outputBytes)} before this` : `${left} lines before this (of ${sizeText(truncation.totalBytes)} in all)`;
    const kept = output.keptBytes < output.totalBytes ? `the first ${sizeText(output.keptBytes)} are in` : "the whole output is in";
    notes.push(`[output cut: ${what} left out; ${kept} ${fullOutputPath}]`);
  }
  if (end.strays.length > 0) notes.push(`[ended what was left in the background: ${straysText(end)}]`);
  if (failure !== undefined) notes.push(`[${failure}]`);
  if (failure !== undefined && options.confined && end.cause === undefined && refusal.test(text)) notes.push(hint(options.network));
  const body = text === "" ? "(no output)" : text.replace(/\n$/, "");
  const content = [{ type: "text" as const, text: [body, ...notes].join("\n") }];
  if (failure !== undefined) throw new ToolError(failure, { details, content });
  return { content, details };
}

const straysShownMax = 5;
const refusal = /permission denied|operation not permitted|read-only file system|EACCES|EPERM|EROFS|network is unreachable|could not resolve|name resolution|name or service not known/i;

function failureOf(end: CommandEnd, timeoutMs: number): string | undefined {
  if (end.cause === "timeout") return `timed out after ${timeoutMs} ms and was ended`;
  if (end.cause === "abort") return "cancelled and ended";
  if (end.signal !== undefined) return `ended by signal ${end.signal}`;
  return end.exitCode === 0 ? undefined : `exit code ${end.exitCode ?? "unknown"}`;
}

function straysText(end: CommandEnd): string {
  const shown = end.strays.slice(0, straysShownMax).map(({ pid, command }) => `${command} (process ${pid})`);
  return shown.join(", ") + (end.strays.length > straysShownMax ? ` and ${end.strays.length - straysShownMax} more` : "");
}

/** A possible cause, said as such: the command may have failed for another reason. */
function hint(network: boolean): string {
  const reach = network ? "" : ", and has no network";
  return `[perhaps the sandbox: a command can write only in the workspace and in $TMPDIR, cannot read private folders elsewhere${reach}]`;
}
