// The open step as a host sees it: the text that streams, and everything the model asked for as calls, `reply` and
// `finish` among them (sidecar.md 5.4 to 5.8, C1, C8). Calls are told together; a step leaves none of them without a result.
import type { AgentEvent, MessageUpdate } from "../../core/event.ts";
import { limits } from "../../core/limits.ts";
import { contentText, type AssistantMessage, type ToolCall } from "../../core/message.ts";
import type { ToolResult } from "../../core/tool.ts";
import type { SidecarEventBody } from "./project.ts";

interface ShownCall {
  id: string;
  tool: string;
  args: Record<string, unknown>;
  done: boolean;
}

export interface CallOutcome extends ToolResult {
  isError: boolean;
  durationMs: number;
  cancelled: boolean;
}

type JudgedReply = Omit<Extract<AgentEvent, { type: "reply_judged" }>, "type">;

const secondReply = "only one reply a step";

export class StepCalls {
  readonly #sessionId: string;
  readonly #step: number;
  readonly #prefix: string;
  /** Text blocks of the message by index. */
  #blocks = new Map<number, "reply" | "extra" | "finish">();
  #explicitReply = false;
  /** Deltas that the host has, and blanks that wait for something visible. */
  #told = "";
  #held = "";
  #message: AssistantMessage | undefined;
  #shown: ShownCall[] | undefined;
  /** What became of the attachments of the reply. */
  #judged: JudgedReply | undefined;
  /** The answer is complete: its calls are to be announced. */
  due = false;

  constructor(sessionId: string, turnIndex: number, stepIndex: number) {
    this.#sessionId = sessionId;
    this.#step = stepIndex;
    this.#prefix = `${turnIndex}-${stepIndex}`;
  }

  /** The calls of this step were told; no further answer of the model is shown in it. */
  get announced(): boolean {
    return this.#shown !== undefined;
  }

  beginAttempt(): void {
    this.#blocks = new Map();
    this.#explicitReply = false;
    this.#held = "";
    this.#message = undefined;
    this.#judged = undefined;
  }

