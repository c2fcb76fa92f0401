// What a turn is handed and what it gives back.
import type { Engine, StepErrorCategory } from "../core/engine.ts";
import type { Emit, TurnReason } from "../core/event.ts";
import type { ThinkingLevel, Usage } from "../core/message.ts";
import type { Runtime } from "../core/runtime.ts";
import type { Tool, WorkspaceView } from "../core/tool.ts";
import type { Approvals } from "./approvals/approvals.ts";
import type { Commit } from "./attempt.ts";
import type { Leg } from "./ceilings.ts";
import type { Compactor } from "./compaction/compactor.ts";
import type { CompactionSettings } from "./compaction/sizes.ts";
import type { Conversation } from "./conversation.ts";
import type { Sampling } from "./generate.ts";
import type { Inbox } from "./inbox.ts";
import type { LoopLimits } from "./loop-detector.ts";
import type { LoopSettings } from "./loop-guard.ts";
import type { OutputContract } from "./output-check.ts";
import type { SystemText } from "./prompt.ts";
import type { ResolveAttachments } from "./reply-attachments.ts";
import type { RetrySettings } from "./retry.ts";

/** Rules of a session that a host drives (sidecar.md 11). */
export interface HostedRules {
  leg: Leg;
  /** Longest turn, milliseconds; looked at between steps. */
  durationMaxMs: number;
}

export interface TurnSettings {
  /** Steps of a turn; the last one offers only a reply. */
  maxSteps: number;
  sampling: Sampling;
  /** For action engines, which know what a level is. */
  thinking: ThinkingLevel;
  /** The same for text engines: most tokens of thinking before each answer. */
  thinkingTokensMax?: number;
  retry: RetrySettings;
  /** Longest wait for a provider that went away, milliseconds; 0 = none. Absent = the rules of json-mode.md, without repairs. */
  parkMaxMs?: number;
  compaction: CompactionSettings;
  loop: LoopSettings;
  loopLimits: LoopLimits;
  parallelMax: number;
  toolTimeoutMs: number;
  batchResultBytesMax: number;
  /** Whether steering that waits when the model replied keeps the turn going. */
  steeringContinues: boolean;
  /**
   * Then all steering is read at once, a cut answer is a failure that is repaired once a step, `finish` beside calls ends
   * the turn after them, and a loop ends it too. Absent = the rules of json-mode.md.
   */
  hosted?: HostedRules;
  /** What the final answer has to be; no engine but one with a grammar is trusted to keep to it. */
  output?: OutputContract;
}

export interface TurnOptions {
  turnIndex: number;
  engine: Engine;
  conversation: Conversation;
  compactor: Compactor;
  system: SystemText;
  tools: readonly Tool[];
  approvals: Approvals;
  inbox: Inbox;
  workspace: string;
  /** What exists in the workspace, for engines that a grammar binds. */
  view?: WorkspaceView;
  settings: TurnSettings;
  commit: Commit;
  emit: Emit;
  runtime: Runtime;
  /** Absent = replies attach nothing. */
  resolveAttachments?: ResolveAttachments;
  signal: AbortSignal;
  abortMessage: () => string;
}

export interface TurnResult {
  reason: TurnReason;
  /** The last answer was cut at the output limit. */
  cut: boolean;
  stepCount: number;
  usage: Usage;
  failure?: { message: string; category: StepErrorCategory };
  /** The context is too long, and no compaction helped. */
  unresolvedOverflow?: true;
  /** No answer kept to the output schema. */
  schemaFailed?: true;
}
