// Keeps a model from going in circles. A call that can bring nothing new is left out of the next grammar: a read that was
// made and after which nothing changed, a failure, a change that is already made. Engines without a grammar are told.
import { isRecord } from "../core/is-record.ts";
import { contentText, type ToolCall, type ToolResultMessage } from "../core/message.ts";
import { namesPath } from "../core/named-files.ts";
import type { ToolSpec } from "../core/tool.ts";
import type { ForbiddenObject } from "./grammar.ts";
import { callPatterns, namedArguments, type OfferOptions } from "./offer.ts";

export interface LoopSettings {
  /** Repeats in a turn after which only a reply is offered. */
  repeatsMax: number;
}

interface Made {
  call: ToolCall;
  tool: ToolSpec;
  isError: boolean;
  /** Its result says how to do better. */
  isAdvised: boolean;
  /** Made before, with the same result: whatever its kind, it changed nothing. */
  isRepeat: boolean;
}

export class LoopGuard {
  readonly #settings: LoopSettings;
  readonly #tools: ReadonlyMap<string, ToolSpec>;
  readonly #results = new Map<string, string>();
  #made: Made[] = [];
  /** Advanced arguments that results spoke of, as `tool argument`. */
  readonly revealed = new Set<string>();
  #excluded = new Set<string>();
  #fruitless = new Set<string>();
  #lastStep: Made[] = [];
  /** Steps in a row that brought nothing. */
  #barrenSteps = 0;
  #repeats = 0;
  #steps = 0;
  /** What was seen before a compaction, and whether the next step is the one after it. */
  #forgotten: Made[] = [];
  #goesOn = false;
  #hasChanged = false;
  #isStuck = false;
  #hasRun = false;
  #hasFailedRun = false;
  /** Of all calls, as JSON. */
  readonly #arguments: string[] = [];
  /** Results of searches. */
  readonly #found: string[] = [];