  grow(update: MessageUpdate, terminal: "reply" | "finish" | undefined): SidecarEventBody[] {
    if (this.announced) return [];
    if (update.type === "thinking_delta" && update.delta !== "") {
      return [{ type: "reasoning_delta", payload: { sessionId: this.#sessionId, stepIndex: this.#step, text: update.delta } }];
    }
    if (update.type === "text_start") this.#open(update.contentIndex, terminal);
    return update.type === "text_delta" && this.#blocks.get(update.contentIndex) === "reply" ? this.#tell(update.delta) : [];
  }

  take(message: AssistantMessage): void {
    if (!this.announced) this.#message = message;
  }

  judgeReply(judged: JudgedReply): void {
    if (!this.announced) this.#judged = judged;
  }

  /** Deltas of an abandoned attempt are void. */
  reset(stepIndex: number): SidecarEventBody[] {
    const hadDeltas = this.#told !== "";
    this.#told = "";
    return hadDeltas ? [{ type: "assistant_reset", payload: { sessionId: this.#sessionId, stepIndex } }] : [];
  }

  /** All starts, once. */
  announce(): SidecarEventBody[] {
    if (this.announced || !this.due) return [];
    const shown = this.#callsOf(this.#message).slice(0, limits.callsPerStepMax);
    this.#shown = shown;
    return shown.map((call, index) => ({
      type: "tool_call_started",
      payload: { sessionId: this.#sessionId, stepIndex: -1, tool: call.tool, args: call.args, ...this.#place(call, index) },
    }));
  }

  result(call: ToolCall, outcome: CallOutcome): SidecarEventBody[] {
    const index = this.#shown?.findIndex(({ done, id }) => id === call.id && !done) ?? -1;
    const shown = this.#shown?.[index];
    if (shown === undefined) return [];
    return [this.#end(shown, index, outcome.isError ? "error" : "ok", summaryOf(outcome), outcome)];
  }

  /** The terminals at the end of a step, last of all its results. */
  close(): SidecarEventBody[] {
    const starts = this.announce();
    const open = (this.#shown ?? []).map((call, index) => ({ call, index })).filter(({ call }) => !call.done);
    const replies = open.filter(({ call }) => call.tool === "reply");
    const others = open.filter(({ call }) => call.tool !== "reply");
    return [...starts, ...replies.flatMap(({ call, index }) => this.#endReply(call, index)), ...others.map(({ call, index }) => this.#end(call, index, "ok", textOf(call)))];
  }

  #open(index: number, terminal: "reply" | "finish" | undefined): void {
    if (terminal === "finish") return void this.#blocks.set(index, "finish");
    const isExtra = terminal === "reply" && this.#explicitReply;
    if (terminal === "reply") this.#explicitReply = true;
    this.#blocks.set(index, isExtra ? "extra" : "reply");
    // Plain text before a reply, or between calls, is part of it; blanks alone are nothing.
    if (!isExtra) this.#held = this.#told === "" ? "" : "\n\n";
  }

  #tell(delta: string): SidecarEventBody[] {
    const text = this.#held + delta;
    const isVisible = text.trim() !== "" || (this.#told !== "" && this.#held === "");
    this.#held = isVisible ? "" : text;
    if (!isVisible || text === "") return [];
    this.#told += text;
    return [{ type: "assistant_delta", payload: { sessionId: this.#sessionId, text } }];
  }

  #callsOf(message: AssistantMessage | undefined): ShownCall[] {
    const calls: ShownCall[] = [];
    let replied = false;
    for (const [index, block] of (message?.content ?? []).entries()) {
      const id = `${this.#prefix}-${index}`;
      if (block.type === "toolCall") calls.push({ id: block.id, tool: block.name, args: block.arguments, done: false });
      if (block.type !== "text") continue;
      const kind = this.#blocks.get(index);
      if (kind === "finish") calls.push({ id: `finish-${id}`, tool: "finish", args: { summary: block.text }, done: false });
      else if (kind === "extra") calls.push({ id: `reply-${id}`, tool: "reply", args: { text: block.text }, done: false });
      else if (!replied && this.#told !== "") {
        replied = true;
        calls.push({ id: `reply-${id}`, tool: "reply", args: { text: this.#told, ...(this.#judged ? { attachments: this.#judged.given } : {}) }, done: false });
      }
    }
    return calls;
  }

  #endReply(call: ShownCall, index: number): SidecarEventBody[] {
    if (this.#told === "") return [this.#end(call, index, "error", secondReply)];
    const { attachments = [], refusal } = this.#judged ?? {};
    if (refusal !== undefined) return [this.#end(call, index, "error", refusal), ...this.reset(this.#step)];
    const isNote = (this.#shown ?? []).some(({ tool }) => tool !== "reply");
    const text = this.#told;
    this.#told = "";
    return [
      this.#end(call, index, "ok", text),
      { type: "assistant_reply", payload: { sessionId: this.#sessionId, text, ...(attachments.length > 0 ? { attachments } : {}), ...(isNote ? { progressNote: true } : {}), stepIndex: this.#step } },
    ];
  }

  #end(call: ShownCall, index: number, status: "ok" | "error", summary: string, outcome?: CallOutcome): SidecarEventBody {
    call.done = true;
    const { truncation, exitCode } = outcome?.details ?? {};
    return {
      type: "tool_call_result",
      payload: {
        sessionId: this.#sessionId,
        stepIndex: -1,
        tool: call.tool,
        status,
        summary,
        ...(truncation === undefined ? {} : { truncated: true }),
        ...this.#place(call, index),
        durationMs: Math.max(0, Math.round(outcome?.durationMs ?? 0)),
        ...(typeof exitCode === "number" ? { exitCode } : {}),
      },
    };
  }

  #place(call: ShownCall, index: number): { batchIndex?: number; batchSize?: number; step: number; toolCallId: string } {
    const size = this.#shown?.length ?? 1;
    return { ...(size > 1 ? { batchIndex: index, batchSize: size } : {}), step: this.#step, toolCallId: call.id };
  }
}

function textOf({ args }: ShownCall): string {
  return String(args["summary"] ?? args["text"] ?? "");
}

/** The error of a call that was open when its turn was cancelled says so (5.11); what was denied before that stays denied (5.6). */
function summaryOf({ cancelled, content, details, isError }: CallOutcome): string {
  const text = contentText(content);
  const isOwnEnd = text.startsWith("cancelled") || details?.["denied"] === true;
  return cancelled && isError && !isOwnEnd ? `cancelled: ${text}` : text;
}
