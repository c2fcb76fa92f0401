// Counts steps that make the same calls, and steps that bring nothing new (sidecar.md 11): first the model is told, then
// such calls are refused, at last the turn is stopped. Engines with a grammar seldom get so far: see loop-guard.ts.
import { contentText, type ToolCall, type ToolResultMessage } from "../core/message.ts";
import { callKey } from "./loop-guard.ts";

export interface LoopLimits {
  /** Same calls in a row. */
  warnAt: number;
  /** Same calls with the same results in a row. */
  vetoAt: number;
  /** Refusals in a row. */
  stopAfterVetoes: number;
  /** Steps without a new outcome. */
  wanderWarnAt: number;
  wanderStopAt: number;
}

export interface LoopSignal {
  tool: string;
  count: number;
  level: "warn" | "veto" | "stop";
}

/** What the model is told beside the results of a step that earned a warning. */
export const loopNotice = "The same was tried several times now. Take another way, or reply with what you know.";
export const vetoText = "not run: this very call was made several times with the same result; take another way, or reply";

export class LoopDetector {
  readonly #limits: LoopLimits;
  readonly #outcomes = new Set<string>();
  #calls = "";
  #results = "";
  /** Steps in a row with the same calls; with the same results too. */
  #sameCalls = 0;
  #sameResults = 0;
  #vetoes = 0;
  #stepsWithoutNews = 0;
  #stopped = false;

  constructor(limits: LoopLimits) {
    this.#limits = limits;
  }

  /** The turn should not go on as before. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Whether the calls of a step have to be refused. */
  judge(calls: readonly ToolCall[]): LoopSignal | undefined {
    const same = keyOf(calls) === this.#calls && this.#sameResults + 1 >= this.#limits.vetoAt;
    this.#vetoes = same ? this.#vetoes + 1 : 0;
    return same ? { tool: calls[0]?.name ?? "", count: this.#sameResults + this.#vetoes, level: "veto" } : undefined;
  }

  /** Takes what a step brought; gives what is to be told, the refusal itself aside. */
  record(calls: readonly ToolCall[], results: readonly ToolResultMessage[]): LoopSignal[] {
    const tool = calls[0]?.name ?? "";
    const vetoed = this.#vetoes > 0;
    if (!vetoed) this.#count(calls, results);
    const isNew = !vetoed && results.reduce((found, result, index) => this.#isNews(calls[index], result) || found, false);
    this.#stepsWithoutNews = isNew ? 0 : this.#stepsWithoutNews + 1;
    const { stopAfterVetoes, wanderStopAt, wanderWarnAt, warnAt } = this.#limits;
    if (this.#vetoes >= stopAfterVetoes) return this.#stop(tool, this.#vetoes);
    if (this.#stepsWithoutNews >= wanderStopAt) return this.#stop(tool, this.#stepsWithoutNews);
    if (!vetoed && this.#sameCalls === warnAt) return [{ tool, count: warnAt, level: "warn" }];
    return this.#stepsWithoutNews === wanderWarnAt ? [{ tool, count: wanderWarnAt, level: "warn" }] : [];
  }

  #stop(tool: string, count: number): LoopSignal[] {
    this.#stopped = true;
    return [{ tool, count, level: "stop" }];
  }

  #count(calls: readonly ToolCall[], results: readonly ToolResultMessage[]): void {
    const [called, found] = [keyOf(calls), results.map(({ content }) => contentText(content)).join("\n")];
    const sameCalls = called === this.#calls;
    this.#sameCalls = sameCalls ? this.#sameCalls + 1 : 1;
    this.#sameResults = sameCalls && found === this.#results ? this.#sameResults + 1 : 1;
    [this.#calls, this.#results] = [called, found];
  }

  #isNews(call: ToolCall | undefined, result: ToolResultMessage): boolean {
    const outcome = `${call === undefined ? "" : callKey(call)}\n${contentText(result.content)}`;
    if (this.#outcomes.has(outcome)) return false;
    this.#outcomes.add(outcome);
    return true;
  }
}

function keyOf(calls: readonly ToolCall[]): string {
  return calls.map(callKey).toSorted().join("\n");
}