  constructor(tools: readonly ToolSpec[], settings: LoopSettings) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#settings = settings;
  }

  /** Tools whose call was repeated without anything new; they are not offered until something changed. */
  get excluded(): ReadonlySet<string> {
    return this.#excluded;
  }

  /** Tools of the last step that failed or found nothing: a small model would try the same again. */
  get fruitless(): ReadonlySet<string> {
    return this.#fruitless;
  }

  /** The last step brought nothing, and nothing else was tried yet: not the time to give up. */
  get gaveUpEarly(): boolean {
    return this.#barrenSteps === 1;
  }

  /** Something was changed in this turn. */
  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** Nothing was changed so far, and it is too early to give up: "done" would be no true report. */
  get hasNothingToReport(): boolean {
    return !this.#hasChanged && this.#steps < stepsBeforeGivingUp;
  }

  /** A command was run after the last change, well or not. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  /** The last command that was run failed, whatever was changed since. */
  get hasFailedRun(): boolean {
    return this.#hasFailedRun;
  }

  /** What was tried in this turn does not lead on: other tools than the planned ones may. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** The call of this tool that failed in the last step and was not told how to do better. */
  failedCall(tool: string): ToolCall | undefined {
    return this.#lastStep.find((made) => made.isError && !made.isAdvised && made.tool.name === tool)?.call;
  }

  /** Steps of this turn that made calls. */
  get steps(): number {
    return this.#steps;
  }

  /** Whether a call of this turn named the file. */
  hasNamed(path: string): boolean {
    return this.#arguments.some((text) => namesPath(text, path));
  }

  /** Whether a search of this turn found the file, or something in it. */
  hasFound(path: string): boolean {
    return this.#found.some((text) => namesPath(text, path));
  }

  get onlyReply(): boolean {
    return this.#repeats >= this.#settings.repeatsMax;
  }

  /** Calls that would bring nothing new, by tool. */
  forbidden(offer: OfferOptions): Map<string, ForbiddenObject[]> {
    const forbidden = new Map<string, ForbiddenObject[]>();
    for (const { call, isAdvised, tool } of this.#goesOn ? [...this.#forgotten, ...this.#made] : this.#made) {
      // What it is to be made like instead may be the same try by its identity.
      const { identity: _identity, ...whole } = tool;
      forbidden.set(tool.name, [...(forbidden.get(tool.name) ?? []), ...callPatterns(isAdvised ? whole : tool, call.arguments, offer)]);
    }
    return forbidden;
  }

  /**
   * Takes the calls of a step with their results; gives the note for each result that repeats an earlier one.
   * @param advised ids of calls that were refused with what to write instead
   */
  record(calls: readonly ToolCall[], results: readonly ToolResultMessage[], advised: ReadonlySet<string> = new Set()): Map<ToolResultMessage, string> {
    const notes = new Map<ToolResultMessage, string>();
    this.#steps += 1;
    this.#arguments.push(...calls.map((call) => JSON.stringify(call.arguments)));
    if (this.#goesOn) this.#forgotten.push(...this.#made);
    if (this.#goesOn) this.#made = this.#made.filter(isChange);
    this.#goesOn = false;
    this.#fruitless = new Set();
    this.#lastStep = [];
    for (const result of results) {
      const call = calls.find((candidate) => candidate.id === result.toolCallId);
      const tool = call && this.#tools.get(call.name);
      if (!call || !tool) continue;
      const key = callKey(call);
      const text = contentText(result.content);
      const isRepeat = this.#results.get(key) === text;
      if (isRepeat) {
        this.#repeats += 1;
        this.#excluded.add(call.name);
        notes.set(result, "You made this call before and its result is the same. Do not repeat it: use what you know, take another way, or reply.");
      }
      this.#results.set(key, text);
      const advice = namedArguments(tool, text);
      for (const name of advice) this.revealed.add(name);
      const isAdvised = advice.length > 0 || advised.has(call.id) || (isRecord(result.details) && result.details["advice"] !== undefined);
      const made = { call, tool, isError: result.isError, isAdvised, isRepeat };
      if (tool.serves?.some((kind) => kind === "find" || kind === "search") && !result.isError && !foundNothing(result)) this.#found.push(text);
      if (tool.class !== "shell" && !tool.quotes && !isAdvised && (result.isError || foundNothing(result))) this.#fruitless.add(tool.name);
      this.#lastStep.push(made);
      this.#remember(made);
      for (const covered of coveredBy(result)) this.#made.push({ ...made, call: { ...call, arguments: covered } });
    }
    const barren = this.#lastStep.length > 0 && results.every((result) => result.isError || foundNothing(result));
    this.#barrenSteps = barren ? this.#barrenSteps + 1 : 0;
    this.#isStuck ||= this.#barrenSteps >= barrenStepsMax || this.#steps >= plannedStepsMax;
    return notes;
  }

  /**
   * What the model saw is partly gone: it may read and run again what it did, but not with the next step. A small model
   * that finds its task at the top of a shortened conversation begins it anew.
   */
  forget(): void {
    this.#goesOn = true;
    this.#results.clear();
  }

  /** A change makes reads, failures and commands worth another try; a change itself is made once a turn. */
  #remember(made: Made): void {
    const changed = !made.isError && !made.isRepeat && made.tool.class !== "read";
    if (changed) this.#hasChanged = true;
    const isRun = made.tool.class === "shell" && !made.isAdvised;
    if (isRun) this.#hasFailedRun = made.isError;
    if (isRun) this.#hasRun = true;
    else if (changed) this.#hasRun = false;
    if (changed) this.#excluded = new Set();
    if (changed) this.#made = this.#made.filter(isChange);
    if (changed) this.#forgotten = [];
    this.#made.push(made);
  }
}

const stepsBeforeGivingUp = 2;
const barrenStepsMax = 2;
const plannedStepsMax = 8;

function isChange({ isError, tool }: Made): boolean {
  return !isError && tool.class === "write";
}

export function foundNothing({ details }: ToolResultMessage): boolean {
  return typeof details === "object" && details !== null && "matches" in details && details.matches === 0;
}

/** Arguments with which the same tool would show nothing that this result does not. */
function coveredBy({ details, isError }: ToolResultMessage): Record<string, unknown>[] {
  const covers = !isError && isRecord(details) ? details["covers"] : undefined;
  return Array.isArray(covers) ? covers.filter(isRecord) : [];
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
