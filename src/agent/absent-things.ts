// Says that what a question names is not in the file that was shown for it: a small model answers with what is near instead.
import type { ToolCall, ToolResultMessage } from "../core/message.ts";
import { namedThings } from "../core/named-things.ts";
import type { Tool, WorkspaceView } from "../core/tool.ts";
import { stemOf, wordsOf } from "../core/words.ts";
import { foundNothing } from "./loop-guard.ts";
import { fileArguments } from "./offer.ts";

export class AbsentThings {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #view: WorkspaceView;
  /** Looked for in every file that is shown, until one has it. */
  #wanted: string[];

  /** Of the request, as stems. */
  readonly #words: ReadonlySet<string>;

  constructor(request: string, tools: readonly Tool[], view: WorkspaceView) {
    this.#wanted = namedThings(request);
    this.#words = new Set(wordsOf(request).map(stemOf));
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#view = view;
  }

  /** A word of the request that a search did not find is one that the answer may not be about. */
  #search(calls: readonly ToolCall[], results: readonly ToolResultMessage[]): void {
    for (const result of results.filter((one) => foundNothing(one) && this.#tools.get(one.toolName)?.serves?.includes("search"))) {
      const pattern = calls.find(({ id }) => id === result.toolCallId)?.arguments["pattern"];
      const words = typeof pattern === "string" ? wordsOf(pattern).filter((word) => this.#words.has(stemOf(word))) : [];
      this.#wanted = [...new Set([...this.#wanted, ...words])];
    }
  }

  /** @returns what is told beside the results that show a file without them */
  async notes(calls: readonly ToolCall[], results: readonly ToolResultMessage[]): Promise<Map<ToolResultMessage, string>> {
    const notes = new Map<ToolResultMessage, string>();
    this.#search(calls, results);
    if (this.#wanted.length === 0) return notes;
    for (const result of results.filter(({ isError }) => !isError)) {
      const path = this.#shownFile(calls.find(({ id }) => id === result.toolCallId));
      const text = path === undefined ? undefined : await this.#view.text(path);
      if (text === undefined) continue;
      const folded = text.toLowerCase();
      this.#wanted = this.#wanted.filter((name) => !folded.includes(name.toLowerCase()));
      if (this.#wanted.length > 0) notes.set(result, `(${path} has no ${this.#wanted.join(", ")})`);
    }
    return notes;
  }

  #shownFile(call: ToolCall | undefined): string | undefined {
    const tool = call && this.#tools.get(call.name);
    if (!call || tool?.class !== "read") return undefined;
    const shown = fileArguments(tool).map((argument) => call.arguments[argument]);
    return shown.find((path) => typeof path === "string");
  }
}
