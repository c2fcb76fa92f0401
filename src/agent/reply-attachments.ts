// What a reply of the model attaches (sidecar.md 4, 11): resolved by whoever knows files, told, and refused when it is wrong.
import { ToolError } from "../core/error.ts";
import type { Emit } from "../core/event.ts";
import type { CustomMessage } from "../core/message.ts";

/** Absolute paths of existing files, each once. @throws ToolError for what can't be attached */
export type ResolveAttachments = (given: unknown) => string[];

export interface RefusedReply {
  /** The message that asks for another reply. */
  correction(timestampMs: number): CustomMessage;
}

/** @returns undefined when nothing is wrong; without a resolver nothing is attached */
export async function judgeAttachments(given: unknown, stepIndex: number, { emit, resolveAttachments }: { emit: Emit; resolveAttachments?: ResolveAttachments }): Promise<RefusedReply | undefined> {
  if (given === undefined || !resolveAttachments) return undefined;
  try {
    const attachments = resolveAttachments(given);
    await emit({ type: "reply_judged", stepIndex, given, attachments });
    return undefined;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const refusal = error.message;
    await emit({ type: "reply_judged", stepIndex, given, attachments: [], refusal });
    const text = `The reply was not sent: ${refusal}\nReply again, with what is there or without attachments.`;
    return { correction: (timestamp) => ({ role: "custom", customType: "reply_refused", content: [{ type: "text", text }], display: false, timestamp }) };
  }
}
