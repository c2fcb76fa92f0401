// The entries of a session as they are stored and exported (json-mode.md 11.2): one JSON object each, in a tree.
import type { AgentMessage, CustomMessage, Usage } from "../core/message.ts";

export const sessionVersion = 3;

/** First line of an export. */
export interface SessionHeader {
  type: "session";
  version: typeof sessionVersion;
  id: string;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
  cwd: string;
  parentSession?: string;
}

/** What an entry says beside its place in the tree. */
export type EntryBody =
  | { type: "message"; message: AgentMessage }
  | { type: "model_change"; provider: string; modelId: string }
  | { type: "thinking_level_change"; thinkingLevel: string }
  | { type: "compaction"; summary: string; firstKeptEntryId: string | null; tokensBefore: number; details?: unknown; fromHook?: boolean }
  | { type: "branch_summary"; fromId: string; summary: string; details?: unknown; usage?: Usage; fromHook?: boolean }
  | { type: "custom"; customType: string; data?: unknown }
  | { type: "custom_message"; customType: string; content: CustomMessage["content"]; display: boolean; details?: unknown; excludeFromContext?: boolean }
  | { type: "label"; targetId: string; label?: string }
  | { type: "session_info"; name?: string };

export interface EntryPlace {
  /** 8 hex digits where it was made here; unique in the session. */
  id: string;
  /** null for a root. */
  parentId: string | null;
  /** ISO 8601, UTC, milliseconds. */
  timestamp: string;
}

/** An entry made by this program. Imported ones may be of other types and lack fields: see `AnyEntry`. */
export type SessionEntry = EntryBody & EntryPlace;

/** An entry from anywhere: only its place is certain. */
export interface AnyEntry extends EntryPlace {
  type: string;
  [field: string]: unknown;
}

/** One line of JSON Lines, without LF: U+2028, U+2029 and lone surrogates as escapes. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
