// What a call needs to be allowed, and who may allow it (sidecar.md section 7).
import type { ToolCall } from "./message.ts";

/** In the order of the table of sidecar.md 7.1, which decides between categories of equal weight. */
export const approvalCategories = [
  "fs_write_workspace",
  "fs_write_home",
  "fs_trash",
  "http",
  "shell",
  "script",
  "proc_kill",
  "git_remote",
  "publish",
  "fusion_fanout",
  "browser_nonweb",
  "trust_config",
  "email",
  "fs_read_outside",
  "other",
] as const;
export type ApprovalCategory = (typeof approvalCategories)[number];

export type ApprovalLevel = 1 | 2 | 3 | 4 | 5;

export interface ApprovalNeed {
  category: ApprovalCategory;
  /** Lowest level at which nobody is asked. */
  silentFrom: ApprovalLevel;
  /** One line: what will happen, with absolute paths. */
  reason: string;
  /** What will change, as a diff, the first characters, or the whole command. */
  preview?: string;
  affectedResources: string[];
  /** What a yes for the session covers: the category, one folder of it, or exactly this call; absent = it can't be given. */
  grant?: "category" | "call" | { root: string };
}

/** What an answer is bound to: taken when the question is asked and again right before the call runs. */
export interface Binding {
  /** Absolute real path. */
  cwd: string;
  /** Every place that the call is about; `content` tells one content from another where the answer depends on it. */
  files: { path: string; content?: string }[];
}

/** One question to a person. Its texts hold no control characters; `need.grant` is absent when only a yes for once counts. */
export interface ApprovalRequest {
  id: string;
  call: ToolCall;
  need: ApprovalNeed;
  /** SHA-256 (hex) over the canonical JSON of the call and its binding. */
  commandHash: string;
  /** Milliseconds since the epoch. */
  expiresAt?: number;
}

export type ApprovalAnswer = { approved: true; grant: "once" | "session" } | { approved: false; reason?: string };

/** Why a question is void. */
export type Withdrawal = "cancelled" | "session_disposed" | "shutdown" | "expired";

/** Asks a person; the signal aborts when the question is void, and the answer then counts no more. */
export type AskApproval = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;

/** Who is asked: a function, or whoever reads the events and answers by the request's id. */
export type Asker = AskApproval | "reader";
