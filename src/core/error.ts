// Every failure that the program expects. The code decides exit status and wire code; the message is for people:
// what failed, on what, what to do next.

export type ErrorCode =
  | "usage"
  | "config_invalid"
  | "state_unusable"
  | "session_busy"
  | "session_unknown"
  | "model_missing"
  | "model_invalid"
  | "model_unknown"
  | "engine_unavailable"
  | "out_of_memory"
  | "download_failed"
  | "storage_full"
  | "import_invalid"
  | "aborted"
  | "internal";

export class AgentError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = "AgentError";
    this.code = code;
  }
}

/** A failure that is the tool's answer to the model, never the end of a turn. */
export class ToolError extends Error {
  readonly details: Record<string, unknown>;
  /** Blocks shown instead of the bare message, such as the output so far of a failed command. */
  readonly content: readonly { type: "text"; text: string }[] | undefined;

  constructor(message: string, options: { details?: Record<string, unknown>; content?: { type: "text"; text: string }[]; cause?: unknown } = {}) {
    super(message, options);
    this.name = "ToolError";
    this.details = options.details ?? {};
    this.content = options.content;
  }
}

/** The message of anything thrown, on one line. */
export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.replace(/[\r\n]+/g, " ").trim() || "unknown failure";
}

const exitCodes: Partial<Record<ErrorCode, number>> = {
  usage: 2,
  session_unknown: 2,
  model_unknown: 2,
  config_invalid: 3,
  state_unusable: 3,
  model_missing: 3,
};

/** Exit status of a failure before the stream began (json-mode.md 9.5). */
export function exitCodeOf(error: unknown): number {
  return error instanceof AgentError ? (exitCodes[error.code] ?? 1) : 1;
}
