// Whether a final answer keeps to the output schema (json-mode.md 9.3), and what the model is told when it doesn't.
// The schema itself is checked by a function that is handed in.
import type { StepErrorCategory } from "../core/engine.ts";
import type { AssistantMessage, CustomMessage } from "../core/message.ts";

export interface OutputContract {
  /** JSON Schema of the answer. */
  schema: Record<string, unknown>;
  /** What is wrong with a value, one line each; [] = nothing. */
  check: (value: unknown) => string[];
}

export interface OutputVerdict {
  /** No further correction is due. */
  exhausted: boolean;
  failure: { message: string; category: StepErrorCategory };
  /** The message that asks for another answer. */
  correction(timestampMs: number): CustomMessage;
}

const correctionsMax = 2;

/** Counts the corrections of one turn. */
export class OutputCheck {
  readonly #contract: OutputContract;
  #corrections = 0;

  constructor(contract: OutputContract) {
    this.#contract = contract;
  }

  /** @returns undefined when the answer is right, or was cut and is no answer to judge */
  judge(message: AssistantMessage): OutputVerdict | undefined {
    if (message.stopReason !== "stop") return undefined;
    const errors = this.#errorsOf(message);
    if (errors.length === 0) return undefined;
    const exhausted = this.#corrections >= correctionsMax;
    this.#corrections += 1;
    const failure = { message: `the answer does not keep to the output schema: ${errors.join("; ")}`, category: "model" as const };
    return { exhausted, failure, correction: (timestamp) => correctionOf(errors, timestamp) };
  }

  #errorsOf({ content }: AssistantMessage): string[] {
    const texts = content.filter((block) => block.type === "text");
    const [only] = texts;
    if (!only || texts.length > 1) return [`the answer has ${texts.length} texts instead of one`];
    let value: unknown;
    try {
      value = JSON.parse(only.text);
    } catch (error) {
      return [`the answer is not one JSON value: ${error instanceof Error ? error.message : String(error)}`];
    }
    return this.#contract.check(value);
  }
}

function correctionOf(errors: readonly string[], timestamp: number): CustomMessage {
  const text = `The answer does not keep to the output schema:\n${errors.map((error) => `- ${error}`).join("\n")}\nAnswer again, with one JSON value of that schema and nothing else.`;
  return { role: "custom", customType: "output_schema_error", content: [{ type: "text", text }], display: false, details: { errors: [...errors] }, timestamp };
}
