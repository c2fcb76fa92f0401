// Steps whose calls are made of answers that were asked for apart from the conversation: a whole file (agent/rewrite), the files
// that are meant (agent/selection). Where such an answer is of no use, a step as any other follows. To the outside it is one generation.
import type { ActionEvent, TextEngine, TextRequest } from "../core/engine.ts";
import { addUsage, usageOf } from "../core/message.ts";
import { formOf } from "./chosen-form.ts";
import type { Sampling } from "./generate.ts";
import { draftOf, isMadeAlready, placeChat, placeGrammar, type Rewrite, rewriteChat, rewriteGrammar, rewritten } from "./rewrite.ts";
import { type Selection, selectedCalls, selectionChat, selectionGrammar } from "./selection.ts";

type Step = AsyncGenerator<ActionEvent, void, void>;

export interface ApartOptions {
  engine: TextEngine;
  sampling: Sampling;
  signal: AbortSignal;
  /** Takes what stands for the calls in the conversation. */
  written: string[];
  /** The step itself, or one that can only reply. */
  step: (isReply: boolean) => Step;
}

const contentKeptChars = 400;
const rewriteTokensMax = 1000;
const selectionTokensMax = 800;
const pathTokensMax = 64;

/** The file's new text as a call that writes it. */
export async function* rewriteStep(asked: Rewrite, options: ApartOptions): Step {
  const apart = new ApartAnswers(options);
  const rewrite = yield* placed(asked, apart);
  let content: string | undefined;
  for (let count = rewrite.tries; content === undefined && count < rewrite.tries + rewrite.triesMax && !options.signal.aborted; count += 1) {
    const answer = yield* apart.ask({ chat: rewriteChat(rewrite), grammar: rewriteGrammar(rewrite), draft: draftOf(rewrite), ...samplingOf(options.sampling, count), maxTokens: rewriteTokensMax });
    content = rewritten(rewrite, answer);
  }
  const isNoChange = content !== undefined && isMadeAlready(rewrite, content);
  if (content === undefined || isNoChange || options.signal.aborted) return yield* apart.before(options.step(isNoChange));
  const kept = content.length > contentKeptChars ? `${content.slice(0, contentKeptChars).toWellFormed()}…` : content;
  yield* apart.calls(rewrite.tool, [{ args: { path: rewrite.path, content }, kept: { path: rewrite.path, content: kept } }]);
}

/** What is done to the files that the model chooses, as calls. */
export async function* selectionStep(selection: Selection, options: ApartOptions): Step {
  const apart = new ApartAnswers(options);
  const answer = yield* apart.ask({ chat: selectionChat(selection), grammar: selectionGrammar(selection), ...options.sampling, maxTokens: selectionTokensMax });
  const calls = selectedCalls(selection, answer);
  if (!calls || options.signal.aborted) return yield* apart.before(options.step(false));
  yield* apart.calls(selection.tool.name, calls.map((args) => ({ args, kept: args })));
}

/** With the path that the model takes for the one that is meant. */
async function* placed(rewrite: Rewrite, apart: ApartAnswers): AsyncGenerator<ActionEvent, Rewrite, void> {
  const { places = [] } = rewrite;
  if (places.length < 2) return rewrite;
  const answer = yield* apart.ask({ chat: placeChat(rewrite), grammar: placeGrammar(places), temperature: 0, maxTokens: pathTokensMax });
  return places.includes(answer) ? { ...rewrite, path: answer } : rewrite;
}

class ApartAnswers {
  readonly #options: ApartOptions;
  #isAccepted = false;
  #spent = usageOf({});

  constructor(options: ApartOptions) {
    this.#options = options;
  }

  async *ask(request: Omit<TextRequest, "purpose" | "signal">): AsyncGenerator<ActionEvent, string, void> {
    const { engine, signal } = this.#options;
    let answer = "";
    for await (const event of engine.complete({ purpose: "plan", ...request, signal })) {
      if (event.type === "progress" || (event.type === "prompt_accepted" && !this.#isAccepted)) yield event;
      if (event.type === "prompt_accepted") this.#isAccepted = true;
      else if (event.type === "text") answer += event.text;
      else if (event.type === "ended" || event.type === "failed") this.#spent = addUsage(this.#spent, event.usage);
    }
    return answer;
  }

  /** Goes on with a step as any other. */
  async *before(step: Step): Step {
    for await (const event of step) {
      if (event.type === "prompt_accepted" && this.#isAccepted) continue;
      yield event.type === "ended" || event.type === "failed" ? { ...event, usage: addUsage(this.#spent, event.usage) } : event;
    }
  }

  /** Ends the step with these calls, as if the model had written them; it is shown what is kept of each. */
  *calls(name: string, made: readonly { args: Record<string, unknown>; kept: Record<string, unknown> }[]): Generator<ActionEvent, void, void> {
    const { close, open } = formOf(this.#options.engine).call("change", name);
    this.#options.written.push(made.map(({ kept }) => open + JSON.stringify(kept) + close).join("\n"));
    for (const [index, { args }] of made.entries()) {
      yield { type: "call_start", index, name };
      yield { type: "call_delta", index, delta: JSON.stringify(args) };
      yield { type: "call_end", index, arguments: args };
    }
    yield { type: "ended", stop: "end", usage: this.#spent };
  }
}

/** At a lower one a small model writes the same once more. */
const variedTemperature = 0.8;

/** @param count answers before this one */
export function samplingOf(sampling: Sampling, count: number): Sampling {
  return count === 0 ? sampling : { ...sampling, temperature: Math.max(sampling.temperature, variedTemperature), seed: (sampling.seed ?? 0) + count };
}
