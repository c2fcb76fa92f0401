// An engine that can be changed between two generations, for a session that keeps its engine for life.
import type { ActionRequest, Engine, EngineFailure, TextRequest } from "../../core/engine.ts";
import { usageOf } from "../../core/message.ts";

export interface SwitchableEngine {
  engine: Engine;
  /** A generation that runs goes on with the engine it began with. */
  replace(next: Engine): void;
}

/** Closes nothing: whoever made the engines does. */
export function switchableEngine(first: Engine): SwitchableEngine {
  let current = first;
  const engine = {
    get kind() {
      return current.kind;
    },
    info: () => current.info(),
    answersApart: () => current.kind === "text" && current.answersApart?.() === true,
    traits: () => (current.kind === "text" ? (current.traits?.() ?? {}) : {}),
    countTokens: (text: string) => current.countTokens?.(text),
    async open(signal: AbortSignal, onProgress: (progress: number) => void) {
      if (current.kind === "text") await current.open(signal, onProgress);
    },
    complete: (request: TextRequest) => (current.kind === "text" ? current.complete(request) : refuse()),
    needsGuide: () => current.kind === "action" && current.needsGuide?.() === true,
    act: (request: ActionRequest) => (current.kind === "action" ? current.act(request) : refuse()),
    close: async () => {},
  } as Engine;
  return { engine, replace: (next) => void (current = next) };
}

/** Stands where nothing can serve: each generation fails with the reason. */
export function absentEngine(model: string, reason: string): Engine {
  const failure: EngineFailure = { kind: "model_missing", category: "transport", message: reason, retryable: false };
  return {
    kind: "action",
    info: () => ({ id: model, name: model, api: "in-process", provider: "llama", baseUrl: "", reasoning: false, input: ["text"], contextWindow: 4096, maxTokens: 4096 }),
    async *act() {
      yield { type: "failed", failure, usage: usageOf({}) };
    },
    close: async () => {},
  };
}

function refuse(): never {
  throw new Error("the engine was changed while a generation began");
}
