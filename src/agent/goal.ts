// Whether a request wants something changed, asked of the model apart from the conversation: as the first word of its first
// action a small model says "answer" to nearly everything, and what it said goes on. A request that is taken for a question
// binds nothing: the words alone may not tell.
import type { Engine } from "../core/engine.ts";
import { contentText, type Usage, type UserMessage } from "../core/message.ts";
import type { ToolSpec } from "../core/tool.ts";

const system = `Sort the user's request. "change": files are to be made, written, edited, fixed, sorted, renamed, moved or deleted. "answer": the user only wants to be told something.`;

const examples: readonly (readonly [request: string, goal: "answer" | "change"])[] = [
  ["How old is Ann?", "answer"],
  ["Correct Bob's age in list.txt: he is 41.", "change"],
  ["List the folders here and what is in them.", "answer"],
  ["Write hi.sh that prints hi, run it and tell me the output.", "change"],
  ["Thanks!", "answer"],
  ["Put the names in order.", "change"],
  ["Run hi.sh and tell me what it prints.", "answer"],
];

/** Of the first and the last characters of a longer request, half each. */
const requestCharsMax = 1200;
const tokensMax = 4;

export interface GoalOptions {
  engine: Engine;
  tools: readonly ToolSpec[];
  signal: AbortSignal;
  /** Told what the question used. */
  spend: (usage: Usage) => void;
}

/** Asks once for each message of the user. */
export class Goal {
  readonly #options: GoalOptions;
  #asked: UserMessage | undefined;
  #isChange = false;

  constructor(options: GoalOptions) {
    this.#options = options;
  }

  /** True when something has to change; once true it stays so for the turn. */
  async isChange(message: UserMessage | undefined): Promise<boolean> {
    if (message === undefined || message === this.#asked || this.#isChange) return this.#isChange;
    this.#asked = message;
    this.#isChange = await this.#ask(contentText(message.content));
    return this.#isChange;
  }

  async #ask(request: string): Promise<boolean> {
    const { engine, signal, spend, tools } = this.#options;
    if (engine.kind !== "text" || engine.answersApart?.() !== true || !tools.some((tool) => tool.class === "write") || request.trim() === "") return false;
    const chat = [
      { role: "system" as const, text: system },
      ...examples.flatMap(([asked, goal]) => [{ role: "user" as const, text: asked }, { role: "assistant" as const, text: goal }]),
      { role: "user" as const, text: shortened(request) },
    ];
    let answer = "";
    for await (const event of engine.complete({ purpose: "goal", chat, grammar: 'root ::= "answer" | "change"', temperature: 0, maxTokens: tokensMax, signal })) {
      if (event.type === "text") answer += event.text;
      else if (event.type === "ended" || event.type === "failed") spend(event.usage);
    }
    return answer === "change";
  }
}

function shortened(request: string): string {
  if (request.length <= requestCharsMax) return request;
  const half = requestCharsMax / 2;
  return `${request.slice(0, half).toWellFormed()} … ${request.slice(-half).toWellFormed()}`;
}
