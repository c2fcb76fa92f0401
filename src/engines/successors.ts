// A provider that fails gives way to the next one for good (`llm.fallback`): after so many failures in a row, or at once where
// trying again would bring the same. What runs goes on in the loop, which asks the next engine at once.
import type { ActionEvent, ActionRequest, Engine, EngineFailure, TextEvent, TextRequest } from "../core/engine.ts";
import { messageOf } from "../core/error.ts";
import type { Log } from "../core/runtime.ts";
import type { EngineChoice } from "./choice.ts";

export interface SuccessionOptions {
  /** Failures in a row. */
  failuresMax: number;
  /** Who takes over, in order; asked for when somebody has to. */
  successors: () => Promise<EngineChoice[]>;
  log: Log;
  /** Called before the failed generation ends. */
  onReplaced: (choice: EngineChoice) => void;
}

/** Its kind may change between two generations. Closing it closes the engine that serves then. */
export function withSuccessors(first: Engine, options: SuccessionOptions): Engine {
  const line = new Line(first, options);
  const engine = {
    get kind() {
      return line.current.kind;
    },
    info: () => line.current.info(),
    openState: () => line.current.openState?.(),
    answersApart: () => line.current.kind === "text" && line.current.answersApart?.() === true,
    traits: () => (line.current.kind === "text" ? (line.current.traits?.() ?? {}) : {}),
    countTokens: (text: string) => line.current.countTokens?.(text),
    open: async (signal: AbortSignal, onProgress: (progress: number) => void) => (line.current.kind === "text" ? line.current.open(signal, onProgress) : undefined),
    complete: (request: TextRequest) => line.watch(line.current.kind === "text" ? line.current.complete(request) : changed(), request.signal),
    needsGuide: () => line.current.kind === "action" && line.current.needsGuide?.() === true,
    act: (request: ActionRequest) => line.watch(line.current.kind === "action" ? line.current.act(request) : changed(), request.signal),
    close: () => line.current.close(),
  };
  return engine as Engine;
}

class Line {
  current: Engine;
  readonly #options: SuccessionOptions;
  #waiting: EngineChoice[] | undefined;
  /** In a row. */
  #failures = 0;

  constructor(first: Engine, options: SuccessionOptions) {
    this.current = first;
    this.#options = options;
  }

  async *watch<Event extends TextEvent | ActionEvent>(events: AsyncGenerator<Event, void, void>, signal: AbortSignal): AsyncGenerator<Event, void, void> {
    for await (const event of events) {
      if (event.type === "ended" && event.stop !== "aborted") this.#failures = 0;
      const isReplaced = event.type === "failed" && !signal.aborted && (await this.#giveWay(event.failure));
      yield isReplaced ? { ...event, failure: { ...event.failure, replaced: true } } : event;
    }
  }

  /** @returns whether another engine serves from now on */
  async #giveWay(failure: EngineFailure): Promise<boolean> {
    if (isOfRequest(failure)) return false;
    this.#failures += 1;
    const { failuresMax, log, onReplaced, successors } = this.#options;
    if (this.#failures < failuresMax && !isForGood(failure)) return false;
    this.#waiting ??= await successors();
    for (let choice = this.#waiting.shift(); choice; choice = this.#waiting.shift()) {
      const engine = await choice.create().catch((error: unknown) => log("warn", `${nameOf(choice)} can't take over: ${messageOf(error)}`));
      if (!engine) continue;
      log("warn", `${this.current.info().provider} failed (${failure.message}): ${nameOf(choice)} is used from now on`);
      await this.current.close();
      this.current = engine;
      this.#failures = 0;
      onReplaced(choice);
      return true;
    }
    return false;
  }
}

/** Says nothing against the provider: any other would fail as well. */
function isOfRequest({ category, kind }: EngineFailure): boolean {
  return category === "cancelled" || kind === "overflow" || kind === "schema" || kind === "storage";
}

/** The same request would fail again, whenever it is made. */
function isForGood({ category, kind, retryable }: EngineFailure): boolean {
  return category === "transport" && (retryable === false || kind === "auth" || kind === "model_missing" || kind === "engine");
}

function nameOf({ model, provider }: EngineChoice): string {
  return model === "" || model === provider ? provider : `${provider}/${model}`;
}

function changed(): never {
  throw new Error("the engine was changed while a generation began");
}
