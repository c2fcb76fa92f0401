// What holds inside one turn (I-5 to I-9, I-11 to I-14, I-17): numbers, texts, pairs of calls and results, ends.
import { type JsonObject, show } from "../json-checker/values.ts";
import type { Life } from "./lives.ts";

/** Nothing for requests that ran no turn. */
export function checkTurn(life: Life): string[] {
  if (life.type !== "send_message" || life.answer["started"] === false || life.response?.ok !== true) return [];
  const turn = new Turn();
  for (const { payload, type = "" } of life.frames) turn.take(type, payload ?? {});
  turn.end(life.answer, life.asked);
  return turn.breaches.map((breach) => `${life.name}: ${breach}`);
}

const replies: { [reason: string]: number } = { reply: 1, max_steps: 1 };
const stepTypes: ReadonlySet<string> = new Set(["step_finished", "llm_request", "llm_response", "steer_applied", "reasoning_delta", "loop_detected", "provider_waiting", "provider_recovered", "assistant_reset"]);

class Turn {
  readonly breaches: string[] = [];
  #steps = 0;
  #isOpen = false;
  #attempts = 0;
  #answered = 0;
  #deltas = "";
  /** Kinds of the replies so far. */
  #replies: string[] = [];
  #calls = new Map<unknown, JsonObject>();
  #results = new Map<unknown, JsonObject>();
  #isAsked = false;
  #fatal: string | undefined;
  #failed: string | undefined;
  #completed: unknown;
  #finished: JsonObject = {};
  #index: unknown;

  take(type: string, payload: JsonObject): void {
    if (stepTypes.has(type)) this.#need(this.#isOpen && (payload["stepIndex"] ?? this.#step) === this.#step, `I-6: ${type} of step ${show(payload["stepIndex"])} in step ${this.#step}`);
    if (type.startsWith("tool_call_")) this.#need(payload["stepIndex"] === -1 && payload["step"] === this.#step, `I-9: ${type} names step ${show(payload["step"])} in step ${this.#step}`);
    this.#takers[type]?.(payload);
  }

  end(answer: JsonObject, asked: JsonObject): void {
    const { reason, stepCount, turnIndex } = this.#finished;
    this.#need(reason === answer["reason"] && turnIndex === answer["turnIndex"] && turnIndex === this.#index, `I-7: turn_finished ${show(this.#finished)}, answer ${show(answer)}`);
    this.#need(stepCount === this.#steps, `I-7: stepCount ${show(stepCount)} of ${this.#steps}`);
    const whole = this.#replies.filter((kind) => kind === "reply").length;
    this.#need(whole === (replies[String(reason)] ?? 0) && (whole === 0 || this.#replies.at(-1) === "reply"), `I-12: ${whole} replies with ${show(reason)}`);
    this.#need(this.#completed === (reason === "finish" || reason === "max_steps" ? reason : undefined), `I-13: session_completed ${show(this.#completed)} with ${show(reason)}`);
    this.#need((this.#failed !== undefined) === (reason === "failed" || reason === "cancelled"), `I-13: session_failed ${show(this.#failed)} with ${show(reason)}`);
    this.#need(this.#failed === undefined || this.#failed === this.#fatal, `I-14: session_failed ${show(this.#failed)}, last error ${show(this.#fatal)}`);
    this.#need((reason === "failed") === ("error" in answer), `3.4: error in an answer with ${show(reason)}`);
    this.#need(typeof asked["maxSteps"] !== "number" || this.#steps <= asked["maxSteps"], `3.4: ${this.#steps} steps of ${show(asked["maxSteps"])}`);
  }

  get #step(): number {
    return this.#steps - 1;
  }

  readonly #takers: { [type: string]: (payload: JsonObject) => void } = {
    turn_started: ({ turnIndex }) => void (this.#index = turnIndex),
    step_started: ({ stepIndex }) => {
      this.#need(!this.#isOpen && stepIndex === this.#steps, `I-6: step ${show(stepIndex)} after ${this.#steps}`);
      this.#steps += 1;
      [this.#isOpen, this.#isAsked, this.#attempts, this.#answered] = [true, false, 0, 0];
      [this.#calls, this.#results] = [new Map(), new Map()];
    },
    step_finished: ({ tokensUsed }) => {
      this.#checkBatch();
      this.#need(this.#answered === 0 || Number(tokensUsed) > 0, "4: no token used although an inference completed");
      this.#isOpen = false;
    },
    llm_request: ({ attempt }) => {
      this.#attempts += 1;
      this.#need(attempt === this.#attempts, `I-17: attempt ${show(attempt)}, the ${this.#attempts}.`);
      this.#need(this.#deltas === "", "4: what an abandoned attempt said is not void");
    },
    llm_response: ({ attempt }) => {
      this.#answered += 1;
      this.#need(attempt === this.#attempts, `I-17: the answer names attempt ${show(attempt)} of ${this.#attempts}`);
    },
    assistant_delta: ({ text }) => void (this.#deltas += String(text)),
    assistant_reset: () => {
      this.#need(this.#deltas !== "", "4: a reset of nothing");
      this.#deltas = "";
    },
    assistant_reply: ({ progressNote, text }) => {
      this.#need(text === this.#deltas && text !== "", `I-11: reply ${show(text)}, deltas ${show(this.#deltas)}`);
      this.#need(!this.#replies.includes("reply"), "I-12: a reply behind the last one");
      this.#deltas = "";
      this.#replies.push(progressNote === true ? "note" : "reply");
    },
    tool_call_started: (call) => {
      this.#need(!this.#calls.has(call["toolCallId"]), "I-8: the same toolCallId twice");
      this.#need(this.#results.size === 0 && !this.#isAsked, "I-9: a call starts behind a result or a question");
      this.#calls.set(call["toolCallId"], call);
    },
    tool_call_result: (result) => {
      const call = this.#calls.get(result["toolCallId"]);
      const isPair = call !== undefined && ["tool", "batchIndex", "batchSize"].every((key) => call[key] === result[key]);
      this.#need(isPair && !this.#results.has(result["toolCallId"]), `I-8: the result ${show(result)} has no call of its own`);
      this.#results.set(result["toolCallId"], result);
    },
    approval_request: ({ tool, toolCallId }) => {
      this.#isAsked = true;
      this.#need(this.#calls.get(toolCallId)?.["tool"] === tool && !this.#results.has(toolCallId), `5.5: a question for no open call of ${show(tool)}`);
    },
    error: ({ code, willRetry }) => {
      if (willRetry === false) this.#fatal = String(code).slice("step_error:".length);
    },
    session_completed: ({ reason }) => void (this.#completed = reason),
    session_failed: ({ category }) => void (this.#failed = String(category)),
    turn_finished: (payload) => void (this.#finished = payload),
  };

  /** I-8, I-9 over the calls of the step that ends. */
  #checkBatch(): void {
    const calls = [...this.#calls.values()];
    this.#need(this.#results.size === calls.length, `I-8: ${this.#results.size} results of ${calls.length} calls`);
    const isBatch = calls.length > 1;
    const fits = calls.every(({ batchIndex, batchSize }, index) => (isBatch ? batchIndex === index && batchSize === calls.length : batchIndex === undefined && batchSize === undefined));
    this.#need(fits, `I-9: batch fields of ${calls.length} calls`);
  }

  #need(holds: boolean, breach: string): void {
    if (!holds) this.breaches.push(breach);
  }
}
