// What stands in the context for everything that a compaction replaced.
import { contentText, type AgentMessage, type CustomMessage } from "../../core/message.ts";

const customType = "compaction";

/** Its second block is the compacted text. */
export function compactionMessage(compactedText: string, timestampMs: number): CustomMessage {
  return {
    role: "custom",
    customType,
    content: [
      { type: "text", text: "Earlier conversation, shortened: lines that matter less were filtered out, the others are unchanged." },
      { type: "text", text: compactedText },
    ],
    display: false,
    timestamp: timestampMs,
  };
}

/** The compacted text of a boundary; undefined for every other message. */
export function compactedTextOf(message: AgentMessage | undefined): string | undefined {
  if (message?.role !== "custom" || message.customType !== customType) return undefined;
  return typeof message.content === "string" ? message.content : contentText(message.content.slice(1));
}
