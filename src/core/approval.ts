// What a call needs to be allowed, and who may allow it (sidecar.md section 7).

export type ApprovalCategory =
  | "fs_write_workspace"
  | "fs_write_home"
  | "fs_trash"
  | "http"
  | "shell"
  | "script"
  | "proc_kill"
  | "git_remote"
  | "publish"
  | "fusion_fanout"
  | "browser_nonweb"
  | "trust_config"
  | "email"
  | "fs_read_outside"
  | "other";

export type ApprovalLevel = 1 | 2 | 3 | 4 | 5;

export interface ApprovalNeed {
  category: ApprovalCategory;
  /** Lowest level at which nobody is asked; 6 = always asked. */
  silentFrom: number;
  /** One line: what will happen, with absolute paths. */
  reason: string;
  /** What will change, as a diff, the first characters, or the whole command. */
  preview?: string;
  affectedResources: string[];
  /** What a grant for the session covers; absent = it can't be granted for the session. */
  grantKey?: string;
}

export type ApprovalAnswer = { approved: true; grant: "once" | "session" } | { approved: false; reason?: string };

/** Asks a person; absent where nobody can be asked. Resolves with a refusal when the signal aborts. */
export type AskApproval = (need: ApprovalNeed, call: { id: string; name: string }, signal: AbortSignal) => Promise<ApprovalAnswer>;
