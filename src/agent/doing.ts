// Whether a change is made as far as can be told: each planned kind of it by a call that serves it, in every file that the
// request names. A very small model never thinks so itself and goes on until it has spoilt what it did.
import type { ToolCall, ToolResultMessage } from "../core/message.ts";
import type { Tool } from "../core/tool.ts";
import { changeKinds, type WorkKind } from "../core/work.ts";
import type { Work } from "./work-plan.ts";

const fileKinds = ["move", "copy", "delete"] as const satisfies readonly WorkKind[];

export class Doing {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #served = new Set<WorkKind>();
  /** Arguments of the calls that changed something, as JSON. */
  readonly #made: string[] = [];

  constructor(tools: readonly Tool[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  record(calls: readonly ToolCall[], results: readonly ToolResultMessage[]): void {
    const done = new Set(results.flatMap(({ isError, toolCallId }) => (isError ? [] : [toolCallId])));
    for (const { arguments: args, name } of calls.filter(({ id }) => done.has(id))) {
      const tool = this.#tools.get(name);
      if (!tool || tool.class === "read") continue;
      for (const kind of tool.serves ?? []) this.#served.add(kind);
      this.#made.push(JSON.stringify(args));
    }
  }

  /** @param named the files that are there and that the request names */
  isDone({ isChange, kinds }: Work, named: readonly string[]): boolean {
    const planned = changeKinds.filter((kind) => kinds.has(kind));
    return isChange && planned.length > 0 && planned.every((kind) => this.#served.has(kind)) && named.every((file) => this.#isChanged(file));
  }

  /**
   * After another change: files are still to be moved, copied or deleted, and one that the request names was in no change. A small
   * model takes the first part of a request for all of it.
   */
  isLeft({ isChange, kinds }: Work, named: readonly string[]): boolean {
    const planned = fileKinds.filter((kind) => kinds.has(kind));
    return isChange && this.#made.length > 0 && planned.some((kind) => !this.#served.has(kind)) && named.some((file) => !this.#isChanged(file));
  }

  #isChanged(file: string): boolean {
    return this.#made.some((args) => args.includes(JSON.stringify(file).slice(1, -1)));
  }
}
