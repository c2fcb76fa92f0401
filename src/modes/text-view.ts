// What a person sees of a session: the reply on stdout as it is written; on stderr what is done, tool by tool, and a
// line of progress while a model loads or a long prompt is read. Without a terminal stderr stays quiet.
import type { AgentEvent } from "../core/event.ts";
import { contentText, type ToolCall } from "../core/message.ts";
import { escapeControls } from "./escape-controls.ts";

export interface TextViewOptions {
  /** Takes pieces of the reply. */
  stdout: (text: string) => void | Promise<void>;
  stderr: (text: string) => void;
  /** Whether stderr is a terminal: progress and tool lines are shown, and lines may be overwritten. */
  terminal: boolean;
  columns: number;
}

const clearLine = "\r\u001b[2K";
const dim = (text: string): string => `\u001b[2m${text}\u001b[22m`;
const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;

export function createTextView(options: TextViewOptions): (event: AgentEvent) => void | Promise<void> {
  const { stdout, stderr, terminal, columns } = options;
  let progressShown = false;
  let lineOpen = false;

  const clearProgress = (): void => {
    if (progressShown) stderr(clearLine);
    progressShown = false;
  };
  const note = (text: string): void => {
    if (!terminal) return;
    clearProgress();
    stderr(`${text}\n`);
  };
  const endLine = async (): Promise<void> => {
    if (lineOpen) await stdout("\n");
    lineOpen = false;
  };

  return async (event) => {
    switch (event.type) {
      case "engine_progressed":
        if (!terminal) return;
        progressShown = true;
        stderr(`${clearLine}${dim(progressLine(event.stage, event.progress))}`);
        return;
      case "message_updated":
        if (event.update.type !== "text_delta") return;
        clearProgress();
        lineOpen = !event.update.delta.endsWith("\n");
        await stdout(event.update.delta);
        return;
      case "message_ended":
        clearProgress();
        if (event.message.role !== "assistant") return;
        await endLine();
        if (event.message.errorMessage !== undefined) stderr(`${terminal ? red("error") : "error"}: ${escapeControls(event.message.errorMessage)}\n`);
        return;
      case "tool_started":
        return note(clip(`• ${callLine(event.call)}`, columns));
      case "tool_ended":
        if (event.isError) note(red(clip(`  ${firstLine(contentText(event.result.content))}`, columns)));
        return;
      case "retry_started":
        return note(dim(`  trying again in ${Math.round(event.delayMs / 1000)} s (${event.attempt} of ${event.maxAttempts}): ${escapeControls(event.errorMessage)}`));
      default:
        return;
    }
  };
}

function progressLine(stage: "weights" | "prompt", progress: number): string {
  const percent = `${Math.round(progress * 100)} %`;
  return stage === "weights" ? `loading the model … ${percent}` : `reading … ${percent}`;
}

/** `fs.read config.ini`, `shell.run make test`: the tool and what it is about. */
function callLine(call: ToolCall): string {
  const values = Object.values(call.arguments).flatMap((value) => (typeof value === "string" ? [firstLine(value)] : Array.isArray(value) ? value.map(String) : []));
  return escapeControls([call.name, ...values].join(" "));
}

function firstLine(text: string): string {
  const [line = "", ...more] = text.split("\n");
  return escapeControls(more.some((rest) => rest.trim() !== "") ? `${line} …` : line);
}

function clip(text: string, columns: number): string {
  return text.length > columns ? `${text.slice(0, Math.max(1, columns - 1))}…` : text;
}
