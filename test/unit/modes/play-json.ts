// Plays the JSON stream around a session that is a script, in process, and checks the stream against the contract.
import { expect } from "bun:test";
import type { AgentEvent, Emit } from "../../../src/core/event.ts";
import { type AssistantMessage, type UserMessage, usageOf } from "../../../src/core/message.ts";
import { type JsonModeOptions, runJsonMode } from "../../../src/modes/json.ts";
import type { DrivenSession, PromptContent } from "../../../src/modes/prompt-run.ts";
import type { AbortReason, TurnOutcome } from "../../../src/session/session.ts";
import { JsonEvent, type SessionHeader } from "../../../src/wire/json/schema.ts";
import { encodeLine } from "../../../src/wire/lines.ts";
import { checkJsonStream, describeBreaches } from "../../support/json-checker.ts";
import { type FakeWatch, fakeWatch } from "./fake-watch.ts";

export const header: SessionHeader = { type: "session", version: 3, id: "0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000", timestamp: "2026-01-02T03:04:05.678Z", cwd: "/w", provider: "scripted", model: "m", agentVersion: "0.1.0", sandbox: "none" };

export type Answer = { outcome: TurnOutcome; stop: AssistantMessage["stopReason"] } | "until aborted" | "hangs";

/** A session whose turns are plain: the user's message, one answer. */
export class FakeSession implements DrivenSession {
  readonly usage = usageOf({ input: 3, output: 4 });
  readonly seen: string[] = [];
  readonly calls: string[] = [];
  queued: { steering: string[]; followUp: string[] } = { steering: [], followUp: [] };
  readonly #abort = Promise.withResolvers<AbortReason>();
  readonly #answers: Answer[];
  readonly #emit: Emit;
  readonly #onPrompt: () => void;

  constructor(answers: Answer[], emit: Emit, onPrompt: () => void) {
    this.#answers = [...answers];
    this.#emit = emit;
    this.#onPrompt = onPrompt;
  }

  async prompt(content: PromptContent): Promise<TurnOutcome> {
    this.seen.push(content.map((block) => (block.type === "text" ? block.text : "[image]")).join("|"));
    const answer = this.#answers.shift() ?? { outcome: "ok", stop: "stop" };
    const user: UserMessage = { role: "user", content, timestamp: 1 };
    const base: AssistantMessage = { role: "assistant", content: [], api: "a", provider: "p", model: "m", usage: usageOf({}), stopReason: "pending", timestamp: 1 };
    const opening: AgentEvent[] = [{ type: "run_started" }, { type: "attempt_started", stepIndex: 0, attempt: 0 }, { type: "message_started", message: user }, { type: "message_ended", message: user }, { type: "message_started", message: base }];
    for (const event of opening) await this.#emit(event);
    this.#onPrompt();
    if (answer === "hangs") await new Promise(() => {});
    const [outcome, stop, message] = answer === "until aborted" ? (["aborted", "aborted", (await this.#abort.promise).message] as const) : answer === "hangs" ? (["error", "error", ""] as const) : ([answer.outcome, answer.stop, "went wrong"] as const);
    const failed = stop === "error" || stop === "aborted";
    const end: AssistantMessage = { ...base, stopReason: stop, ...(failed ? { errorMessage: message } : {}), ...(stop === "error" ? { errorKind: "engine" as const } : {}) };
    await this.#emit({ type: "message_ended", message: end });
    await this.#emit({ type: "attempt_ended", message: end, toolResults: [] });
    await this.#emit({ type: "run_ended", messages: [user, end] });
    return outcome;
  }

  steer(text: string): void {
    this.calls.push(`steer ${text}`);
  }
  async followUp(text: string): Promise<void> {
    this.calls.push(`follow_up ${text}`);
    this.queued.followUp.push(text);
    await this.#emit({ type: "queue_changed", steering: [], followUp: [...this.queued.followUp] });
  }
  compact(): void {
    this.calls.push("compact");
  }
  abort(reason: AbortReason): void {
    this.calls.push(`abort ${reason.kind}`);
    this.#abort.resolve(reason);
  }
  undelivered() {
    return this.queued;
  }
  async close(): Promise<void> {
    this.calls.push("close");
  }
}

export interface Played {
  exitCode: number;
  lines: string[];
  events: JsonEvent[];
  session: FakeSession | undefined;
  warnings: string[];
  watch: FakeWatch;
}

export interface Play extends Partial<JsonModeOptions> {
  prompts?: string[];
  answers?: Answer[];
  /** Called when a prompt's model call has begun. */
  onPrompt?: (watch: FakeWatch) => void;
  /** The stream is cut on purpose, or the session is: it isn't checked. */
  unchecked?: true;
}

export async function play({ prompts = ["hi"], answers = [], onPrompt = () => {}, unchecked, ...options }: Play): Promise<Played> {
  const chunks: Uint8Array[] = [];
  const warnings: string[] = [];
  const watch = fakeWatch();
  let session: FakeSession | undefined;
  const exitCode = await runJsonMode({
    output: async (bytes, offset) => {
      chunks.push(bytes.slice(offset));
      return bytes.length - offset;
    },
    header,
    updates: "snapshot",
    readPrompts: async () => prompts.map((text) => [{ type: "text", text }]),
    openSession: async (emit) => (session = new FakeSession(answers, emit, () => onPrompt(watch))),
    watch,
    warn: (message) => warnings.push(message),
    now: Date.now,
    ...options,
  });
  const bytes = Buffer.concat(chunks);
  const lines = bytes.toString().split("\n").slice(0, -1);
  if (unchecked === undefined) expect(describeBreaches(checkJsonStream(bytes, { exitCode }))).toBe("");
  const events = lines.map((line) => JsonEvent.parse(JSON.parse(line)));
  expect(events.map((event) => encodeLine(event).trimEnd())).toEqual(lines);
  expect(watch.listening()).toBe(0);
  return { exitCode, lines, events, session, warnings, watch };
}

export function settled({ events }: Played): JsonEvent & { type: "agent_settled" } {
  const last = events.at(-1);
  if (last?.type !== "agent_settled") throw new Error("the last line is not agent_settled");
  return last;
}
