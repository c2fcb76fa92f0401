// Failures that a turn makes itself, without a generation having failed.
import type { ActionEvent, EngineFailure } from "../core/engine.ts";
import { usageOf } from "../core/message.ts";

export type TurnFailure = Pick<EngineFailure, "message" | "category"> & { schema?: true };

/** A generation that fails at once. */
export async function* failing(failure: EngineFailure): AsyncGenerator<ActionEvent, void, void> {
  yield { type: "failed", failure, usage: usageOf({}) };
}

export function cancelledFailure(message: string): EngineFailure {
  return { kind: "engine", category: "cancelled", message };
}

export const cutFailure: EngineFailure = { kind: "engine", category: "model", message: "the answer was cut at the output limit before it was complete" };

/** Why calls of a message are not run. */
export const refusals = {
  cut: "not run: the message was cut at the output limit before it was complete",
  lastStep: "not run: this was the last permitted step, only a reply was possible",
};
