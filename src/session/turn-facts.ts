// What the rows of a session's transcript say beside their texts (sidecar.md section 8), read off its stored entries: which
// lines of a file a call showed, who allowed it, and the texts that are to be kept whatever is compacted.
import { createHash } from "node:crypto";
import { limits } from "../core/limits.ts";
import { type AgentMessage, contentText, type ToolResultMessage } from "../core/message.ts";
import type { ApprovalCategory, ConversationTurn, SessionState } from "../wire/sidecar/schema.ts";
import type { AnyEntry, EntryBody } from "./entry.ts";

type ResultRow = Extract<ConversationTurn, { kind: "tool_result" }>;

const answeredType = "approval_answered";

/** A person's answer to a question about a call; follows the call and precedes its result. */
export interface ApprovalNote {
  toolCallId: string;
  verdict: "approved" | "denied";
  category: ApprovalCategory;
}

export function approvalEntry(note: ApprovalNote): EntryBody {
  return { type: "custom", customType: answeredType, data: note };
}

/** The answers by call, in the order of answering. */
export function approvalsOf(entries: readonly AnyEntry[]): ReadonlyMap<string, NonNullable<ResultRow["approvals"]>> {
  const found = new Map<string, NonNullable<ResultRow["approvals"]>>();
  for (const { customType, data, timestamp, type } of entries) {
    if (type !== "custom" || customType !== answeredType) continue;
    const { category, toolCallId, verdict } = data as ApprovalNote;
    found.set(toolCallId, [...(found.get(toolCallId) ?? []), { verdict, category, at: Date.parse(timestamp) || 0 }]);
  }
  return found;
}

/**
 * The lines that a `fs.read` showed; undefined for every other result. `contentHash` is the SHA-256 (hex) of these lines,
 * joined by LF.
 */
export function readOf({ content, details, isError, toolName }: ToolResultMessage, args: Record<string, unknown> | undefined): ResultRow["read"] {
  const { path, totalLines, truncation } = (details ?? {}) as { path?: unknown; totalLines?: unknown; truncation?: { outputLines?: number } };
  if (toolName !== "fs.read" || isError || typeof path !== "string" || typeof totalLines !== "number") return undefined;
  const startLine = typeof args?.["offset"] === "number" ? args["offset"] : 1;
  const asked = typeof args?.["limit"] === "number" ? args["limit"] : Infinity;
  const count = truncation?.outputLines ?? Math.max(0, Math.min(asked, totalLines - startLine + 1));
  const shown = contentText(content).split("\n").slice(0, count).join("\n");
  return { path, contentHash: createHash("sha256").update(shown).digest("hex"), startLine, endLine: startLine + count - 1, numbered: false };
}

/** What stands between `<keepContext>` and `</keepContext>` in words of the user and the model; the newest, oldest first. */
export function knownFactsOf(messages: readonly AgentMessage[]): SessionState["knownFacts"] {
  const facts = messages.flatMap((message) => {
    const spoken = message.role === "user" || message.role === "assistant" ? contentText(message.content) : "";
    return keptTexts(spoken).map((text) => ({ text, source: message.role }));
  });
  return facts.slice(-limits.knownFactsMax);
}

function keptTexts(text: string): string[] {
  const kept: string[][] = [];
  let open: string[] | undefined;
  for (const line of text.split("\n")) {
    const tag = line.trim().toLowerCase();
    if (tag === "<keepcontext>") kept.push((open = []));
    else if (tag === "</keepcontext>") open = undefined;
    else open?.push(line);
  }
  return kept.map((lines) => lines.join("\n").trim()).filter((fact) => fact !== "");
}
