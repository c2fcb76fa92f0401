// What a person sees of a session: the reply on stdout as it is written; on stderr what is done, tool by tool, and a
// line of progress while a model loads or a long prompt is read. Without a terminal stderr stays quiet.
import type { AgentEvent } from "../core/event.ts";
import { contentText, type ToolCall } from "../core/message.ts";
import { escapeControls } from "../core/escape-controls.ts";

export interface TextViewOptions {
  /** To stderr, as it is. */
  write: (text: string) => void;
  /** Whether stderr is a terminal: progress and tool lines are shown, and lines may be overwritten. */
  terminal: boolean;
  /** Whether the reply goes to a terminal, which its characters must not steer. */
  stdoutIsTerminal: boolean;
  columns: number;
}

const clearLine = "\r\u001b[2K";
const dim = (text: string): string => `\u001b[2m${text}\u001b[22m`;
const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;

/** Shows events one after another; what it returns belongs on stdout. */
export function createTextView(options: TextViewOptions): (event: AgentEvent) => string {
  const { columns, stdoutIsTerminal, terminal, write } = options;
  let progressShown = false;
  let lineOpen = false;

  const clearProgress = (): void => {
    if (progressShown) write(clearLine);
    progressShown = false;
  };
  const note = (text: string): string => {
    clearProgress();
    if (terminal) write(`${text}\n`);
    return "";
  };
  const progress = (text: string): string => {
    if (terminal) write(`${clearLine}${dim(text)}`);
    progressShown = terminal;
    return "";
  };
  const reply = (delta: string): string => {
    clearProgress();
    lineOpen = !delta.endsWith("\n");
    return stdoutIsTerminal ? escapeControls(delta) : delta;
  };
  const endMessage = (errorMessage: string | undefined): string => {
    clearProgress();
    if (errorMessage !== undefined) write(`${terminal ? red("error") : "error"}: ${escapeControls(errorMessage)}\n`);
    const ending = lineOpen ? "\n" : "";
    lineOpen = false;
    return ending;
  };

  return (event) => {
    switch (event.type) {
      case "engine_progressed":
        return progress(progressLine(event.stage, event.progress));
      case "message_updated":
        return event.update.type === "text_delta" ? reply(event.update.delta) : "";
      case "message_ended":
        return event.message.role === "assistant" ? endMessage(event.message.errorMessage) : "";
      case "tool_started":
        return note(clip(`• ${callLine(event.call)}`, columns));
      case "tool_ended":
        return event.isError ? note(red(clip(`  ${firstLine(contentText(event.result.content))}`, columns))) : "";
      case "retry_started":
        return note(dim(`  trying again in ${Math.round(event.delayMs / 1000)} s (${event.attempt} of ${event.maxAttempts}): ${escapeControls(event.errorMessage)}`));
      case "engine_waiting":
        return note(dim(`  the model is away: asking again in ${Math.round(event.retryInMs / 1000)} s, for at most ${Math.round(event.maxWaitMs / 1000)} s`));
      default:
        return "";
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
