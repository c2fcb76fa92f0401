// What a turn is handed and what it gives back.
import type { Engine, StepErrorCategory } from "../core/engine.ts";
import type { Emit, TurnReason } from "../core/event.ts";
import type { ThinkingLevel, Usage } from "../core/message.ts";
import type { Runtime } from "../core/runtime.ts";
import type { Tool } from "../core/tool.ts";
import type { Approvals } from "./approvals.ts";
import type { Commit } from "./attempt.ts";
import type { Conversation } from "./conversation.ts";
import type { Sampling } from "./generate.ts";
import type { Inbox } from "./inbox.ts";
import type { LoopSettings } from "./loop-guard.ts";
import type { OutputContract } from "./output-check.ts";
import type { RetrySettings } from "./retry.ts";

export interface TurnSettings {
  /** Steps of a turn; the last one offers only a reply. */
  maxSteps: number;
  sampling: Sampling;
  thinking: ThinkingLevel;
  retry: RetrySettings;
  loop: LoopSettings;
  parallelMax: number;
  toolTimeoutMs: number;
  batchResultBytesMax: number;
  /** Whether steering that waits when the model replied keeps the turn going. */
  steeringContinues: boolean;
  /** What the final answer has to be; no engine but one with a grammar is trusted to keep to it. */
  output?: OutputContract;
}

export interface TurnOptions {
  turnIndex: number;
  engine: Engine;
  conversation: Conversation;
  system: string;
  tools: readonly Tool[];
  approvals: Approvals;
  inbox: Inbox;
  workspace: string;
  settings: TurnSettings;
  commit: Commit;
  emit: Emit;
  runtime: Runtime;
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
  /** No answer kept to the output schema. */
  schemaFailed?: true;
}
