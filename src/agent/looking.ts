// Whether a question was looked into enough: something was found with a tool for it, and what came after brings nothing that
// is. A very small model never thinks so itself, and takes the last thing that it saw for the answer: it replies to the first that
// fits. A larger one has replied before this tells.
import { contentText, type ToolResultMessage } from "../core/message.ts";
import type { Tool } from "../core/tool.ts";
import { foundNothing } from "./loop-guard.ts";
import { isFor, isTalk, type Work } from "./work-plan.ts";

const never = (_result: ToolResultMessage): boolean => false;

/** Steps behind a fitting one that find something else. */
const straysMax = 2;

export class Looking {
  readonly #tools: ReadonlyMap<string, Tool>;
  /** Results so far: the same once more is nothing new. */
  readonly #texts = new Set<string>();
  readonly #straysMax: number;
  #hasFound = false;
  #strays = 0;
  #leadsOn = false;
  #hasAll = false;

  /** @param isVerySmall whether the first thing that fits is enough */
  constructor(tools: readonly Tool[], isVerySmall: boolean) {
    this.#straysMax = isVerySmall ? 0 : straysMax;
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  get isOver(): boolean {
    return this.#hasFound && !this.#leadsOn && (this.#hasAll || this.#strays >= this.#straysMax);
  }

  /** All that the request names was looked at: what is near it only leads away. */
  noteAllSeen(): void {
    this.#hasAll = true;
  }

  /**
   * Takes the results of a step.
   * @param isNamed whether a result shows a file that the request names, which fits whatever it asks for
   * @param leadsOn whether a result shows a file that speaks of another one, which was not looked at
   */
  record(work: Work, results: readonly ToolResultMessage[], isNamed = never, leadsOn = never): void {
    if (work.isChange || isTalk(work)) return;
    const found = results.filter((result) => !result.isError && !foundNothing(result) && !this.#texts.has(contentText(result.content)));
    this.#leadsOn = found.some(leadsOn);
    for (const { content } of results) this.#texts.add(contentText(content));
    const fits = found.some((result) => {
      const tool = this.#tools.get(result.toolName);
      return (tool !== undefined && isFor(tool, work)) || isNamed(result);
    });
    if (fits) this.#strays = 0;
    else if (this.#hasFound) this.#strays += found.length > 0 ? 1 : this.#straysMax;
    this.#hasFound ||= fits;
  }
}
