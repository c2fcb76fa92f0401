// What runs a model. Two kinds: a text engine continues a chat under a grammar and knows nothing of tools; an action
// engine speaks tool calls itself (an OpenAI-compatible server, the scripted engine).
// Engines never throw once they stream: a failure is their last event.
import type { AgentMessage, ErrorKind, ThinkingLevel, Usage } from "./message.ts";
import type { ToolSpec } from "./tool.ts";

export interface ModelInfo {
  id: string;
  name: string;
  /** `in-process`, `llama-server`, `openai-completions`, `scripted`. */
  api: string;
  provider: string;
  /** "" for engines without a URL; never holds user info. */
  baseUrl: string;
  reasoning: boolean;
  input: ("text" | "image")[];
  /** Tokens; the window really allocated, once the model is open. */
  contextWindow: number;
  /** Most tokens of one generation. */
  maxTokens: number;
}

/** One message of a chat as a template takes it. */
export interface ChatMessage {
  role: "system" | "user" | "assistant";
  text: string;
}

export type StepErrorCategory = "transport" | "grammar" | "model" | "cancelled" | "tool";

export interface EngineFailure {
  kind: ErrorKind;
  category: StepErrorCategory;
  /** One line for people. */
  message: string;
  /** Overrides what `kind` says about retries. */
  retryable?: boolean;
  /** Wait that the server asked for. */
  retryAfterMs?: number;
  /** Another engine took the place of the one that failed: it can be asked at once. */
  replaced?: true;
}

interface Sampling {
  /** 0 = greedy. */
  temperature: number;
  seed?: number;
  /** Most tokens to generate. */
  maxTokens: number;
  signal: AbortSignal;
}

/** `plan` is a question apart from the conversation: what a request asks for. */
export type GenerationPurpose = "step" | "compaction" | "plan";

export interface TextRequest extends Sampling {
  purpose: GenerationPurpose;
  chat: readonly ChatMessage[];
  /** Of a plan: how many messages at the end differ from question to question; the state of those before is kept. 1 where absent. */
  varying?: number;
  /** Of a plan: text that much of the answer probably repeats, such as the file that it changes: it comes faster then. */
  draft?: string;
  /** GBNF; its root rule is `root`. */
  grammar?: string;
  /**
   * Tokens that the model may think before it writes, if its template has a place for that; absent = none. It thinks at a
   * temperature of at least 0.6, since greedy thinking goes round in circles.
   */
  thinkingTokensMax?: number;
  /** The engine may not end before the first token (retry after an empty answer). */
  forbidEmpty?: boolean;
}

export interface ActionRequest extends Sampling {
  purpose: GenerationPurpose;
  system: string;
  /** The tools and the form of a call in words, to be added to `system` where the model can't be given tools otherwise. */
  guide?: string;
  messages: readonly AgentMessage[];
  tools: readonly ToolSpec[];
  thinking: ThinkingLevel;
  /** JSON Schema of the reply's text. */
  outputSchema?: Record<string, unknown>;
}

interface Opening {
  /** `weights` while a model loads, `prompt` while a long prompt is read; progress from 0 to 1. */
  type: "progress";
  stage: "weights" | "prompt";
  progress: number;
}

/** Once, when the prompt is accepted and before anything is generated. */
interface PromptAccepted {
  type: "prompt_accepted";
  /** All tokens of the prompt. */
  promptTokens: number;
  /** Of these, already computed. */
  cachedTokens: number;
  /** -1 when the engine has no slots. */
  slotId: number;
}

/** Always the last event. `aborted` exactly when the request's signal fired. */
type Closing =
  | { type: "ended"; stop: "end" | "length" | "aborted"; usage: Usage; rawStopReason?: string }
  | { type: "failed"; failure: EngineFailure; usage: Usage };

/** Pieces never cut a code point; all of `thinking` comes before `text`. */
export type TextEvent = Opening | PromptAccepted | { type: "thinking"; text: string } | { type: "text"; text: string } | Closing;

export type ActionEvent =
  | Opening
  | PromptAccepted
  | { type: "text_start"; index: number; terminal?: "reply" | "finish" }
  | { type: "text_delta"; index: number; delta: string }
  /** `attachments`: what a `reply` call gave beside its text, unchecked. */
  | { type: "text_end"; index: number; attachments?: unknown }
  | { type: "thinking_start"; index: number }
  | { type: "thinking_delta"; index: number; delta: string }
  | { type: "thinking_end"; index: number }
  | { type: "call_start"; index: number; name: string; id?: string }
  /** A piece of the raw JSON text of the arguments. */
  | { type: "call_delta"; index: number; delta: string }
  | { type: "call_end"; index: number; arguments: Record<string, unknown> }
  | Closing;

interface EngineCommon {
  /** What is known now; the window is exact once the model is open. Loads nothing. */
  info(): ModelInfo;
  /** Whether this process has the model in memory, or is about to; absent where a server has it. */
  openState?(): "loading" | "ready" | undefined;
  /** Exact count where the engine can count and its model is open. */
  countTokens?(text: string): number | undefined;
  /** Frees model, context and server slots. */
  close(): Promise<void>;
}

/** What a model's own template writes around a call: before the tool's name, between name and arguments, and behind these. */
export interface CallTags {
  open: string;
  middle: string;
  close: string;
}

/** What the loop may fit itself to; absent = not known. */
export interface ModelTraits {
  parameters?: number;
  chatTemplate?: string;
  /** Lets the template render calls, which takes its time. */
  callTags?(): CallTags | undefined;
  /** What was found out about the model, for later processes; text by name. */
  notes?: { read(name: string): Promise<string | undefined>; write(name: string, text: string): Promise<unknown> };
}

export interface TextEngine extends EngineCommon {
  kind: "text";
  /** Opens the model if it is not open, so that `info()` tells the window really allocated. */
  open(signal: AbortSignal, onProgress: (progress: number) => void): Promise<void>;
  complete(request: TextRequest): AsyncGenerator<TextEvent, void, void>;
  /** Whether a question apart from the conversation leaves what is computed of that as it is; absent = it does not. */
  answersApart?(): boolean;
  /** What is known of the model before it is opened; absent = nothing. */
  traits?(): ModelTraits;
}

export interface ActionEngine extends EngineCommon {
  kind: "action";
  /** Whether its requests carry the guide instead of tools, as far as that is known; absent = they never do. */
  needsGuide?(): boolean;
  act(request: ActionRequest): AsyncGenerator<ActionEvent, void, void>;
}

export type Engine = TextEngine | ActionEngine;
