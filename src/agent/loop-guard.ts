// Notices a model that goes in circles: the same call with the same result. The tool of such a call is left out of the
// next step, the result says why, and after a few of them only a reply is left.
import { contentText, type ToolCall, type ToolResultMessage } from "../core/message.ts";

export interface LoopSettings {
  /** Repeats in a turn after which only a reply is offered. */
  repeatsMax: number;
}

export class LoopGuard {
  readonly #settings: LoopSettings;
  readonly #results = new Map<string, string>();
  #excluded = new Set<string>();
  #repeats = 0;

  constructor(settings: LoopSettings) {
    this.#settings = settings;
  }

  /** Tools that the next step must not offer. */
  get excluded(): ReadonlySet<string> {
    return this.#excluded;
  }

  get onlyReply(): boolean {
    return this.#repeats >= this.#settings.repeatsMax;
  }

  /** Takes the calls of a step with their results; gives the note for each result that repeats an earlier one. */
  record(calls: readonly ToolCall[], results: readonly ToolResultMessage[]): Map<ToolResultMessage, string> {
    const notes = new Map<ToolResultMessage, string>();
    this.#excluded = new Set();
    for (const result of results) {
      const call = calls.find((candidate) => candidate.id === result.toolCallId);
      if (!call) continue;
      const key = callKey(call);
      const text = contentText(result.content);
      if (this.#results.get(key) === text) {
        this.#repeats += 1;
        this.#excluded.add(call.name);
        notes.set(result, `You made this call before and its result is the same. Do not repeat it: use what you know, take another way, or reply.`);
      }
      this.#results.set(key, text);
    }
    return notes;
  }
}

/** The same for calls that differ only in the order of their arguments. */
export function callKey(call: ToolCall): string {
  return `${call.name} ${canonical(call.arguments)}`;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(",")}}`;
}
