// Asks the session's model which lines may go (json-mode.md 7.5): one request, at most one more when the answer is of no
// use, transient failures tried again. It changes nothing: what comes back is a plan.
import type { Engine, EngineFailure } from "../../core/engine.ts";
import type { CompactionReason, Emit } from "../../core/event.ts";
import { addUsage, usageOf, type Usage } from "../../core/message.ts";
import type { Runtime } from "../../core/runtime.ts";
import { isRetried, retryDelayMs, wait, type RetrySettings } from "../retry.ts";
import { textTokens } from "./measure.ts";
import { mechanicalLines, parsePlan, pickedLines, planGrammar } from "./plan.ts";
import { plannerPrompt, plannerSystem, type PlannerPrompt } from "./planner-prompt.ts";
import type { RegionLine } from "./region.ts";
import type { Sizes } from "./sizes.ts";
import { sparedLines } from "./spared.ts";

export interface PlannerOptions {
  engine: Engine;
  sizes: Sizes;
  retry: RetrySettings;
  emit: Emit;
  runtime: Runtime;
  signal: AbortSignal;
  reason: CompactionReason;
}

export interface Planned {
  /** Indexes of the lines that go. */
  gone: Set<number>;
  planner: "model" | "mechanical";
  usage: Usage;
  /** Requests that were sent. */
  calls: number;
}

/** @param keep lines that should stay @returns undefined when the signal fired */
export async function planDeletion(lines: readonly RegionLine[], keep: number, query: string, options: PlannerOptions): Promise<Planned | undefined> {
  const most = Math.max(0, lines.length - keep);
  const spared = sparedLines(lines, keep, query);
  const shown = lines.map((line, index) => (spared.has(index) ? { ...line, isProtected: true } : line));
  const withheld = withheldLines(shown, keep, query, options);
  const rest = most - withheld.size;
  const planner = new Planner(options);
  const mechanical = (): Planned => ({ gone: mechanicalLines(lines, most), planner: "mechanical", usage: planner.usage, calls: planner.calls });
  if (rest <= 0) return mechanical();
  const sourceTokens = textTokens(options.engine, lines.filter((_, index) => !withheld.has(index)).map(({ text }) => text).join("\n"));
  // The whole transcript is planned in one part.
  const tellProgress = (completedChunks: number) => options.emit({ type: "compaction_progressed", chunk: 1, chunks: 1, completedChunks, sourceTokens });
  await tellProgress(0);
  for (const isSecond of [false, true]) {
    const prompt = plannerPrompt({ lines: shown, withheld, keep, query, isSecond });
    const picked = await planner.ask(prompt, (answer, isCut) => {
      const { ranges, isMalformed } = parsePlan(answer, isCut);
      return isMalformed ? new Set() : pickedLines(ranges, shown, rest, withheld);
    }, rest);
    if (options.signal.aborted) return undefined;
    if (picked === undefined) break;
    if (picked.size === 0) continue;
    await tellProgress(1);
    return { gone: picked.union(withheld), planner: "model", usage: planner.usage, calls: planner.calls };
  }
  return mechanical();
}

/** The older lines that the planner is not shown because all together are too long for the window; they go. */
function withheldLines(lines: readonly RegionLine[], keep: number, query: string, { engine, sizes }: PlannerOptions): Set<number> {
  const room = sizes.window - sizes.plannerAnswer;
  for (let start = 0; ; start += Math.ceil((lines.length - start) / 2)) {
    const withheld = new Set<number>();
    for (let index = 0; index < start; index++) if (lines[index]?.isProtected === false) withheld.add(index);
    const { text } = plannerPrompt({ lines, withheld, keep, query, isSecond: true });
    if (textTokens(engine, plannerSystem) + textTokens(engine, text) + frameTokens <= room || lines.length - start <= 1) return withheld;
  }
}

/** What a chat template puts around two messages. */
const frameTokens = 24;

class Planner {
  readonly #options: PlannerOptions;
  usage = usageOf({});
  calls = 0;
  #retries = 0;

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  /**
   * One request, again after transient failures. Stops the model when the answer names `enough` lines.
   * @returns undefined when the request failed for good or was aborted
   */
  async ask(prompt: PlannerPrompt, read: (answer: string, isCut: boolean) => Set<number>, enough: number): Promise<Set<number> | undefined> {
    const { emit, reason, retry, runtime, signal } = this.#options;
    for (;;) {
      const answer = await this.#generate(prompt, (text) => read(text, true).size >= enough);
      if (typeof answer === "object" && "text" in answer) {
        await this.#endRetries();
        return read(answer.text, answer.isCut);
      }
      const again = answer !== undefined && !signal.aborted && retry.enabled && isRetried(answer) && this.#retries < retry.maxRetries;
      if (!again) {
        if (answer) runtime.log("warn", `the compaction's planner failed: ${answer.message}`);
        await this.#endRetries();
        return undefined;
      }
      this.#retries++;
      const delayMs = retryDelayMs(retry, this.#retries, answer);
      await emit({ type: "summary_retry_scheduled", attempt: this.#retries, maxAttempts: retry.maxRetries, delayMs, errorMessage: answer.message });
      await wait(delayMs, signal);
      if (!signal.aborted) await emit({ type: "summary_retry_started", reason });
    }
  }

  async #endRetries(): Promise<void> {
    if (this.#retries > 0) await this.#options.emit({ type: "summary_retry_ended" });
    this.#retries = 0;
  }

  async #generate(prompt: PlannerPrompt, isEnough: (text: string) => boolean): Promise<{ text: string; isCut: boolean } | EngineFailure | undefined> {
    const { signal } = this.#options;
    if (signal.aborted) return undefined;
    this.calls++;
    const enough = new AbortController();
    let text = "";
    for await (const event of this.#events(prompt, AbortSignal.any([signal, enough.signal]))) {
      if (event.type === "text") {
        text += event.text;
        if (!enough.signal.aborted && event.text.includes("\n") && isEnough(text)) enough.abort();
      } else {
        this.usage = addUsage(this.usage, event.usage);
        if (signal.aborted) return undefined;
        if (event.type === "failed") return event.failure;
        return { text, isCut: event.stop !== "end" };
      }
    }
    return { kind: "engine", category: "model", message: "the engine ended its stream without an end" };
  }

  async *#events(prompt: PlannerPrompt, signal: AbortSignal) {
    const { engine, runtime, sizes } = this.#options;
    const sampling = { purpose: "compaction" as const, temperature: 0, maxTokens: sizes.plannerAnswer, signal };
    if (engine.kind === "text") {
      const chat = [{ role: "system" as const, text: plannerSystem }, { role: "user" as const, text: prompt.text }];
      for await (const event of engine.complete({ ...sampling, chat, grammar: planGrammar })) {
        if (event.type !== "progress" && event.type !== "prompt_accepted" && event.type !== "thinking") yield event;
      }
      return;
    }
    const message = { role: "user" as const, content: [{ type: "text" as const, text: prompt.text }], timestamp: runtime.now() };
    for await (const event of engine.act({ ...sampling, system: plannerSystem, messages: [message], tools: [], thinking: "off" })) {
      if (event.type === "text_delta") yield { type: "text" as const, text: event.delta };
      else if (event.type === "ended" || event.type === "failed") yield event;
    }
  }
}
